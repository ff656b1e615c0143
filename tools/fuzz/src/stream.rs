//! The verification stream: cut anywhere, it gives messages or one lasting error, and holds little.

use bloomrf_engine::identity::{ClusterId, Fingerprint};
use bloomrf_engine::limits::STREAM_BYTES_MAX;
use bloomrf_engine::verify::{BatchHash, HashAlgorithm, Session, SessionConfig};
use bloomrf_engine::wire::stream::{
    PUSH_BYTES_MAX, RefuseReason, StreamDecoder, StreamMessage, VERSION, Verdict,
};

use crate::checksum::seal_stream;

/// Bytes as they are, and with right lengths and checksums.
pub fn run(bytes: &[u8]) {
    decode(bytes);
    let mut sealed = bytes.to_vec();
    seal_stream(&mut sealed);
    decode(&sealed);
    converse(&sealed);
}

fn decode(bytes: &[u8]) {
    let mut decoder = StreamDecoder::default();
    let mut error = None;
    // Cut at places that the bytes themselves choose.
    let step = 1 + bytes.first().map_or(0, |byte| usize::from(*byte)) * 7;
    for part in bytes.chunks(step.min(PUSH_BYTES_MAX)) {
        decoder.push(part);
        loop {
            match decoder.next_message() {
                Ok(Some(message)) => {
                    assert_eq!(error, None, "a broken stream stays broken");
                    let mut again = Vec::new();
                    message.encode(&mut again);
                    let mut other = StreamDecoder::default();
                    other.push(&again);
                    assert_eq!(other.next_message(), Ok(Some(message)), "encode then decode");
                }
                Ok(None) => break,
                Err(reason) => {
                    assert_eq!(*error.get_or_insert(reason), reason, "one lasting error");
                    break;
                }
            }
        }
        assert!(decoder.held_bytes() <= STREAM_BYTES_MAX + PUSH_BYTES_MAX);
    }
}

/// The node's side against an SCC that sends these bytes: no verdict but on what is pending.
fn converse(bytes: &[u8]) {
    let config = SessionConfig {
        cluster: ClusterId(7),
        fingerprint: Fingerprint(9),
        node: "fuzz".to_owned(),
        pending_max: 8,
    };
    let mut session = Session::new(config);
    session.on_connected();
    for batch in 0..20 {
        session.offer(batch, 10, hash());
    }
    let _ = session.take_output();
    let outcome = session.on_bytes(bytes);
    assert!(session.pending() <= 8);
    if let Err(error) = outcome {
        assert_eq!(session.on_bytes(bytes), Err(error), "until it is disconnected");
    }
    let mut events = 0_usize;
    while session.next_event().is_some() {
        events += 1;
    }
    assert!(events <= bytes.len() + 64, "{events} events of {} bytes", bytes.len());
}

/// Streams to start from.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let hash = hash();
    let mut answer = Vec::new();
    StreamMessage::Welcome { hash: HashAlgorithm::Xxh3, repairs: Some(true) }.encode(&mut answer);
    for batch in 10..20 {
        StreamMessage::Verdict { batch, hash, verdict: Verdict::Verified }.encode(&mut answer);
    }
    StreamMessage::Deleted { batches: vec![1, 2, 3] }.encode(&mut answer);
    StreamMessage::Frame { bytes: vec![7; 100] }.encode(&mut answer);
    StreamMessage::NotKept { batch: 5 }.encode(&mut answer);
    let mut question = Vec::new();
    let node = "name".to_owned();
    let (cluster, fingerprint) = (ClusterId(7), Fingerprint(9));
    StreamMessage::Hello { cluster, fingerprint, node, version: VERSION }.encode(&mut question);
    StreamMessage::Seen { batch: 3, records: 9, hash }.encode(&mut question);
    let mut refusal = Vec::new();
    StreamMessage::Refused { reason: RefuseReason::Schema }.encode(&mut refusal);
    vec![answer, question, refusal]
}

fn hash() -> BatchHash {
    BatchHash { algorithm: HashAlgorithm::Xxh3, digest: [3; 32] }
}
