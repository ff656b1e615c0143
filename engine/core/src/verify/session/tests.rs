//! The session message by message; `tests/wire_fuzz/session.rs` breaks its line at any byte.

use super::*;
use crate::wire::stream::DELETED_MAX;

const CLUSTER: ClusterId = ClusterId(1);
const FINGERPRINT: Fingerprint = Fingerprint(2);
const HASH: HashAlgorithm = HashAlgorithm::Xxh3;

fn session(pending_max: usize) -> Session {
    Session::new(SessionConfig {
        cluster: CLUSTER,
        fingerprint: FINGERPRINT,
        node: "n1".into(),
        pending_max,
    })
}

fn hash_of(value: u8) -> BatchHash {
    let mut digest = [0; 32];
    digest[0] = value;
    BatchHash { algorithm: HASH, digest }
}

fn bytes_of(message: &StreamMessage) -> Vec<u8> {
    let mut out = Vec::new();
    message.encode(&mut out);
    out
}

fn welcome() -> Vec<u8> {
    bytes_of(&StreamMessage::Welcome { hash: HASH, repairs: Some(false) })
}

fn verdict(batch: BatchId, hash: BatchHash, verdict: Verdict) -> Vec<u8> {
    bytes_of(&StreamMessage::Verdict { batch, hash, verdict })
}

fn messages(bytes: &[u8]) -> Vec<StreamMessage> {
    let mut decoder = StreamDecoder::default();
    decoder.push(bytes);
    std::iter::from_fn(|| decoder.next_message().unwrap()).collect()
}

fn sent(session: &mut Session) -> Vec<StreamMessage> {
    messages(&session.take_output())
}

fn events(session: &mut Session) -> Vec<SessionEvent> {
    std::iter::from_fn(|| session.next_event()).collect()
}

fn seen(batch: BatchId, value: u8) -> StreamMessage {
    StreamMessage::Seen { batch, records: 10, hash: hash_of(value) }
}

fn hello() -> StreamMessage {
    hello_of(VERSION)
}

fn hello_of(version: u8) -> StreamMessage {
    let node = "n1".into();
    StreamMessage::Hello { cluster: CLUSTER, fingerprint: FINGERPRINT, node, version }
}

#[test]
fn hello_comes_first_and_every_unjudged_batch_follows_every_connect() {
    let mut s = session(8);
    s.offer(7, 10, hash_of(1));
    s.offer(5, 10, hash_of(2));
    assert!(s.take_output().is_empty(), "not connected");
    for version in [VERSION, VERSION] {
        s.on_connected();
        assert_eq!(sent(&mut s), [hello_of(version), seen(7, 1), seen(5, 2)]);
        assert!(s.take_output().is_empty(), "sent once per connection");
    }
    s.offer(6, 10, hash_of(3));
    assert_eq!(sent(&mut s), [seen(6, 3)]);
    s.on_bytes(&welcome()).unwrap();
    assert!(s.is_welcomed());
    s.on_bytes(&verdict(5, hash_of(2), Verdict::Verified)).unwrap();
    assert_eq!(
        events(&mut s),
        [SessionEvent::Welcome(HASH), SessionEvent::Judged(5, hash_of(2), Verdict::Verified)]
    );
    s.on_disconnected();
    assert!(!s.is_welcomed());
    s.on_connected();
    assert_eq!(sent(&mut s), [hello(), seen(7, 1), seen(6, 3)]);
}

#[test]
fn a_verdict_on_another_hash_or_batch_is_ignored_and_counted() {
    let mut s = session(8);
    s.on_connected();
    s.offer(1, 10, hash_of(1));
    assert_eq!(sent(&mut s), [hello(), seen(1, 1)]);
    // Sealed again with another hash while the first report is still on its way.
    s.offer(1, 10, hash_of(2));
    s.on_bytes(&welcome()).unwrap();
    s.on_bytes(&verdict(1, hash_of(1), Verdict::Verified)).unwrap();
    s.on_bytes(&verdict(9, hash_of(1), Verdict::Verified)).unwrap();
    assert_eq!(events(&mut s), [SessionEvent::Welcome(HASH)]);
    assert_eq!((s.verdicts_ignored(), s.pending()), (2, 1));
    assert_eq!(sent(&mut s), [seen(1, 2)]);
    s.on_bytes(&verdict(1, hash_of(2), Verdict::Mismatch)).unwrap();
    s.on_bytes(&verdict(1, hash_of(2), Verdict::Mismatch)).unwrap();
    let (judged, revoked) = (
        SessionEvent::Judged(1, hash_of(2), Verdict::Mismatch),
        SessionEvent::Revoked(1, hash_of(2), Verdict::Mismatch),
    );
    assert_eq!(events(&mut s), [judged, revoked]);
    assert_eq!((s.verdicts_ignored(), s.pending()), (3, 0));
}

