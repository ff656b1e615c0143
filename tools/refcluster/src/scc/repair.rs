//! What an SCC sends beside verdicts on reports: frames that a node missed, and its word taken
//! back.

use std::io;

use bloomrf_engine::wire::stream::{Missing, StreamMessage, Verdict};

use super::Connection;

impl Connection<'_> {
    /// Sends what is kept of the frames asked for, and says so where that is not all.
    pub(super) fn send_again(&mut self, missing: &Missing) -> io::Result<()> {
        let found = self.shared.ledger.kept().find(missing);
        let (batch, frames) = (missing.batch, found.frames.len());
        tracing::debug!(batch, frames, all = found.is_all, "frames sent again");
        for frame in found.frames {
            StreamMessage::Frame { bytes: frame.to_vec() }.encode(&mut self.output);
            if self.output.len() >= FLUSH_BYTES {
                self.flush()?;
            }
        }
        if !found.is_all {
            StreamMessage::NotKept { batch }.encode(&mut self.output);
        }
        Ok(())
    }

    /// Hashes that were right and are not any more.
    pub(super) fn announce_revoked(&mut self) {
        let revoked = self.shared.ledger.revoked_from(self.revoked_position);
        self.revoked_position += revoked.len();
        for (batch, hash) in revoked {
            let verdict = Verdict::Mismatch;
            StreamMessage::Verdict { batch, hash, verdict }.encode(&mut self.output);
        }
    }
}

/// Frames are written in pieces of about so many bytes.
const FLUSH_BYTES: usize = 256 << 10;
