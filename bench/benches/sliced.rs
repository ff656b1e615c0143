//! Bit-sliced groups against plain filters asked one by one with the same plan (hash once), all in
//! one process, rounds in turn. Each round of a variant asks questions that no variant asked just
//! before. Prints CSV; see `rounds::CSV_HEADER`. An argument keeps the sections that contain it.

use std::array;
use std::cell::RefCell;

use bloomrf_bench::rounds::{CSV_HEADER, Row, Variant, interleave};
use bloomrf_bench::uniform;
use bloomrf_kernels::arena::{Arena, ArenaConfig, Words};
use bloomrf_kernels::params::layers_for;
use bloomrf_kernels::plan::TopBits;
use bloomrf_kernels::sliced::{self, GROUPS, Group, Masks, SLOTS};
use bloomrf_kernels::{Kernel, Layers, RangePlan, bloomrf};

const ROUNDS: usize = 41;
const PROBES_MAX: u32 = 256;
/// Questions in a round.
const ASKED: usize = 64;

fn main() {
    println!("{CSV_HEADER}");
    for (batches, records, bits) in [(512, 65_536, 32), (1_024, 4_096, 32), (100_352, 4_096, 16)] {
        let case = format!("{batches} x {records} at {bits} bits");
        if wanted(&format!("lookup {case}")) {
            lookup(&case, &Store::new(batches, records, bits));
        }
    }
    if wanted("and of three") {
        and_of_three();
    }
    if wanted("exact") {
        exact();
    }
    if wanted("build") {
        build();
    }
}

fn wanted(section: &str) -> bool {
    let mut words = std::env::args().skip(1).filter(|word| !word.starts_with('-'));
    words.next().is_none_or(|word| section.contains(&word))
}

/// Batches in both forms.
struct Store {
    layers: Layers,
    plain: Vec<Words>,
    groups: Vec<Words>,
    /// Keys that every batch holds.
    everywhere: Vec<u64>,
}

impl Store {
    fn new(batches: usize, records: usize, bits: usize) -> Self {
        Self::seeded(batches, records, bits, 100)
    }

    fn seeded(batches: usize, records: usize, bits: usize, seed: u64) -> Self {
        let kernel = Kernel::best();
        let layers = layers_for(64, 42);
        let words = records * bits / 64;
        let arena =
            Arena::new(ArenaConfig::new((batches * (words + 64) * 16 + (64 << 20)) * 5 / 4))
                .expect("address space");
        let everywhere = uniform(!seed, 63, records / 32);
        // Many batches repeat 4,096 different ones: to insert more keys changes no time.
        let mut plain: Vec<Words> = vec![];
        for batch in 0..batches {
            let mut hashed = arena.words(words).expect("room");
            if batch < 4_096 {
                let keys = uniform(seed + batch as u64, 63, records);
                bloomrf::insert_many(kernel, &layers, &mut hashed, &mut [], &keys);
                bloomrf::insert_many(kernel, &layers, &mut hashed, &mut [], &everywhere);
            } else {
                hashed.copy_from_slice(&plain[batch % 4_096]);
            }
            plain.push(hashed);
        }
        let mut groups = vec![];
        for chunk in plain.as_chunks::<SLOTS>().0 {
            let mut rows = arena.words(words * SLOTS).expect("room");
            sliced::build(kernel, &mut rows, &std::array::from_fn(|slot| &chunk[slot][..]));
            groups.push(rows);
        }
        eprintln!("{} pages", arena.pages().name());
        Store { layers, plain, groups, everywhere }
    }

    fn ask_plain(&self, plan: &RangePlan) -> u64 {
        let ask = |hashed: &&Words| plan.run(hashed, TopBits::None).may_hold();
        self.plain.iter().filter(ask).count() as u64
    }

    fn ask_sliced(&self, kernel: Kernel, plan: &RangePlan) -> u64 {
        let mut found = 0;
        for groups in self.groups.chunks(GROUPS) {
            let mut ask = [0; GROUPS];
            ask[..groups.len()].fill(!0);
            let masks = run_groups(kernel, plan, groups, &ask);
            found += masks.iter().map(|mask| u64::from(mask.count_ones())).sum::<u64>();
        }
        found
    }
}

fn run_groups(kernel: Kernel, plan: &RangePlan, groups: &[Words], ask: &Masks) -> Masks {
    let mut views = [None; GROUPS];
    for (view, rows) in views.iter_mut().zip(groups) {
        *view = Some(Group { hashed: rows, top: &[] });
    }
    sliced::run_plan(kernel, plan, &views[..groups.len()], ask)
}

/// Runs the variants and prints their rows.
fn compare(
    section: &str,
    case: &str,
    measure: &str,
    operations: usize,
    variants: Vec<Variant<'_>>,
) {
    let mut variants = variants;
    for (name, timing) in interleave(ROUNDS, operations, &mut variants) {
        println!("{}", Row::timing(section, case, &name, measure, timing));
    }
}

