//! The README's "Host a ladder", done as it stands: but for the build, on free ports, and with bots that stop.
#![allow(clippy::unwrap_used, clippy::panic)] // a test fails at once

mod support;

use serde_json::Value;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use support::process::wait_until;
use support::{MODIAR, have, project};
use tempfile::TempDir;

/// The section's blocks, in order.
fn blocks() -> Vec<String> {
    let readme = std::fs::read_to_string(project().join("README.md")).unwrap();
    let section = readme.split("\n## ").find(|section| section.starts_with("Host a ladder\n")).unwrap();
    section.split("```bash\n").skip(1).map(|block| block.split("```").next().unwrap().to_owned()).collect()
}

/// The shell in a folder, with `modiar` as a command.
fn shell(folder: &Path, script: &str) -> Command {
    let programs = Path::new(MODIAR).parent().unwrap();
    let mut command = Command::new("bash");
    command.args(["-ec", script]).current_dir(folder);
    command.env("PATH", format!("{}:{}", programs.display(), std::env::var("PATH").unwrap()));
    command
}

fn run(folder: &Path, script: &str) -> String {
    let output = shell(folder, script).output().unwrap();
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Ended with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn a_newcomer_has_a_ladder_of_three_bots() {
    if !have("python3") || !have("openssl") {
        return;
    }
    let (top, ports) = (TempDir::new().unwrap(), [free_port(), free_port()]);
    let here = |block: &String| {
        let clients = project().join("clients").canonicalize().unwrap();
        let block = block.replace("7634", &ports[0].to_string()).replace("7635", &ports[1].to_string());
        let block = block.replace("../clients", clients.to_str().unwrap()).replace("--games 0", "--games 6");
        block.replace("cargo build --release\n", "")
    };
    let blocks: Vec<String> = blocks().iter().map(here).collect();
    let [set_up, serve, play, look] = &blocks[..] else { panic!("four blocks: {blocks:?}") };
    run(top.path(), set_up);
    let ladder = top.path().join("ladder");
    let commands = serve.strip_suffix("modiar serve\n").unwrap();
    run(&ladder, commands);
    let mut serving = shell(&ladder, "exec modiar serve");
    let mut daemon = Running(serving.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    let mut ready = String::new();
    BufReader::new(daemon.0.stdout.take().unwrap()).read_line(&mut ready).unwrap();
    assert!(ready.contains(&format!("127.0.0.1:{}", ports[0])), "{ready}");
    run(&ladder, &format!("{play}wait"));
    let standings = || -> Value { serde_json::from_str(&run(&ladder, "modiar standings --json")).unwrap() };
    wait_until("all three stand in the season", || {
        let rows = standings();
        let stands = |bot: &str| rows["rows"].as_array().unwrap().iter().any(|row| row["bot"] == bot);
        ["ada", "barbara", "carol"].into_iter().all(stands)
    });
    let told = run(&ladder, look);
    assert!(["ada", "barbara", "carol"].iter().all(|bot| told.contains(bot)), "{told}");
    assert!(run(&ladder, "modiar season list").contains("autumn"));
}
