//! The web port, asked as monitors do.

#![allow(clippy::unwrap_used, clippy::panic)] // a test fails so

mod support;

use serde_json::json;
use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use support::http::Values;
use support::process::wait_until;
use support::{Daemon, project};

#[test]
fn a_daemon_that_has_started_lives_and_is_ready() {
    let daemon = Daemon::start();
    let health = daemon.get("/healthz");
    assert_eq!((health.status, health.body.as_str()), (200, "ok\n"));
    let ready = daemon.get("/readyz");
    assert_eq!((ready.status, ready.body.as_str()), (200, "ready\n"));
    assert_eq!(daemon.get("/nothing").status, 404);
}

/// Those who ask nothing or half a question lose their place; who comes meanwhile is told.
#[test]
fn who_holds_the_web_port_without_asking_is_closed() {
    let daemon = Daemon::start();
    let descriptors = daemon.descriptors();
    let mut idle: Vec<TcpStream> = (0..300).map(|_| TcpStream::connect(daemon.http).unwrap()).collect();
    for (number, stream) in idle.iter_mut().enumerate() {
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        // One that had no place may be closed already.
        let _ = stream.write_all(["", "GET", "GET /healthz HTTP/1.1\r\n"][number % 3].as_bytes());
    }
    wait_until("those without a place are gone", || daemon.descriptors() <= descriptors + 16);
    let mut late = TcpStream::connect(daemon.http).unwrap();
    let mut answer = String::new();
    late.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 503 ") && answer.ends_with("\r\n\r\ntoo many connections\n"), "{answer}");
    wait_until("there is a place again", || daemon.try_get("/healthz").is_some_and(|page| page.status == 200));
    daemon.settle(descriptors);
}

#[test]
fn a_daemon_that_drains_lives_and_is_not_ready() {
    let daemon = Daemon::start();
    let mut game = daemon.game("blitz");
    daemon.signal(libc::SIGTERM);
    assert_eq!(daemon.wait_for_readiness(503), "draining\n");
    assert_eq!(daemon.get("/healthz").status, 200);
    game.south.skip_to("notice").unwrap();
    game.south.send(&json!({"type": "resign", "game": game.id})).unwrap();
    game.south.skip_to("ended").unwrap();
    assert!(daemon.wait().0.success());
}

/// Two bots, one game, three plies, one refused move, one resignation: exactly that is counted.
#[test]
fn a_game_is_counted_as_it_was_played() {
    let daemon = Daemon::start();
    let before = daemon.metrics();
    let mut game = daemon.game("blitz");
    game.play("240");
    game.north.expect("turn").unwrap();
    daemon.wait_for_metric("modiar_moves_total", 3.0);
    let during = daemon.metrics();
    let out_of_turn = game.r#move(2);
    game.south.send(&out_of_turn).unwrap();
    assert_eq!(game.south.expect("error").unwrap()["code"], "not_your_turn");
    game.north.send(&json!({"type": "resign", "game": game.id})).unwrap();
    game.ended();
    game.south.send(&json!({"type": "bye"})).unwrap();
    game.south.expect("goodbye").unwrap();
    drop(game);
    let after = daemon.wait_for_metric("modiar_connections", 0.0);

    assert_eq!((during["modiar_connections"], during["modiar_games_running"]), (2.0, 1.0));
    let mut grown: Values = after.iter().map(|(name, value)| (name.clone(), value - before[name])).collect();
    grown.retain(|name, by| *by != 0.0 && name.starts_with("modiar_") && !is_of_time(name));
    let expected = [
        ("modiar_connections_closed_total{reason=\"bye\"}", 1.0),
        ("modiar_connections_closed_total{reason=\"eof\"}", 1.0),
        ("modiar_errors_total{code=\"not_your_turn\"}", 1.0),
        ("modiar_games_finished_total{termination=\"resignation\"}", 1.0),
        ("modiar_move_seconds_count", 3.0),
        ("modiar_moves_total", 3.0),
        ("modiar_store_commit_games_count", 1.0),
        ("modiar_store_commit_games_sum", 1.0),
        ("modiar_store_commit_seconds_count", 1.0),
    ];
    assert_eq!(grown, expected.into_iter().map(|(name, by)| (name.to_owned(), by)).collect());
}

/// What depends on how fast the machine is.
fn is_of_time(name: &str) -> bool {
    let measured = ["modiar_loop_lag", "modiar_journal_sync", "modiar_own_delay"];
    name.ends_with("_seconds_sum") || name.contains("_bucket") || measured.iter().any(|start| name.starts_with(start))
}

/// A connection that breaks, one that says nothing of use, and bytes on the wrong port leave nothing behind.
#[test]
fn a_broken_connection_is_counted_as_such() {
    let daemon = Daemon::start();
    let (bot, _) = daemon.guest(json!({}));
    daemon.wait_for_metric("modiar_connections", 1.0);
    socket2::SockRef::from(bot.stream()).set_linger(Some(Duration::ZERO)).unwrap();
    drop(bot);
    let values = daemon.wait_for_metric("modiar_connections", 0.0);
    assert_eq!(values["modiar_connections_closed_total{reason=\"reset\"}"], 1.0);
    let mut silent = daemon.connect();
    silent.send_bytes(b"GET / HTTP/1.1\r\n\r\nHost: x\r\n").unwrap();
    silent.expect_close().unwrap();
    drop(silent);
    let values = daemon.wait_for_metric("modiar_connections", 0.0);
    assert_eq!(values["modiar_connections_closed_total{reason=\"handshake\"}"], 1.0);
    assert_eq!(values["modiar_invariant_failures_total{invariant=\"no_panic\"}"], 0.0);
}

