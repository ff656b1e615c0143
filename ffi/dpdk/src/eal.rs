//! DPDK's environment (EAL): once per process, ended when nobody knows of it any more.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::device::Device;
use crate::error::{DpdkError, Reason};
use crate::ffi;
use crate::log::{self, Mark};
use crate::memory::{Memory, MemoryUsed};

/// What the environment is started with.
#[derive(Clone, Debug)]
pub struct EalOptions {
    /// Memory for all pools and rings.
    pub memory: Memory,
    /// Name of this process among all that use DPDK on the host; `None`: made of its number.
    pub prefix: Option<String>,
    /// Whether PCI devices will be probed. Only those that are named are ever touched.
    pub pci: bool,
    /// Where the environment's own thread starts: a CPU of those we may use; `None`: the first.
    /// No thread stays there: it only chooses the NUMA node of what has none.
    pub cpu: Option<usize>,
    /// Further arguments of EAL. They win: what they name is not set by us.
    pub extra: Vec<String>,
}

impl Default for EalOptions {
    fn default() -> Self {
        let memory = Memory::Auto { mib: 256 };
        EalOptions { memory, prefix: None, pci: false, cpu: None, extra: Vec::new() }
    }
}

/// The environment. Cheap to clone; it ends with the last clone, and with the last device, port and
/// registered thread, each of which holds one.
#[derive(Clone, Debug)]
pub struct Eal {
    running: Arc<Running>,
}

#[derive(Debug)]
struct Running {
    memory: MemoryUsed,
    folder: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Fresh,
    Running,
    Ended,
}

/// EAL itself starts at most once in a process. The lock also serves all that is done to devices
/// and ports, which DPDK does not guard by itself.
static STATE: Mutex<State> = Mutex::new(State::Fresh);

/// What runs, for those who did not start it.
static RUNNING: Mutex<Weak<Running>> = Mutex::new(Weak::new());

/// Held while devices or ports change. No code that can panic runs under it.
pub(crate) struct Control(MutexGuard<'static, State>);

pub(crate) fn control() -> Control {
    Control(STATE.lock().unwrap_or_else(PoisonError::into_inner))
}

impl Eal {
    /// Starts the environment. It neither pins nor registers the calling thread.
    ///
    /// # Errors
    /// It runs already, has ended, or does not start: with DPDK's reason. A start that failed may
    /// be tried again, as far as DPDK allows.
    pub fn start(options: &EalOptions) -> Result<Eal, DpdkError> {
        ffi::check()?;
        let mut control = control();
        match *control.0 {
            State::Fresh => {}
            State::Running => return Err(DpdkError::Running),
            State::Ended => return Err(DpdkError::Ended),
        }
        let memory = options.memory.choose()?;
        let arguments = arguments(options, memory);
        log::keep();
        let mark = Mark::now();
        let code = start_aside(&arguments)?;
        if code != 0 {
            let reason = Reason::of(code, mark);
            return Err(DpdkError::Environment { arguments: arguments.join(" "), reason });
        }
        *control.0 = State::Running;
        drop(control);
        let folder = runtime_folder();
        folder.iter().for_each(|folder| sweep(folder));
        let running = Arc::new(Running { memory, folder });
        *known() = Arc::downgrade(&running);
        Ok(Eal { running })
    }

    /// The environment that runs already, if one does.
    #[must_use]
    pub fn running() -> Option<Eal> {
        known().upgrade().map(|running| Eal { running })
    }

    /// Plugs in a device: a virtual one (`net_pcap0,rx_pcap=day.pcap`) or a PCI address.
    ///
    /// # Errors
    /// There is none, it does not start, or is open already.
    pub fn probe(&self, devargs: &str) -> Result<Device, DpdkError> {
        Device::probe(self, devargs)
    }

    /// Where its memory comes from.
    #[must_use]
    pub fn memory(&self) -> MemoryUsed {
        self.running.memory
    }
}

fn known() -> MutexGuard<'static, Weak<Running>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut control = control();
        // SAFETY: 1. it runs, since we exist; 2. every device, port and registered thread holds a
        // clone of what is dropped here, so none is left.
        unsafe { ffi::px_eal_stop() };
        *control.0 = State::Ended;
        // Empty, since nothing is shared through it.
        self.folder.iter().for_each(|folder| drop(fs::remove_dir(folder)));
    }
}

/// DPDK's own version, as it is found at run time.
#[must_use]
pub fn version() -> String {
    // SAFETY: it gives a string of the program, never null.
    unsafe { CStr::from_ptr(ffi::px_version()) }.to_string_lossy().into_owned()
}