#[test]
fn the_same_offer_twice_is_sent_once_until_it_is_judged() {
    let mut s = session(8);
    s.on_connected();
    s.offer(1, 10, hash_of(1));
    s.offer(1, 10, hash_of(1));
    assert_eq!(sent(&mut s), [hello(), seen(1, 1)]);
    s.offer(1, 10, hash_of(1));
    assert!(s.take_output().is_empty());
    s.on_bytes(&welcome()).unwrap();
    s.on_bytes(&verdict(1, hash_of(1), Verdict::Verified)).unwrap();
    s.offer(1, 10, hash_of(1));
    assert_eq!(sent(&mut s), [seen(1, 1)], "a judged batch may be asked about again");
}

#[test]
fn the_oldest_unjudged_batch_is_given_up_first_and_said() {
    let mut s = session(2);
    for batch in [30, 20, 10] {
        s.offer(batch, 10, hash_of(1));
    }
    assert_eq!(events(&mut s), [SessionEvent::GivenUp(30)]);
    s.on_connected();
    assert_eq!(sent(&mut s), [hello(), seen(20, 1), seen(10, 1)]);
    let mut none = session(0);
    none.offer(1, 10, hash_of(1));
    assert_eq!(none.pending(), 1, "at least one is always kept");
}

#[test]
fn deleted_batches_are_forgotten_and_passed_on() {
    let mut s = session(8);
    s.on_connected();
    s.offer(1, 10, hash_of(1));
    s.offer(2, 10, hash_of(1));
    s.on_bytes(&welcome()).unwrap();
    s.on_bytes(&bytes_of(&StreamMessage::Deleted { batches: vec![2, 99] })).unwrap();
    assert_eq!(s.pending(), 1);
    assert!(events(&mut s).contains(&SessionEvent::Deleted(vec![2, 99])));
    assert_eq!(sent(&mut s), [hello(), seen(1, 1)], "2 was never sent");
}

#[test]
fn another_elected_hash_is_said_once_per_connection() {
    let elected = HashAlgorithm::Sha256;
    let other = SessionEvent::OtherHash { elected, seen: HASH };
    let mut s = session(8);
    s.offer(1, 10, hash_of(1));
    for _ in 0..2 {
        s.on_connected();
        s.on_bytes(&bytes_of(&StreamMessage::Welcome { hash: elected, repairs: Some(true) }))
            .unwrap();
        s.offer(2, 10, hash_of(2));
        assert_eq!(events(&mut s), [SessionEvent::Welcome(elected), other.clone()]);
    }
    let mut late = session(8);
    late.on_connected();
    late.on_bytes(&bytes_of(&StreamMessage::Welcome { hash: elected, repairs: Some(true) }))
        .unwrap();
    late.offer(2, 10, hash_of(2));
    assert_eq!(events(&mut late), [SessionEvent::Welcome(elected), other]);
}

#[test]
fn after_refused_nothing_is_sent_and_nothing_else_accepted() {
    let mut s = session(8);
    s.offer(1, 10, hash_of(1));
    s.on_connected();
    let reason = RefuseReason::Schema;
    s.on_bytes(&bytes_of(&StreamMessage::Refused { reason })).unwrap();
    assert_eq!(events(&mut s), [SessionEvent::Refused(reason)]);
    assert!(s.take_output().is_empty());
    assert_eq!(s.on_bytes(&welcome()), Err(StreamError::Field));
    assert_eq!(s.on_bytes(&[]), Err(StreamError::Field), "broken until the next connect");
    s.on_connected();
    assert_eq!(sent(&mut s), [hello(), seen(1, 1)]);
}

#[test]
fn messages_out_of_order_or_of_the_wrong_side_break_the_stream() {
    let early = verdict(1, hash_of(1), Verdict::Verified);
    let deleted = bytes_of(&StreamMessage::Deleted { batches: vec![1] });
    let twice = [welcome(), welcome()].concat();
    for bytes in [early, deleted, twice, bytes_of(&hello()), bytes_of(&seen(1, 1))] {
        let mut s = session(8);
        s.offer(1, 10, hash_of(1));
        s.on_connected();
        assert_eq!(s.on_bytes(&bytes), Err(StreamError::Field));
        assert!(s.take_output().is_empty());
        assert_eq!(s.pending(), 1, "what is unjudged survives a broken stream");
    }
}

#[test]
fn half_a_message_does_not_survive_the_connection() {
    let mut s = session(8);
    s.offer(1, 10, hash_of(1));
    s.on_connected();
    s.on_bytes(&welcome()).unwrap();
    let judged = verdict(1, hash_of(1), Verdict::Verified);
    s.on_bytes(&judged[..20]).unwrap();
    s.on_connected();
    s.on_bytes(&welcome()).unwrap();
    s.on_bytes(&judged[20..]).unwrap_err();
    assert_eq!(s.pending(), 1);
}

#[test]
fn a_push_of_any_size_is_taken() {
    let mut s = session(8);
    s.on_connected();
    let mut bytes = welcome();
    StreamMessage::Deleted { batches: vec![3; DELETED_MAX + 1] }.encode(&mut bytes);
    s.on_bytes(&bytes).unwrap();
    assert_eq!(s.decoder.held_bytes(), 0);
    let gone = events(&mut s);
    assert_eq!(gone.len(), 3, "welcome and two parts of a long list");
    let mut other_version = welcome();
    other_version[9] = VERSION + 1;
    let crc_at = other_version.len() - 4;
    let crc = crc32c::crc32c(&other_version[..crc_at]);
    other_version[crc_at..].copy_from_slice(&crc.to_le_bytes());
    s.on_connected();
    assert_eq!(s.on_bytes(&other_version), Err(StreamError::Version));
}

