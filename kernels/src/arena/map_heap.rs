//! Called once per arena: there is none outside of Linux, and `Words::heap` stands in.

use std::io;
use std::ops::Range;
use std::ptr::NonNull;

use super::{PageMode, PagesWanted};

/// Never made.
#[derive(Debug)]
pub(super) enum Mapping {}

impl Mapping {
    pub(super) fn new(_: usize, _: PagesWanted, _: Option<u32>) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn pages(&self) -> PageMode {
        match *self {}
    }

    pub(super) fn bytes(&self) -> usize {
        match *self {}
    }

    pub(super) fn at(&self, _: usize, _: usize) -> NonNull<u64> {
        match *self {}
    }

    pub(super) fn protect(&self, _: Range<usize>) -> io::Result<()> {
        match *self {}
    }

    pub(super) fn unprotect(&self, _: Range<usize>) -> io::Result<()> {
        match *self {}
    }
}