/// EAL pins the thread that starts it and makes it an lcore: neither may happen to our caller's.
fn start_aside(arguments: &[String]) -> Result<i32, DpdkError> {
    let mut argv = Vec::with_capacity(arguments.len() + 1);
    for argument in arguments {
        let text = CString::new(argument.as_str());
        argv.push(text.map_err(|_| DpdkError::Text(argument.clone()))?.into_raw() as usize);
    }
    argv.push(0);
    let argc = i32::try_from(arguments.len()).unwrap_or(i32::MAX);
    let starter = std::thread::Builder::new().name("bloomrf-eal".into()).spawn(move || {
        let argv: &'static mut [*mut c_char] =
            argv.into_iter().map(|text| text as *mut c_char).collect::<Vec<_>>().leak();
        // SAFETY: `argc` strings and a null, none of which is ever freed: EAL keeps them.
        unsafe { ffi::px_eal_start(argc, argv.as_mut_ptr()) }
    });
    // No thread: as good as no memory.
    const NO_MEMORY: i32 = -12;
    Ok(starter.ok().and_then(|starter| starter.join().ok()).unwrap_or(NO_MEMORY))
}

fn arguments(options: &EalOptions, memory: MemoryUsed) -> Vec<String> {
    let prefix = options.prefix.clone().unwrap_or_else(|| own_prefix(std::process::id()));
    // SAFETY: it asks the system and changes nothing.
    let first = unsafe { ffi::px_first_cpu() };
    let cpu = options.cpu.unwrap_or(usize::try_from(first).unwrap_or(0));
    let mut ours = vec![
        vec!["--lcores".into(), format!("0@{cpu}")],
        vec![format!("--file-prefix={prefix}")],
        vec!["--no-telemetry".into()],
        memory.arguments(),
    ];
    match options.pci {
        // With a list of allowed devices no other is touched. The first one of a bus is a bridge.
        true => ours.push(vec!["-a".into(), "0000:00:00.0".into()]),
        // Without a device that reaches memory by itself, addresses of the process will do.
        false => ours.push(vec!["--no-pci".into(), "--iova-mode=va".into()]),
    }
    let named = |option: &str| {
        let option = option.split('=').next().unwrap_or_default();
        options.extra.iter().any(|extra| extra.split('=').next() == Some(option))
    };
    let mut all = vec!["bloomrf".to_owned()];
    all.extend(ours.into_iter().filter(|group| !group.iter().any(|o| named(o))).flatten());
    all.extend(options.extra.iter().cloned());
    all
}

fn own_prefix(process: u32) -> String {
    format!("bloomrf-{process}")
}

fn runtime_folder() -> Option<PathBuf> {
    // SAFETY: it gives a string of the program, which lives as long.
    let text = unsafe { ffi::px_runtime_folder().as_ref() }?;
    // SAFETY: not null, as just seen, and ended by a zero.
    let text = unsafe { CStr::from_ptr(text) };
    Some(PathBuf::from(text.to_string_lossy().into_owned())).filter(|path| path.is_absolute())
}

/// Removes the empty folders of processes that were killed.
fn sweep(own: &Path) {
    let folders = own.parent().and_then(|parent| fs::read_dir(parent).ok());
    for folder in folders.into_iter().flatten().flatten() {
        let name = folder.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix("bloomrf-")?.parse().ok());
        let lives = |process: u32| Path::new("/proc").join(process.to_string()).exists();
        if process.is_some_and(|process| !lives(process)) {
            // Another user's, or not empty: it stays.
            drop(fs::remove_dir(folder.path()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(options: &EalOptions, memory: MemoryUsed) -> String {
        arguments(options, memory).join(" ")
    }

    #[test]
    fn arguments_follow_memory_and_bus_and_extra_ones_win() {
        let ordinary = MemoryUsed::NoHuge { mib: 64 };
        let mut options = EalOptions { cpu: Some(1), ..EalOptions::default() };
        options.prefix = Some("p".into());
        assert_eq!(
            joined(&options, ordinary),
            "bloomrf --lcores 0@1 --file-prefix=p --no-telemetry --no-huge -m 64 --no-shconf \
             --no-pci --iova-mode=va"
        );
        options.pci = true;
        options.extra = vec!["--file-prefix=q".into(), "--log-level=8".into()];
        let huge = MemoryUsed::Huge { page_kib: 2048, free_mib: 512 };
        assert_eq!(
            joined(&options, huge),
            "bloomrf --lcores 0@1 --no-telemetry --in-memory -a 0000:00:00.0 --file-prefix=q \
             --log-level=8"
        );
    }
}
