//! Memory of filters: reserved before the first record, on the largest pages there are.
//!
//! Two regions. That of the store holds the bit-sliced groups that lookups read at random: it is
//! mapped from reserved 2 MiB pages where the machine has enough of them. That of the open filters
//! is only touched as far as batches need it, so it asks for transparent huge pages; without it
//! they lie on the heap: slower, and never wrong.

use bloomrf_engine::filter::FilterPolicy;
use bloomrf_engine::limits::OPEN_BATCHES_MAX;
use bloomrf_kernels::arena::{Arena, ArenaConfig, PageMode, PagesWanted};
use bloomrf_kernels::scalar::bitmap::WORDS_16;

use super::StartError;
use crate::Config;

/// The two regions.
pub(super) struct Memory {
    pub(super) store: Arena,
    /// `None`: open filters lie on the heap.
    pub(super) open: Option<Arena>,
}

impl Memory {
    /// Maps both and says on which pages they lie.
    pub(super) fn reserve(config: &Config, policy: &FilterPolicy) -> Result<Self, StartError> {
        // A group is there twice for a moment while it is built: an eighth more.
        let store_bytes = config.arena_bytes.saturating_add(config.arena_bytes / 8);
        let store = map(config, store_bytes, config.pages).map_err(|e| StartError::Setup {
            what: "memory of filters (FERMIHDI_SEASTAR_MEMORY, BLOOMRF_NUMA_NODE)",
            reason: format!("{store_bytes} B of address space: {e}"),
        })?;
        say("store", &store, config);
        let open = map(
            config,
            open_bytes(config, policy),
            match config.pages {
                PagesWanted::Auto => PagesWanted::Transparent,
                wanted => wanted,
            },
        );
        match &open {
            Ok(arena) => say("open filters", arena, config),
            Err(error) => tracing::warn!(%error, "open filters lie on the heap"),
        }
        Ok(Memory { store, open: open.ok() })
    }
}

/// Open filters of the batches in progress, each with its exact top and low halves, in the
/// classes of the arena.
fn open_bytes(config: &Config, policy: &FilterPolicy) -> usize {
    let largest = policy.sizes.words().first().map_or(0, |&words| words as usize);
    let column = (largest + 2 * WORDS_16) * size_of::<u64>() * 5 / 4;
    let partials = config.queue_count() * 2 * OPEN_BATCHES_MAX;
    column.saturating_mul(config.schema.columns().len()).saturating_mul(partials).max(1 << 20)
}

fn map(config: &Config, bytes: usize, pages: PagesWanted) -> std::io::Result<Arena> {
    Arena::new(ArenaConfig { pages, numa_node: config.numa_node, ..ArenaConfig::new(bytes) })
}

fn say(what: &str, arena: &Arena, config: &Config) {
    let (mebibytes, pages) = (arena.bytes() >> 20, arena.pages());
    tracing::info!(what, mebibytes, pages = pages.name(), "memory mapped");
    if pages == PageMode::Small && config.pages != PagesWanted::Small {
        tracing::warn!(
            what,
            "on pages of the usual size lookups in large filters take up to twice as long: \
             reserve 2 MiB pages in /proc/sys/vm/nr_hugepages, or allow transparent ones"
        );
    }
}
