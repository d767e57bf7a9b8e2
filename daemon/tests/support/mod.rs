//! A real daemon process on free ports, and bots that are scripted line by line.
#![allow(dead_code, clippy::unwrap_used, clippy::panic)] // each test takes what it needs, and fails at once

pub mod http;
pub mod journal;
pub mod network;
pub mod oracle;
pub mod process;
pub mod programs;
pub mod proxy;
pub mod returning;
pub mod strace;
pub mod watch;

use modiar_conformance::Peer;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The daemon's binary.
pub const MODIAR: &str = env!("CARGO_BIN_EXE_modiar");

/// Pools whose games begin at the start: such a daemon reads no table beside, which would count in its memory and its files.
pub const PLAIN_POOLS: &str = "[[pool]]\nname = \"blitz\"\nbase_ms = 30000\nincrement_ms = 200\nopenings = \"start\"\n\
    [[pool]]\nname = \"practice\"\nbase_ms = 60000\nincrement_ms = 1000\nillegal_moves = 3\nrated = false\nopenings = \"start\"\n";

/// The variable that has house bots in the pools.
pub const HOUSE_BOTS: (&str, &str) = ("MODIAR_HOUSE_BOTS", "true");

/// The project's top folder.
pub fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A running daemon; killed when dropped.
pub struct Daemon {
    child: Child,
    pub bots: SocketAddr,
    pub http: SocketAddr,
    data: TempDir,
    log: Option<JoinHandle<String>>,
}

impl Daemon {
    /// With the default configuration.
    pub fn start() -> Self {
        Self::start_with("", &[])
    }

    /// With a configuration file of this text and these environment variables.
    pub fn start_with(config: &str, environment: &[(&str, &str)]) -> Self {
        Self::start_in(TempDir::new().unwrap(), config, environment)
    }

    /// In a data directory that may hold earlier games.
    pub fn start_in(data: TempDir, config: &str, environment: &[(&str, &str)]) -> Self {
        Self::start_at("127.0.0.1:0", data, config, environment)
    }

    /// At an address that an earlier one had.
    pub fn start_at(bots: &str, data: TempDir, config: &str, environment: &[(&str, &str)]) -> Self {
        Self::start_by(Command::new(MODIAR), bots, data, config, environment)
    }

    /// With a wall clock that is wrong by `shift`, as `+10y` or `-1h`; the monotonic clock is the machine's.
    pub fn start_with_wrong_clock(shift: &str, data: TempDir, config: &str) -> Self {
        // The library itself: the program of that name would stand between the daemon and a signal to it.
        let here = std::env::consts::ARCH.to_owned() + "-linux-gnu";
        let library = format!("/usr/lib/{here}/faketime/libfaketimeMT.so.1");
        assert!(Path::new(&library).exists(), "{library} does not come with faketime here");
        let mut command = Command::new(MODIAR);
        command.env("LD_PRELOAD", library).env("FAKETIME", shift).env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        Self::start_by(command, "127.0.0.1:0", data, config, &[])
    }

    /// With a disk of its own of so many bytes, which no other process sees; it is gone with the daemon.
    pub fn start_on_small_disk(bytes: u64, config: &str) -> Self {
        let data = TempDir::new().unwrap();
        std::fs::create_dir(data.path().join("data")).unwrap();
        Self::start_on_disk("shift", bytes, data, config)
    }

    /// The same with what a data directory holds, and with a second name, `kept`, for the one segment of its journal: the
    /// disk is rid of that when this name is removed too.
    pub fn start_on_copy(bytes: u64, data: TempDir, config: &str) -> Self {
        std::fs::rename(data.path().join("data"), data.path().join("data.old")).unwrap();
        std::fs::create_dir(data.path().join("data")).unwrap();
        let copy = "cp -a \"$1.old/.\" \"$1\" && ln \"$1\"/journal/*.log \"$1/kept\" && shift";
        Self::start_on_disk(copy, bytes, data, config)
    }

    /// On a fresh disk at `$1`; `prepare` ends by taking that away from the command.
    fn start_on_disk(prepare: &str, bytes: u64, data: TempDir, config: &str) -> Self {
        let mut command = Command::new("unshare");
        let mount = format!("mount -t tmpfs -o size=$0 none \"$1\" && {prepare} && exec \"$@\"");
        command.args(["-m", "sh", "-c", &mount, &bytes.to_string()]).arg(data.path().join("data")).arg(MODIAR);
        Self::start_by(command, "127.0.0.1:0", data, config, &[])
    }

    /// The data directory as the daemon sees it, mounts of its own included.
    pub fn data_within(&self) -> PathBuf {
        Path::new(&format!("/proc/{}/root", self.pid())).join(self.data().strip_prefix("/").unwrap())
    }

