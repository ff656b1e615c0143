//! What is chosen when a batch closes against bloomRF alone: bytes, false positives of *correlated*
//! questions (that begin just after a stored key), time of a lookup over 512 batches, and of the
//! sort at close. Prints CSV; see `rounds::CSV_HEADER`. An argument keeps what contains it.

use std::hint::black_box;

use bloomrf_bench::rounds::{CSV_HEADER, Row, Variant, interleave};
use bloomrf_bench::{Splitmix, addresses, timestamps, uniform};
use bloomrf_engine::filter::{Filter, FilterPolicy, OpenColumn};
use bloomrf_engine::schema::Schema;
use bloomrf_kernels::exact::sort_distinct;
use bloomrf_kernels::params::Budget;
use bloomrf_kernels::plan::TopBits;
use bloomrf_kernels::size::SizeClasses;
use bloomrf_kernels::sliced::{self, GROUPS, Group, SLOTS};
use bloomrf_kernels::{Answer, Kernel, RangePlan};

/// Keys of a batch.
const RECORDS: usize = 65_536;
const BATCHES: usize = GROUPS * SLOTS;
const PROBES_MAX: u32 = 256;
/// Questions of a round, and of a false-positive rate.
const ASKED: usize = 32;
const QUESTIONS: usize = 40_000;

fn main() {
    println!("{CSV_HEADER}");
    let only = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    for column in COLUMNS {
        if only.as_ref().is_none_or(|word| column.name.contains(word.as_str())) {
            rates(&column);
            lookups(&column);
            sorting(&column);
        }
    }
}

/// A column and its keys.
struct Column {
    name: &'static str,
    kind: &'static str,
    bytes: usize,
    keys: fn(u64) -> Vec<u64>,
}

const COLUMNS: [Column; 4] = [
    Column { name: "timestamps", kind: "u64", bytes: 8, keys: |seed| timestamps(seed, RECORDS) },
    Column { name: "addresses", kind: "u32", bytes: 4, keys: |seed| addresses(seed, RECORDS) },
    Column { name: "dense ids", kind: "u64", bytes: 8, keys: dense },
    Column { name: "uniform", kind: "u64", bytes: 8, keys: |seed| uniform(seed, 63, RECORDS) },
];

/// Ids given in turn, of which every fourth or so went elsewhere; in the order of arrival.
fn dense(seed: u64) -> Vec<u64> {
    let mut random = Splitmix::new(seed);
    let mut id = 1_000_000_000 + seed * RECORDS as u64;
    let next = |_| {
        id += 1 + random.draw() % 8 / 6;
        id ^ 3
    };
    (0..RECORDS).map(next).collect()
}

impl Column {
    /// The column of a batch as it is stored, with or without exact kinds.
    fn sealed(&self, keys: &[u64], exact: bool) -> Filter {
        let text = format!(
            r#"{{"name": "one", "version": 1, "columns": [{{"name": "c", "type": "{}"}}]}}"#,
            self.kind
        );
        let schema = Schema::from_json(&text).expect("a schema of one column");
        let column = &schema.columns()[0];
        let policy = FilterPolicy {
            budget: Budget { bits_per_key: 8, levels: 4 },
            sizes: SizeClasses::new(960),
            seed: 7,
            filtered: vec![true],
            kernel: Kernel::best(),
            exact_keys_max: if exact { 2 * RECORDS } else { 0 },
        };
        let shape = policy.open_shape(0, column, RECORDS as u64);
        let mut open = OpenColumn::reserve(column, shape, &policy, None);
        let rows: Vec<u8> =
            keys.iter().flat_map(|key| key.to_le_bytes()[..self.bytes].to_vec()).collect();
        open.insert_rows(column, &rows, schema.record_bytes());
        OpenColumn::seal_shares(&mut [&mut open], &policy, RECORDS as u64).filter
    }
}

/// Whether `filter` may hold a key of the range that `plan` was built for, if it is a bloomRF.
fn ask(filter: &Filter, plan: &RangePlan, lo: u64, hi: u64) -> bool {
    match filter {
        Filter::Exact(keys) => keys.any(lo, hi),
        Filter::BloomRf { hashed, top, .. } => plan.run(hashed, top.view()) != Answer::Absent,
        _ => true,
    }
}

fn planned(plan: &mut RangePlan, filter: &Filter, lo: u64, hi: u64) {
    if let Filter::BloomRf { layers, .. } = filter {
        plan.build(layers, lo, hi, PROBES_MAX);
    }
}

/// Bytes, and shares of the absent ranges that are found.
fn rates(column: &Column) {
    let keys = (column.keys)(1);
    let mut sorted = keys.clone();
    sort_distinct(&mut sorted);
    let key_max = u64::MAX >> (64 - 8 * column.bytes);
    let mut plan = RangePlan::default();
    for (variant, filter) in
        [("bloomrf", column.sealed(&keys, false)), ("chosen", column.sealed(&keys, true))]
    {
        let variant = format!("{variant}: {}", filter.form());
        let bytes = filter.bytes() as f64 / RECORDS as f64;
        println!("{}", Row::value("exact kinds", column.name, &variant, "size", "B/record", bytes));
        for near in [4, 10, 20] {
            for width in [1, 16, 1_024] {
                let mut random = Splitmix::new(near << 32 | width);
                let (mut absent, mut found) = (0u32, 0u32);
                for _ in 0..QUESTIONS {
                    let key = sorted[(random.draw() % sorted.len() as u64) as usize];
                    let lo = key + 1 + random.draw() % (1 << near);
                    let hi = lo + width - 1;
                    let next = sorted.partition_point(|&key| key < lo);
                    if hi > key_max || sorted.get(next).is_some_and(|&key| key <= hi) {
                        continue;
                    }
                    absent += 1;
                    planned(&mut plan, &filter, lo, hi);
                    found += u32::from(ask(&filter, &plan, lo, hi));
                }
                // In a dense column hardly any range is empty.
                if absent >= 100 {
                    let measure = format!("FPR of {width} within 2^{near}");
                    let rate = f64::from(found) / f64::from(absent);
                    println!(
                        "{}",
                        Row::value("exact kinds", column.name, &variant, &measure, "share", rate)
                    );
                }
            }
        }
    }
}

