//! Everything a connection can say in every state, and what comes of it, as one table.

use super::machine::{Said, Session, Step};
use crate::clock::Moment;
use crate::config::Limits;
use modiar_protocol::LineTooLong;
use modiar_protocol::client::decode;
use modiar_protocol::limits::MESSAGE_BURST;
use modiar_protocol::server::Error;
use modiar_protocol::{ErrorCode, GameId};
use std::fmt::Write as _;

const HELLO: &str = r#"{"type":"hello","protocol":1,"ref":7}"#;

fn line(text: &str) -> Said {
    decode(text.as_bytes()).map_or_else(Said::Bad, Said::Message)
}

fn after(said: impl IntoIterator<Item = Said>) -> Session {
    let mut session = Session::new(Moment(0), &Limits::default());
    for said in said {
        session.hear(said, Moment(0));
    }
    session
}

fn states() -> Vec<(&'static str, Session)> {
    let burst = MESSAGE_BURST as usize - 1;
    vec![
        ("greeting", after([])),
        ("greeting, two bad lines", after([line("x"), line("[]")])),
        ("welcome", after([line(HELLO), Said::Welcomed])),
        (
            "welcome, rate used up",
            after([line(HELLO), Said::Welcomed].into_iter().chain((0..burst).map(|_| Said::Empty))),
        ),
        ("gone", after([Said::TooLong(LineTooLong)])),
    ]
}

fn events() -> Vec<(&'static str, Said)> {
    let error = || Error::new(ErrorCode::NameTaken, "");
    let play = format!(r#"{{"type":"move","game":"{}","pit":0}}"#, GameId::NOWHERE);
    vec![
        ("hello", line(HELLO)),
        ("hello of another protocol", line(r#"{"type":"hello","protocol":2}"#)),
        ("a move", line(&play)),
        ("a seek", line(r#"{"type":"seek","pool":"blitz","ref":"s"}"#)),
        ("a ping", line(r#"{"type":"ping"}"#)),
        ("bye", line(r#"{"type":"bye","ref":1}"#)),
        ("an unknown type", line(r#"{"type":"dance","ref":"d"}"#)),
        ("bad JSON", line("{")),
        ("an empty line", Said::Empty),
        ("a line too long", Said::TooLong(LineTooLong)),
        ("five seconds", Said::HandshakeExpired(5000)),
        ("hello refused elsewhere", Said::HelloRefused(error())),
        ("hello of a banned bot", Said::Banned(String::new())),
        ("hello accepted elsewhere", Said::Welcomed),
        ("a move refused", Said::MoveRefused(Some(error()))),
        ("a move over the rate", Said::MoveLimited(None)),
    ]
}

fn outcome(step: &Step) -> String {
    let code = |error: &Error| format!("{}{}", error.code, if error.fatal { " (fatal)" } else { "" });
    let mark = |error: &Error| error.reference.as_ref().map_or_else(String::new, |mark| format!(" {mark:?}"));
    match step {
        Step::Reply(error) => format!("error {}{}", code(error), mark(error)),
        Step::Goodbye(error, reason, _, reference) => {
            let error = error.as_ref().map_or_else(String::new, |error| format!("error {}, ", code(error)));
            format!(
                "{error}goodbye {reason}{}",
                reference.as_ref().map_or_else(String::new, |mark| format!(" {mark:?}"))
            )
        }
        Step::Enter(_, reference) => format!("enter {reference:?}"),
        Step::Move { limited, .. } => format!("judge the move{}", if *limited { ", only to accept it" } else { "" }),
        other => format!("{other:?}"),
    }
}

/// `session.hello-first`, `session.hello-attempts`, `session.second-hello`, `session.protocol-version`, `session.bye`,
/// `session.rate`, `transport.line-too-long`, `transport.unknown-type`, `transport.ref-returned`, `errors.fatal`.
#[test]
fn every_event_in_every_state() {
    let mut table = String::new();
    for (state, before) in states() {
        writeln!(table, "{state}").unwrap();
        for (event, said) in events() {
            let mut session = before.clone();
            let step = session.hear(said, Moment(0));
            let now = if session.is_welcome() { "welcome" } else { "-" };
            writeln!(table, "    {event:<26} {} / {now}", outcome(&step)).unwrap();
        }
    }
    insta::assert_snapshot!(table);
}
