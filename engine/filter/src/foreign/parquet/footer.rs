//! The metadata of a file: which columns of which row groups have a filter, and where.

use super::super::Refusal;
use super::thrift::{BINARY, Compact, Field, I32, I64, LIST, STRUCT};

/// How a column's values are stored, which is how they are hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Physical {
    /// One bit: such columns have no filter.
    Boolean,
    /// 32 bits, little-endian.
    Int32,
    /// 64 bits, little-endian.
    Int64,
    /// 96 bits: times of old writers.
    Int96,
    /// A float of 32 bits, little-endian.
    Float,
    /// A float of 64 bits, little-endian.
    Double,
    /// Bytes; hashed without their length.
    ByteArray,
    /// Bytes of the same length in the whole column.
    FixedByteArray,
}

/// Where the filter of one column of one row group is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Number of the row group: a filter says nothing of other groups.
    pub row_group: usize,
    /// Number of the column in the group.
    pub column: usize,
    /// The column's path, its parts joined by dots.
    pub path: String,
    /// How its values are stored.
    pub physical: Physical,
    /// Where the header begins, from the start of the file.
    pub offset: u64,
    /// Bytes of header and bitset, where the writer said so.
    pub length: Option<u64>,
}

/// The places of all filters of a file, by row group and column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footer {
    places: Vec<Place>,
}

impl Footer {
    /// Reads the metadata: what lies before the last eight bytes of a file.
    ///
    /// # Errors
    /// Where it is not such metadata.
    pub fn parse(metadata: &[u8]) -> Result<Self, Refusal> {
        let mut compact = Compact::new("the metadata of a Parquet file", metadata);
        let (mut footer, mut last) = (Footer::default(), 0);
        while let Some(field) = compact.field(&mut last)? {
            if field != (Field { id: FILE_ROW_GROUPS, kind: LIST }) {
                compact.skip(field.kind)?;
                continue;
            }
            let count = structs(&mut compact, "the row groups")?;
            for row_group in 0..count {
                footer.row_group(&mut compact, row_group as usize)?;
            }
        }
        Ok(footer)
    }

    /// All places.
    #[must_use]
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// The place of the filter of a column of a row group. `None`: there is none, and any value
    /// may be there.
    #[must_use]
    pub fn place(&self, row_group: usize, path: &str) -> Option<&Place> {
        self.places.iter().find(|place| place.row_group == row_group && place.path == path)
    }

    fn row_group(&mut self, compact: &mut Compact<'_>, row_group: usize) -> Result<(), Refusal> {
        let mut last = 0;
        while let Some(field) = compact.field(&mut last)? {
            if field != (Field { id: GROUP_COLUMNS, kind: LIST }) {
                compact.skip(field.kind)?;
                continue;
            }
            let count = structs(compact, "the columns")?;
            for column in 0..count {
                let place = column_chunk(compact, row_group, column as usize)?;
                self.places.extend(place);
            }
        }
        Ok(())
    }
}

fn structs(compact: &mut Compact<'_>, what: &'static str) -> Result<u64, Refusal> {
    match compact.list()? {
        (count, STRUCT) | (count @ 0, _) => Ok(count),
        (_, other) => Err(Refusal::field(what, format!("of type {other}"), "structs")),
    }
}

fn column_chunk(
    compact: &mut Compact<'_>,
    row_group: usize,
    column: usize,
) -> Result<Option<Place>, Refusal> {
    let (mut place, mut is_elsewhere, mut last) = (None, false, 0);
    while let Some(field) = compact.field(&mut last)? {
        match field {
            Field { id: CHUNK_METADATA, kind: STRUCT } => {
                place = column_metadata(compact, row_group, column)?;
            }
            Field { id: CHUNK_FILE_PATH, kind: BINARY } => {
                is_elsewhere = !compact.binary()?.is_empty();
            }
            other => compact.skip(other.kind)?,
        }
    }
    // Offsets of a column that lies in another file are of that file.
    Ok(place.filter(|_| !is_elsewhere))
}

fn column_metadata(
    compact: &mut Compact<'_>,
    row_group: usize,
    column: usize,
) -> Result<Option<Place>, Refusal> {
    let (mut kind, mut path, mut last) = (None, String::new(), 0);
    let (mut offset, mut length) = (None, None);
    while let Some(field) = compact.field(&mut last)? {
        match field {
            Field { id: COLUMN_TYPE, kind: I32 } => kind = Some(compact.signed()?),
            Field { id: COLUMN_PATH, kind: LIST } => path = dotted(compact)?,
            Field { id: COLUMN_FILTER_OFFSET, kind: I64 } => offset = Some(compact.signed()?),
            Field { id: COLUMN_FILTER_LENGTH, kind: I32 } => length = Some(compact.signed()?),
            other => compact.skip(other.kind)?,
        }
    }
    // Writers that mean "none" leave the offset out, or write 0 or less.
    let Some(offset) = offset.and_then(|offset| u64::try_from(offset).ok()).filter(|at| *at > 0)
    else {
        return Ok(None);
    };
    let physical = physical(kind)?;
    let length = match length {
        None => None,
        Some(said) => match u64::try_from(said) {
            Ok(length @ 1..) => Some(length),
            _ => return Err(Refusal::field("the length of a filter", said, "more than 0")),
        },
    };
    Ok(Some(Place { row_group, column, path, physical, offset, length }))
}

fn dotted(compact: &mut Compact<'_>) -> Result<String, Refusal> {
    let (count, kind) = compact.list()?;
    if kind != BINARY && count > 0 {
        return Err(Refusal::field("a column's path", format!("of type {kind}"), "strings"));
    }
    let mut path = String::new();
    for at in 0..count {
        if at > 0 {
            path.push('.');
        }
        path.push_str(&String::from_utf8_lossy(compact.binary()?));
    }
    Ok(path)
}

fn physical(kind: Option<i64>) -> Result<Physical, Refusal> {
    Ok(match kind {
        Some(0) => Physical::Boolean,
        Some(1) => Physical::Int32,
        Some(2) => Physical::Int64,
        Some(3) => Physical::Int96,
        Some(4) => Physical::Float,
        Some(5) => Physical::Double,
        Some(6) => Physical::ByteArray,
        Some(7) => Physical::FixedByteArray,
        other => {
            let said = other.map_or("absent".into(), |kind| kind.to_string());
            return Err(Refusal::field("a column's type", said, "from 0 to 7"));
        }
    })
}

// Numbers of fields.
const FILE_ROW_GROUPS: i16 = 4;
const GROUP_COLUMNS: i16 = 1;
const CHUNK_FILE_PATH: i16 = 1;
const CHUNK_METADATA: i16 = 3;
const COLUMN_TYPE: i16 = 1;
const COLUMN_PATH: i16 = 3;
const COLUMN_FILTER_OFFSET: i16 = 14;
const COLUMN_FILTER_LENGTH: i16 = 15;
