//! Parts that come in chunks: what is there takes memory, what is announced does not.

use super::super::Refusal;

/// How long the parts are.
#[derive(Clone, Debug)]
pub(super) enum Spans {
    /// One by one.
    Listed(Vec<u64>),
    /// Each `growth` times the one before.
    Growing { first: u64, growth: u64, count: u64 },
}

impl Spans {
    fn span(&self, index: usize) -> Option<u64> {
        match self {
            Spans::Listed(spans) => spans.get(index).copied(),
            Spans::Growing { first, growth, count } => {
                let power = u32::try_from(index).ok().filter(|i| u64::from(*i) < *count)?;
                growth.checked_pow(power)?.checked_mul(*first)
            }
        }
    }

    fn count(&self) -> u64 {
        match self {
            Spans::Listed(spans) => spans.len() as u64,
            Spans::Growing { count, .. } => *count,
        }
    }
}

/// Parts, as far as they have come.
#[derive(Clone, Debug)]
pub(super) struct Assembly {
    spans: Spans,
    parts: Vec<Vec<u8>>,
    /// Bytes that the last of `parts` lacks.
    lacking: u64,
    received: u64,
}

impl Assembly {
    /// Nothing yet.
    pub(super) fn new(spans: Spans) -> Self {
        Assembly { spans, parts: Vec::new(), lacking: 0, received: 0 }
    }

    /// Takes the next chunk, with the iterator that came back with it.
    pub(super) fn push(&mut self, iterator: u64, chunk: &[u8]) -> Result<(), Refusal> {
        if self.is_complete() {
            let end = self.received;
            let extra = chunk.len() as u64;
            return Err(Refusal::Trailing { what: "the chunks of a filter", end, extra });
        }
        let expected = 1 + self.received + chunk.len() as u64;
        if iterator != expected || chunk.is_empty() {
            let expected = format!("{expected}: the one that came back with the next chunk");
            return Err(Refusal::field("the iterator of a chunk", iterator, expected));
        }
        let span = self.spans.span(self.parts.len());
        let room = if self.lacking > 0 { self.lacking } else { span.unwrap_or(0) };
        let Some(left) = room.checked_sub(chunk.len() as u64) else {
            let expected = format!("at most {room}: a chunk never crosses into the next filter");
            return Err(Refusal::field("the bytes of a chunk", chunk.len(), expected));
        };
        match self.parts.last_mut() {
            Some(part) if self.lacking > 0 => part.extend(chunk),
            _ => self.parts.push(chunk.to_vec()),
        }
        self.lacking = left;
        self.received += chunk.len() as u64;
        Ok(())
    }

    /// Whether all is there.
    pub(super) fn is_complete(&self) -> bool {
        self.lacking == 0 && self.parts.len() as u64 == self.spans.count()
    }

    /// The parts, all of them.
    pub(super) fn finish(self) -> Result<Vec<Vec<u8>>, Refusal> {
        if self.is_complete() {
            return Ok(self.parts);
        }
        let unseen = self.parts.len()..usize::try_from(self.spans.count()).unwrap_or(usize::MAX);
        let lacking = unseen
            .map_while(|index| self.spans.span(index))
            .fold(self.lacking, |sum, span| sum.saturating_add(span));
        let need = self.received.saturating_add(lacking);
        Err(Refusal::Short { what: "a filter in chunks", need, have: self.received })
    }
}

/// Parts as `SCANDUMP` hands them out: iterator and bytes, no chunk over the end of a part.
pub(super) fn hand_out<'a>(
    parts: impl Iterator<Item = &'a [u8]>,
) -> impl Iterator<Item = (u64, &'a [u8])> {
    parts.flat_map(|part| part.chunks(CHUNK_BYTES_MAX)).scan(1, |iterator, chunk| {
        *iterator += chunk.len() as u64;
        Some((*iterator, chunk))
    })
}

/// The iterator of the head.
pub(super) const HEAD_ITERATOR: u64 = 1;
/// Most bytes of a chunk.
const CHUNK_BYTES_MAX: usize = 16 << 20;
