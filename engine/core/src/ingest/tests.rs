//! What the unit tests of ingest and seal share.

use std::sync::Arc;

use bloomrf_kernels::SizeClasses;
use bloomrf_kernels::params::Budget;

use super::{IngestConfig, OpenBoard, Tuning};
use crate::filter::FilterPolicy;
use crate::identity::ClusterId;
use crate::schema::Schema;

/// Two columns, six bytes a record, small filters; a batch is never idle.
pub(crate) fn config() -> IngestConfig {
    let schema = Schema::from_json(
        r#"{"name": "s", "version": 1, "columns": [
            {"name": "a", "type": "u32", "order": "big"}, {"name": "b", "type": "u16"}]}"#,
    )
    .unwrap();
    let policy = FilterPolicy {
        budget: Budget { bits_per_key: 8, levels: 4 },
        sizes: SizeClasses::new(8),
        seed: 1,
        filtered: vec![true; 2],
        kernel: bloomrf_kernels::Kernel::from_env()
            .expect("BLOOMRF_KERNEL names a set of this CPU"),
        exact_keys_max: 0,
    };
    IngestConfig {
        cluster: ClusterId(5),
        schema: Arc::new(schema),
        policy: Arc::new(policy),
        board: Arc::new(OpenBoard::new(100)),
        idle_ns: u64::MAX,
        frames_max: 64,
        tuning: Tuning::default(),
    }
}
