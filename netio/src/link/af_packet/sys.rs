//! Options and addresses of packet sockets that no safe library offers.
//!
//! Hot path: not on it; at start, and once for each reading of the counters.
//!
//! An island of unsafe code: each call hands the kernel a pointer to a value of its own and that
//! value's own size. The values are plain numbers, for which every pattern of bits is one.
#![allow(unsafe_code)]

use std::mem::{size_of, size_of_val, zeroed};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use rustix::io::Errno;

/// Where a packet socket is bound to, and what kind of interface that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    /// ARPHRD_* number.
    pub(super) kind: u16,
    /// Hardware address; of Ethernet.
    pub(super) mac: [u8; 6],
}

/// Counters of one socket since they were read last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Frames that found no room in the ring.
    pub(super) drops: u64,
}

/// From now on the ring is one of blocks (TPACKET_V3), with room in front of each frame.
pub(super) fn ask_for_blocks(socket: impl AsFd, room_bytes: usize) -> Result<(), Errno> {
    let socket = socket.as_fd();
    let version: libc::c_int = 2;
    set(socket, libc::PACKET_VERSION, &version)?;
    let room = room_bytes as libc::c_uint;
    set(socket, libc::PACKET_RESERVE, &room)
}

/// Frames that this host itself sends are not received.
pub(super) fn ignore_outgoing(socket: impl AsFd) -> Result<(), Errno> {
    let on: libc::c_int = 1;
    set(socket.as_fd(), libc::PACKET_IGNORE_OUTGOING, &on)
}

/// Asks for a ring, which is then mapped.
pub(super) fn make_ring(
    socket: impl AsFd,
    block_bytes: usize,
    blocks: usize,
    timeout_ms: u32,
) -> Result<(), Errno> {
    /// Must divide a block; blocks of this version hold frames of any size.
    const FRAME_BYTES: usize = 2_048;
    let request = libc::tpacket_req3 {
        tp_block_size: block_bytes as libc::c_uint,
        tp_block_nr: blocks as libc::c_uint,
        tp_frame_size: FRAME_BYTES as libc::c_uint,
        tp_frame_nr: (block_bytes / FRAME_BYTES * blocks) as libc::c_uint,
        tp_retire_blk_tov: timeout_ms,
        tp_sizeof_priv: 0,
        tp_feature_req_word: 0,
    };
    set(socket.as_fd(), libc::PACKET_RX_RING, &request)
}

