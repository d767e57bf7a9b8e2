//! Every transcript of spec/transcripts, played against a real daemon.

#![allow(clippy::unwrap_used, clippy::panic)] // in a test's helpers too, to panic is to fail

mod support;

use modiar_conformance::Transcript;
use std::thread;
use support::Daemon;

/// They wait for clocks, so each has a daemon of its own and they run beside the others.
const SLOW: [&str; 3] = ["flag", "handshake-silence", "no-show"];

/// Plays them one after the other on one daemon, as spec/transcripts/README.md has it; what failed.
fn failures(transcripts: &[Transcript]) -> Vec<String> {
    let daemon = Daemon::start();
    transcripts.iter().filter_map(|transcript| Some(transcript.play(daemon.bots).err()?.to_string())).collect()
}

#[test]
fn the_daemon_holds_every_transcript() {
    let (slow, quick): (Vec<_>, Vec<_>) =
        Transcript::load_all().unwrap().into_iter().partition(|transcript| SLOW.contains(&&*transcript.name));
    assert_eq!(slow.len(), SLOW.len(), "a transcript was renamed");
    assert!(quick.len() >= 37, "{} transcripts", quick.len());
    let groups = slow.chunks(1).chain([&quick[..]]);
    let told: Vec<String> = thread::scope(|scope| {
        let runs: Vec<_> = groups.map(|group| scope.spawn(|| failures(group))).collect();
        runs.into_iter().flat_map(|run| run.join().unwrap()).collect()
    });
    assert!(told.is_empty(), "{} transcripts failed:\n\n{}", told.len(), told.join("\n\n"));
}
