//! A broadcaster with a key seals every frame, and still fits its datagrams.
#![allow(clippy::unwrap_used, reason = "a test may unwrap")]

use std::sync::{Arc, Mutex};

use bloomrf_engine::identity::ClusterId;
use bloomrf_engine::limits::DATAGRAM_BYTES_MAX;
use bloomrf_engine::schema::Schema;
use bloomrf_engine::wire::frame::{Frame, authenticate};
use bloomrf_engine::wire::mac::{KeyRing, MacError, MacKey};
use bloomrf_netio::LinkError;
use bloomrf_refcluster::{BroadcastConfig, Broadcaster, FrameSink, Pace};

#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<Vec<u8>>>>);

impl FrameSink for Kept {
    fn send(&mut self, _lane: u8, frame: &[u8]) -> Result<(), LinkError> {
        self.0.lock().unwrap().push(frame.to_vec());
        Ok(())
    }
}

#[test]
fn every_frame_of_a_broadcaster_with_a_key_is_sealed_and_fits() {
    let schema = Arc::new(Schema::packet());
    let size = schema.record_bytes();
    let ring = KeyRing::of(MacKey::new(4, &[4; 16]));
    for key in [None, Some(ring.signer().clone())] {
        let expected = if key.is_some() { Ok(()) } else { Err(MacError::Unkeyed) };
        let mut config = BroadcastConfig::new(ClusterId(1), Arc::clone(&schema));
        (config.lanes, config.batch_records, config.key) = (2, 100, key);
        let kept = Kept::default();
        let mut broadcaster =
            Broadcaster::over(config, Box::new(kept.clone()), Pace::Free).unwrap();
        (0..250_u8).for_each(|i| broadcaster.push(&vec![i; size]).unwrap());
        let totals = broadcaster.finish().unwrap();
        let frames = kept.0.lock().unwrap();
        assert_eq!((totals.frames, totals.records), (frames.len() as u64, 250));
        let mut records = 0;
        for frame in frames.iter() {
            assert!(frame.len() <= DATAGRAM_BYTES_MAX);
            assert_eq!(authenticate(frame, &ring), expected);
            if let Frame::Data { records: some, .. } = Frame::parse(frame, size).unwrap() {
                records += u64::from(some);
            }
        }
        assert_eq!(records, 250);
    }
}
