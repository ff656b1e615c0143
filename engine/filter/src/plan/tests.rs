use super::*;
use crate::{Blocked, Build, Classic, Presence, Spec, SplitBlock};

fn sized(items: u64, fpr: f64) -> Plan {
    let question = Question { items: Some(items), fpr: Some(fpr), ..Question::default() };
    Plan::of(&question).unwrap()
}

#[test]
fn the_published_figures_come_out() {
    let plan = sized(100_000_000, 0.01);
    let classic = plan.shape(Structure::Classic).unwrap();
    assert_eq!((classic.bits, classic.k), (958_505_838, 7));
    assert_eq!(classic.bytes(), 8 * 14_976_654);
    let guava = Share::Guava.sized(&plan).unwrap();
    assert_eq!((guava.bits_asked, guava.words, guava.k), (958_505_837, 14_976_654, 7));
    for (fpr, mb) in [(0.01, 35.0), (0.001, 52.0), (0.0001, 70.0)] {
        let bytes = sized(30_000_000, fpr).shape(Structure::Classic).unwrap().bytes();
        let mib = bytes as f64 / 1_048_576.0;
        let decimal = bytes as f64 / 1e6;
        // "About 35 MB" is 35.9 decimal and 34.3 binary; the others are binary and decimal too.
        assert!((mib - mb).abs() < 2.0 && (decimal - mb).abs() < 2.5, "{fpr}: {mib} {decimal}");
    }
    let given = Question { items: Some(1_000_000), bits: Some(10_000_000), ..Question::default() };
    let classic = Plan::of(&given).unwrap().shape(Structure::Classic).unwrap();
    assert_eq!((classic.bits, classic.k), (10_000_000, 7));
    assert!((classic.fpr_expected() - 0.00819).abs() < 5e-6, "{}", classic.fpr_expected());
    let counting = plan.shape(Structure::Counting).unwrap();
    assert_eq!(counting.bits, 4 * 958_505_838);
    assert!(
        (counting.fpr_expected() - plan.shape(Structure::Classic).unwrap().fpr_expected()).abs()
            < 1e-12
    );
}

#[test]
fn a_row_is_as_large_as_the_filter_that_is_built() {
    for (items, fpr) in [(1, 0.5), (1_000, 0.01), (5_000, 1e-3), (40_000, 1e-4), (70, 0.3)] {
        let spec = Spec { items, fpr };
        let plan = sized(items, fpr);
        let bytes = |structure| plan.shape(structure).unwrap().bytes();
        assert_eq!(bytes(Structure::Classic), Classic::build(&spec).unwrap().bytes());
        assert_eq!(bytes(Structure::Blocked), Blocked::build(&spec).unwrap().bytes());
        assert_eq!(bytes(Structure::SplitBlock), SplitBlock::build(&spec).unwrap().bytes());
    }
}

#[test]
fn any_two_of_items_rate_and_memory_lead_back_to_the_third() {
    let plan = sized(200_000, 0.003);
    for row in &plan.rows {
        let Ok(shape) = row.shape else { continue };
        let bits = Some(shape.bits);
        let by_memory = Question { bits, items: Some(200_000), ..Question::default() };
        let by_memory = Plan::of(&by_memory).unwrap().shape(row.structure).unwrap();
        assert!(by_memory.bits <= shape.bits, "{}", row.structure);
        assert!(by_memory.fpr_expected() <= 0.003 * 1.02, "{}", row.structure);
        if shape.structure.is_exact() {
            continue;
        }
        let by_rate = Question { bits, fpr: Some(0.003), ..Question::default() };
        let by_rate = Plan::of(&by_rate).unwrap().shape(row.structure).unwrap();
        let ratio = by_rate.items as f64 / 200_000.0;
        // A whole block, a whole word, and a k that is a whole number.
        assert!((0.99..1.01).contains(&ratio), "{}: {ratio}", row.structure);
    }
}

#[test]
fn what_cannot_be_says_why() {
    let plan = sized(1_000_000, 1e-9);
    let why = |structure| plan.rows.iter().find(|r| r.structure == structure).unwrap().shape;
    assert!(matches!(why(Structure::Cuckoo), Err(WhyNot::Lowest { fpr }) if fpr > 1e-4));
    assert!(matches!(why(Structure::Bitmap), Err(WhyNot::Domain { key_bits: 64 })));
    let tight = Question {
        items: Some(1_000_000),
        fpr: Some(0.01),
        bits: Some(1_000),
        ..Question::default()
    };
    let plan = Plan::of(&tight).unwrap();
    let is_short = |row: &Row| matches!(row.shape, Err(WhyNot::Memory { bits }) if bits > 1_000);
    assert!(plan.rows.iter().filter(|row| is_short(row)).count() >= 8);
    let k = Question { k: Some(3), items: Some(1_000), fpr: Some(0.01), ..Question::default() };
    let plan = Plan::of(&k).unwrap();
    assert_eq!(plan.shape(Structure::Classic).unwrap().k, 3);
    let probes = Err(WhyNot::Probes { least: 4, most: 8 });
    assert_eq!(plan.rows[1].shape, probes);
}

#[test]
fn too_little_and_nonsense_are_refused() {
    let refusal = |question: Question| Plan::of(&question).unwrap_err();
    let none = Question::default();
    assert_eq!(refusal(none), PlanRefusal::TooLittle);
    assert_eq!(refusal(Question { items: Some(5), ..none }), PlanRefusal::TooLittle);
    assert_eq!(refusal(Question { fpr: Some(0.1), k: Some(5), ..none }), PlanRefusal::TooLittle);
    assert_eq!(refusal(Question { items: Some(0), fpr: Some(0.1), ..none }), PlanRefusal::Items(0));
    assert_eq!(
        refusal(Question { items: Some(9), fpr: Some(1.0), ..none }),
        PlanRefusal::Rate(1.0)
    );
    assert_eq!(refusal(Question { items: Some(9), bits: Some(0), ..none }), PlanRefusal::NoBits);
    assert_eq!(
        refusal(Question { items: Some(9), bits: Some(9), k: Some(65), ..none }),
        PlanRefusal::Probes(65)
    );
}

