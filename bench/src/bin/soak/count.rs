//! Requests for memory, thread by thread: a fixed table of atomics, a line for each thread that
//! ever asked. Cost: one addition per request; the first one of a thread asks for its number.

use std::backtrace::Backtrace;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize, Ordering};

/// A thread.
struct Line {
    /// The system's number of it.
    thread: AtomicI32,
    requests: AtomicU64,
    bytes: AtomicU64,
    /// Its next requests are told with where they come from.
    is_watched: AtomicBool,
}

/// What one name of threads asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) requests: u64,
    pub(crate) bytes: u64,
}

static LINES: [Line; LINES_MAX] = [const {
    Line {
        thread: AtomicI32::new(0),
        requests: AtomicU64::new(0),
        bytes: AtomicU64::new(0),
        is_watched: AtomicBool::new(false),
    }
}; LINES_MAX];
static USED: AtomicUsize = AtomicUsize::new(0);
static TOLD: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    // Neither needs memory or a destructor: they may be used inside the allocator.
    static MINE: Cell<usize> = const { Cell::new(usize::MAX) };
    static IS_TELLING: Cell<bool> = const { Cell::new(false) };
}

/// Counts a request of this thread.
pub(crate) fn note(bytes: usize) {
    let mine = MINE.try_with(|mine| {
        if mine.get() == usize::MAX {
            mine.set(claim());
        }
        mine.get()
    });
    let Some(line) = mine.ok().and_then(|mine| LINES.get(mine)) else { return };
    line.requests.fetch_add(1, Ordering::Relaxed);
    line.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    if line.is_watched.load(Ordering::Relaxed) {
        tell(bytes);
    }
}

/// A line of its own; threads past the last one share that.
fn claim() -> usize {
    let at = USED.fetch_add(1, Ordering::Relaxed).min(LINES_MAX - 1);
    LINES[at].thread.store(rustix::thread::gettid().as_raw_nonzero().get(), Ordering::Relaxed);
    at
}

/// Says where a request of a watched thread comes from; its own requests are not told.
#[cold]
fn tell(bytes: usize) {
    let is_inside = IS_TELLING.try_with(|telling| telling.replace(true)).unwrap_or(true);
    if is_inside {
        return;
    }
    if TOLD.fetch_add(1, Ordering::Relaxed) < TOLD_MAX {
        eprintln!("{bytes} bytes asked for by a watched thread:\n{}", Backtrace::force_capture());
    }
    let _ = IS_TELLING.try_with(|telling| telling.set(false));
}

/// Watches the threads that live now and whose name begins so.
pub(crate) fn watch(prefix: &str) {
    for line in lines() {
        if name(line).is_some_and(|name| name.starts_with(prefix)) {
            line.is_watched.store(true, Ordering::Relaxed);
        }
    }
}

/// What the threads that live now have asked for, by name.
pub(crate) fn by_name() -> BTreeMap<String, Asked> {
    let mut all = BTreeMap::new();
    for line in lines() {
        let Some(name) = name(line) else { continue };
        let asked: &mut Asked = all.entry(name).or_default();
        asked.requests += line.requests.load(Ordering::Relaxed);
        asked.bytes += line.bytes.load(Ordering::Relaxed);
    }
    all
}

fn lines() -> &'static [Line] {
    &LINES[..USED.load(Ordering::Relaxed).min(LINES_MAX)]
}

/// Its name, while it lives.
fn name(line: &Line) -> Option<String> {
    let thread = line.thread.load(Ordering::Relaxed);
    let name = fs::read_to_string(format!("/proc/self/task/{thread}/comm")).ok()?;
    Some(name.trim_end().to_owned())
}

/// Threads that are told apart.
const LINES_MAX: usize = 1_024;
/// Requests of watched threads that are told.
const TOLD_MAX: usize = 8;

#[cfg(test)]
mod tests {
    use std::hint::black_box;
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn requests_are_counted_on_the_thread_that_makes_them() {
        let (go, wait) = mpsc::channel::<()>();
        let (done, ready) = mpsc::channel();
        let thread = std::thread::Builder::new().name("asks".to_owned()).spawn(move || {
            done.send(()).unwrap();
            for _ in wait.iter() {
                (0..10).for_each(|_| drop(black_box(vec![0_u8; 100])));
                done.send(()).unwrap();
            }
        });
        ready.recv().unwrap();
        let before = by_name();
        black_box(vec![0_u8; 1 << 20]);
        go.send(()).unwrap();
        ready.recv().unwrap();
        let after = by_name();
        let more = |name: &str| after[name].bytes - before.get(name).map_or(0, |asked| asked.bytes);
        assert!((1_000..2_000).contains(&more("asks")), "{}", more("asks"));
        drop(go);
        thread.unwrap().join().unwrap();
    }
}
