//! RedisBloom 2.8.2: ten chains and four cuckoo filters in chunks, ten dumps.

mod chain;
mod chunks;
mod cuckoo;
mod dump;
mod snapshot;

use std::path::Path;

use bloomrf_filter::foreign::redisbloom::{Chain, Reserve};
use bloomrf_filter::foreign::{Limits, Refusal};
use serde_json::Value;

use crate::golden::{entries, folder, key, number, text};

/// Chunks with their iterators.
type Chunks = Vec<(u64, Vec<u8>)>;

/// Golden dumps whose name starts with `kind`: name, entry, and chunks with their iterators.
fn dumps(kind: &str) -> Option<Vec<(String, Value, Chunks)>> {
    let folder = folder("redisbloom")?;
    let all = entries(folder.join("dumps.json")).into_iter();
    let ours = all.filter(|entry| text(entry, "name").starts_with(kind));
    Some(ours.map(|entry| (text(&entry, "name").to_owned(), chunks(&folder, &entry), entry)))
        .map(|all| all.map(|(name, chunks, entry)| (name, entry, chunks)).collect())
}

fn chunks(folder: &Path, entry: &Value) -> Chunks {
    let chunks = entry["chunks"].as_array().unwrap().iter();
    let files = chunks.filter_map(|chunk| Some((number(chunk, "iter"), chunk["file"].as_str()?)));
    files.map(|(iterator, file)| (iterator, std::fs::read(folder.join(file)).unwrap())).collect()
}

/// The keys that were added: how many from key 0.
fn added(entry: &Value) -> u64 {
    let last: i64 = text(entry, "keys").rsplit_once("..").unwrap().1.parse().unwrap();
    (last + 1) as u64
}

/// The argument behind a word of the command that reserved the filter.
fn argument(entry: &Value, word: &str) -> Option<u64> {
    let words = entry["reserve"].as_array()?;
    let at = words.iter().position(|given| given == word)?;
    words.get(at + 1)?.as_str()?.parse().ok()
}

fn reserve(entry: &Value) -> Reserve {
    let words = entry["reserve"].as_array().unwrap();
    if words.len() < 4 {
        return Reserve::default();
    }
    let expansion = match words.iter().any(|word| word == "NONSCALING") {
        true => None,
        false => Some(argument(entry, "EXPANSION").unwrap_or(2) as u32),
    };
    let word = |at: usize| words[at].as_str().unwrap();
    Reserve { error: word(2).parse().unwrap(), capacity: word(3).parse().unwrap(), expansion }
}

fn load(chunks: &[(u64, Vec<u8>)], limits: Limits) -> Result<Chain, Refusal> {
    use bloomrf_filter::foreign::redisbloom::chunks::Loading;

    let (iterator, head) = chunks.first().map_or((1, &[][..]), |(i, bytes)| (*i, bytes));
    let mut loading = Loading::begin(iterator, head, limits)?;
    for (iterator, chunk) in chunks.iter().skip(1) {
        loading.load(*iterator, chunk)?;
    }
    loading.finish()
}

/// All chunks of a chain.
fn hand_out(chain: &Chain) -> Chunks {
    let rest = chain.chunks().map(|(iterator, chunk)| (iterator, chunk.to_vec()));
    std::iter::once((1, chain.head_chunk())).chain(rest).collect()
}

/// A chain of `links` links, small ones.
fn small(links: usize) -> Chain {
    let reserve = Reserve { error: 0.1, capacity: 4, expansion: Some(2) };
    let mut chain = Chain::build(&reserve, Limits::default()).unwrap();
    (0..)
        .take_while(|i| {
            chain.insert(&key(*i));
            chain.links().count() < links
        })
        .for_each(drop);
    chain
}