#[test]
fn k_and_one_more_is_a_filter_half_full() {
    let none = Question::default();
    let by_items = Plan::of(&Question { items: Some(10_000), k: Some(7), ..none }).unwrap();
    let shape = by_items.shape(Structure::Classic).unwrap();
    assert!((shape.bits_per_key() - 7.0 / std::f64::consts::LN_2).abs() < 0.01);
    let by_bits = Plan::of(&Question { bits: Some(shape.bits), k: Some(7), ..none }).unwrap();
    let items = by_bits.shape(Structure::Classic).unwrap().items;
    assert!(items.abs_diff(10_000) <= 10, "{items}");
}

#[test]
fn the_rate_past_capacity_grows_but_for_what_grows_itself() {
    let loads = [0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0];
    let plan = sized(50_000, 0.01);
    for row in &plan.rows {
        let Ok(shape) = row.shape else { continue };
        let rates = shape.fpr_at(&loads);
        let known: Vec<f64> = rates.iter().filter_map(|(_, fpr)| *fpr).collect();
        assert!(known.windows(2).all(|two| two[0] <= two[1] + 1e-15), "{}", row.structure);
        let past = rates[6].1;
        match row.structure {
            Structure::Cuckoo => assert_eq!(past, None),
            Structure::HashSet => assert_eq!(past, Some(0.0)),
            Structure::Scaling => assert!(past.unwrap() <= 0.01),
            _ => assert!(past.unwrap() > 0.05, "{}: {past:?}", row.structure),
        }
        let margin = shape.margin();
        assert_eq!(margin.is_none(), row.structure.grows());
        if let Some(margin) = margin {
            assert!((1.0..1.5).contains(&margin), "{}: {margin}", row.structure);
        }
    }
}

#[test]
fn the_model_of_past_capacity_is_what_filters_do() {
    let spec = Spec { items: 20_000, fpr: 0.01 };
    let plan = sized(spec.items, spec.fpr);
    let item = |i: u64| crate::HashRule::Native { seed: 5 }.hash(&i.to_le_bytes());
    let mut classic = Classic::build(&spec).unwrap();
    let mut blocked = Blocked::build(&spec).unwrap();
    for i in 0..30_000 {
        classic.insert(item(i));
        blocked.insert(item(i));
    }
    for (structure, measured) in
        [(Structure::Classic, classic.fpr()), (Structure::Blocked, blocked.fpr())]
    {
        let expected = plan.shape(structure).unwrap().fpr(30_000).unwrap();
        assert!((measured / expected - 1.0).abs() < 0.05, "{structure}: {measured} {expected}");
    }
}

#[test]
fn advice_follows_the_needs() {
    let take = |plan: &Plan, need: Need| plan.advise(&need).take;
    let none = Need::default();
    let plan = sized(10_000_000, 0.01);
    assert_eq!(take(&plan, none), Some(Structure::Blocked));
    assert_eq!(take(&plan, Need { delete: true, ..none }), Some(Structure::Cuckoo));
    assert_eq!(take(&plan, Need { range: true, ..none }), Some(Structure::BloomrfRanges));
    assert_eq!(take(&plan, Need { grow: true, ..none }), Some(Structure::Scaling));
    for (share, structure) in
        [(Share::Parquet, Structure::SplitBlock), (Share::Guava, Structure::Classic)]
    {
        assert_eq!(take(&plan, Need { share: Some(share), ..none }), Some(structure));
    }
    let both = plan.advise(&Need { range: true, share: Some(Share::Guava), ..none });
    assert_eq!(both.take, None);
    assert!(both.why.contains("nothing here does all of it"), "{}", both.why);
    // A rate below what 16 bits can do is what counters are for.
    let tight = sized(1_000_000, 1e-6);
    assert_eq!(take(&tight, Need { delete: true, ..none }), Some(Structure::Counting));
    let tighter = sized(1_000_000, 1e-9);
    assert_eq!(take(&tighter, Need { delete: true, ..none }), Some(Structure::HashSet));
    // Keys of 16 bits: a bit for each is smaller than any filter of 20,000 of them.
    let keys = Keys { key_bits: 16, ..Keys::default() };
    let narrow = Question { items: Some(20_000), fpr: Some(0.01), keys, ..Question::default() };
    assert_eq!(take(&Plan::of(&narrow).unwrap(), none), Some(Structure::Bitmap));
}

#[test]
fn a_hash_set_is_what_its_formula_says() {
    let keys = Keys::default();
    // 16,384 buckets hold 14,336; one more doubles them.
    let bits = |items| size::for_rate(Structure::HashSet, keys, items, 0.1, None).unwrap().bits;
    assert_eq!(bits(14_336), 8 * (16_384 * 9 + 16));
    assert_eq!(bits(14_337), 8 * (32_768 * 9 + 16));
    let text = Keys { item_bytes: Some(20), ..keys };
    let strings = size::for_rate(Structure::HashSet, text, 14_336, 0.1, None).unwrap();
    assert_eq!(strings.bits, 8 * (16_384 * 25 + 16 + 14_336 * 32));
    assert!(table::formula(&text).contains("32 bytes of text"));
}
