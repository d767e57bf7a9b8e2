//! TLS on the bots' port (`transport.tls`).

#![allow(clippy::unwrap_used, clippy::panic)] // a test fails so

mod support;

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};
use support::process::wait_until;
use support::programs::{Program, python};
use support::{Daemon, have, project};
use tempfile::TempDir;

/// A certificate for `localhost` in a folder, and what a client needs to trust it.
fn certificate(folder: &Path) -> CertificateDer<'static> {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(folder.join("certificate.pem"), cert.pem()).unwrap();
    std::fs::write(folder.join("key.pem"), signing_key.serialize_pem()).unwrap();
    cert.der().clone()
}

/// A daemon that speaks TLS, the folder of its certificate, and the certificate.
fn daemon(more: &str) -> (Daemon, TempDir, CertificateDer<'static>) {
    let folder = TempDir::new().unwrap();
    let trusted = certificate(folder.path());
    let path = |name: &str| -> PathBuf { folder.path().join(name) };
    let tls = format!("[tls]\ncertificate = {:?}\nkey = {:?}", path("certificate.pem"), path("key.pem"));
    (Daemon::start_with(&format!("{tls}\n{more}"), &[]), folder, trusted)
}

/// A bot that speaks TLS.
struct Bot {
    lines: BufReader<StreamOwned<ClientConnection, TcpStream>>,
}

