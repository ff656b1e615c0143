//! Every model holds, fails with any ordering weakened that it needs, and finds what is planted.

use std::process::Command;

#[test]
fn every_model_holds_and_every_weakened_one_fails() {
    let output = Command::new(env!("CARGO_BIN_EXE_bloomrf-models")).arg("--shallow").output();
    let output = output.expect("the program was built beside this test");
    let [line, told] = [&output.stdout, &output.stderr].map(|b| String::from_utf8_lossy(b));
    println!("{told}{line}");
    assert!(output.status.success() && line.contains(" failures=0 "), "{told}{line}");
    assert!(told.lines().count() >= 44, "some models were not run:\n{told}");
}
