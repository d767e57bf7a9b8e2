//! What a bot's author reads about a line that was not understood: no word of the parser's, and what to do.

#![allow(clippy::unwrap_used)] // a test fails at once

use modiar_protocol::server::Error;
use modiar_protocol::{ErrorCode, client};

#[test]
fn a_line_that_is_no_json_is_told_where_and_what_to_do() {
    let not = "the line is not one JSON object: ";
    for (line, told) in [
        ("{type:1}", "look at its byte 2"),
        ("{\"type\":\"ping\"} x", "look at its byte 17"),
        ("{\"type\":\"ping\"", "it ends too soon; close its braces, brackets and quotes"),
        ("[1]", "send { and } around its fields"),
        ("17", "send { and } around its fields"),
        ("{\"type\":\"ping\",\"type\":\"ping\"}", "the key 'type' comes twice"),
    ] {
        assert_eq!(client::decode(line.as_bytes()).unwrap_err().message, format!("{not}{told}"), "{line}");
    }
}

#[test]
fn an_unknown_type_is_told_the_types_that_there_are() {
    let told = client::decode(b"{\"type\":\"moves\"}").unwrap_err().message;
    let (start, types) = told.split_once("send one of ").unwrap();
    assert_eq!(start, "'moves' is no type of message; ");
    for kind in types.split(", ") {
        // Most lack a field, but they are known.
        let refused = client::decode(format!("{{\"type\":\"{kind}\"}}").as_bytes()).err();
        assert_ne!(refused.map(|error| error.code), Some(ErrorCode::UnknownType), "{kind}");
    }
}

/// `message.server-schema`: what a client said may stand in a message, and is no part of its form.
#[test]
fn a_message_that_repeats_a_client_is_one_line_of_bounded_length() {
    let long = "\n".repeat(5000);
    for said in ["a\nb", "\u{1b}[31m", "\u{85}", &long] {
        let error = Error::new(ErrorCode::UnknownPool, format!("there is no pool '{said}'"));
        assert!(!error.message.chars().any(char::is_control), "{}", error.message);
        assert!(error.message.chars().count() <= 1024 && error.message.starts_with("there is no pool '"));
    }
    assert_eq!(Error::new(ErrorCode::UnknownPool, "é".repeat(1024)).message.chars().count(), 1024);
}
