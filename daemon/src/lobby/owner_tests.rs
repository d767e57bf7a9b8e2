//! Two bots of one owner, in the lobby.

use super::challenges::Standing;
use super::machine::{Effect, Lobby, Now, Visitor};
use super::presence::{Entrant, Kind};
use crate::clock::Moment;
use crate::config::Config;
use crate::store::Owner;
use modiar_protocol::client::Challenge;
use modiar_protocol::server::ChallengeEnd;
use modiar_protocol::{BotName, ChallengeId, ServerMessage};
use modiar_rules::Side;
use uuid::Uuid;

const NOW: Now = Now { moment: Moment(0), unix_ms: 0 };

fn owner(text: &str) -> Option<Owner> {
    Some(text.to_owned().try_into().unwrap())
}

fn name(number: u64) -> BotName {
    BotName::new(&format!("bot-{number}")).unwrap()
}

/// Registered bots on connections 1, 2, …, each of this owner.
fn lobby(owners: &[Option<Owner>]) -> Lobby {
    let mut lobby = Lobby::new(Config::default().pools.into(), 64, 1);
    for (number, owner) in (1..).zip(owners) {
        let (kind, ratings) = (Kind::Registered(owner.clone()), Vec::new());
        lobby.enter(Visitor(number), Entrant { name: name(number), kind, limit: 2, ratings });
    }
    lobby
}

fn terms(opponent: u64, rated: bool) -> Challenge {
    Challenge { opponent: name(opponent).to_string(), pool: "blitz".into(), side: Some(Side::South), rated, games: 1 }
}

/// What the challenger reads where it is refused.
fn refusal(lobby: &mut Lobby, opponent: u64, rated: bool) -> Option<(String, String)> {
    let id = ChallengeId::new(Uuid::from_u128(opponent.into()));
    let refused = lobby.challenge(Visitor(1), id, terms(opponent, rated), None, NOW).err()?;
    Some((refused.field.clone().unwrap().into_owned(), refused.message.to_string()))
}

/// `session.challenge-refused`: nobody's bots are not of one owner, nor is one that was given away.
#[test]
fn two_bots_of_one_owner_play_no_rated_challenge() {
    let kin = Some(("rated".to_owned(), "both bots are of one owner; send false".to_owned()));
    let mut bots = lobby(&[owner("Grete"), owner("GRETE"), owner("anna"), None]);
    assert_eq!(refusal(&mut bots, 2, true), kin);
    assert_eq!(refusal(&mut bots, 2, false), None);
    for other in [3, 4] {
        assert_ne!(refusal(&mut bots, other, true), kin, "{other}");
    }
    bots.give(&name(2), owner("anna"));
    assert_ne!(refusal(&mut bots, 2, true), kin);
    bots.give(&name(4), owner("grete"));
    assert_eq!(refusal(&mut bots, 4, true), kin);
    bots.disown(&name(4));
    assert_ne!(refusal(&mut bots, 4, true), kin, "a removed bot is nobody's");
    assert_ne!(refusal(&mut lobby(&[None, None]), 2, true), kin);
}

/// A rated challenge that stands when the two become one owner's starts no game (`session.challenge-unavailable`).
#[test]
fn a_challenge_is_looked_at_again_when_it_is_accepted() {
    for (rated, starts) in [(true, false), (false, true)] {
        let mut bots = lobby(&[owner("grete"), None]);
        let id = ChallengeId::new(Uuid::from_u128(7));
        let standing =
            Standing { from: Visitor(1), to: Visitor(2), terms: terms(2, rated), pool: 1, until: Moment(60_000_000) };
        bots.challenges.stand(id, standing);
        bots.give(&name(2), owner("grete"));
        let effects = bots.accept(Visitor(2), id, NOW).unwrap();
        let ended = |effect: &Effect| {
            let end = ChallengeEnd::Unavailable;
            matches!(effect, Effect::Tell(_, ServerMessage::ChallengeEnded { reason, .. }) if *reason == end)
        };
        let expected = if starts { (1, 0) } else { (2, 2) };
        assert_eq!((effects.len(), effects.iter().filter(|effect| ended(effect)).count()), expected, "{effects:?}");
    }
}
