//! The soak itself, for some seconds: what it checks holds, and it says so in the campaign's words.

use std::process::Command;

#[test]
fn a_short_soak_is_exact_to_the_frame_and_asks_for_no_memory_on_poll_threads() {
    let output = Command::new(env!("CARGO_BIN_EXE_soak"))
        .args(["--seconds", "3", "--records", "2000", "--retain", "16"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("campaign row=14 count=3 unit=seconds failures=0 note="), "{text}");
    assert!(text.contains(" bloomrf-rx-0 0"), "{text}");
}
