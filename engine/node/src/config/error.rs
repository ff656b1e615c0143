//! Why a configuration was refused: key, where it came from, what was expected.

use std::io;
use std::path::PathBuf;

/// Why a configuration was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A value that cannot be.
    #[error("{key} = {value:?} (from {origin}): {expected}")]
    Value {
        /// Key.
        key: String,
        /// Value as given.
        value: String,
        /// Environment variable, or file and line.
        origin: String,
        /// What was expected.
        expected: String,
    },
    /// A key or variable that does not exist.
    #[error("unknown setting {key} (from {origin}){hint}")]
    Unknown {
        /// Key as given.
        key: String,
        /// Environment variable, or file and line.
        origin: String,
        /// `; did you mean ...?`, or where all are listed.
        hint: String,
    },
    /// The file cannot be read.
    #[error("configuration file {}: {source}", path.display())]
    File {
        /// Path as given.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The file is not TOML.
    #[error("configuration file {}, line {line}: {message}", path.display())]
    Syntax {
        /// Path as given.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// The parser's reason.
        message: String,
    },
    /// Something that needs a DMS.
    #[error(
        "{variable} is set, but registering with a DMS is not supported yet: unset it and \
         describe the node in a file (bloomrf node run --config FILE; see deploy/node.toml)"
    )]
    NotSupported {
        /// Environment variable. Its value may be secret and is not repeated.
        variable: &'static str,
    },
}