/// Binds to an interface; `receives` says whether to all frames or to none.
pub(super) fn bind(socket: impl AsFd, index: u32, receives: bool) -> Result<(), Errno> {
    // SAFETY: an address of plain numbers, for which zeros are values.
    let mut address: libc::sockaddr_ll = unsafe { zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = if receives { (libc::ETH_P_ALL as u16).to_be() } else { 0 };
    address.sll_ifindex = index.cast_signed();
    let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    let fd = socket.as_fd().as_raw_fd();
    // SAFETY: the pointer is to an address of that very length, which the kernel reads during the
    // call.
    result(unsafe { libc::bind(fd, (&raw const address).cast(), length) })
}

/// What the socket is bound to.
pub(super) fn identity(socket: impl AsFd) -> Result<Identity, Errno> {
    // SAFETY: an address of plain numbers, for which zeros are values.
    let mut address: libc::sockaddr_ll = unsafe { zeroed() };
    let mut length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    let fd = socket.as_fd().as_raw_fd();
    // SAFETY: the kernel writes at most `length` bytes, which the address has; any bytes are one.
    result(unsafe { libc::getsockname(fd, (&raw mut address).cast(), &raw mut length) })?;
    let [a, b, c, d, e, f, ..] = address.sll_addr;
    Ok(Identity { kind: address.sll_hatype, mac: [a, b, c, d, e, f] })
}

/// Joins a group whose members share the frames by their flow's hash; the group made when `of` is
/// `None`. Returns its number.
pub(super) fn join_fan_out(socket: impl AsFd, of: Option<u16>) -> Result<u16, Errno> {
    let socket = socket.as_fd();
    let flags = libc::PACKET_FANOUT_HASH | libc::PACKET_FANOUT_FLAG_IGNORE_OUTGOING;
    // The kernel picks a number that is free, so that two nodes never meet in a group.
    let unique = if of.is_none() { libc::PACKET_FANOUT_FLAG_UNIQUEID } else { 0 };
    let wanted: libc::c_uint = (flags | unique) << 16 | u32::from(of.unwrap_or(0));
    set(socket, libc::PACKET_FANOUT, &wanted)?;
    let joined: libc::c_uint = get(socket, libc::PACKET_FANOUT, 0)?;
    Ok(joined as u16)
}

/// Frames for other stations come, too, until the socket is closed.
pub(super) fn be_promiscuous(socket: impl AsFd, index: u32) -> Result<(), Errno> {
    let request = libc::packet_mreq {
        mr_ifindex: index.cast_signed(),
        mr_type: libc::PACKET_MR_PROMISC as libc::c_ushort,
        mr_alen: 0,
        mr_address: [0; 8],
    };
    set(socket.as_fd(), libc::PACKET_ADD_MEMBERSHIP, &request)
}

/// Ends every frame of an interface behind its packet sockets, as long as what is returned is open:
/// the host's own stack sees none of them. The kernel asks a program of two steps.
pub(super) fn cut_stack_off(index: u32) -> Result<OwnedFd, Errno> {
    const LOAD: libc::c_long = 5;
    const CREATE_LINK: libc::c_long = 28;
    const CLASSIFIER: u32 = 3;
    const AT_INGRESS: u32 = 46;
    /// Before any other program there is.
    const FIRST: u32 = 1 << 3;
    /// `r0 = TCX_DROP; exit`.
    static STEPS: [[u8; 8]; 2] = [[0xb7, 0, 0, 0, 2, 0, 0, 0], [0x95, 0, 0, 0, 0, 0, 0, 0]];
    static LICENSE: &std::ffi::CStr = c"Apache-2.0";

    let mut load = [0_u64; 16];
    load[0] = pair(CLASSIFIER, STEPS.len() as u32);
    // Addresses as numbers, as the kernel takes them.
    load[1] = STEPS.as_ptr().expose_provenance() as u64;
    load[2] = LICENSE.as_ptr().expose_provenance() as u64;
    let program = bpf(LOAD, &load)?;
    let mut create = [0_u64; 16];
    create[0] = pair(program.as_raw_fd().cast_unsigned(), index);
    create[1] = pair(AT_INGRESS, FIRST);
    bpf(CREATE_LINK, &create)
}

/// Two fields of four bytes, as they lie in memory.
fn pair(first: u32, second: u32) -> u64 {
    let ([a, b, c, d], [e, f, g, h]) = (first.to_ne_bytes(), second.to_ne_bytes());
    u64::from_ne_bytes([a, b, c, d, e, f, g, h])
}

/// A command that returns a new descriptor.
fn bpf(command: libc::c_long, attributes: &[u64; 16]) -> Result<OwnedFd, Errno> {
    let length = size_of_val(attributes);
    // SAFETY: the kernel reads `length` bytes at the pointer, all of which the array has; of what
    // they point to, it reads steps and a text that live for ever.
    let fd = unsafe { libc::syscall(libc::SYS_bpf, command, attributes.as_ptr(), length) };
    let fd = i32::try_from(fd).unwrap_or(-1);
    if fd < 0 {
        return result(-1).and(Err(Errno::INVAL));
    }
    // SAFETY: a descriptor that the call has just made, and nobody else knows.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Reads the counters, which sets them to zero.
pub(super) fn take_counts(socket: impl AsFd) -> Result<Counts, Errno> {
    let zero = libc::tpacket_stats_v3 { tp_packets: 0, tp_drops: 0, tp_freeze_q_cnt: 0 };
    let counts = get(socket.as_fd(), libc::PACKET_STATISTICS, zero)?;
    Ok(Counts { drops: counts.tp_drops.into() })
}

/// Sets an option of packet sockets to a plain value.
fn set<T: Copy>(socket: BorrowedFd<'_>, option: libc::c_int, value: &T) -> Result<(), Errno> {
    let length = size_of::<T>() as libc::socklen_t;
    let fd = socket.as_raw_fd();
    // SAFETY: the pointer is to a value of that very length, which the kernel reads during the
    // call.
    result(unsafe {
        libc::setsockopt(fd, libc::SOL_PACKET, option, (&raw const *value).cast(), length)
    })
}

/// Reads an option of packet sockets over a plain value, for which any bytes are one.
fn get<T: Copy>(socket: BorrowedFd<'_>, option: libc::c_int, mut value: T) -> Result<T, Errno> {
    let mut length = size_of::<T>() as libc::socklen_t;
    let fd = socket.as_raw_fd();
    // SAFETY: the kernel writes at most `length` bytes, which the value has.
    result(unsafe {
        let place = (&raw mut value).cast();
        libc::getsockopt(fd, libc::SOL_PACKET, option, place, &raw mut length)
    })?;
    Ok(value)
}

fn result(returned: libc::c_int) -> Result<(), Errno> {
    if returned == 0 {
        return Ok(());
    }
    let error = std::io::Error::last_os_error();
    Err(Errno::from_io_error(&error).unwrap_or(Errno::INVAL))
}
