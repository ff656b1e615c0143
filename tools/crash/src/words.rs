//! What a child says of itself, a line each: the parent's only knowledge of what it has done.

use std::fmt;
use std::str::FromStr;

use bloomrf_engine::identity::BatchId;

/// A line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// From here on, calls are of the path that is tested.
    Begin,
    /// The start is over.
    Recovered,
    /// The start was refused: the disk failed at this step.
    Refused(&'static str),
    /// A batch, in this variant, is verified and wants a file.
    Writing(BatchId, u8),
    /// It has a whole one.
    Stored(BatchId, u8),
    /// Its file is to go.
    Leaving(BatchId),
    /// It has none any more.
    Gone(BatchId),
    /// A bit of its file is about to change.
    Rotting(BatchId),
    /// It has changed: what was done from `Rotting` on is the test's own doing.
    Rotten,
    /// All files are to go.
    Discarding,
    /// All have gone.
    Discarded,
    /// So many errors of the disk were counted.
    Errors(u64),
    /// All is done.
    End,
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Word::Begin => write!(f, "begin"),
            Word::Recovered => write!(f, "recovered"),
            Word::Refused(what) => write!(f, "refused {what}"),
            Word::Writing(id, variant) => write!(f, "writing {id} {variant}"),
            Word::Stored(id, variant) => write!(f, "stored {id} {variant}"),
            Word::Leaving(id) => write!(f, "leaving {id}"),
            Word::Gone(id) => write!(f, "gone {id}"),
            Word::Rotting(id) => write!(f, "rotting {id}"),
            Word::Rotten => write!(f, "rotten"),
            Word::Discarding => write!(f, "discarding"),
            Word::Discarded => write!(f, "discarded"),
            Word::Errors(count) => write!(f, "errors {count}"),
            Word::End => write!(f, "end"),
        }
    }
}

impl FromStr for Word {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let mut parts = line.split(' ');
        let name = parts.next().unwrap_or_default();
        let mut number = || parts.next().and_then(|part| part.parse::<u64>().ok());
        let word = match name {
            "begin" => Some(Word::Begin),
            "recovered" => Some(Word::Recovered),
            "refused" => Some(Word::Refused("start")),
            "writing" => number().zip(number()).map(|(id, v)| Word::Writing(id, v as u8)),
            "stored" => number().zip(number()).map(|(id, v)| Word::Stored(id, v as u8)),
            "leaving" => number().map(Word::Leaving),
            "gone" => number().map(Word::Gone),
            "rotting" => number().map(Word::Rotting),
            "rotten" => Some(Word::Rotten),
            "discarding" => Some(Word::Discarding),
            "discarded" => Some(Word::Discarded),
            "errors" => number().map(Word::Errors),
            "end" => Some(Word::End),
            _ => None,
        };
        word.ok_or_else(|| format!("no word of a child: {line:?}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_back_as_they_were_said() {
        for word in [
            Word::Begin,
            Word::Recovered,
            Word::Writing(7, 0),
            Word::Stored(7, 1),
            Word::Leaving(8),
            Word::Gone(8),
            Word::Rotting(9),
            Word::Rotten,
            Word::Discarding,
            Word::Discarded,
            Word::Errors(3),
            Word::End,
        ] {
            assert_eq!(word.to_string().parse(), Ok(word));
        }
        assert!("stored 7".parse::<Word>().is_err() && "".parse::<Word>().is_err());
    }
}
