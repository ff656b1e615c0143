//! A whole node whose data folder lies on a small file system that fills up: it goes on answering,
//! says what is wrong in `/readyz` and `/metrics`, and writes what is missing once there is room.
//!
//! The file system is a tmpfs in a mount namespace of its own, which ends with the process in it.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode};

use bloomrf_node::Surroundings;

use crate::cluster::{Cluster, config, wait_for};

/// Runs [`inside`] in a process of its own. `Ok(Some(..))` says why that cannot be done here.
pub(super) fn run(seed: u64) -> Result<Option<String>, String> {
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let mount = "mount -t tmpfs -o size=1m,mode=700 tmpfs \"$0\" || exit 77; exec \"$@\"";
    let run = Command::new("unshare")
        .args(["--mount", "sh", "-c", mount])
        .arg(folder.path())
        .arg(program)
        .args(["exhaustion", "--seed", &seed.to_string(), "--inside"])
        .arg(folder.path())
        .output();
    let output = match run {
        Ok(output) => output,
        Err(error) => return Ok(Some(format!("missing: unshare: {error}"))),
    };
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    match output.status.code() {
        Some(0) => Ok(None),
        Some(1) if said.starts_with(FAILED) => Err(said),
        Some(1 | 77) => Ok(Some(format!("missing: no file system may be mounted here: {said}"))),
        _ => Err(format!("{}: {said}", output.status)),
    }
}

/// The node on the small file system.
pub(super) fn inside(folder: &Path, seed: u64) -> ExitCode {
    match fill(folder, seed) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{FAILED}: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn fill(folder: &Path, seed: u64) -> Result<(), String> {
    let cluster = Cluster::start_in(config(folder), Surroundings::default())?;
    let mut batches = Vec::new();
    let mut publish = |first: u64, count: u64| {
        for batch in first..first + count {
            send(&cluster, batch, 20 + seed % 40)?;
            batches.push(batch);
            cluster.wait_verified(batches.len() as u64)?;
        }
        Ok::<_, String>(batches.clone())
    };
    let files = || cluster.metric("persist_files").unwrap_or_default() as usize;
    let all = publish(1, 2)?;
    wait_for("the first batches to be stored", || files() == all.len())?;
    let ballast = folder.join("ballast");
    take_all_room(&ballast)?;
    let all = publish(10, 3)?;
    wait_for("the full disk to be told", || cluster.metric("disk_failing") == Some(1.0))?;
    let page = cluster.page("/readyz")?;
    if page.0 != 200 || !page.1.contains("disk: failing") {
        return Err(format!("/readyz says {page:?}, and the disk is full"));
    }
    if cluster.metric("persist_errors{place=\"write\"}").unwrap_or_default() < 1.0
        && cluster.metric("persist_errors{place=\"create\"}").unwrap_or_default() < 1.0
    {
        return Err("no error of a write is counted".to_owned());
    }
    cluster.judge_answers(&all)?;
    fs::remove_file(&ballast).map_err(|e| format!("ballast: {e}"))?;
    wait_for("all batches to be stored", || files() == all.len())?;
    wait_for("the disk to be well", || {
        cluster.metric("disk_failing") == Some(0.0)
            && cluster.page("/readyz").is_ok_and(|page| page.1 == "ready\n")
    })?;
    cluster.judge_answers(&all)?;
    // A restart finds all of them.
    drop(cluster);
    let cluster = Cluster::start_in(config(folder), Surroundings::default())?;
    let verified = cluster.node.status().store.verified as usize;
    if verified != all.len() {
        return Err(format!("{verified} of {} batches are there after a restart", all.len()));
    }
    Ok(())
}

fn send(cluster: &Cluster, batch: u64, packets: u64) -> Result<(), String> {
    let target = [cluster.node.ports().ingest];
    let sender = bloomrf_netio::link::udp::UdpSender::connect(&target);
    let mut sender = sender.map_err(|e| e.to_string())?;
    for datagram in &cluster.batch(batch, packets).datagrams {
        sender.send(datagram).map_err(|e| e.to_string())?;
    }
    Ok(())
}

/// Writes until nothing more goes in.
fn take_all_room(ballast: &Path) -> Result<(), String> {
    let mut file = File::create(ballast).map_err(|e| format!("ballast: {e}"))?;
    for bytes in [64 << 10, 4 << 10, 1] {
        while file.write_all(&vec![1; bytes]).is_ok() {}
    }
    Ok(())
}

/// How the complaint of [`inside`] begins.
const FAILED: &str = "disk full";
