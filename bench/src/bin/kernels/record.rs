//! Where the rows go: a CSV for the report, as they come, so that a broken run leaves its part.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use bloomrf_bench::rounds::{CSV_HEADER, Row};

/// The rows of a run.
pub(crate) struct Record {
    file: Option<BufWriter<File>>,
}

impl Record {
    pub(crate) fn create(path: Option<&Path>) -> Result<Self, String> {
        let Some(path) = path else { return Ok(Record { file: None }) };
        let file = File::create(path).map_err(|reason| format!("{}: {reason}", path.display()))?;
        let mut file = BufWriter::new(file);
        writeln!(file, "{CSV_HEADER}").map_err(not_written)?;
        Ok(Record { file: Some(file) })
    }

    pub(crate) fn push(&mut self, row: Row) -> Result<(), String> {
        let Some(file) = &mut self.file else { return Ok(()) };
        writeln!(file, "{row}").and_then(|()| file.flush()).map_err(not_written)
    }
}

fn not_written(reason: std::io::Error) -> String {
    format!("the record could not be written: {reason}")
}