impl Bot {
    fn connect(daemon: &Daemon, trusted: &CertificateDer<'static>) -> Self {
        let mut roots = RootCertStore::empty();
        roots.add(trusted.clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let config = config.with_root_certificates(roots).with_no_client_auth();
        let name = ServerName::try_from("localhost").unwrap();
        let connection = ClientConnection::new(Arc::new(config), name).unwrap();
        let stream = TcpStream::connect(daemon.bots).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        Self { lines: BufReader::new(StreamOwned::new(connection, stream)) }
    }

    /// A welcomed guest, and its name.
    fn guest(daemon: &Daemon, trusted: &CertificateDer<'static>) -> (Self, String) {
        let mut bot = Self::connect(daemon, trusted);
        bot.send(&json!({"type": "hello", "protocol": 1}));
        let name = bot.expect("welcome")["bot"]["name"].as_str().unwrap().to_owned();
        (bot, name)
    }

    fn send(&mut self, message: &Value) {
        self.lines.get_mut().write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    /// The next message; nothing at the end that TLS has announced.
    fn read(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        (!line.is_empty()).then(|| serde_json::from_str(&line).unwrap())
    }

    #[track_caller]
    fn expect(&mut self, wanted: &str) -> Value {
        let message = self.read().unwrap();
        assert_eq!(message["type"], wanted, "{message}");
        message
    }
}

/// A game of two bots over TLS: South, North, the id.
fn game(daemon: &Daemon, trusted: &CertificateDer<'static>) -> (Bot, Bot, Value) {
    let ((mut south, _), (mut north, name)) = (Bot::guest(daemon, trusted), Bot::guest(daemon, trusted));
    south.send(&json!({"type": "challenge", "opponent": name, "pool": "blitz", "side": "south"}));
    south.expect("challenge_sent");
    let challenge = north.expect("challenged")["challenge"].clone();
    north.send(&json!({"type": "accept", "challenge": challenge}));
    north.expect("started");
    let id = south.expect("started")["game"].clone();
    (south, north, id)
}

/// Plays the first legal pit; false at the game's end.
fn play_one(bot: &mut Bot) -> bool {
    let turn = bot.read().unwrap();
    if turn["type"] == "ended" {
        return false;
    }
    bot.send(&json!({"type": "move", "game": turn["game"], "pit": turn["legal"][0]}));
    true
}

#[test]
fn a_whole_game_is_played_over_tls() {
    let (daemon, _folder, trusted) = daemon("");
    let (mut south, mut north, id) = game(&daemon, &trusted);
    while play_one(&mut south) && play_one(&mut north) {}
    let record = daemon.record(id.as_str().unwrap());
    assert_eq!(record["termination"], "immobile", "{record}");
    // A goodbye is whole and followed by the end that TLS announces: without it the client's reading would be an error.
    south.send(&json!({"type": "bye"}));
    while south.read().is_some_and(|message| message["type"] != "goodbye") {}
    assert_eq!(south.read(), None);
}

/// A SIGHUP before there was anything to read again ended the daemon.
#[test]
fn a_hangup_while_the_daemon_starts_ends_nothing() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("data");
    let add = Command::new(support::MODIAR).args(["bot", "add", "dice", "--data"]).arg(&data).output().unwrap();
    assert!(add.status.success(), "{add:?}");
    // As long as somebody else has the database for itself the start waits.
    let database = rusqlite::Connection::open(data.join("modiar.db")).unwrap();
    database.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE").unwrap();
    let mut command = Command::new(support::MODIAR);
    command.args(["serve", "--bots", "127.0.0.1:0", "--http", "127.0.0.1:0", "--data"]).arg(&data);
    let daemon = Program::start(command);
    wait_until("it catches SIGTERM", || daemon.catches(libc::SIGTERM));
    daemon.signal(libc::SIGHUP);
    std::thread::sleep(Duration::from_millis(100));
    daemon.signal(libc::SIGTERM);
    drop(database);
    let outcome = daemon.finish();
    assert_eq!(outcome.status, Some(0), "{outcome:?}");
    assert!(outcome.stdout.contains("listening"), "{outcome:?}");
}

/// Lines of one record, and a line in records of one byte each.
#[test]
fn lines_and_records_need_not_meet() {
    let (daemon, _folder, trusted) = daemon("");
    let (mut bot, _) = Bot::guest(&daemon, &trusted);
    let ping = "{\"type\":\"ping\"}\n";
    bot.lines.get_mut().write_all(ping.repeat(20).as_bytes()).unwrap();
    for _ in 0..20 {
        bot.expect("pong");
    }
    for byte in ping.as_bytes() {
        bot.lines.get_mut().write_all(&[*byte]).unwrap();
    }
    bot.expect("pong");
    // Longer than a record, a read, and a line.
    bot.lines.get_mut().write_all(&[b'x'; 40_000]).unwrap();
    assert_eq!(bot.expect("error")["code"], "line_too_long");
    assert_eq!(bot.expect("goodbye")["reason"], "line_too_long");
}

/// What does not speak TLS reads no line of ours and is closed; the games go on.
#[test]
fn plain_text_is_refused_without_harm() {
    let (daemon, _folder, trusted) = daemon("");
    let before = daemon.descriptors();
    let (mut south, mut north, _) = game(&daemon, &trusted);
    for text in ["{\"type\":\"hello\",\"protocol\":1}\n", "GET / HTTP/1.1\r\n\r\n", "\n", "SSH-2.0-OpenSSH_9.9\r\n"] {
        let mut plain = TcpStream::connect(daemon.bots).unwrap();
        plain.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        plain.write_all(text.as_bytes()).unwrap();
        let mut answer = Vec::new();
        plain.write_all(&[0; 64]).unwrap();
        // A reset is an end too.
        let _ = plain.read_to_end(&mut answer);
        // A fatal alert, as the pages say; the reset that answers a later write may take it away.
        assert!(matches!(answer[..], [] | [0x15, 3, _, 0, 2, 2, _]), "{text:?}: {answer:?}");
    }
    assert!(play_one(&mut south) && play_one(&mut north));
    daemon.settle(before + 2);
    assert!(daemon.kill_for_log().contains("reason=tls"));
}

/// The new certificate is shown to those who come after SIGHUP, whoever was here plays on; one that cannot be used
/// leaves the old one.
#[test]
fn who_checks_a_server_is_told_that_it_speaks_tls() {
    let (daemon, _folder, _) = daemon("");
    let mut command = Command::new(support::MODIAR);
    let told = command.args(["check", "server", "--only", "ping"]).arg(daemon.bots.to_string()).output().unwrap();
    assert_eq!(told.status.code(), Some(3), "{told:?}");
    assert!(String::from_utf8(told.stderr).unwrap().contains("speaks TLS"));
}

#[test]
fn a_certificate_is_renewed_during_a_game() {
    let (daemon, folder, old) = daemon("");
    let (mut south, mut north, _) = game(&daemon, &old);
    let shown = |trusted: &CertificateDer<'static>| {
        let mut bot = Bot::connect(&daemon, trusted);
        bot.lines.get_mut().write_all(b"\n").is_ok()
    };
    assert!(play_one(&mut south));
    let new = certificate(folder.path());
    assert!(shown(&old) && !shown(&new));
    daemon.signal(libc::SIGHUP);
    wait_until("the new certificate is shown", || shown(&new));
    assert!(!shown(&old));
    assert!(play_one(&mut north) && play_one(&mut south));

    std::fs::write(folder.path().join("key.pem"), "no key").unwrap();
    daemon.signal(libc::SIGHUP);
    std::thread::sleep(Duration::from_millis(300));
    assert!(shown(&new) && play_one(&mut north) && play_one(&mut south));
    let log = daemon.kill_for_log();
    assert!(log.contains("the old certificate stays"), "{log}");
    // Of those who did not trust what they were shown.
    assert!(log.contains("reason=tls"), "{log}");
}

