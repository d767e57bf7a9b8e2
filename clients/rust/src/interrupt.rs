//! Ctrl-C: the first is heard when the program looks for it, the second ends the program.

#[cfg(unix)]
pub(crate) use unix::{Watch, heard};

#[cfg(not(unix))]
pub(crate) use elsewhere::{Watch, heard};

#[cfg(unix)]
// The standard library has no door to signals. What is called here is of the C library that it is linked with, and what the
// handler does is allowed in one: an atomic, and `_exit`.
#[allow(unsafe_code)]
mod unix {
    use std::ffi::c_int;
    use std::sync::atomic::{AtomicBool, Ordering};

    const SIGINT: c_int = 2;
    const IGNORED: usize = 1;
    const INTERRUPTED: c_int = 130;

    static HEARD: AtomicBool = AtomicBool::new(false);

    unsafe extern "C" {
        fn signal(number: c_int, handler: usize) -> usize;
        fn _exit(status: c_int) -> !;
    }

    extern "C" fn hear(_: c_int) {
        if HEARD.swap(true, Ordering::Relaxed) {
            // SAFETY: it only ends the process.
            unsafe { _exit(INTERRUPTED) }
        }
    }

    /// As long as it lives Ctrl-C is heard. Where the shell has it ignored nothing is changed.
    pub(crate) struct Watch(usize);

    impl Watch {
        pub(crate) fn new() -> Self {
            HEARD.store(false, Ordering::Relaxed);
            let handler = hear as extern "C" fn(c_int);
            // SAFETY: the handler is a function of the form that is asked for.
            let before = unsafe { signal(SIGINT, handler as usize) };
            if before == IGNORED {
                // SAFETY: it stood there before.
                unsafe { signal(SIGINT, before) };
            }
            Self(before)
        }
    }

    impl Drop for Watch {
        fn drop(&mut self) {
            // SAFETY: it stood there before.
            unsafe { signal(SIGINT, self.0) };
        }
    }

    pub(crate) fn heard() -> bool {
        HEARD.load(Ordering::Relaxed)
    }
}

#[cfg(not(unix))]
mod elsewhere {
    /// Ctrl-C ends the program.
    pub(crate) struct Watch;

    impl Watch {
        pub(crate) fn new() -> Self {
            Self
        }
    }

    pub(crate) fn heard() -> bool {
        false
    }
}
