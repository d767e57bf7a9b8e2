//! The servers that are measured, each a process of its own.

use anyhow::{Context as _, bail};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// Linux counts a process's time for everyone in hundredths of a second.
const TICK_US: u64 = 10_000;

/// The pools of the benchmark: games without end, whole games, and games whose players soon lose. More load than the
/// server can keep up with is what is measured: it must not stop starting games for that.
const CONFIG: &str = r#"
guests = true
overload_ms = 0

[limits]
connections = 20000

[[pool]]
name = "endless"
base_ms = 86400000
rated = false
openings = "start"
repetition = 0
quiet_plies = 0

[[pool]]
name = "whole"
base_ms = 86400000
rated = false
openings = "start"

[[pool]]
name = "short"
base_ms = 1000
rated = false
openings = "start"
"#;

/// Which server.
#[derive(Clone, Debug)]
pub enum Kind {
    /// The daemon of this binary, with all that it does switched on.
    Daemon(PathBuf),
    /// The bare relay.
    Relay,
}

/// A running server; killed when dropped, its data removed.
#[derive(Debug)]
pub struct Server {
    child: Child,
    /// Where bots connect.
    pub address: SocketAddr,
    log: PathBuf,
    /// Its folder, where that is removed with it.
    own_folder: Option<TempDir>,
}

impl Server {
    /// Starts a server in a new folder, and waits until it listens.
    pub fn start(kind: &Kind) -> anyhow::Result<Self> {
        let folder = TempDir::new()?;
        let mut server = Self::start_in(kind, folder.path())?;
        server.own_folder = Some(folder);
        Ok(server)
    }

    /// Starts a server in a folder, and waits until it listens.
    pub fn start_in(kind: &Kind, folder: &Path) -> anyhow::Result<Self> {
        let mut command = match kind {
            Kind::Relay => {
                let mut command = Command::new(std::env::current_exe()?);
                command.arg("serve-relay");
                command
            }
            Kind::Daemon(binary) => daemon(binary, folder)?,
        };
        let log = folder.join("log");
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(fs::File::create(&log)?).spawn()?;
        let mut first = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut first)?;
        }
        let listening: serde_json::Value = serde_json::from_str(&first).unwrap_or_default();
        let Some(Ok(address)) = listening["bots"].as_str().map(str::parse) else {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
            bail!("the server does not listen: {}", fs::read_to_string(&log)?);
        };
        Ok(Self { child, address, log, own_folder: None })
    }

    /// The CPU time it has used, its own and the kernel's for it, in microseconds.
    pub fn cpu_us(&self) -> anyhow::Result<u64> {
        let stat = self.proc("stat")?;
        // Its name stands in parentheses and may hold anything; user and system time are the 12th and 13th after it.
        let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
        let ticks: Option<u64> = fields.map(|field| field.parse::<u64>().ok()).sum();
        Ok(ticks.context("its CPU time cannot be read")? * TICK_US)
    }

    /// Its memory that is resident, in bytes.
    pub fn resident_bytes(&self) -> anyhow::Result<u64> {
        let status = self.proc("status")?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
        Ok(kilobytes.context("its memory cannot be read")? * 1024)
    }

    /// What it has logged.
    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    fn proc(&self, file: &str) -> anyhow::Result<String> {
        let path = format!("/proc/{}/{file}", self.child.id());
        fs::read_to_string(&path).with_context(|| format!("{path} cannot be read: the benchmark runs on Linux"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn daemon(binary: &Path, folder: &Path) -> anyhow::Result<Command> {
    let config = folder.join("modiar.toml");
    fs::write(&config, CONFIG)?;
    let mut command = Command::new(binary);
    command.arg("serve").arg("--config").arg(config).arg("--data").arg(folder.join("data"));
    // Those who are measured play each other.
    command.args(["--bots", "127.0.0.1:0", "--http", "127.0.0.1:0", "--no-house-bots"]);
    Ok(command)
}

/// Whether `cargo run` has set this variable for the package that it runs. Build scripts look at some of them: with those of
/// this one the daemon would be built differently here and by the next `cargo`, and each anew after the other.
fn is_of_a_package(variable: &str) -> bool {
    const WHOLE: [&str; 4] = ["CARGO_BIN_NAME", "CARGO_CRATE_NAME", "CARGO_PRIMARY_PACKAGE", "OUT_DIR"];
    let begins = |start| variable.starts_with(start);
    WHOLE.contains(&variable) || begins("CARGO_MANIFEST_") || begins("CARGO_PKG_")
}

/// The daemon's binary: the one given, or the one beside this program. Under `cargo run` that one is built first, so that
/// it is the daemon of this source.
pub fn find_daemon(given: Option<PathBuf>) -> anyhow::Result<PathBuf> {
    if let Some(given) = given {
        return Ok(given);
    }
    if let Some(cargo) = std::env::var_os("CARGO") {
        eprintln!("building the daemon");
        let mut build = Command::new(cargo);
        for (variable, _) in std::env::vars_os().filter(|(name, _)| is_of_a_package(&name.to_string_lossy())) {
            build.env_remove(variable);
        }
        build.args(["build", "--quiet", "--package", "modiar", "--bin", "modiar"]);
        if !cfg!(debug_assertions) {
            build.arg("--release");
        }
        if !build.stdout(Stdio::null()).status()?.success() {
            bail!("the daemon could not be built; say where it is with --daemon");
        }
    }
    let beside = std::env::current_exe()?.with_file_name("modiar");
    if !beside.is_file() {
        bail!(
            "there is no {}: run `cargo build --release`, or say where the daemon is with --daemon",
            beside.display()
        );
    }
    Ok(beside)
}