fn missing(batch: BatchId) -> Missing {
    Missing { batch, close: true, ranges: Vec::new() }
}

#[test]
fn a_verdict_that_contradicts_an_earlier_one_is_passed_on_and_never_verifies() {
    let mut s = session(8);
    s.on_connected();
    s.offer(1, 10, hash_of(1));
    s.on_bytes(&welcome()).unwrap();
    s.on_bytes(&verdict(1, hash_of(1), Verdict::Verified)).unwrap();
    s.on_bytes(&verdict(1, hash_of(1), Verdict::Mismatch)).unwrap();
    s.on_bytes(&verdict(1, hash_of(1), Verdict::Verified)).unwrap();
    let (judged, revoked) = (
        SessionEvent::Judged(1, hash_of(1), Verdict::Verified),
        SessionEvent::Revoked(1, hash_of(1), Verdict::Mismatch),
    );
    assert_eq!(events(&mut s), [SessionEvent::Welcome(HASH), judged, revoked]);
}

/// An SCC of before there were repairs: hangs up on a version that it does not know, or says so.
#[test]
fn an_old_scc_is_greeted_in_its_version_and_never_asked_for_frames() {
    for says_so in [false, true] {
        let mut s = session(8);
        s.offer(1, 10, hash_of(1));
        for version in [VERSION, VERSION, VERSION_OLDEST, VERSION, VERSION, VERSION_OLDEST] {
            s.on_connected();
            assert_eq!(sent(&mut s), [hello_of(version), seen(1, 1)], "{says_so}");
            if says_so && version == VERSION {
                let refused = StreamMessage::Refused { reason: RefuseReason::Version };
                assert_eq!(s.on_bytes(&bytes_of(&refused)), Err(StreamError::Version));
            }
            s.on_disconnected();
        }
        for _ in 0..3 {
            s.on_connected();
        }
        let welcome = StreamMessage::Welcome { hash: HASH, repairs: None };
        s.on_bytes(&bytes_of(&welcome)).unwrap();
        assert_eq!(events(&mut s), [SessionEvent::Welcome(HASH)], "no refusal of its version");
        sent(&mut s);
        s.ask(missing(5));
        assert!(!s.repairs() && s.take_output().is_empty());
        let frame = StreamMessage::Frame { bytes: vec![1; 64] };
        assert_eq!(s.on_bytes(&bytes_of(&frame)), Err(StreamError::Field));
        s.on_connected();
        assert_eq!(sent(&mut s)[0], hello(), "the next one may be newer");
    }
}

#[test]
fn a_welcome_of_another_version_than_the_hello_breaks_the_stream() {
    let welcome = |repairs| bytes_of(&StreamMessage::Welcome { hash: HASH, repairs });
    let mut s = session(8);
    s.on_connected();
    assert_eq!(s.on_bytes(&welcome(None)), Err(StreamError::Version));
    s.on_connected();
    s.on_connected();
    assert_eq!(sent(&mut s), [hello_of(VERSION_OLDEST)]);
    assert_eq!(s.on_bytes(&welcome(Some(true))), Err(StreamError::Version));
}

#[test]
fn frames_are_asked_for_where_the_scc_repairs_and_not_after_the_connection() {
    let mut s = session(8);
    s.ask(missing(1));
    s.on_connected();
    assert_eq!(sent(&mut s), [hello()], "not asked while nobody was there");
    s.on_bytes(&bytes_of(&StreamMessage::Welcome { hash: HASH, repairs: Some(true) })).unwrap();
    assert!(s.repairs());
    (2..2 + 5 * REPAIR_BATCHES_MAX as u64).for_each(|batch| s.ask(missing(batch)));
    let asked = sent(&mut s);
    assert_eq!(asked.len(), REPAIR_BATCHES_MAX, "of a peer that does not read, the newest");
    assert_eq!(asked.last(), Some(&StreamMessage::Missing(missing(11))));
    assert!(s.take_output().is_empty(), "asked once");
    let frame = StreamMessage::Frame { bytes: vec![7; 70] };
    let answer = [frame, StreamMessage::NotKept { batch: 11 }].map(|m| bytes_of(&m)).concat();
    s.on_bytes(&answer).unwrap();
    let got =
        [SessionEvent::Welcome(HASH), SessionEvent::Frame(vec![7; 70]), SessionEvent::NotKept(11)];
    assert_eq!(events(&mut s), got);
    s.ask(missing(3));
    s.on_disconnected();
    assert!(!s.repairs());
    s.on_connected();
    assert_eq!(sent(&mut s), [hello()]);
    s.on_bytes(&welcome()).unwrap();
    assert!(!s.repairs(), "this one does not");
    assert_eq!(s.on_bytes(&answer), Err(StreamError::Field));
}
