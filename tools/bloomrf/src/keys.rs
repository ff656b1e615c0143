//! Key files of askers and senders.

use std::path::Path;

use bloomrf_engine::wire::mac::MacKey;

use crate::outcome::CommandError;

/// The key that seals: the first one of a file.
pub(crate) fn load_signer(path: &Path) -> Result<MacKey, CommandError> {
    let ring = bloomrf_node::keys::load(path).map_err(CommandError::misused)?;
    Ok(ring.signer().clone())
}
