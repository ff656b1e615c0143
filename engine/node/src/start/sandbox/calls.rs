//! System calls: what nobody in the node may ever do ends the process; beyond that, each thread has
//! the calls of its role, and any other fails with EPERM.
//!
//! Two filters: the kernel takes the stricter answer of both. A call that a later libc makes
//! and the list of a role lacks costs that call, not the node.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter};

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Receives datagrams.
    Receive,
    /// Answers lookups over UDP, through a socket or a raw port.
    Lookup,
    /// Only computes, with its neighbours' rings.
    Compute,
    /// Talks over sockets that exist, and makes the one to the SCC; reads /proc.
    Converse,
    /// Reads and writes the data folder.
    Store,
}

/// The compiled filters.
pub(in crate::start) struct Calls {
    dangerous: BpfProgram,
    roles: Vec<(Role, BpfProgram)>,
}

impl Calls {
    /// Compiles all of them.
    pub(super) fn compile() -> Result<Self, String> {
        let deny = (SeccompAction::Allow, SeccompAction::KillProcess);
        let allow = (SeccompAction::Errno(libc::EPERM.unsigned_abs()), SeccompAction::Allow);
        let roles = [Role::Receive, Role::Lookup, Role::Compute, Role::Converse, Role::Store];
        let mut compiled = Vec::with_capacity(roles.len());
        for role in roles {
            let calls: Vec<c_long> = COMMON.iter().chain(role.calls()).copied().collect();
            compiled.push((role, program(&calls, allow.clone())?));
        }
        Ok(Calls { dangerous: program(DANGEROUS, deny)?, roles: compiled })
    }

    /// For this thread and those that it starts.
    pub(super) fn forbid_dangerous(&self) -> Result<(), String> {
        apply_filter(&self.dangerous).map_err(|error| error.to_string())
    }

    /// Keeps this thread to its role, known by its name.
    pub(in crate::start) fn keep_to_role(&self, thread: &str) -> Result<(), String> {
        let role = Role::of(thread);
        let wanted = self.roles.iter().find(|(of, _)| *of == role);
        wanted.map_or(Ok(()), |(_, filter)| apply_filter(filter).map_err(|e| e.to_string()))
    }
}

impl Role {
    /// Of a thread of the node.
    fn of(thread: &str) -> Self {
        match thread.strip_prefix("bloomrf-").unwrap_or(thread) {
            name if name.starts_with("rx-") => Role::Receive,
            "lookup" | "port" => Role::Lookup,
            "seal" => Role::Compute,
            "persist" => Role::Store,
            _ => Role::Converse,
        }
    }

    /// Its calls, beside those of every thread.
    fn calls(self) -> &'static [c_long] {
        match self {
            Role::Receive => RECEIVE,
            Role::Lookup => LOOKUP,
            Role::Compute => COMPUTE,
            Role::Converse => CONVERSE,
            Role::Store => STORE,
        }
    }
}

fn program(
    calls: &[c_long],
    (otherwise, listed): (SeccompAction, SeccompAction),
) -> Result<BpfProgram, String> {
    let arch = TargetArch::try_from(std::env::consts::ARCH)
        .map_err(|_| format!("no filters for {}", std::env::consts::ARCH))?;
    let rules: BTreeMap<i64, _> = calls.iter().map(|&call| (call, vec![])).collect();
    let filter = SeccompFilter::new(rules, otherwise, listed, arch);
    filter.and_then(TryInto::try_into).map_err(|error: seccompiler::BackendError| error.to_string())
}

/// Ends the process: a node that has any of these called is not ours any more.
const DANGEROUS: &[c_long] = &[
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_bpf,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_userfaultfd,
    libc::SYS_perf_event_open,
    libc::SYS_open_by_handle_at,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_acct,
    libc::SYS_quotactl,
];

