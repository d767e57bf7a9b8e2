//! Who may come in under which name.
#![allow(clippy::unwrap_used, clippy::panic)] // a test fails at once

mod support;

use serde_json::{Value, json};
use support::{Daemon, HOUSE_BOTS};

/// The answer to a hello with these fields: `welcome`, or the error's code.
fn answer(daemon: &Daemon, hello: Value) -> String {
    let mut message = json!({"type": "hello", "protocol": 1});
    message.as_object_mut().unwrap().extend(hello.as_object().unwrap().clone());
    let mut peer = daemon.connect();
    peer.send(&message).unwrap();
    let answer = peer.read().unwrap();
    answer["code"].as_str().unwrap_or(answer["type"].as_str().unwrap()).to_owned()
}

/// `session.guest-name-held`, whatever else the hello asks; names fold their case (`session.name-case`).
#[test]
fn a_name_that_a_guest_holds_is_taken() {
    let daemon = Daemon::start();
    let (peer, _) = daemon.guest(json!({"name": "Tanja"}));
    for hello in [
        json!({"name": "Tanja"}),
        json!({"name": "tanja"}),
        json!({"name": "Tanja", "register": true}),
        json!({"name": "Tanja", "resume": "modiar-7e261f3a39f689e8e8fc7372849d305f759113bf7ea6ddc358fb5206c73dcf92"}),
    ] {
        assert_eq!(answer(&daemon, hello.clone()), "name_taken", "{hello}");
    }
    drop(peer);
}

#[test]
fn a_resume_token_that_is_not_known_makes_a_guest_of_a_free_name() {
    let daemon = Daemon::start();
    let resume = "modiar-7e261f3a39f689e8e8fc7372849d305f759113bf7ea6ddc358fb5206c73dcf92";
    assert_eq!(answer(&daemon, json!({"name": "Loubna", "resume": resume})), "welcome");
    assert_eq!(answer(&daemon, json!({"resume": resume})), "auth_failed");
}

#[test]
fn a_token_that_belongs_to_nobody_is_refused() {
    let daemon = Daemon::start();
    assert_eq!(
        answer(
            &daemon,
            json!({"name": "Loubna", "token": "modiar-9b088a0d5d9215b3a7055f874a7dde85278ae79db9f56409db276371e97c5594"})
        ),
        "auth_failed"
    );
}

/// `session.name-house`, whether one of the house has the name or none, and whether house bots are there or not.
#[test]
fn names_of_the_house_are_refused_whatever_else_is_asked() {
    for environment in [&[][..], &[HOUSE_BOTS]] {
        let daemon = Daemon::start_with("", environment);
        for name in ["house-1", "House-1", "house-level3", "HOUSE-PERFECT"] {
            for hello in [json!({"name": name}), json!({"name": name, "register": true, "games": 4096})] {
                assert_eq!(answer(&daemon, hello.clone()), "bad_name", "{hello}");
            }
            let (status, told) = daemon.run(&["bot", "add", name]);
            assert!(!status.success() && told.contains("belong to the server"), "{told}");
        }
    }
}

/// `session.guest`
#[test]
fn a_host_without_guests_says_so() {
    let daemon = Daemon::start_with("guests = false", &[]);
    assert_eq!(answer(&daemon, json!({})), "guests_closed");
    assert_eq!(answer(&daemon, json!({"name": "Loubna"})), "guests_closed");
}