/// SIGHUP takes a certificate of another name too (`transport.tls`); and a name is registered over TLS as without.
#[test]
fn a_certificate_in_another_place_is_taken() {
    let (daemon, _folder, old) = daemon("");
    let folder = TempDir::new().unwrap();
    let new = certificate(folder.path());
    let path = |name: &str| -> PathBuf { folder.path().join(name) };
    let tls = format!(
        "registration = true\n[tls]\ncertificate = {:?}\nkey = {:?}\n",
        path("certificate.pem"),
        path("key.pem")
    );
    std::fs::write(daemon.data().with_file_name("modiar.toml"), tls).unwrap();
    daemon.signal(libc::SIGHUP);
    let shown = |trusted| Bot::connect(&daemon, trusted).lines.get_mut().write_all(b"\n").is_ok();
    wait_until("the new certificate is shown", || shown(&new));
    assert!(!shown(&old));
    let mut bot = Bot::connect(&daemon, &new);
    bot.send(&json!({"type": "hello", "protocol": 1, "name": "dice", "register": true}));
    let token = bot.expect("welcome")["token"].clone();
    drop(bot);
    let mut bot = Bot::connect(&daemon, &new);
    bot.send(&json!({"type": "hello", "protocol": 1, "name": "dice", "token": token}));
    assert_eq!(bot.expect("welcome")["bot"]["guest"], false);
}

/// A move that waited in the kernel while the daemon stood still is charged by its arrival, which is below TLS
/// (`clock.own`).
#[test]
fn a_stop_of_the_daemon_is_not_charged_over_tls() {
    let (daemon, _folder, trusted) = daemon("");
    let (mut south, mut north, id) = game(&daemon, &trusted);
    south.expect("turn");
    daemon.freeze();
    south.send(&json!({"type": "move", "game": id, "pit": 0}));
    std::thread::sleep(Duration::from_millis(1500));
    daemon.thaw();
    let last = north.expect("turn")["last"].clone();
    assert!(last["elapsed_ms"].as_u64().unwrap() < 700, "{last}");
}

/// A bot that trusts the host's own certificate, by the name in it.
fn start_bot(daemon: &Daemon, folder: &TempDir, mut command: Command) -> Program {
    command.env("MODIAR_HOST", "localhost").env("MODIAR_PORT", daemon.bots.port().to_string());
    command.env("MODIAR_CA", folder.path().join("certificate.pem"));
    Program::start(command)
}