/// Every thread: memory, time, its neighbours' wake-ups, its own end, a line on stderr.
const COMMON: &[c_long] = &[
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_close,
    libc::SYS_futex,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_gettimeofday,
    libc::SYS_restart_syscall,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_setaffinity,
    libc::SYS_getpriority,
    libc::SYS_setpriority,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_mprotect,
    libc::SYS_brk,
    libc::SYS_getrandom,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_gettid,
    libc::SYS_getpid,
    libc::SYS_tgkill,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

const RECEIVE: &[c_long] = &[
    libc::SYS_recvmsg,
    libc::SYS_recvmmsg,
    libc::SYS_recvfrom,
    // Of rings: what was dropped, there and at the interface, and whether that still exists.
    libc::SYS_getsockopt,
    libc::SYS_getsockname,
    libc::SYS_pread64,
    libc::SYS_ppoll,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_poll,
];

const LOOKUP: &[c_long] = &[
    libc::SYS_recvmsg,
    libc::SYS_recvfrom,
    libc::SYS_sendmsg,
    libc::SYS_sendto,
    libc::SYS_ppoll,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_poll,
];

/// A queue asleep in a socket is woken by a byte in another one.
const COMPUTE: &[c_long] = &[libc::SYS_sendto];

const CONVERSE: &[c_long] = &[
    libc::SYS_recvmsg,
    libc::SYS_recvfrom,
    libc::SYS_sendmsg,
    libc::SYS_sendto,
    libc::SYS_accept4,
    libc::SYS_socket,
    libc::SYS_connect,
    libc::SYS_shutdown,
    libc::SYS_getsockname,
    libc::SYS_getpeername,
    libc::SYS_getsockopt,
    libc::SYS_setsockopt,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_eventfd2,
    libc::SYS_fcntl,
    libc::SYS_ioctl,
    libc::SYS_ppoll,
    libc::SYS_openat,
    libc::SYS_fstat,
    libc::SYS_statx,
    libc::SYS_newfstatat,
    libc::SYS_lseek,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_poll,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_epoll_wait,
];

const STORE: &[c_long] = &[
    libc::SYS_openat,
    libc::SYS_fstat,
    libc::SYS_statx,
    libc::SYS_newfstatat,
    libc::SYS_lseek,
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_ftruncate,
    libc::SYS_fcntl,
    libc::SYS_getdents64,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_unlinkat,
    libc::SYS_mkdirat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rename,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_unlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_mkdir,
];

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::ErrorKind::PermissionDenied;
    use std::net::UdpSocket;
    use std::time::{Duration, Instant};

    use bloomrf_netio::Link;
    use bloomrf_netio::link::udp::{UdpConfig, UdpLink};

    use super::*;

    /// What a thread of this name may do: make a socket, open a file.
    fn rights_of(thread: &'static str) -> (bool, bool) {
        let kept = std::thread::spawn(move || {
            Calls::compile().unwrap().keep_to_role(thread).unwrap();
            let socket = UdpSocket::bind("127.0.0.1:0").map_err(|e| e.kind());
            let file = File::open("/proc/self/stat").map_err(|e| e.kind());
            for refused in [socket.as_ref().err(), file.as_ref().err()].into_iter().flatten() {
                assert_eq!(*refused, PermissionDenied);
            }
            (socket.is_ok(), file.is_ok())
        });
        kept.join().unwrap()
    }

    #[test]
    fn threads_of_records_and_lookups_neither_open_files_nor_make_sockets() {
        for thread in
            ["bloomrf-rx-0", "bloomrf-rx-63", "bloomrf-lookup", "bloomrf-port", "bloomrf-seal"]
        {
            assert_eq!(rights_of(thread), (false, false), "{thread}");
        }
    }

    #[test]
    fn the_data_folders_thread_makes_no_socket() {
        assert_eq!(rights_of("bloomrf-persist"), (false, true));
    }

    #[test]
    fn the_seal_thread_ends_the_sleep_of_a_queue() {
        let config = UdpConfig {
            listen: "127.0.0.1:0".parse().unwrap(),
            groups: Vec::new(),
            receive_buffer: 0,
            queues: 1,
        };
        let mut link = UdpLink::open(&config).unwrap().remove(0);
        let waker = link.waker();
        let sealer = std::thread::spawn(move || {
            Calls::compile().unwrap().keep_to_role("bloomrf-seal").unwrap();
            waker.wake();
        });
        sealer.join().unwrap();
        let start = Instant::now();
        link.wait(Duration::from_secs(20)).unwrap();
        assert!(start.elapsed() < Duration::from_secs(10), "it slept on");
    }

    #[test]
    fn every_role_compiles_and_no_call_of_it_is_dangerous() {
        let calls = Calls::compile().unwrap();
        assert_eq!(calls.roles.len(), 5);
        for list in [COMMON, RECEIVE, LOOKUP, COMPUTE, CONVERSE, STORE] {
            assert!(list.iter().all(|call| !DANGEROUS.contains(call)));
        }
    }
}
