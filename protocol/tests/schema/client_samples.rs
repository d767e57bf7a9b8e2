//! Messages of the client, each with every field and with as few as there may be.

use modiar_protocol::client::{Challenge, Hello, Move};
use modiar_protocol::{BotName, ChallengeId, ClientMessage, GameId, Incoming, Ref, Secret};
use modiar_rules::{Pit, Side};

fn game() -> GameId {
    GameId::read("g0192f0c1a2b37c4d8e5f60718293a4b5")
}

fn challenge() -> ChallengeId {
    ChallengeId::read("c0192f0c1a2b37c4d8e5f60718293a4b5")
}

fn hellos() -> [ClientMessage; 2] {
    let full = Hello {
        protocol: 1,
        name: Some(BotName::new("Tanja").unwrap()),
        token: Some(Secret::new("modiar-9b088a0d5d9215b3a7055f874a7dde85278ae79db9f56409db276371e97c5594")),
        register: true,
        resume: Some(Secret::new("modiar-7e261f3a39f689e8e8fc7372849d305f759113bf7ea6ddc358fb5206c73dcf92")),
        client: Some("modiar-python/0.1.0".to_owned()),
        version: Some(String::new()),
        games: 1_000_000,
        updates: true,
    };
    let bare = Hello {
        protocol: 0,
        name: None,
        token: None,
        register: false,
        resume: None,
        client: None,
        version: None,
        games: 1,
        updates: false,
    };
    [full, bare].map(|hello| ClientMessage::Hello(Box::new(hello)))
}

fn challenges() -> [ClientMessage; 3] {
    [Some(Side::South), Some(Side::North), None].map(|side| {
        ClientMessage::Challenge(Box::new(Challenge {
            opponent: "Loubna".to_owned(),
            pool: "blitz".to_owned(),
            side,
            rated: side.is_none(),
            games: 1,
        }))
    })
}

/// Every message; a match keeps the list complete.
fn messages() -> Vec<ClientMessage> {
    const fn complete(message: &ClientMessage) {
        match message {
            ClientMessage::Hello(_)
            | ClientMessage::Seek { .. }
            | ClientMessage::Unseek { .. }
            | ClientMessage::Challenge(_)
            | ClientMessage::Accept { .. }
            | ClientMessage::Decline { .. }
            | ClientMessage::Move(_)
            | ClientMessage::Resign { .. }
            | ClientMessage::Watch { .. }
            | ClientMessage::Unwatch { .. }
            | ClientMessage::Ping
            | ClientMessage::Bye => {}
        }
    }
    let (pool, pit) = ("blitz".to_owned(), Pit::new(5).unwrap());
    let mut messages = vec![
        ClientMessage::Seek { pool: pool.clone(), games: 0 },
        ClientMessage::Unseek { pool: Some(pool) },
        ClientMessage::Unseek { pool: None },
        ClientMessage::Accept { challenge: challenge() },
        ClientMessage::Decline { challenge: challenge() },
        ClientMessage::Move(Move { game: game(), pit, ply: Some(u32::MAX) }),
        ClientMessage::Move(Move { game: game(), pit, ply: None }),
        ClientMessage::Resign { game: game() },
        ClientMessage::Watch { game: game() },
        ClientMessage::Unwatch { game: game() },
        ClientMessage::Ping,
        ClientMessage::Bye,
    ];
    messages.extend(hellos());
    messages.extend(challenges());
    messages.iter().for_each(complete);
    messages
}

/// Every message with and without a mark.
pub(crate) fn samples() -> Vec<Incoming> {
    let marks = [None, Some(Ref::Integer(-((1 << 53) - 1))), Some(Ref::Text("ä".repeat(64).into()))];
    let with_marks =
        |message: ClientMessage| marks.clone().map(|reference| Incoming { message: message.clone(), reference });
    messages().into_iter().flat_map(with_marks).collect()
}
