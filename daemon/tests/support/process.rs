//! What the system tells of a running daemon, and connections that no ordinary client makes.

use super::Daemon;
use modiar_conformance::Peer;
use socket2::{Domain, SockRef, Socket, Type};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

impl Daemon {
    /// Its open descriptors, but for the oracle's table, which it reads beside all else after a start.
    pub fn descriptors(&self) -> usize {
        let is_table =
            |path: &std::path::Path| std::fs::read_link(path).is_ok_and(|file| file.ends_with("oracle.table"));
        let open = std::fs::read_dir(format!("/proc/{}/fd", self.pid())).unwrap();
        open.filter(|entry| entry.as_ref().is_ok_and(|entry| !is_table(&entry.path()))).count()
    }

    /// Its memory, in KiB.
    pub fn resident_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }

    /// The time it has used of the processors, in ticks of 10 ms.
    pub fn ticks(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid())).unwrap();
        // Behind the name, which may hold anything, the state is the first field; user and system time are 12th and 13th.
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    }

    /// How long its heart has waited for a processor in all: so long it may have missed beats.
    pub fn heart_waited(&self) -> Duration {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.pid())).unwrap();
        let mut tasks = tasks.map(|task| task.unwrap().path());
        let heart = tasks.find(|task| std::fs::read_to_string(task.join("comm")).unwrap() == "heartbeat\n").unwrap();
        let stat = std::fs::read_to_string(heart.join("schedstat")).unwrap();
        Duration::from_nanos(stat.split(' ').nth(1).unwrap().parse().unwrap())
    }

    /// Waits until it has ended by itself.
    pub fn wait_for_end(&self) {
        // Nobody has asked for its status: it is a zombie.
        let stat = || std::fs::read_to_string(format!("/proc/{}/stat", self.pid())).unwrap();
        wait_until("the daemon ends", || stat().rsplit(')').next().unwrap().trim_start().starts_with('Z'));
    }

    /// Kills it, whatever goes on in it; its log.
    pub fn kill_for_log(self) -> String {
        // It is written a little later than what it tells of.
        std::thread::sleep(std::time::Duration::from_millis(100));
        self.signal(libc::SIGKILL);
        self.wait().1
    }

    /// Waits until it has no more descriptors than these.
    pub fn settle(&self, descriptors: usize) {
        wait_until("descriptors come back", || self.descriptors() <= descriptors);
    }

    /// A connection from another address of this machine.
    pub fn connect_from(&self, address: &str) -> Peer {
        Peer::over(self.stream_from(address)).unwrap()
    }

    /// The same, bare.
    pub fn stream_from(&self, address: &str) -> TcpStream {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        socket.bind(&SocketAddr::new(address.parse::<IpAddr>().unwrap(), 0).into()).unwrap();
        socket.connect(&self.bots.into()).unwrap();
        socket.into()
    }

    /// A connection with as little room for what it does not read as the kernel allows.
    pub fn connect_narrow(&self) -> Peer {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        socket.set_recv_buffer_size(1).unwrap();
        socket.connect(&self.bots.into()).unwrap();
        Peer::over(socket.into()).unwrap()
    }
}

/// How a connection ends.
#[derive(Clone, Copy, Debug)]
pub enum End {
    Fin,
    Reset,
}

impl End {
    pub const ALL: [Self; 2] = [Self::Fin, Self::Reset];

    /// Ends a connection so.
    pub fn put(self, peer: Peer) {
        if matches!(self, Self::Reset) {
            reset_at_close(peer.stream());
        }
        drop(peer);
    }
}

/// Has the kernel reset the connection when it is closed.
pub fn reset_at_close(stream: &TcpStream) {
    SockRef::from(stream).set_linger(Some(Duration::ZERO)).unwrap();
}

/// Waits until something holds, 20 s at most.
#[track_caller]
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < deadline, "it took too long until {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
