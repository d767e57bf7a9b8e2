//! Challenges in the lobby: asked, accepted, turned down, and lapsed.

use super::challenges::Standing;
use super::machine::{Effect, Lobby, Now, Refused, Visitor, challenge_ended, refuse};
use super::pairing::{Sitter, Source, seated};
use super::presence::{Kind, Presence};
use crate::clock::{Micros, Moment};
use modiar_protocol::client::Challenge;
use modiar_protocol::limits::{CHALLENGE, CHALLENGES};
use modiar_protocol::server::{ChallengeEnd, Challenged, Challenger, Error};
use modiar_protocol::{BotName, ChallengeId, ErrorCode, Ref, ServerMessage};
use modiar_rules::Side;
use std::sync::Arc;

fn bad_field<T>(field: &'static str, message: &'static str) -> Result<T, Box<Error>> {
    Err(Box::new(Error { field: Some(field.into()), ..Error::new(ErrorCode::BadField, message) }))
}

impl Lobby {
    /// A bot challenges another, under a fresh id.
    ///
    /// # Errors
    /// `unknown_pool`, `unknown_bot`, `bad_field`, `games_limit`, `draining`.
    pub fn challenge(
        &mut self,
        from: Visitor,
        id: ChallengeId,
        terms: Challenge,
        reference: Option<Ref>,
        now: Now,
    ) -> Refused {
        let pool = self.pool(&terms.pool)?;
        self.check_draining()?;
        let Some(challenger) = self.visitors.get(&from).cloned() else { return Ok(Vec::new()) };
        let to = self.opponent(&challenger, &terms)?;
        if terms.rated && !self.pools[pool].rated {
            return bad_field("rated", "the pool is unrated; send false");
        }
        if let Some(wait) = self.challenges.wait(&challenger, &terms.opponent, now.moment) {
            let seconds = wait.ms().div_ceil(1000);
            let message = format!("'{}' has just turned you down; challenge it again in {seconds} s", terms.opponent);
            return refuse(ErrorCode::RateLimited, message);
        }
        if self.challenges.count(from) >= CHALLENGES || self.challenges.count(to) >= CHALLENGES {
            return refuse(ErrorCode::GamesLimit, format!("{CHALLENGES} challenges stand already; wait for their end"));
        }
        let challenged = Challenged {
            challenge: id,
            from: Challenger { name: challenger, rating: None },
            pool: self.pools[pool].name.clone(),
            side: terms.side.into(),
            rated: terms.rated,
            games: terms.games,
            expires_ms: Micros::from(CHALLENGE).ms(),
        };
        self.challenges.stand(id, Standing { from, to, terms, pool, until: now.moment + CHALLENGE.into() });
        Ok(vec![
            Effect::Tell(from, ServerMessage::ChallengeSent { challenge: id, reference }),
            Effect::Tell(to, ServerMessage::Challenged(Box::new(challenged))),
        ])
    }

    /// A bot takes a challenge up.
    ///
    /// # Errors
    /// `unknown_challenge`.
    pub fn accept(&mut self, visitor: Visitor, id: ChallengeId, now: Now) -> Refused {
        let Some(standing) = self.challenges.take(id, visitor, Standing::awaits) else {
            return refuse(
                ErrorCode::UnknownChallenge,
                unknown(id, "awaits your answer", "`challenged` tells those that do"),
            );
        };
        let (Some(from), Some(to)) =
            (self.visitors.get(&standing.from).cloned(), self.visitors.get(&standing.to).cloned())
        else {
            return Ok(Vec::new());
        };
        // Whose the two are, and what the pool is, may have been said since the challenge.
        let rates = !self.are_kin(&from, &to) && self.pools[standing.pool].rated;
        if standing.terms.rated && !rates || self.held || !self.has_room(&from) || !self.has_room(&to) {
            let ended = |visitor| challenge_ended(visitor, id, ChallengeEnd::Unavailable, None);
            return Ok(vec![ended(standing.from), ended(standing.to)]);
        }
        let side = standing.terms.side.unwrap_or(if self.dice.coin() { Side::South } else { Side::North });
        let from = Sitter { bot: from, visitor: standing.from, seek: None };
        let to = Sitter { bot: to, visitor: standing.to, seek: None };
        let seats = seated(from, side, to);
        let source = Source::Series(id, standing.terms.games - 1);
        Ok(vec![self.start(standing.pool, seats, standing.terms.rated, source, Arc::default(), now.moment)])
    }

    /// A bot turns a challenge down, or takes its own back.
    ///
    /// # Errors
    /// `unknown_challenge`.
    pub fn decline(&mut self, visitor: Visitor, id: ChallengeId, reference: Option<Ref>, now: Now) -> Refused {
        let Some(standing) = self.challenges.take(id, visitor, Standing::concerns) else {
            return refuse(
                ErrorCode::UnknownChallenge,
                unknown(id, "stands with you", "`challenged` and `challenge_sent` tell those that do"),
            );
        };
        let reason = if visitor == standing.from { ChallengeEnd::Cancelled } else { ChallengeEnd::Declined };
        let other = if visitor == standing.from { standing.to } else { standing.from };
        if reason == ChallengeEnd::Declined {
            self.turn_down(&standing, now.moment);
        }
        Ok(vec![challenge_ended(visitor, id, reason, reference), challenge_ended(other, id, reason, None)])
    }

    /// Ends the challenges whose time is over.
    pub fn lapse(&mut self, now: Moment) -> Vec<Effect> {
        let mut effects = Vec::new();
        while let Some((id, standing)) = self.challenges.take_lapsed(now) {
            self.turn_down(&standing, now);
            for visitor in [standing.from, standing.to] {
                effects.push(challenge_ended(visitor, id, ChallengeEnd::Expired, None));
            }
        }
        effects
    }

    fn opponent(&self, challenger: &BotName, terms: &Challenge) -> Result<Visitor, Box<Error>> {
        let name = BotName::new(&terms.opponent).ok();
        let found = name.as_ref().and_then(|name| Some((name, &**self.bots.get(name)?)));
        let Some((name, Presence { visitor: Some(visitor), kind, .. })) = found else {
            let name: String = terms.opponent.chars().take(40).collect();
            return refuse(ErrorCode::UnknownBot, format!("no bot '{name}' is connected; challenge one that is"));
        };
        if name == challenger {
            return bad_field("opponent", "a bot does not play itself; challenge another");
        }
        if terms.rated && self.are_kin(challenger, name) {
            return bad_field("rated", "both bots are of one owner; send false");
        }
        if terms.rated && (*kind == Kind::Guest || self.is_guest(challenger)) {
            return bad_field("rated", "a game with a guest is never rated; send false");
        }
        Ok(*visitor)
    }

    /// Whether two bots are known to be of one owner.
    pub(super) fn are_kin(&self, one: &BotName, other: &BotName) -> bool {
        self.bots.get(one).zip(self.bots.get(other)).is_some_and(|(one, other)| one.is_kin(other))
    }

    /// Who turned a challenge down is left alone by the challenger for a while.
    fn turn_down(&mut self, standing: &Standing, now: Moment) {
        let two = (self.visitors.get(&standing.from).cloned(), self.visitors.get(&standing.to).cloned());
        if let (Some(from), Some(to)) = two {
            self.challenges.turn_down(from, to, now);
        }
    }
}

/// A challenge that is none of the bot's, or what stood in the place of its id.
fn unknown(id: ChallengeId, what: &str, advice: &str) -> String {
    if id == ChallengeId::NOWHERE {
        format!("that is no id of a challenge; {advice}")
    } else {
        format!("no challenge {id} {what}; {advice}")
    }
}
