//! A window over a stream: as many bytes as the next block needs, and no more than have come.
//!
//! Invariant: memory grows by doubling as bytes arrive, so that a length that the file only claims
//! costs nothing.

use std::io::{ErrorKind, Read};

use super::Cut;

/// First size of the window, bytes.
const WINDOW_BYTES: usize = 64 << 10;

pub(super) struct Window {
    reader: Box<dyn Read + Send>,
    memory: Vec<u8>,
    start: usize,
    end: usize,
    /// Offset of `start` in the stream.
    offset: u64,
    /// Why no more comes; `None` in it is the plain end.
    ended: Option<Option<String>>,
}

impl Window {
    pub(super) fn new(reader: Box<dyn Read + Send>) -> Self {
        Window { reader, memory: vec![0; WINDOW_BYTES], start: 0, end: 0, offset: 0, ended: None }
    }

    /// The next bytes: `wanted` of them, or fewer where the stream ends before.
    pub(super) fn peek(&mut self, wanted: usize) -> &[u8] {
        while self.end - self.start < wanted && self.ended.is_none() {
            self.refill();
        }
        let end = self.end.min(self.start.saturating_add(wanted));
        &self.memory[self.start..end]
    }

    /// The next `wanted` bytes of `what`, which begins at the window's start.
    pub(super) fn need(&mut self, wanted: usize, what: &str) -> Result<&[u8], Cut> {
        let have = self.peek(wanted).len();
        if have < wanted {
            return Err(self.cut(self.short(&format!("{what} of {wanted} bytes"), have as u64)));
        }
        Ok(self.peek(wanted))
    }

    /// True where nothing follows. An error of the reader is no end: it is a cut.
    pub(super) fn at_end(&mut self) -> Result<bool, Cut> {
        if !self.peek(1).is_empty() {
            return Ok(false);
        }
        match &self.ended {
            Some(Some(reason)) => Err(self.cut(reason.clone())),
            _ => Ok(true),
        }
    }

    /// Goes past `count` bytes that [`Window::peek`] has shown.
    pub(super) fn consume(&mut self, count: usize) {
        assert!(count <= self.end - self.start);
        self.start += count;
        self.offset += count as u64;
    }

    /// Goes past `count` bytes without keeping them; false where the stream ends before.
    pub(super) fn skip(&mut self, mut count: u64) -> bool {
        while count > 0 {
            let step = self.peek(count.min(WINDOW_BYTES as u64) as usize).len();
            if step == 0 {
                return false;
            }
            self.consume(step);
            count -= step as u64;
        }
        true
    }

    /// The reader's error, where that ended the stream.
    pub(super) fn failure(&self) -> Option<&str> {
        self.ended.as_ref()?.as_deref()
    }

    /// Offset of the window's start in the unpacked stream.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// A cut at the window's start.
    pub(super) fn cut(&self, reason: String) -> Cut {
        Cut { offset: self.offset, reason }
    }

    /// Words for a block that the stream does not hold in full.
    pub(super) fn short(&self, what: &str, have: u64) -> String {
        match &self.ended {
            Some(Some(reason)) => format!("{what}, of which {have} could be read: {reason}"),
            _ => format!("{what}, of which the file holds {have}"),
        }
    }

    #[cfg(test)]
    pub(super) fn memory_bytes(&self) -> usize {
        self.memory.len()
    }

    fn refill(&mut self) {
        if self.start > 0 {
            self.memory.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == self.memory.len() {
            self.memory.resize(self.memory.len() * 2, 0);
        }
        match self.reader.read(&mut self.memory[self.end..]) {
            Ok(0) => self.ended = Some(None),
            Ok(read) => self.end += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => self.ended = Some(Some(error.to_string())),
        }
    }
}
