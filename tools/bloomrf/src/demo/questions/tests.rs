use bloomrf_engine::schema::PacketFields;
use bloomrf_oracle::decode_row;
use bloomrf_refcluster::truth;

use super::*;

fn rows(schema: &Schema) -> Vec<Vec<Value>> {
    let mut record = vec![0; schema.record_bytes()];
    let fields = truth::fields(schema);
    let row = |i: u8| {
        let v6 = i.is_multiple_of(3);
        let packet = PacketFields {
            ts_ns: 1_772_438_400_000_000_000 + i64::from(i) * 999_999_937,
            src_mac: Some([2, 0, 0, 0, 0, i]),
            dst_mac: Some([2, 0, 0, 0, 1, i]),
            ethertype: Some(if v6 { 0x86dd } else { 0x0800 }),
            vlan: i.is_multiple_of(4).then_some(u16::from(i)),
            src_ip4: (!v6).then_some([10, 0, i, 1]),
            dst_ip4: (!v6).then_some([192, 168, 0, i]),
            src_ip6: v6.then_some([i; 16]),
            dst_ip6: v6.then_some([i.wrapping_add(1); 16]),
            proto: Some(6),
            src_port: Some(40_000 + u16::from(i)),
            dst_port: Some(443),
            tcp_flags: Some(i),
            length: 60 + u32::from(i),
        };
        packet.encode(&mut record);
        decode_row(&fields, &record)
    };
    (0..50).map(row).collect()
}

#[test]
fn every_question_parses_and_none_is_asked_twice() {
    let schema = Schema::packet();
    let rows = rows(&schema);
    let questions = Generator::new(&schema, &rows, Chance::new(3)).generate(300);
    assert_eq!(questions.len(), 300);
    let texts: HashSet<&str> = questions.iter().map(|q| q.text.as_str()).collect();
    assert_eq!(texts.len(), 300);
    for part in [" AND ", " OR ", "NOT ", " IN (", "IS NULL", "host", "net", "port", "BETWEEN"] {
        assert!(texts.iter().any(|t| t.contains(part)), "no question with {part}");
    }
}

#[test]
fn a_classed_question_is_true_somewhere() {
    let schema = Schema::packet();
    let rows = rows(&schema);
    let questions = Generator::new(&schema, &rows, Chance::new(4)).generate(200);
    let classed: Vec<&Question> = questions.iter().filter(|q| q.class.is_some()).collect();
    assert!(classed.len() > 40, "{}", classed.len());
    for question in classed {
        let judge = truth::Judge::new(&schema, &question.predicate).unwrap();
        assert!(rows.iter().any(|row| judge.matches(row)), "{}", question.text);
    }
}

#[test]
fn the_same_seed_asks_the_same() {
    let schema = Schema::packet();
    let rows = rows(&schema);
    let texts = |seed| -> Vec<String> {
        let questions = Generator::new(&schema, &rows, Chance::new(seed)).generate(40);
        questions.into_iter().map(|q| q.text).collect()
    };
    assert_eq!(texts(9), texts(9));
    assert_ne!(texts(9), texts(10));
}

#[test]
fn data_of_nothing_but_nulls_still_gives_questions() {
    let schema = Schema::packet();
    let mut record = vec![0; schema.record_bytes()];
    PacketFields::default().encode(&mut record);
    let rows = vec![decode_row(&truth::fields(&schema), &record)];
    let questions = Generator::new(&schema, &rows, Chance::new(1)).generate(20);
    assert!(!questions.is_empty());
}

#[test]
fn times_are_spelled_as_calendars_do() {
    use super::single::iso;
    assert_eq!(iso(0), "1970-01-01T00:00:00Z");
    assert_eq!(iso(1_772_438_400_000_000_000), "2026-03-02T08:00:00Z");
    assert_eq!(iso(951_782_400_500_000_000), "2000-02-29T00:00:00.5Z");
    assert_eq!(iso(-1), "1969-12-31T23:59:59.999999999Z");
}
