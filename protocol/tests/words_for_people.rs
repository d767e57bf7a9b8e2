//! What a bot's author reads about a line that was not understood: no word of the parser's, and what to do.

#![allow(clippy::unwrap_used)] // a test fails at once

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
