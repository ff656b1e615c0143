//! `bloomrf node run`: starts, says where it listens, answers, and ends tidily on a signal.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::binary::bloomrf;

#[test]
fn a_node_runs_until_it_is_told_to_stop() {
    for (signal, format) in [("-TERM", "text"), ("-INT", "json")] {
        let folder = tempfile::tempdir().expect("a folder");
        let mut child = bloomrf()
            .args(["node", "run", "--log-format", format])
            .env("BLOOMRF_LISTEN", "127.0.0.1")
            .env("FERMIHDI_PRODUCTION_PORT", "0")
            .env("FERMIHDI_OBSERVABILITY_PORT", "0")
            .env("FERMIHDI_BLOOMRF_DATA_DIR", folder.path())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let mut lines = BufReader::new(child.stderr.take().expect("piped")).lines();
        let ready = lines
            .by_ref()
            .map_while(Result::ok)
            .find(|line| line.contains("filter node runs"))
            .expect("it says that it runs");
        let http = ready.split("http").nth(1).expect("where");
        let address: String =
            http.chars().skip_while(|c| !c.is_ascii_digit()).take_while(is_address).collect();
        let mut page = ureq::get(format!("http://{address}/readyz")).call().expect("HTTP");
        assert_eq!(page.body_mut().read_to_string().expect("a body"), "ready\n");
        let pid = child.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().expect("kill").success());
        assert_eq!(child.wait().expect("it ends").code(), Some(0), "{signal}");
        let rest: Vec<String> = lines.map_while(Result::ok).collect();
        assert!(rest.iter().any(|line| line.contains("filter node stops")), "{rest:#?}");
    }
}

fn is_address(c: &char) -> bool {
    c.is_ascii_digit() || matches!(c, '.' | ':')
}