fn lookup(case: &str, store: &Store) {
    let asked = if store.plain.len() > 10_000 { 4 } else { ASKED };
    for (question, width) in [
        ("point miss", 1),
        ("point in all", 0),
        ("range 1K", 1 << 10),
        ("range 1M", 1 << 20),
        ("range 2^30", 1 << 30),
    ] {
        let starts = match width {
            0 => store.everywhere.clone(),
            _ => uniform(5, 62, 200_000),
        };
        let starts = &starts;
        // Every variant starts elsewhere and goes on from round to round.
        let questions = |seed: usize| {
            let mut starts = starts.iter().cycle().skip(seed * 977);
            move || {
                let lo = *starts.next().expect("it goes round");
                (lo, lo + u64::max(width, 1) - 1)
            }
        };
        let mut variants = vec![];
        let (mut next, mut plan) = (questions(1), RangePlan::default());
        variants.push(Variant::new("plain, hash once", move || {
            (0..asked)
                .map(|_| {
                    let (lo, hi) = next();
                    plan.build(&store.layers, lo, hi, PROBES_MAX);
                    store.ask_plain(&plan)
                })
                .sum()
        }));
        for (seed, kernel) in (2..).zip(Kernel::all()) {
            let (mut next, mut plan) = (questions(seed), RangePlan::default());
            variants.push(Variant::new(format!("sliced {kernel}"), move || {
                (0..asked)
                    .map(|_| {
                        let (lo, hi) = next();
                        plan.build(&store.layers, lo, hi, PROBES_MAX);
                        store.ask_sliced(kernel, &plan)
                    })
                    .sum()
            }));
        }
        let (mut next, mut plan) = (questions(77), RangePlan::default());
        variants.push(Variant::new("plan alone", move || {
            (0..asked)
                .map(|_| {
                    let (lo, hi) = next();
                    plan.build(&store.layers, lo, hi, PROBES_MAX);
                    plan.probes().len() as u64
                })
                .sum()
        }));
        compare("lookup", case, question, asked, variants);
    }
}

/// 512 batches, three columns, each predicate true of every batch: the worst case of an AND, since
/// no mask ever narrows.
fn and_of_three() {
    let columns: Vec<Store> =
        (0..3).map(|column| Store::seeded(512, 65_536, 32, 9_000 * column)).collect();
    let columns = &columns;
    let asked = ASKED / 4;
    let mut at = 0;
    let mut plan = RangePlan::default();
    let mut variants = vec![Variant::new("plain", move || {
        let mut found = 0;
        for _ in 0..asked {
            at += 1;
            let mut alive = vec![true; 512];
            for (index, column) in columns.iter().enumerate() {
                let key = of_and(columns, at, index);
                plan.build(&column.layers, key, key, PROBES_MAX);
                for (alive, hashed) in alive.iter_mut().zip(&column.plain) {
                    *alive = *alive && plan.run(hashed, TopBits::None).may_hold();
                }
            }
            found += alive.iter().filter(|alive| **alive).count() as u64;
        }
        found
    })];
    for (seed, kernel) in (1..).zip(Kernel::all()) {
        let mut at = seed * 333;
        let mut plan = RangePlan::default();
        variants.push(Variant::new(format!("sliced {kernel}"), move || {
            let mut found = 0;
            for _ in 0..asked {
                at += 1;
                let mut ask = [u64::MAX; GROUPS];
                for (index, column) in columns.iter().enumerate() {
                    let key = of_and(columns, at, index);
                    plan.build(&column.layers, key, key, PROBES_MAX);
                    ask = run_groups(kernel, &plan, &column.groups, &ask);
                }
                found += ask.iter().map(|mask| u64::from(mask.count_ones())).sum::<u64>();
            }
            found
        }));
    }
    variants.extend(limits_of_and(columns, asked));
    compare("and of three", "512 x 65536 at 32 bits", "worst case", asked, variants);
}

/// The question in turn `at` about a column of [`and_of_three`].
fn of_and(columns: &[Store], at: usize, column: usize) -> u64 {
    columns[column].everywhere[at * 31 % 2_000]
}

/// What no walk can be faster than: every line that the three plans name, read in no order; and
/// the plans by themselves.
fn limits_of_and(columns: &[Store], asked: usize) -> [Variant<'_>; 2] {
    let mut at = 7_777;
    let mut plan = RangePlan::default();
    let lines = Variant::new("lines alone", move || {
        let mut found = 0;
        for _ in 0..asked {
            at += 1;
            for (index, column) in columns.iter().enumerate() {
                let key = of_and(columns, at, index);
                plan.build(&column.layers, key, key, PROBES_MAX);
                for probe in plan.probes().iter().filter(|probe| probe.length != 0) {
                    for rows in &column.groups {
                        let words = (rows.len() / SLOTS) as u64;
                        let word = ((u64::from(probe.hash) * words) >> 32) as usize;
                        found ^= rows[word * SLOTS + usize::from(probe.start)];
                    }
                }
            }
        }
        found
    });
    let mut at = 9_999;
    let mut plan = RangePlan::default();
    let plans = Variant::new("plans alone", move || {
        let mut found = 0;
        for _ in 0..asked {
            at += 1;
            for (index, column) in columns.iter().enumerate() {
                let key = of_and(columns, at, index);
                plan.build(&column.layers, key, key, PROBES_MAX);
                found += plan.probes().len() as u64;
            }
        }
        found
    });
    [lines, plans]
}

