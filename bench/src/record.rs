//! Where the rows go: a CSV for the report, as they come, so that a broken run leaves its part.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use crate::rounds::{CSV_HEADER, Row};

/// The rows of a run.
#[derive(Debug)]
pub struct Record {
    file: Option<BufWriter<File>>,
}

impl Record {
    /// An empty one, where a file is wanted.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn create(path: Option<&Path>) -> Result<Self, String> {
        let Some(path) = path else { return Ok(Record { file: None }) };
        let file = File::create(path).map_err(|reason| format!("{}: {reason}", path.display()))?;
        let mut file = BufWriter::new(file);
        writeln!(file, "{CSV_HEADER}").map_err(not_written)?;
        Ok(Record { file: Some(file) })
    }

    /// Adds a row.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn push(&mut self, row: Row) -> Result<(), String> {
        self.line(&row.to_string())
    }

    /// Adds a remark, which is no row: readers of records pass over it.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn remark(&mut self, text: &str) -> Result<(), String> {
        self.line(&format!("# {}", text.replace('\n', " ")))
    }

    fn line(&mut self, line: &str) -> Result<(), String> {
        let Some(file) = &mut self.file else { return Ok(()) };
        writeln!(file, "{line}").and_then(|()| file.flush()).map_err(not_written)
    }
}

fn not_written(reason: std::io::Error) -> String {
    format!("the record could not be written: {reason}")
}
