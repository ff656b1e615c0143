//! The sandbox from outside: a child process starts a node that must be sandboxed, the parent looks
//! at what is left of its rights, asks it questions, and sees what kills it.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};

use bloomrf_node::config::Sandbox;
use bloomrf_node::{Config, Node, StartError};

/// What the child does once its node runs.
const TASK: &str = "SANDBOX_TEST_TASK";
const FOLDER: &str = "SANDBOX_TEST_FOLDER";
const USER: &str = "SANDBOX_TEST_USER";
const SIGSYS: i32 = 31;

/// Not a test of its own: does nothing unless the parent asks.
#[test]
fn child() {
    let Ok(task) = std::env::var(TASK) else { return };
    let config = Config {
        listen: IpAddr::V4(Ipv4Addr::LOCALHOST),
        production_port: 0,
        observability_port: 0,
        arena_bytes: 8 << 20,
        data_dir: std::env::var(FOLDER).unwrap().into(),
        sandbox: Sandbox::Require,
        user: std::env::var(USER).ok(),
        ..Config::default()
    };
    if task == "old kernel" {
        forget_landlock();
    }
    let node = match Node::start(config) {
        Ok(node) => node,
        Err(StartError::Sandbox { step, reason }) => {
            return say(&format!("refused {step} {reason}"));
        }
        Err(error) => return say(&format!("failed {error}")),
    };
    say(&format!("ready {}", node.ports().http));
    match task.as_str() {
        "serve" => drop(std::io::stdin().read(&mut [0])),
        "execute" => say(&format!("executed {:?}", Command::new("/bin/true").status())),
        "read" => {
            let outside = fs::read("/etc/passwd").map_err(|e| e.kind());
            say(&format!("passwd {:?}", outside.map(|bytes| bytes.len())));
            let beside = std::env::temp_dir().join("bloomrf-left");
            say(&format!("create {:?}", fs::write(&beside, "x").map_err(|e| e.kind())));
            let inside = std::env::var(FOLDER).unwrap() + "/note";
            say(&format!("note {:?}", fs::write(inside, "x").map_err(|e| e.kind())));
        }
        other => panic!("no task {other}"),
    }
}

/// As on a kernel that does not have it.
fn forget_landlock() {
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter};
    let calls = [(libc::SYS_landlock_create_ruleset, vec![])].into();
    let missing = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
    let arch = TargetArch::try_from(std::env::consts::ARCH).unwrap();
    let filter = SeccompFilter::new(calls, SeccompAction::Allow, missing, arch).unwrap();
    apply_filter(&BpfProgram::try_from(filter).unwrap()).unwrap();
}

fn say(line: &str) {
    println!("\n@ {line}");
    std::io::stdout().flush().unwrap();
}

struct Run {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
    _folder: tempfile::TempDir,
}

impl Run {
    fn start(task: &str, user: Option<&str>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        if let Some(user) = user {
            let ids: Vec<u32> = user.split(':').map(|id| id.parse().unwrap()).collect();
            std::os::unix::fs::chown(folder.path(), Some(ids[0]), Some(ids[1])).unwrap();
        }
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["child", "--exact", "--nocapture", "--test-threads=1"]);
        command.env(TASK, task).env(FOLDER, folder.path());
        if let Some(user) = user {
            command.env(USER, user);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Run { child, lines, _folder: folder }
    }

    /// The child's next line for us; `None` at its end.
    fn next(&mut self) -> Option<String> {
        let mut line = String::new();
        while self.lines.read_line(&mut line).unwrap() > 0 {
            if let Some(told) = line.strip_prefix("@ ") {
                return Some(told.trim().to_owned());
            }
            line.clear();
        }
        None
    }
}

/// This kernel has what `require` asks for; said where it has not.
fn is_possible(first: Option<&str>) -> bool {
    let refused = first.is_some_and(|line| line.starts_with("refused"));
    if refused {
        println!("skipped: {first:?}");
    }
    !refused
}

#[test]
fn a_sandboxed_node_has_no_capability_left_and_answers() {
    let mut run = Run::start("serve", None);
    let first = run.next();
    if !is_possible(first.as_deref()) {
        return;
    }
    let http: SocketAddr = first.unwrap().strip_prefix("ready ").unwrap().parse().unwrap();
    let tasks = format!("/proc/{}/task", run.child.id());
    let mut threads = 0;
    for task in fs::read_dir(tasks).unwrap() {
        let status = fs::read_to_string(task.unwrap().path().join("status")).unwrap();
        let value = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            line.trim().to_owned()
        };
        // The test's own main thread waits outside: it was there before the node.
        if !value("Name:").starts_with("bloomrf-") && value("Name:") != "child" {
            continue;
        }
        threads += 1;
        for set in ["CapInh:", "CapPrm:", "CapEff:", "CapAmb:"] {
            assert_eq!(value(set), "0000000000000000", "{set} of {}", value("Name:"));
        }
        assert_eq!((value("NoNewPrivs:"), value("Seccomp:")), ("1".to_owned(), "2".to_owned()));
    }
    assert!(threads >= 6, "{threads} threads were looked at");
    let mut stream = TcpStream::connect(http).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains("fermihdi_bloomrf_"));
    drop(run.child.stdin.take());
    assert!(run.child.wait().unwrap().success());
}

#[test]
fn whoever_executes_a_program_is_killed() {
    let mut run = Run::start("execute", None);
    if !is_possible(run.next().as_deref()) {
        return;
    }
    // The call is made in a fork of the child, which dies of it.
    let executed = format!("executed Ok(ExitStatus(unix_wait_status({SIGSYS})))");
    assert_eq!(run.next(), Some(executed));
    assert!(run.child.wait().unwrap().success());
}

#[test]
fn files_beyond_the_data_folder_are_out_of_reach() {
    let mut run = Run::start("read", None);
    if !is_possible(run.next().as_deref()) {
        return;
    }
    assert_eq!(run.next().as_deref(), Some("passwd Err(PermissionDenied)"));
    assert_eq!(run.next().as_deref(), Some("create Err(PermissionDenied)"));
    assert_eq!(run.next().as_deref(), Some("note Ok(())"));
    drop(run.child.stdin.take());
    let _ = run.child.wait();
}

#[test]
fn the_user_that_is_asked_for_is_the_user_that_runs() {
    if !rustix::process::geteuid().is_root() {
        return println!("skipped: only root can become another user");
    }
    let mut run = Run::start("serve", Some("65534:65534"));
    let first = run.next();
    if !is_possible(first.as_deref()) {
        return;
    }
    assert!(first.unwrap().starts_with("ready "));
    let status = fs::read_to_string(format!("/proc/{}/status", run.child.id())).unwrap();
    let uid = status.lines().find_map(|line| line.strip_prefix("Uid:")).unwrap();
    assert_eq!(uid.split_whitespace().collect::<Vec<_>>(), ["65534"; 4]);
    drop(run.child.stdin.take());
    let _ = run.child.wait();
}

#[test]
fn a_user_that_is_not_there_is_a_refusal_to_start() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["child", "--exact", "--nocapture"]);
    command.env(TASK, "serve").env(FOLDER, folder.path()).env(USER, "nobody-of-this-name");
    let output = command.stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("@ refused user"), "{text}");
}

#[test]
fn a_sandbox_that_is_required_and_impossible_is_a_refusal_to_start() {
    let mut run = Run::start("old kernel", None);
    let first = run.next().unwrap();
    assert!(first.starts_with("refused Landlock"), "{first}");
}
