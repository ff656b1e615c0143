//! A counter that goes forward with time, read in some 20 cycles: for measuring stages of a loop
//! once per burst.
//!
//! On x86-64 it is the time stamp counter, which ticks at one rate on all cores whatever
//! frequency they run at: near to cycles, and not the same. Elsewhere it counts nanoseconds.
#![allow(unsafe_code)]

/// The counter's value now. Differences of two readings of one thread mean something, nothing
/// else; the CPU may read it some instructions earlier or later than it is written.
///
/// ```
/// let begin = bloomrf_kernels::cycles::now();
/// let took = bloomrf_kernels::cycles::now().wrapping_sub(begin);
/// assert!(took < 1 << 40);
/// ```
#[cfg(target_arch = "x86_64")]
#[inline]
#[must_use]
pub fn now() -> u64 {
    // SAFETY: every x86-64 CPU has the instruction. It reads no memory.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// The counter's value now, nanoseconds since the first call. Differences of two readings of one
/// thread mean something, nothing else.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
#[must_use]
pub fn now() -> u64 {
    use std::sync::OnceLock;
    use std::time::Instant;
    static ORIGIN: OnceLock<Instant> = OnceLock::new();
    let since = ORIGIN.get_or_init(Instant::now).elapsed();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::now;

    #[test]
    fn it_goes_forward_about_as_fast_as_time() {
        let (begin, time) = (now(), Instant::now());
        let mut before = begin;
        while time.elapsed() < Duration::from_millis(20) {
            let next = now();
            assert!(next >= before, "{next} after {before}");
            before = next;
        }
        // From 0.1 to 10 ticks a nanosecond.
        let ticks = now() - begin;
        let ns = u64::try_from(time.elapsed().as_nanos()).unwrap();
        assert!(ticks > ns / 10 && ticks < ns * 10, "{ticks} ticks in {ns} ns");
    }
}