/// Bitmaps of 512 batches of a 2-byte column that holds 500 different values.
fn exact() {
    let arena = Arena::new(ArenaConfig::new(32 << 20)).expect("address space");
    let with_summary: Vec<Words> = (0..GROUPS as u64)
        .map(|group| {
            let bitmaps: Vec<Vec<u64>> = (0..SLOTS as u64)
                .map(|slot| {
                    let mut bitmap = vec![0; 1_024];
                    for key in uniform(group << 8 | slot, 16, 500) {
                        bitmap[key as usize / 64] |= 1 << (key % 64);
                    }
                    bitmap
                })
                .collect();
            let rows = sliced::BITMAP_ROWS + sliced::SUMMARY_ROWS;
            let mut rows = arena.words(rows).expect("room");
            let sources = array::from_fn(|slot| &bitmaps[slot][..]);
            sliced::build(Kernel::best(), &mut rows[..sliced::BITMAP_ROWS], &sources);
            sliced::summarise(&mut rows);
            rows
        })
        .collect();
    let with_summary = &with_summary;
    let starts = uniform(9, 16, 10_000);
    for width in [1, 64, 1_024, 16_384] {
        let mut variants = vec![];
        for (seed, (kernel, summary)) in Kernel::all()
            .into_iter()
            .flat_map(|kernel| [(kernel, false), (kernel, true)])
            .enumerate()
        {
            let mut starts = starts.iter().cycle().skip(seed * 977);
            let rows = if summary { usize::MAX } else { sliced::BITMAP_ROWS };
            let groups: Vec<_> =
                with_summary.iter().map(|all| Some(&all[..rows.min(all.len())])).collect();
            let name = if summary { "with summary" } else { "without summary" };
            variants.push(Variant::new(format!("{kernel} {name}"), move || {
                let mut found = 0;
                for _ in 0..ASKED {
                    let lo = *starts.next().expect("it goes round") as u16;
                    let hi = lo.saturating_add(width - 1);
                    let masks = sliced::exact_any(kernel, &groups, &[!0; GROUPS], lo, hi);
                    found += masks.iter().map(|mask| u64::from(mask.count_ones())).sum::<u64>();
                }
                found
            }));
        }
        compare("exact", "512 bitmaps of 500 values", &format!("{width} values"), ASKED, variants);
    }
}

/// Groups that the build variants take in turn, so that none finds its filters in a cache.
const SETS: usize = 6;

fn build() {
    for words in [1_024, 32_768] {
        let arena = Arena::new(ArenaConfig::new(words * SLOTS * 8 * (SETS * 2 + 2) * 3 / 2))
            .expect("address space");
        let room = |words| arena.words(words).expect("room");
        let filled = |seed| {
            let mut filter = room(words);
            filter.copy_from_slice(&uniform(seed, 64, words));
            filter
        };
        let sets: Vec<Vec<Words>> = (0..SETS)
            .map(|set| (0..SLOTS).map(|slot| filled((set * SLOTS + slot) as u64)).collect())
            .collect();
        let targets: Vec<_> = (0..SETS).map(|_| RefCell::new(room(words * SLOTS))).collect();
        let back: RefCell<Vec<Words>> = RefCell::new((0..SLOTS).map(|_| room(words)).collect());
        let (sets, targets, back) = (&sets, &targets, &back);
        let turn = |seed: usize| {
            let mut at = seed;
            move || {
                at += 1;
                (&sets[at % SETS], &targets[at % SETS])
            }
        };
        let mut next = turn(0);
        let mut variants = vec![Variant::new("memcpy", move || {
            let (filters, target) = next();
            let mut target = target.borrow_mut();
            for (filter, target) in filters.iter().zip(target.chunks_exact_mut(words)) {
                target.copy_from_slice(filter);
            }
            target[77]
        })];
        for (seed, kernel) in (1..).zip(Kernel::all()) {
            let mut next = turn(seed);
            variants.push(Variant::new(format!("build {kernel}"), move || {
                let (filters, target) = next();
                let mut target = target.borrow_mut();
                sliced::build(kernel, &mut target, &array::from_fn(|slot| &filters[slot][..]));
                target[77]
            }));
            let mut next = turn(seed);
            variants.push(Variant::new(format!("unbuild {kernel}"), move || {
                let mut back = back.borrow_mut();
                let mut filters = back.iter_mut().map(|filter| &mut filter[..]);
                let mut filters = array::from_fn(|_| filters.next().expect("64 filters"));
                sliced::unbuild(kernel, &next().1.borrow(), &mut filters);
                filters[5][77]
            }));
        }
        let case = format!("64 filters of {words} words");
        compare("build", &case, "one word", words * SLOTS, variants);
    }
}
