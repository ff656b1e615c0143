//! Makes every checksum of a stored file right again, whatever was done to it: what somebody who
//! forges a file would do. By the document alone, sharing no code with the format. Test-only.

/// Recomputes all checksums that the header's offsets lead to.
pub(crate) fn reseal(bytes: &mut [u8]) {
    if bytes.len() < HEADER {
        return;
    }
    let (metadata, table, sums) = (place(bytes, 144), place(bytes, 160), place(bytes, 176));
    let pages = place(bytes, 200);
    let identity = crc32c::crc32c(&bytes[40..128]);
    let size = 1_usize << bytes[192].min(30);
    if let (Some(pages), Some(sums)) = (pages.clone(), sums.clone()) {
        let ends = (0..).map(|index| pages.start + index * size).take_while(|at| *at < pages.end);
        let all: Vec<u32> = (0_u64..)
            .zip(ends)
            .map(|(index, from)| {
                let page = &bytes[from..pages.end.min(from + size)];
                crc32c::crc32c_append(crc32c::crc32c_append(identity, &index.to_le_bytes()), page)
            })
            .collect();
        let room = bytes[sums].as_chunks_mut::<4>().0;
        room.iter_mut().zip(all).for_each(|(to, sum)| *to = sum.to_le_bytes());
    }
    for place in [metadata, table, sums].into_iter().flatten() {
        if let Some(end) = place.end.checked_sub(4).filter(|end| *end >= place.start) {
            let sum = crc32c::crc32c_append(identity, &bytes[place.start..end]);
            bytes[end..place.end].copy_from_slice(&sum.to_le_bytes());
        }
    }
    let sum = crc32c::crc32c(&bytes[..HEADER - 4]);
    bytes[HEADER - 4..HEADER].copy_from_slice(&sum.to_le_bytes());
}

/// What the offset and length at `at` name, where that lies in the file.
fn place(bytes: &[u8], at: usize) -> Option<std::ops::Range<usize>> {
    let number = |at: usize| {
        let number = bytes.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes)?;
        usize::try_from(number).ok()
    };
    let (offset, length) = (number(at)?, number(at + 8)?);
    let end = offset.checked_add(length)?;
    (end <= bytes.len()).then_some(offset..end)
}

const HEADER: usize = 256;
