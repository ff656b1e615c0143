//! `dpdk-testpmd` in `rxonly`: DPDK's own receive loop, by its own count of packets and the CPU
//! time of its worker. Started anew for each turn; it ends by itself when this process does, since
//! its standard input ends then.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::cores::{Cores, task_ns, tasks};
use crate::dpdk::{DESCRIPTORS, MBUFS, MEMORY_MIB};
use crate::turn::{Count, Turn};

/// Its turns on one device.
pub(crate) struct Testpmd {
    program: String,
    case: String,
    arguments: Vec<String>,
    /// Where it leaves what it leaves.
    folder: TempDir,
}

impl Testpmd {
    /// Where it is, or why it cannot be beside us.
    pub(crate) fn find() -> Result<String, String> {
        let program = std::env::var("TESTPMD").unwrap_or_else(|_| "dpdk-testpmd".to_owned());
        let quiet = Stdio::null;
        let mut command = Command::new(&program);
        command.arg("--version").stdin(quiet()).stdout(quiet()).stderr(quiet());
        let status = command.status();
        // It knows no such option, or does: whichever, it was found.
        status.map(|_| program.clone()).map_err(|why| format!("{program}: {why}"))
    }

    pub(crate) fn new(
        program: String,
        case: &str,
        bytes: usize,
        cores: Cores,
        is_huge: bool,
    ) -> Result<Self, String> {
        let (core, other) = cores.two()?;
        let memory = match is_huge {
            true => vec!["--in-memory".to_owned()],
            false => ["--no-huge", "-m", &MEMORY_MIB.to_string(), "--no-shconf"]
                .map(str::to_owned)
                .to_vec(),
        };
        // Its main thread only waits; the worker is on the core that all receive on.
        let mut arguments = vec![
            format!("--lcores=0@{other},1@{core}"),
            "--main-lcore=0".to_owned(),
            format!("--file-prefix=bloomrf-bench-{}", std::process::id()),
            "--no-pci".to_owned(),
            "--no-telemetry".to_owned(),
            "--iova-mode=va".to_owned(),
            format!("--vdev=net_null0,size={bytes}"),
        ];
        arguments.extend(memory);
        arguments.extend(
            ["--", "-i", "--forward-mode=rxonly", "--burst=64"].map(str::to_owned).to_vec(),
        );
        arguments.push(format!("--total-num-mbufs={MBUFS}"));
        arguments.extend([format!("--rxd={DESCRIPTORS}"), "--txd=512".to_owned()]);
        let folder = tempfile::tempdir().map_err(|why| format!("temporary folder: {why}"))?;
        Ok(Testpmd { program, case: case.to_owned(), arguments, folder })
    }
}

impl Turn for Testpmd {
    fn name(&self) -> (&str, &str) {
        (&self.case, "dpdk-testpmd rxonly")
    }

    fn turn(&mut self, length: Duration) -> Result<Count, String> {
        let mut running = Running::start(self)?;
        running.wait_for(PROMPT)?;
        let worker = running.worker()?;
        let before = running.time_of(worker)?;
        running.say("start")?;
        thread::sleep(length);
        running.say("stop")?;
        let thread_ns = running.time_of(worker)? - before;
        running.say("quit")?;
        let text = running.end()?;
        let packets = packets(&text).ok_or_else(|| format!("it counts no packets: {text}"))?;
        Ok(Count { packets, thread_ns, ..Count::default() })
    }
}

/// The total of `RX-packets` over all ports, as it says at the end.
fn packets(text: &str) -> Option<u64> {
    let (_, totals) = text.split_once("Accumulated forward statistics")?;
    totals.split_once("RX-packets:")?.1.split_whitespace().next()?.parse().ok()
}

/// A running one; killed when dropped.
struct Running {
    child: Child,
    input: Option<ChildStdin>,
    output: Receiver<Vec<u8>>,
    reader: Option<JoinHandle<()>>,
    text: String,
}

impl Running {
    fn start(asked: &Testpmd) -> Result<Self, String> {
        let Testpmd { program, arguments, folder, .. } = asked;
        let mut command = Command::new(program);
        command.env("RUNTIME_DIRECTORY", folder.path());
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(Stdio::null());
        let mut child = command.spawn().map_err(|why| format!("{program}: {why}"))?;
        let (sender, output) = channel();
        let mut pipe = child.stdout.take();
        let reader = thread::spawn(move || {
            let mut buffer = [0; 4_096];
            while let Some(Ok(length)) = pipe.as_mut().map(|pipe| pipe.read(&mut buffer)) {
                if length == 0 || sender.send(buffer[..length].to_vec()).is_err() {
                    break;
                }
            }
        });
        let input = child.stdin.take();
        Ok(Running { child, input, output, reader: Some(reader), text: String::new() })
    }

    /// Reads until it has said this.
    fn wait_for(&mut self, words: &str) -> Result<(), String> {
        let end = Instant::now() + PATIENCE;
        while !self.text.contains(words) {
            let left = end.saturating_duration_since(Instant::now());
            match self.output.recv_timeout(left) {
                Ok(bytes) => self.text.push_str(&String::from_utf8_lossy(&bytes)),
                Err(_) => return Err(format!("it never says `{words}`: {}", self.text.trim())),
            }
        }
        Ok(())
    }

    fn say(&mut self, command: &str) -> Result<(), String> {
        let input = self.input.as_mut().ok_or("it has ended")?;
        writeln!(input, "{command}").map_err(|why| format!("`{command}`: {why}"))
    }

    /// The thread of its second lcore.
    fn worker(&self) -> Result<u32, String> {
        let all = tasks(self.child.id());
        let worker = all.iter().find(|(_, name)| {
            name.starts_with("rte-worker")
                || name.starts_with("dpdk-worker")
                || name.starts_with("lcore-worker")
        });
        worker.map(|(number, _)| *number).ok_or_else(|| format!("no worker among {all:?}"))
    }

    /// Its CPU time, when it has come to rest.
    fn time_of(&self, worker: u32) -> Result<u64, String> {
        let (end, mut before) = (Instant::now() + PATIENCE, None);
        while Instant::now() < end {
            let now = task_ns(self.child.id(), worker)?;
            if before == Some(now) {
                return Ok(now);
            }
            before = Some(now);
            thread::sleep(Duration::from_millis(50));
        }
        Err("it does not stop".to_owned())
    }

    /// Waits for its end, and returns all that it said.
    fn end(mut self) -> Result<String, String> {
        drop(self.input.take());
        let end = Instant::now() + PATIENCE;
        while let Ok(bytes) =
            self.output.recv_timeout(end.saturating_duration_since(Instant::now()))
        {
            self.text.push_str(&String::from_utf8_lossy(&bytes));
        }
        Ok(std::mem::take(&mut self.text))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // One that has ended already is not killed, and one that was killed is waited for.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

const PROMPT: &str = "testpmd> ";
/// For everything that takes a second.
const PATIENCE: Duration = Duration::from_secs(20);

#[cfg(test)]
mod tests {
    use super::packets;

    #[test]
    fn the_total_is_read_and_not_the_count_of_a_port() {
        let text = "  RX-packets: 7   RX-dropped: 0   RX-total: 7\n\
                    +++ Accumulated forward statistics for all ports+++\n\
                    RX-packets: 72989952       RX-dropped: 0  RX-total: 72989952\n";
        assert_eq!(packets(text), Some(72_989_952));
        assert_eq!(packets("RX-packets: 7"), None);
    }
}
