//! The unsafe corner of the bench: a prefetch, a filter crate that works on raw memory, and peers
//! of other languages behind a C ABI.
#![allow(unsafe_code)]

/// A cache line of a filter.
pub(crate) type Line = [u64; 8];

/// Asks for a line that will be read (`HINT` as in `core::arch`); it changes nothing.
#[inline(always)]
pub(crate) fn prefetch<const HINT: i32>(line: &Line) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch may name any address; this one is even a reference's.
    unsafe {
        core::arch::x86_64::_mm_prefetch::<HINT>(line.as_ptr().cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = line;
}

#[cfg(feature = "peers")]
pub(crate) use peers::{Foreign, Library, RawSplitBlock};

#[cfg(feature = "peers")]
mod peers {
    use std::error::Error as _;
    use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
    use std::sync::Arc;

    use bloomrf_kernels::arena::Words;
    use libloading::Symbol;

    use crate::arms::Filter;
    use crate::keys::murmur;

    /// `sbbf-rs` on memory of ours.
    pub(crate) struct RawSplitBlock {
        kernel: sbbf_rs::FilterFn,
        words: Words,
    }

    impl RawSplitBlock {
        /// `None` where the memory is not what the crate asks for.
        pub(crate) fn new(words: Words) -> Option<Self> {
            let is_aligned = words.as_ptr().addr().is_multiple_of(sbbf_rs::ALIGNMENT);
            let is_whole = !words.is_empty() && words.len().is_multiple_of(4);
            let kernel = sbbf_rs::FilterFn::new();
            (is_aligned && is_whole).then_some(RawSplitBlock { kernel, words })
        }

        fn buckets(&self) -> usize {
            8 * self.words.len() / sbbf_rs::BUCKET_SIZE
        }
    }

    impl Filter for RawSplitBlock {
        fn ways(&self) -> Vec<String> {
            vec!["sbbf-rs".to_owned()]
        }

        fn insert_many(&mut self, _: usize, keys: &[u64]) -> usize {
            let (buckets, bytes) = (self.buckets(), self.words.as_mut_ptr().cast());
            for &key in keys {
                // SAFETY: 1. `new` has checked the alignment and that there is a bucket.
                //         2. `buckets` are what the words hold, and they are borrowed mutably.
                unsafe { self.kernel.insert(bytes, buckets, murmur(key)) };
            }
            keys.len()
        }

        fn count_found(&self, _: usize, keys: &[u64]) -> u64 {
            let (buckets, bytes) = (self.buckets(), self.words.as_ptr().cast());
            let found = |&&key: &&u64| {
                // SAFETY: as in `insert_many`; nothing is written.
                unsafe { self.kernel.contains(bytes, buckets, murmur(key)) }
            };
            keys.iter().filter(found).count() as u64
        }

        fn bytes(&self) -> usize {
            8 * self.words.len()
        }
    }

    type New = unsafe extern "C" fn(c_int, u64, f64, u64) -> *mut c_void;
    type Bytes = unsafe extern "C" fn(*mut c_void) -> u64;
    type Keys = unsafe extern "C" fn(*mut c_void, *const u64, u64) -> u64;
    type Free = unsafe extern "C" fn(*mut c_void);

    /// A shared object of peers (C ABI, no exceptions across it):
    ///
    /// ```c
    /// int         peer_count(void);
    /// const char *peer_name(int peer);
    /// // NULL where the peer has no such size
    /// void       *peer_new(int peer, uint64_t keys, double bits_per_key, uint64_t bytes);
    /// uint64_t    peer_bytes(void *filter);
    /// uint64_t    peer_insert(void *filter, const uint64_t *keys, uint64_t count); // accepted
    /// uint64_t    peer_query(void *filter, const uint64_t *keys, uint64_t count);  // found
    /// void        peer_free(void *filter);
    /// ```
    pub(crate) struct Library {
        new: New,
        bytes: Bytes,
        insert: Keys,
        query: Keys,
        free: Free,
        names: Vec<String>,
        /// Last: the functions above live in it.
        _library: libloading::Library,
    }

    impl Library {
        pub(crate) fn load(path: &OsStr) -> Result<Arc<Self>, String> {
            let why = |reason: libloading::Error| {
                let cause = reason.source().map(|cause| format!(": {cause}")).unwrap_or_default();
                format!("PEER_LIB {}: {reason}{cause}", path.display())
            };
            // SAFETY: whoever names a library vouches for what its loading does.
            let library = unsafe { libloading::Library::new(path) }.map_err(why)?;
            // SAFETY: the types are those of the ABI above, which whoever names the library vouches
            // for; the pointers are kept no longer than the library.
            unsafe {
                let count: Symbol<'_, unsafe extern "C" fn() -> c_int> =
                    library.get("peer_count").map_err(why)?;
                let name: Symbol<'_, unsafe extern "C" fn(c_int) -> *const c_char> =
                    library.get("peer_name").map_err(why)?;
                let named = |peer| CStr::from_ptr(name(peer)).to_string_lossy().replace(',', ";");
                let names = (0..count()).map(named).collect();
                Ok(Arc::new(Library {
                    new: *library.get::<New>("peer_new").map_err(why)?,
                    bytes: *library.get::<Bytes>("peer_bytes").map_err(why)?,
                    insert: *library.get::<Keys>("peer_insert").map_err(why)?,
                    query: *library.get::<Keys>("peer_query").map_err(why)?,
                    free: *library.get::<Free>("peer_free").map_err(why)?,
                    names,
                    _library: library,
                }))
            }
        }

        pub(crate) fn names(&self) -> &[String] {
            &self.names
        }
    }

    /// A filter of a [`Library`].
    pub(crate) struct Foreign {
        library: Arc<Library>,
        name: String,
        /// From `peer_new`, not null, freed once.
        filter: *mut c_void,
    }

    impl Foreign {
        /// `None` where the peer has no such size.
        pub(crate) fn new(
            library: &Arc<Library>,
            peer: usize,
            bytes: usize,
            keys: u64,
        ) -> Option<Self> {
            let name = library.names.get(peer)?.clone();
            let bits_per_key = 8.0 * bytes as f64 / keys as f64;
            let peer = c_int::try_from(peer).ok()?;
            // SAFETY: the ABI; `peer` is below `peer_count`.
            let filter = unsafe { (library.new)(peer, keys, bits_per_key, bytes as u64) };
            let library = Arc::clone(library);
            (!filter.is_null()).then_some(Foreign { library, name, filter })
        }
    }

    impl Filter for Foreign {
        fn ways(&self) -> Vec<String> {
            vec![self.name.clone()]
        }

        fn insert_many(&mut self, _: usize, keys: &[u64]) -> usize {
            // SAFETY: the ABI; `filter` is alive, and the keys are as many as it is told.
            unsafe { (self.library.insert)(self.filter, keys.as_ptr(), keys.len() as u64) as usize }
        }

        fn count_found(&self, _: usize, keys: &[u64]) -> u64 {
            // SAFETY: as in `insert_many`.
            unsafe { (self.library.query)(self.filter, keys.as_ptr(), keys.len() as u64) }
        }

        fn bytes(&self) -> usize {
            // SAFETY: the ABI; `filter` is alive.
            unsafe { (self.library.bytes)(self.filter) as usize }
        }
    }

    impl Drop for Foreign {
        fn drop(&mut self) {
            // SAFETY: the ABI; `filter` came from `peer_new` and is used no more.
            unsafe { (self.library.free)(self.filter) }
        }
    }
}
