//! A thread that DPDK knows: without it every mbuf goes through the shared ring of its pool instead
//! of the thread's own cache, which halves the rate.
#![allow(unsafe_code)]

use std::cell::RefCell;
use std::marker::PhantomData;

use crate::eal::Eal;
use crate::error::{DpdkError, Reason};
use crate::ffi;
use crate::log::Mark;

/// Proof that the current thread is registered. It cannot leave the thread.
#[derive(Clone, Copy, Debug)]
pub struct Lcore {
    not_send: PhantomData<*const ()>,
}

thread_local! {
    static REGISTERED: RefCell<Option<Registered>> = const { RefCell::new(None) };
}

/// Until the thread ends.
struct Registered {
    _eal: Eal,
}

impl Lcore {
    /// Registers the calling thread, unless it is already; it stays so until it ends.
    ///
    /// # Errors
    /// All places are taken: such a thread may still poll, at half the rate.
    pub fn current(eal: &Eal) -> Result<Lcore, DpdkError> {
        REGISTERED.with_borrow_mut(|registered| {
            // SAFETY: it reads a number of the thread.
            if registered.is_none() && unsafe { ffi::px_lcore_is_registered() } == 0 {
                let mark = Mark::now();
                // SAFETY: 1. the environment runs, since there is an `Eal`; 2. this thread is not
                // registered yet.
                let code = unsafe { ffi::px_lcore_enter() };
                if code != 0 {
                    return Err(DpdkError::Lcore { reason: Reason::of(code, mark) });
                }
                *registered = Some(Registered { _eal: eal.clone() });
            }
            Ok(Lcore { not_send: PhantomData })
        })
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        // SAFETY: 1. we registered this thread, where this value was made and has stayed; 2. the
        // environment runs: our own handle of it is dropped after this.
        unsafe { ffi::px_lcore_leave() }
    }
}
