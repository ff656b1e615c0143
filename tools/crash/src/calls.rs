//! The log of `strace`: one call a line.

use crate::words::Word;

/// A system call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    /// Name.
    pub(crate) name: String,
    /// It is the n-th of its name, from 1: what an injection counts.
    pub(crate) nth: usize,
    /// Arguments as logged, descriptors with their paths.
    pub(crate) arguments: String,
    /// The result as logged; `?` where the call never returned.
    pub(crate) result: String,
}

impl Call {
    /// For people: name, number and the beginning of what it was called with.
    pub(crate) fn describe(&self) -> String {
        let arguments: String = self.arguments.chars().take(120).collect();
        format!("{} {} ({arguments})", self.name, self.nth)
    }

    /// Interrupted before anything was done: whoever made the call makes it again.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.result.contains("EINTR")
    }

    /// Whether it was made and went well.
    pub(crate) fn is_well(&self) -> bool {
        !self.result.starts_with('-') && !self.result.starts_with('?')
    }

    /// Path of the descriptor that is its first argument.
    pub(crate) fn descriptor_path(&self) -> Option<&str> {
        let (_, rest) = self.arguments.split_once('<')?;
        Some(rest.split_once('>')?.0.trim_end_matches(" (deleted)"))
    }

    /// The text arguments: paths of calls that name them.
    pub(crate) fn texts(&self) -> Vec<&str> {
        self.arguments.split('"').skip(1).step_by(2).collect()
    }

    /// What the child says by it.
    pub(crate) fn word(&self) -> Option<Word> {
        let texts = self.texts();
        texts.first().filter(|_| self.is_speech())?.trim_end_matches("\\n").parse().ok()
    }

    /// A write to the child's output: not of the path that is tested.
    pub(crate) fn is_speech(&self) -> bool {
        self.name == "write"
            && (self.arguments.starts_with("1<") || self.arguments.starts_with("2<"))
    }
}

/// All calls of a log.
pub(crate) fn parse(log: &str) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    for line in log.lines() {
        let Some(mut call) = parse_line(line) else { continue };
        call.nth = calls.iter().filter(|before| before.name == call.name).count() + 1;
        calls.push(call);
    }
    calls
}

/// `PID name(arguments) = result`; other lines (signals, ends) are no calls.
fn parse_line(line: &str) -> Option<Call> {
    let text = line.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
    let (name, rest) = text.split_once('(')?;
    if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
        return None;
    }
    let (arguments, result) = rest.rsplit_once(" = ")?;
    let arguments = arguments.trim_end().strip_suffix(')')?;
    Some(Call {
        name: name.to_owned(),
        nth: 0,
        arguments: arguments.to_owned(),
        result: result.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
7 openat(AT_FDCWD</x>, \"/d/tmp-a\", O_WRONLY|O_CREAT|O_EXCL|O_CLOEXEC, 0666) = 3</d/tmp-a>
7 write(3</d/tmp-a>, \"a = b\"..., 4096) = 4096
7 write(1<pipe:[9]>, \"durable 1\\n\", 10) = 10
7 fsync(3</d/tmp-a>)                 = -1 EIO (Input/output error) (INJECTED)
7 rename(\"/d/tmp-a\", \"/d/a\")         = ?
7 +++ killed by SIGKILL +++
";

    #[test]
    fn calls_are_read_with_their_number_paths_and_result() {
        let calls = parse(LOG);
        let names: Vec<_> = calls.iter().map(|c| (c.name.as_str(), c.nth)).collect();
        assert_eq!(names, [("openat", 1), ("write", 1), ("write", 2), ("fsync", 1), ("rename", 1)]);
        let well: Vec<_> = calls.iter().map(Call::is_well).collect();
        assert_eq!(well, [true, true, true, false, false]);
        assert_eq!(calls[3].descriptor_path(), Some("/d/tmp-a"));
        assert_eq!(calls[4].texts(), ["/d/tmp-a", "/d/a"]);
        assert!(calls[2].is_speech() && !calls[1].is_speech());
    }
}