    /// With at most so many open files.
    pub fn start_with_files(files: u32, config: &str) -> Self {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("ulimit -n {files}; exec \"$0\" \"$@\""), MODIAR]);
        Self::start_by(shell, "127.0.0.1:0", TempDir::new().unwrap(), config, &[])
    }

    /// With a log that goes into a full pipe: somebody has it open, and nobody reads.
    pub fn start_with_full_log(environment: &[(&str, &str)]) -> Self {
        let data = TempDir::new().unwrap();
        let mut shell = Command::new("sh");
        let steps =
            "mkfifo \"$0\" && exec 8<>\"$0\" && dd if=/dev/zero bs=4096 count=16 >&8 2>/dev/null && exec \"$@\" 2>&8";
        shell.args(["-c", steps]).arg(data.path().join("log")).arg(MODIAR);
        Self::start_by(shell, "127.0.0.1:0", data, "", environment)
    }

    /// With less weight than others where they all want the processors.
    pub fn start_nice(config: &str) -> Self {
        let mut nice = Command::new("nice");
        nice.args(["-n", "4", MODIAR]);
        Self::start_by(nice, "127.0.0.1:0", TempDir::new().unwrap(), config, &[])
    }

    /// `command` becomes the daemon.
    fn start_by(mut command: Command, bots: &str, data: TempDir, config: &str, environment: &[(&str, &str)]) -> Self {
        // What a test starts must not depend on how busy the machine is: overload is a test of its own.
        command.arg("serve").env("MODIAR_DATA", data.path().join("data")).env("MODIAR_OVERLOAD_MS", "0");
        // Most tests are about their own bots: who seeks alone waits. [`HOUSE_BOTS`] among the variables calls them in.
        command.env("MODIAR_HOUSE_BOTS", "false");
        command.envs(environment.iter().copied());
        oracle::lend(&data.path().join("data"), config);
        std::fs::write(data.path().join("modiar.toml"), config).unwrap();
        command.arg("--config").arg(data.path().join("modiar.toml"));
        command.args(["--bots", bots, "--http", "127.0.0.1:0"]);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = child.stderr.take().unwrap();
        let log = std::thread::spawn(move || {
            let mut log = String::new();
            stderr.read_to_string(&mut log).unwrap();
            log
        });
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        let Ok(listening) = serde_json::from_str::<Value>(&first) else {
            panic!("the daemon did not start: {}", log.join().unwrap());
        };
        let address = |key: &str| listening[key].as_str().unwrap().parse().unwrap();
        Self { child, bots: address("bots"), http: address("http"), data, log: Some(log) }
    }

    pub fn pid(&self) -> i32 {
        self.child.id().cast_signed()
    }

    /// Sends the process a signal.
    pub fn signal(&self, signal: i32) {
        // SAFETY: a signal to a child that has not been waited for.
        #[allow(unsafe_code)]
        let status = unsafe { libc::kill(self.pid(), signal) };
        assert_eq!(status, 0, "signal {signal}");
    }

    /// Stops the process; on return none of its threads runs any more. It is given a moment before: a bot reads its turn
    /// before the daemon has noted when that was written, and a stop between the two is nobody's time. The moment before
    /// the stop.
    pub fn freeze(&self) -> Instant {
        std::thread::sleep(Duration::from_millis(50));
        let before = Instant::now();
        self.signal(libc::SIGSTOP);
        while !self.stands_still() {
            assert!(before.elapsed() < Duration::from_secs(20), "the process does not stop");
            std::thread::sleep(Duration::from_millis(1));
        }
        before
    }

    /// Lets a stopped process go on.
    pub fn thaw(&self) {
        self.signal(libc::SIGCONT);
    }

    fn stands_still(&self) -> bool {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.pid())).unwrap();
        tasks.flatten().all(|task| {
            let stat = std::fs::read_to_string(task.path().join("stat")).unwrap();
            // The name before the state stands in parentheses and may hold anything.
            stat.rsplit(')').next().unwrap().trim_start().starts_with('T')
        })
    }

    /// The finished games, as `modiar games export` writes them.
    pub fn export(&self) -> String {
        let output = self.command(&["games", "export"]);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The record of a finished game.
    pub fn record(&self, game: &str) -> Value {
        let export = self.export();
        let mut records = export.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        records.find(|record| record["game"] == game).unwrap_or_else(|| panic!("there is no record of {game}"))
    }

    /// The data directory.
    pub fn data(&self) -> PathBuf {
        self.data.path().join("data")
    }

    /// Waits for the daemon's end; its status, its log, and the folder of its data.
    pub fn wait(mut self) -> (ExitStatus, String, TempDir) {
        let status = self.child.wait().unwrap();
        let log = self.log.take().unwrap().join().unwrap();
        let data = std::mem::replace(&mut self.data, TempDir::new().unwrap());
        (status, log, data)
    }

    /// Stops the daemon as an operator does, and waits.
    pub fn stop(self) -> (ExitStatus, String, TempDir) {
        self.signal(libc::SIGTERM);
        self.wait()
    }

    /// Kills the process without warning, and waits; the folder of its data.
    pub fn kill(self) -> TempDir {
        self.signal(libc::SIGKILL);
        self.wait().2
    }

    /// A connection that has said nothing.
    pub fn connect(&self) -> Peer {
        Peer::connect(self.bots).unwrap()
    }

    /// A welcomed guest, and its name.
    #[allow(clippy::needless_pass_by_value)] // so that callers write it down as JSON
    pub fn guest(&self, hello: Value) -> (Peer, String) {
        let mut peer = self.connect();
        let mut message = json!({"type": "hello", "protocol": 1});
        message.as_object_mut().unwrap().extend(hello.as_object().unwrap().clone());
        peer.send(&message).unwrap();
        let welcome = peer.expect("welcome").unwrap();
        let name = welcome["bot"]["name"].as_str().unwrap().to_owned();
        (peer, name)
    }

    /// Two guests at the start of a game by challenge: South, North, the game's id. South has its turn to read.
    pub fn game(&self, pool: &str) -> Game {
        self.game_between(pool, json!({}), json!({}))
    }

    /// The same with what each says in its hello.
    pub fn game_between(&self, pool: &str, south: Value, north: Value) -> Game {
        let (mut south, _) = self.guest(south);
        let (mut north, name) = self.guest(north);
        south.send(&json!({"type": "challenge", "opponent": name, "pool": pool, "side": "south"})).unwrap();
        south.expect("challenge_sent").unwrap();
        let challenge = north.expect("challenged").unwrap()["challenge"].clone();
        north.send(&json!({"type": "accept", "challenge": challenge})).unwrap();
        let id = south.expect("started").unwrap()["game"].as_str().unwrap().to_owned();
        north.expect("started").unwrap();
        Game { south, north, id }
    }

    /// Registers a bot; its token.
    pub fn register(&self, name: &str) -> String {
        let (status, answer) = self.run(&["bot", "add", name, "--json"]);
        assert!(status.success(), "{answer}");
        serde_json::from_str::<Value>(answer.lines().next().unwrap()).unwrap()["token"].as_str().unwrap().to_owned()
    }

    fn command(&self, arguments: &[&str]) -> Output {
        Command::new(MODIAR).args(arguments).env("MODIAR_DATA", self.data()).output().unwrap()
    }

    /// Runs a command of the daemon's binary on its data: what it wrote, to stdout and then to stderr.
    pub fn run(&self, arguments: &[&str]) -> (ExitStatus, String) {
        let output = self.command(arguments);
        (output.status, String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap())
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A game between two scripted bots.
pub struct Game {
    pub south: Peer,
    pub north: Peer,
    pub id: String,
}

impl Game {
    /// A move message.
    pub fn r#move(&self, pit: u8) -> Value {
        json!({"type": "move", "game": self.id, "pit": pit})
    }

    /// Plays these pits in turn, each after its turn has been read.
    pub fn play(&mut self, pits: &str) {
        for pit in pits.bytes().map(|digit| digit - b'0') {
            let message = self.r#move(pit);
            let mover = if pit < 3 { &mut self.south } else { &mut self.north };
            mover.expect("turn").unwrap();
            mover.send(&message).unwrap();
        }
    }

    /// Both sides' `ended`, which must be the next line of each and say the same.
    pub fn ended(&mut self) -> Value {
        let south = self.south.expect("ended").unwrap();
        let north = self.north.expect("ended").unwrap();
        assert_eq!(south, north);
        south
    }
}

/// Whether `tool` is there; where everything is required its absence fails.
pub fn have(tool: &str) -> bool {
    let found = std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(tool).is_file()));
    assert!(found || std::env::var_os("MODIAR_REQUIRE_ALL").is_none(), "{tool} is not installed");
    if !found {
        eprintln!("SKIPPED: {tool} is not installed");
    }
    found
}

/// Whether this system lets a test have mounts of its own, as root mostly may.
pub fn may_mount() -> bool {
    let probe = Command::new("unshare").args(["-m", "mount", "-t", "tmpfs", "none", "/mnt"]).output();
    let may = probe.is_ok_and(|output| output.status.success());
    if !may {
        eprintln!("SKIPPED: this system allows no mounts in a test");
    }
    may
}

/// Asserts that nothing but the answer to this ping is on its way to `peer`.
pub fn assert_quiet(peer: &mut Peer) {
    peer.send(&json!({"type": "ping", "ref": "quiet"})).unwrap();
    let next = peer.read().unwrap();
    assert!(next["type"] == "pong" && next["ref"] == "quiet", "nothing was awaited, this came: {next}");
}
