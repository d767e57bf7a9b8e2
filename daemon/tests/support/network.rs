//! A network of a test's own: two machines and the cable between them, which nobody else sees and which are gone with it.

use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe};
use std::fs::File;
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::process::Command;

/// Where the server is reached.
pub const SERVER: &str = "192.0.2.1";
const FAR: &str = "192.0.2.2";

/// A machine: a network namespace.
pub struct Machine(File);

impl Machine {
    fn new() -> Self {
        let made = std::thread::spawn(|| {
            // SAFETY: only this thread, which ends with this, loses sight of the network that it had.
            #[allow(unsafe_code)]
            unsafe { unshare_unsafe(UnshareFlags::NEWNET) }.unwrap();
            File::open("/proc/thread-self/ns/net").unwrap()
        });
        let machine = Self(made.join().unwrap());
        machine.ip("link set lo up");
        machine
    }

    /// Does something there: the sockets it opens and the processes it starts stay there.
    pub fn within<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        let there = || {
            move_into_link_name_space(self.0.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
            work()
        };
        std::thread::scope(|scope| scope.spawn(there).join()).unwrap_or_else(|fault| std::panic::resume_unwind(fault))
    }

    fn ip(&self, arguments: &str) {
        let output = self.within(|| Command::new("ip").args(arguments.split(' ')).output()).unwrap();
        assert!(output.status.success(), "ip {arguments}: {output:?}");
    }
}

/// The machines.
pub struct Network {
    /// With the address [`SERVER`].
    pub server: Machine,
    /// At the other end of the cable.
    pub far: Machine,
}

impl Network {
    pub fn new() -> Self {
        let (server, far) = (Machine::new(), Machine::new());
        let there = format!("/proc/{}/fd/{}", std::process::id(), far.0.as_raw_fd());
        server.ip(&format!("link add cable type veth peer name cable netns {there}"));
        for (machine, address) in [(&server, SERVER), (&far, FAR)] {
            machine.ip(&format!("address add {address}/24 dev cable"));
            machine.ip("link set cable up");
        }
        Self { server, far }
    }

    /// Cuts the cable: nothing that either end says arrives from now on, nor that it ended.
    pub fn cut(&self) {
        self.far.ip("link set cable down");
    }
}

/// Whether this system lets a test have networks of its own, as root mostly may.
pub fn may_have_networks() -> bool {
    if !super::have("ip") {
        return false;
    }
    let mut probe = Command::new("unshare");
    probe.args(["-n", "ip", "link", "add", "cable", "type", "veth", "peer", "name", "end"]);
    let may = probe.output().is_ok_and(|output| output.status.success());
    if !may {
        eprintln!("SKIPPED: this system allows no networks in a test");
    }
    may
}
