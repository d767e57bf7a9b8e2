//! A timer that wakes a poll: polling alone knows no time below a millisecond.

use mio::unix::SourceFd;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};
use std::time::Duration;

/// Rings every so often.
pub struct Timer {
    descriptor: OwnedFd,
    raw: RawFd,
}

impl Timer {
    pub fn start(every: Duration) -> anyhow::Result<Self> {
        let descriptor = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
        let every = Timespec::try_from(every)?;
        timerfd_settime(&descriptor, TimerfdTimerFlags::empty(), &Itimerspec { it_interval: every, it_value: every })?;
        Ok(Self { raw: descriptor.as_raw_fd(), descriptor })
    }

    /// What a poll registers.
    pub const fn source(&self) -> SourceFd<'_> {
        SourceFd(&self.raw)
    }

    /// Lets it ring anew.
    pub fn clear(&self) {
        // It may not have rung.
        let _ = rustix::io::read(&self.descriptor, &mut [0; 8]);
    }
}
