//! Which games count.

use super::machine::{Effect, Lobby, Now, Visitor};
use crate::clock::Moment;
use crate::config::Config;
use modiar_protocol::client::Challenge;
use modiar_protocol::{BotName, ChallengeId};
use uuid::Uuid;

const NOW: Now = Now { moment: Moment(0), unix_ms: 0 };

fn name(number: u64) -> BotName {
    BotName::new(&format!("bot-{number}")).unwrap()
}

/// What a rated challenge of one bot to another comes to.
fn ask(lobby: &mut Lobby, from: u64, to: u64, pool: &str) -> &'static str {
    let id = ChallengeId::new(Uuid::from_u128(from.into()));
    let terms = Challenge { opponent: name(to).to_string(), pool: pool.into(), side: None, rated: true, games: 1 };
    lobby.challenge(Visitor(from), id, terms, None, NOW).err().map_or("accepted", |error| error.code.as_str())
}

/// Whether the one game that starts is rated.
fn rated(effects: &[Effect]) -> bool {
    let rated = |effect: &Effect| match effect {
        Effect::Start(pairing) => Some(pairing.rated),
        Effect::Tell(..) => None,
    };
    effects.iter().find_map(rated).unwrap()
}

/// `session.challenge-refused`, `session.guest-unrated`: a game is rated where its pool is and neither is a guest.
#[test]
fn what_is_rated_needs_a_rated_pool_and_two_accounts() {
    let mut lobby = Lobby::new(Config::default().pools.into(), 64, 1);
    for number in 1..=3 {
        lobby.enter(Visitor(number), name(number), number == 1, 9);
    }
    assert_eq!(ask(&mut lobby, 2, 3, "practice"), "bad_field");
    assert_eq!([ask(&mut lobby, 1, 2, "blitz"), ask(&mut lobby, 2, 1, "blitz")], ["bad_field"; 2]);
    assert_eq!(ask(&mut lobby, 2, 3, "blitz"), "accepted");
    assert!(rated(&lobby.accept(Visitor(3), ChallengeId::new(Uuid::from_u128(2))).unwrap()));
    let mut seek = |one, other, pool: &str| {
        lobby.seek(Visitor(one), pool, 1, None, NOW).unwrap();
        rated(&lobby.seek(Visitor(other), pool, 1, None, NOW).unwrap())
    };
    assert_eq!([seek(2, 3, "bullet"), seek(2, 3, "practice"), seek(1, 2, "blitz")], [true, false, false]);
}
