//! Parts to a file.

use super::{ALIGNMENT, HEADER_BYTES, Identity, Outline, Part};

/// The file of these parts: `metadata` and `table` without their trailers, as long as the outline
/// says, and payloads that `write_pages` appends, each padded by [`pad`].
///
/// # Errors
/// Those of `write_pages`.
pub fn assemble<E>(
    outline: &Outline,
    metadata: &[u8],
    table: &[u8],
    write_pages: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
) -> Result<Vec<u8>, E> {
    let bytes = outline.sums().end();
    let mut out = Vec::with_capacity(bytes as usize);
    outline.write(&mut out);
    let identity = match out.first_chunk::<HEADER_BYTES>() {
        Some(header) => Identity::of(header),
        None => unreachable!("a header is {HEADER_BYTES} bytes"),
    };
    for (part, contents) in [(Part::Metadata, metadata), (Part::Sections, table)] {
        let start = out.len();
        out.extend_from_slice(contents);
        identity.end_table(part, start, &mut out);
    }
    out.resize(outline.pages().offset as usize, 0);
    write_pages(&mut out)?;
    pad(&mut out);
    let start = out.len();
    let mut sums = Vec::with_capacity(outline.sums().bytes as usize);
    identity.write_sums(outline.pages().of(&out).unwrap_or_default(), outline.page_size, &mut sums);
    out.extend_from_slice(&sums);
    identity.end_table(Part::Sums, start, &mut out);
    debug_assert_eq!(out.len() as u64, bytes, "the outline's lengths are those of the parts");
    Ok(out)
}

/// Appends zeros up to where the next payload begins.
pub fn pad(out: &mut Vec<u8>) {
    out.resize(out.len().next_multiple_of(ALIGNMENT as usize), 0);
}
