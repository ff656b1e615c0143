//! Bits of a filter that threads share, over the engine's own `word.rs`
//! (engine/filter/src/atomic/word.rs): `Relaxed` throughout.

use loom::thread;

use super::Model;
use crate::handshake::Stop;
use crate::sync::{Arc, AtomicU64, Order, Ordering};
use crate::word;

pub(super) const MODELS: &[Model] = &[
    Model {
        claim: "no bit of threads that insert is lost, and one is told of each bit",
        run: || inserts(word::set),
        is_planted: false,
        needs: &[],
        spares: &[],
    },
    Model {
        claim: "planted: a word is read and written instead of exchanged",
        run: || inserts(read_and_written),
        is_planted: true,
        needs: &[],
        spares: &[],
    },
    Model {
        claim: "who learnt that an insert has ended finds its bits, relaxed as they are",
        run: told,
        is_planted: false,
        needs: &[Order::StopRaise, Order::StopLook],
        spares: &[],
    },
];

/// The fault that is planted.
fn read_and_written(word: &AtomicU64, bits: u64) -> bool {
    let before = word.load(Ordering::Relaxed);
    word.store(before | bits, Ordering::Relaxed);
    before & bits != bits
}

/// Two items in one word that share a bit.
fn inserts(set: fn(&AtomicU64, u64) -> bool) {
    let word = Arc::new(AtomicU64::new(0));
    let other = word.clone();
    let theirs = thread::spawn(move || {
        let new = [set(&other, 0b010), set(&other, 0b100)];
        assert!(word::has(&other, 0b110), "its own bits are lost");
        new
    });
    let ours = [set(&word, 0b001), set(&word, 0b010)];
    assert!(word::has(&word, 0b011), "its own bits are lost");
    let theirs = theirs.join().expect("loom reports it first");
    assert!(word::has(&word, 0b111), "a bit is lost");
    assert!(ours[0] && theirs[1], "a bit that is nobody else's is new");
    assert!(ours[1] != theirs[0], "a bit that both set is new to one of them");
}

/// The words of an item, and a flag that is raised when it is inserted.
#[derive(Default)]
struct Shared {
    words: [AtomicU64; 2],
    inserted: Stop,
}

fn told() {
    let shared = Arc::<Shared>::default();
    let writer = shared.clone();
    let insert = thread::spawn(move || {
        writer.words.iter().for_each(|word| _ = word::set(word, 1));
        writer.inserted.raise();
    });
    if shared.inserted.is_raised() {
        let is_found = shared.words.iter().all(|word| word::has(word, 1));
        assert!(is_found, "an insert that had ended is not found");
    }
    insert.join().expect("loom reports it first");
    assert!(shared.words.iter().all(|word| word::has(word, 1)));
}