/// What the README says makes the shortest bot speak TLS.
#[test]
fn the_bot_of_the_readme_speaks_tls_by_three_lines_more() {
    if !have("python3") {
        return;
    }
    let (daemon, folder, _) = daemon("");
    let page = std::fs::read_to_string(project().join("README.md")).unwrap();
    let blocks: Vec<&str> = page.split("```python\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    let plain = "with socket.create_connection(server) as connection:\n";
    assert!(blocks[0].contains(plain));
    let bot = folder.path().join("bot.py");
    std::fs::write(&bot, format!("import ssl\n{}", blocks[0].replace(plain, blocks[1]))).unwrap();
    let [one, other] = [(); 2].map(|()| {
        let mut command = Command::new("python3");
        command.arg(&bot);
        start_bot(&daemon, &folder, command)
    });
    let (one, other) = (one.finish(), other.finish());
    assert_eq!(one.lines(), other.lines());
    assert!(one.stdout.ends_with(" immobile\n"), "{one:?}");
}

#[test]
fn a_python_bot_that_speaks_no_tls_is_told_to() {
    if !have("python3") {
        return;
    }
    let (daemon, ..) = daemon("");
    for bot in ["greedy_bot.py", "random_bot.py"] {
        let outcome = daemon.bot(python(bot, &[])).finish();
        assert_eq!((outcome.status, &*outcome.stdout), (Some(3), ""), "{outcome:?}");
        assert!(outcome.stderr.ends_with("the port may speak TLS; set MODIAR_TLS=1\n"), "{outcome:?}");
    }
}

#[test]
fn the_python_bots_speak_tls() {
    if !have("python3") {
        return;
    }
    let (daemon, folder, _) = daemon("");
    let [one, other] = ["greedy_bot.py", "random_bot.py"]
        .map(|bot| start_bot(&daemon, &folder, python(bot, &["--games", "3", "--pool", "bullet"])));
    let (one, other) = (one.finish(), other.finish());
    assert_eq!((one.lines().len(), other.lines().len()), (3, 3));
    // A certificate of a stranger is not trusted, and no certificates are told as such.
    let mut stranger = python("random_bot.py", &[]);
    stranger.env("MODIAR_HOST", "localhost").env("MODIAR_PORT", daemon.bots.port().to_string()).env("MODIAR_TLS", "1");
    let outcome = Program::start(stranger).finish();
    assert!(outcome.status == Some(3) && outcome.stderr.contains("certificate verify failed"), "{outcome:?}");
    let mut lost = python("random_bot.py", &[]);
    lost.env("MODIAR_CA", "absent.pem");
    let outcome = Program::start(lost).finish();
    assert!(outcome.status == Some(2) && outcome.stderr.contains("MODIAR_CA is 'absent.pem'"), "{outcome:?}");
}

/// A peer that begins TLS and goes no further has the time of a handshake.
#[test]
fn half_a_handshake_ends() {
    let (daemon, _folder, _) = daemon("[limits]\nhandshake_ms = 300");
    let before = daemon.descriptors();
    for start in [&b""[..], b"\x16\x03\x01\x02\x00\x01\x00\x01"] {
        let mut stream = TcpStream::connect(daemon.bots).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        stream.write_all(start).unwrap();
        let mut answer = Vec::new();
        let begun = Instant::now();
        let _ = stream.read_to_end(&mut answer);
        assert!(begun.elapsed() < Duration::from_secs(5), "it was not closed");
        assert!(!answer.contains(&b'{'), "{answer:?}");
    }
    daemon.settle(before);
}

/// `limits.connections`: the refusal comes over TLS too.
#[test]
fn too_many_are_told_over_tls() {
    let (daemon, _folder, trusted) = daemon("[limits]\nconnections = 1");
    let (_one, _) = Bot::guest(&daemon, &trusted);
    let mut refused = Bot::connect(&daemon, &trusted);
    assert_eq!(refused.expect("error")["code"], "too_many_connections");
    assert_eq!(refused.read(), None);
}

#[test]
fn a_bad_certificate_is_a_bad_configuration() {
    let folder = TempDir::new().unwrap();
    certificate(folder.path());
    let secret = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIGHAgEA\n-----END ENCRYPTED PRIVATE KEY-----\n";
    std::fs::write(folder.path().join("secret.pem"), secret).unwrap();
    for (certificate, key, fault) in [
        ("certificate.pem", "absent.pem", "absent.pem cannot be opened"),
        ("key.pem", "key.pem", "key.pem: it holds no certificate"),
        ("certificate.pem", "certificate.pem", "certificate.pem: it holds no private key"),
        ("certificate.pem", "secret.pem", "secret.pem: the key is encrypted"),
    ] {
        let (status, told) = check(&folder, certificate, key);
        assert!(status == Some(78) && told.contains(fault), "{told}");
        assert!(told.contains(folder.path().to_str().unwrap()), "the whole path is told: {told}");
    }
}

/// A pipe in the place of a certificate was waited for without end, and with it all handshakes and the stop.
#[test]
fn a_pipe_is_no_certificate_and_nobody_waits_for_it() {
    let pipe = |folder: &Path, name: &str| {
        let _ = std::fs::remove_file(folder.join(name));
        assert!(Command::new("mkfifo").arg(folder.join(name)).status().unwrap().success());
    };
    for name in ["certificate.pem", "key.pem"] {
        let (daemon, folder, trusted) = daemon("");
        pipe(folder.path(), name);
        daemon.signal(libc::SIGHUP);
        std::thread::sleep(Duration::from_millis(100));
        for _ in 0..4 {
            Bot::guest(&daemon, &trusted);
        }
        let (status, log, _) = daemon.stop();
        assert!(status.success(), "{log}");
        let refused = format!("{name} is no regular file; name one");
        assert!(log.contains(&refused) && log.contains("the old certificate stays"), "{log}");
        let mut command = Command::new("timeout");
        command.arg("20").arg(support::MODIAR);
        let (status, told) = check_by(command, &folder, "certificate.pem", "key.pem");
        assert!(status == Some(78) && told.contains(&refused), "{told}");
    }
    let folder = TempDir::new().unwrap();
    let (status, told) = check(&folder, "/dev/zero", "key.pem");
    assert!(status == Some(78) && told.contains("no regular file"), "{told}");
}

/// Paths in the file count from its folder, wherever the daemon is started.
#[test]
fn a_certificate_beside_the_configuration_is_found() {
    let folder = TempDir::new().unwrap();
    certificate(folder.path());
    let (status, told) = check(&folder, "certificate.pem", "key.pem");
    assert_eq!(status, Some(0), "{told}");
}

/// Checks a configuration in `folder` that names these files beside it, from another folder.
fn check(folder: &TempDir, certificate: &str, key: &str) -> (Option<i32>, String) {
    check_by(Command::new(support::MODIAR), folder, certificate, key)
}

/// The same, where `command` becomes the daemon's binary.
fn check_by(mut command: Command, folder: &TempDir, certificate: &str, key: &str) -> (Option<i32>, String) {
    let config = folder.path().join("modiar.toml");
    std::fs::write(&config, format!("[tls]\ncertificate = {certificate:?}\nkey = {key:?}")).unwrap();
    let output = command.args(["serve", "--check-config", "--config"]).arg(config).output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}
