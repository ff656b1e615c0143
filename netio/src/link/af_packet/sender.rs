//! The sending half: a second packet socket, which receives nothing.
//!
//! Hot path: one system call per frame, no allocation. Frames go through the interface's queueing
//! discipline, as everybody else's.

use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{SendFlags, send};

use super::error::AfPacketError;
use super::open::{check_interface, index_of, packet_socket};
use super::{sys, wrap};
use crate::link::{FrameSender, LinkError};

/// Sends frames over an interface.
#[derive(Debug)]
pub struct AfPacketSender {
    socket: OwnedFd,
    interface: String,
    mac: [u8; 6],
}

impl AfPacketSender {
    /// Over this interface, which must be Ethernet and up.
    ///
    /// # Errors
    /// With what to do.
    pub fn open(interface: &str) -> Result<Self, AfPacketError> {
        let socket = packet_socket()?;
        let index = index_of(&socket, interface)?;
        sys::bind(&socket, index, false).map_err(AfPacketError::system("bind"))?;
        let mac = check_interface(&socket, interface)?.mac;
        Ok(AfPacketSender { socket, interface: interface.to_owned(), mac })
    }
}

impl FrameSender for AfPacketSender {
    fn send(&mut self, frame: &[u8]) -> Result<bool, LinkError> {
        match send(&self.socket, frame, SendFlags::DONTWAIT) {
            Ok(_) => Ok(true),
            // Down is a state that ends; who asks will ask again.
            Err(Errno::AGAIN | Errno::NOBUFS | Errno::INTR | Errno::NETDOWN) => Ok(false),
            Err(errno) => Err(wrap(&self.interface)(AfPacketError::system("send")(errno))),
        }
    }

    fn mac(&self) -> [u8; 6] {
        self.mac
    }
}