/// One question put to 512 batches: a sliced bloomRF, plain ones, and what is chosen.
fn lookups(column: &Column) {
    let all: Vec<Vec<u64>> = (0..SLOTS as u64).map(|seed| (column.keys)(seed + 1)).collect();
    // Eight copies of 64 batches: the memory differs, and that is what takes time.
    let made = |exact| -> Vec<Filter> {
        let once: Vec<Filter> = all.iter().map(|keys| column.sealed(keys, exact)).collect();
        (0..BATCHES).map(|batch| once[batch % SLOTS].clone()).collect()
    };
    let (plain, chosen) = (made(false), made(true));
    let Filter::BloomRf { layers, .. } = &plain[0] else { return };
    let words = plain.iter().map(hashed).map(<[u64]>::len).max().unwrap_or(0);
    let same = plain.iter().all(|filter| words.is_multiple_of(hashed(filter).len().max(1)));
    let mut groups = vec![];
    for chunk in plain.as_chunks::<SLOTS>().0.iter().take(if same { GROUPS } else { 0 }) {
        let mut rows = vec![0; words * SLOTS];
        let sources = std::array::from_fn(|slot| hashed(&chunk[slot]));
        sliced::build(Kernel::best(), &mut rows, &sources);
        let top: Vec<u64> = if layers.has_exact_top() { tops(chunk) } else { vec![] };
        groups.push((rows, top));
    }
    let groups = &groups;
    for (question, width) in [("point", 1), ("range of 1K", 1_024)] {
        // Near a stored key of some batch: the zone maps of few others would settle it.
        let questions = |seed: usize| {
            let mut random = Splitmix::new(seed as u64);
            let all = &all;
            move || {
                let keys = &all[(random.draw() % SLOTS as u64) as usize];
                let key = keys[(random.draw() % RECORDS as u64) as usize];
                let lo = key + random.draw() % 4_096;
                (lo, lo + width - 1)
            }
        };
        let mut variants = vec![];
        for (seed, name, filters) in [(1, "plain", &plain), (2, "chosen", &chosen)] {
            let mut next = questions(seed);
            let mut plan = RangePlan::default();
            let name = format!("{name}: {}", filters[0].form());
            variants.push(Variant::new(name, move || {
                let mut found = 0;
                for _ in 0..ASKED {
                    let (lo, hi) = next();
                    planned(&mut plan, &filters[0], lo, hi);
                    found += filters.iter().filter(|f| ask(f, &plan, lo, hi)).count() as u64;
                }
                found
            }));
        }
        let mut next = questions(3);
        let mut plan = RangePlan::default();
        if !groups.is_empty() {
            variants.push(Variant::new("sliced: bloomrf", move || {
                let mut found = 0;
                for _ in 0..ASKED {
                    let (lo, hi) = next();
                    plan.build(layers, lo, hi, PROBES_MAX);
                    let views: Vec<_> =
                        groups.iter().map(|(hashed, top)| Some(Group { hashed, top })).collect();
                    let masks = sliced::run_plan(Kernel::best(), &plan, &views, &[!0; GROUPS]);
                    found += masks.iter().map(|mask| u64::from(mask.count_ones())).sum::<u64>();
                }
                found
            }));
        }
        for (name, timing) in interleave(21, ASKED * BATCHES, &mut variants) {
            let measure = format!("{question}; one of 512 batches");
            println!("{}", Row::timing("exact kinds", column.name, &name, &measure, timing));
        }
    }
}

/// The hashed words.
fn hashed(filter: &Filter) -> &[u64] {
    match filter {
        Filter::BloomRf { hashed, .. } => hashed,
        _ => &[],
    }
}

/// Rows of the exact tops.
fn tops(chunk: &[Filter; SLOTS]) -> Vec<u64> {
    let bitmaps: Vec<Vec<u64>> = chunk
        .iter()
        .map(|filter| {
            let mut words = vec![0; 1_024];
            let Filter::BloomRf { top, .. } = filter else { return words };
            match top.view() {
                TopBits::Bitmap(bitmap) => return bitmap.to_vec(),
                TopBits::List(list) => {
                    list.iter().for_each(|&key| words[usize::from(key) / 64] |= 1 << (key % 64))
                }
                TopBits::None => {}
            }
            words
        })
        .collect();
    let mut rows = vec![0; sliced::BITMAP_ROWS];
    sliced::build(Kernel::best(), &mut rows, &std::array::from_fn(|slot| &bitmaps[slot][..]));
    rows
}

/// The sort at close, per record.
fn sorting(column: &Column) {
    let keys = (column.keys)(99);
    let (a, b) = (&keys, &keys);
    let mut variants = vec![
        Variant::new("by comparison", move || {
            let mut keys = black_box(a).clone();
            keys.sort_unstable();
            keys.dedup();
            keys.len() as u64
        }),
        Variant::new("by digits", move || {
            let mut keys = black_box(b).clone();
            sort_distinct(&mut keys);
            keys.len() as u64
        }),
    ];
    for (name, timing) in interleave(41, RECORDS, &mut variants) {
        println!("{}", Row::timing("exact kinds", column.name, &name, "sort; one record", timing));
    }
}
