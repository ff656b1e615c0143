//! Settings that are allowed and still want a second look.

use super::host::Host;
use super::report::Finding;
use super::wanted::Wanted;

pub(super) fn check(_host: &Host, wanted: &Wanted) -> Vec<Finding> {
    const CHECK: &str = "settings";
    if !wanted.stated {
        return Vec::new();
    }
    let cautions = wanted.config.cautions();
    if cautions.is_empty() {
        return vec![Finding::ok(CHECK, "nothing that wants a second look")];
    }
    let find = |caution: bloomrf_node::config::Caution| {
        Finding::warn(CHECK, caution.says, caution.mend).about(caution.key)
    };
    cautions.into_iter().map(find).collect()
}
