//! Right checksums for damaged messages: a parser behind its checksum is the one worth attacking.

/// Makes the last four bytes the CRC32C of those before.
pub fn seal_end(bytes: &mut [u8]) {
    let Some(at) = bytes.len().checked_sub(4) else { return };
    let sum = crc32c::crc32c(&bytes[..at]);
    bytes[at..].copy_from_slice(&sum.to_le_bytes());
}

/// Makes an ingest frame's checksum right: at 60, over the frame with zeros there.
pub fn seal_frame(bytes: &mut [u8]) {
    let Some(place) = bytes.get_mut(FRAME_CRC_AT..FRAME_CRC_AT + 4) else { return };
    place.fill(0);
    let sum = crc32c::crc32c(bytes);
    bytes[FRAME_CRC_AT..FRAME_CRC_AT + 4].copy_from_slice(&sum.to_le_bytes());
}

/// Makes the length prefix and the checksum of each message of a stream right, as far as lengths
/// make sense.
pub fn seal_stream(bytes: &mut [u8]) {
    let mut rest = bytes;
    while rest.len() >= 8 {
        let (prefix, tail) = rest.split_at_mut(4);
        let said = u32::from_le_bytes([prefix[0], prefix[1], prefix[2], prefix[3]]) as usize;
        let length = if (5..=tail.len()).contains(&said) { said } else { tail.len() };
        prefix.copy_from_slice(&(length as u32).to_le_bytes());
        let (message, next) = tail.split_at_mut(length);
        seal_end(message);
        rest = next;
    }
}

const FRAME_CRC_AT: usize = 60;