/// Each line by the exposition format: a metric is described by HELP, TYPE and perhaps UNIT, then come its values; EOF ends.
#[test]
fn the_metrics_are_open_metrics() {
    let daemon = Daemon::start();
    let page = daemon.get("/metrics");
    assert!(page.head.contains("content-type: application/openmetrics-text; version=1.0.0; charset=utf-8"), "{page:?}");
    assert!(page.body.ends_with("# EOF\n"));
    let mut described = String::new();
    let mut types = BTreeSet::new();
    for line in page.body.lines().filter(|line| *line != "# EOF") {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let (name, text) = help.split_once(' ').unwrap();
            assert!(!text.is_empty() && !described.eq(name), "{line}");
            described = name.to_owned();
        } else if let Some(kind) = line.strip_prefix("# TYPE ") {
            let (name, kind) = kind.split_once(' ').unwrap();
            assert!(name == described && ["counter", "gauge", "histogram", "info"].contains(&kind), "{line}");
            assert!(types.insert(name.to_owned()), "{name} is described twice");
        } else if let Some(unit) = line.strip_prefix("# UNIT ") {
            let (name, unit) = unit.split_once(' ').unwrap();
            assert!(name == described && name.ends_with(&format!("_{unit}")), "{line}");
        } else {
            let (name, value) = line.rsplit_once(' ').unwrap();
            value.parse::<f64>().unwrap_or_else(|_| panic!("{line}"));
            let bare = name.split_once('{').map_or(name, |(bare, labels)| {
                let labels = labels.strip_suffix('}').unwrap_or_else(|| panic!("{line}"));
                let (label, text) = labels.split_once('=').unwrap();
                assert!(label.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{line}");
                assert!(text.len() > 2 && text.starts_with('"') && text.ends_with('"'), "{line}");
                bare
            });
            let suffix = bare.strip_prefix(&described).unwrap_or_else(|| panic!("{line} after {described}"));
            assert!(["", "_total", "_info", "_sum", "_count", "_bucket"].contains(&suffix), "{line}");
        }
    }
}

/// `daemon/METRICS.md` has a row for each metric, and a metric for each row, of the same type.
#[test]
fn every_metric_is_on_the_page() {
    let daemon = Daemon::start();
    let page = std::fs::read_to_string(project().join("daemon/METRICS.md")).unwrap();
    let rows = page.lines().filter_map(|line| {
        let mut cells = line.trim_matches('|').split('|').map(str::trim);
        let name = cells.next()?.strip_prefix('`')?.strip_suffix('`')?;
        (!name.starts_with('/')).then(|| (name.to_owned(), cells.next().unwrap_or_default().to_owned()))
    });
    let shown = daemon.get("/metrics").body;
    let types = shown.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
    let shown: BTreeSet<_> = types.map(|(name, kind)| (name.to_owned(), kind.to_owned())).collect();
    assert_eq!(rows.collect::<BTreeSet<_>>(), shown);
}

/// The daemon is stopped again and again while bots play: it says that it is overloaded and starts no games; left alone
/// it recovers, and starts the game that waited.
#[test]
fn an_overloaded_daemon_starts_no_games_until_it_keeps_up() {
    let pool = "[[pool]]\nname = \"endless\"\nbase_ms = 600000\nrepetition = 0\nquiet_plies = 0";
    let daemon = Daemon::start_with(pool, &[("MODIAR_OVERLOAD_MS", "60")]);
    let mut game = daemon.game("endless");
    let deadline = Instant::now() + Duration::from_secs(60);
    // These lead round and capture nothing.
    let mut pits = "240315".bytes().chain("042315".bytes().cycle()).map(|digit| digit - b'0');
    while daemon.get("/readyz").status == 200 {
        assert!(Instant::now() < deadline, "it does not notice");
        for _ in 0..10 {
            let pit = pits.next().unwrap();
            let message = game.r#move(pit);
            let mover = if pit < 3 { &mut game.south } else { &mut game.north };
            mover.skip_to("turn").unwrap();
            daemon.freeze();
            mover.send(&message).unwrap();
            std::thread::sleep(Duration::from_millis(120));
            daemon.thaw();
            std::thread::sleep(Duration::from_millis(80));
        }
    }
    assert_eq!(daemon.get("/readyz").body, "overloaded\n");
    let (mut one, _) = daemon.guest(json!({}));
    let (mut other, _) = daemon.guest(json!({}));
    for seeker in [&mut one, &mut other] {
        seeker.send(&json!({"type": "seek", "pool": "endless"})).unwrap();
        seeker.expect("seeking").unwrap();
        support::assert_quiet(seeker);
    }
    assert_eq!(daemon.wait_for_readiness(200), "ready\n");
    one.expect("started").unwrap();
    other.expect("started").unwrap();
}
