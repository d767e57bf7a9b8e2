//! The hall's door: who is let in, under which name, and back to which games.

use super::bot::Bot;
use super::conduct::{FRUITFUL, Stay};
use super::hall::{Hall, Present, State};
use super::machine::Visitor;
use super::presence::{Entrant, Kind};
use super::registration::taken;
use crate::clock::{Arrival, Moment};
use crate::net::Outlet;
use crate::referee::Link;
use crate::store::{Account, BanReason, Claim, TokenHash, new_token};
use crate::time;
use modiar_protocol::client::Hello;
use modiar_protocol::limits::{CLIENT_LINE_BYTES, GUEST_KEPT, GUESTS_KEPT, SERVER_LINE_BYTES};
use modiar_protocol::server::{Error, PoolInfo, PoolRating, Welcome, WelcomeLimits, WelcomedBot};
use modiar_protocol::{BotName, ErrorCode, GoodbyeReason, PROTOCOL, Ref, Secret, ServerMessage};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use tracing::info;
use uuid::Uuid;

/// Why a hello is not welcome.
#[derive(Debug)]
pub enum NotWelcome {
    /// An error to read; another hello may do.
    Error(Box<Error>),
    /// The host keeps this bot out.
    Banned(BanReason),
}

/// Who a hello turned out to be.
pub(super) struct Known {
    bot: Arc<Bot>,
    /// The token by which a guest can come back.
    resume: Option<Secret>,
}

/// The same words whatever is wrong (`session.auth-failed`).
const WRONG: &str =
    "unknown name or wrong token; see that both are as the host gave them: a registered name needs its token";

fn refuse<T>(code: ErrorCode, message: impl Into<Cow<'static, str>>) -> Result<T, NotWelcome> {
    Err(NotWelcome::Error(Box::new(Error::new(code, message))))
}

impl Hall {
    /// Lets a bot in, welcomes it, and takes it back to its games. One that was registered just now is known by that, and reads
    /// its token.
    ///
    /// # Errors
    /// What the bot reads instead of a welcome.
    pub fn enter(
        &self,
        visitor: Visitor,
        outlet: &Arc<Outlet>,
        hello: Hello,
        reference: Option<Ref>,
        arrival: &dyn Arrival,
        claim: Option<&Claim>,
    ) -> Result<Arc<Bot>, NotWelcome> {
        let token = claim.map(Claim::token);
        self.change(|state| {
            let Known { bot, resume } = match token {
                Some(token) => self.recognise_owner(state, hello.name.as_ref(), token)?,
                None => self.recognise(state, &hello, outlet.is_inside())?,
            };
            let limits = self.limits_of(outlet);
            let games = hello.games.min(limits.games_per_bot);
            self.replace(state, &bot.name);
            let link = Link { outlet: Arc::clone(outlet), updates: hello.updates };
            let kind = match (bot.is_house(), bot.is_guest()) {
                (true, _) => Kind::House,
                (false, true) => Kind::Guest,
                (false, false) => Kind::Registered(self.accounts.owner(&bot.name)),
            };
            state.lobby.enter(visitor, self.entrant(bot.name.clone(), kind, games));
            state.bots.insert(bot.name.clone(), Arc::clone(&bot));
            let present = Present { bot: Arc::clone(&bot), version: hello.version, link: link.clone() };
            state.present.insert(visitor, present);
            bot.enter();
            let limits = WelcomeLimits {
                line_bytes: CLIENT_LINE_BYTES as u64,
                messages_per_s: limits.messages_per_second,
                games,
            };
            outlet.lay(&self.welcome(&bot, [token.cloned(), resume], limits, reference));
            outlet.lay(&state.notice);
            state.after.outlets.push(Arc::clone(outlet));
            for (table, side) in bot.tables() {
                table.come_back(side, link.clone(), arrival);
            }
            Ok(bot)
        })
    }

    /// Who comes in, with what the ladder knows of it.
    fn entrant(&self, name: BotName, kind: Kind, limit: u64) -> Entrant {
        if kind == Kind::Guest {
            return Entrant { name, kind, limit, ratings: Vec::new() };
        }
        let (ladder, pools) = (self.referee.ratings(), &self.current().pools);
        let ratings = pools.iter().map(|pool| ladder.of(&pool.name, &name)).collect();
        Entrant { name, kind, limit, ratings }
    }

    /// A connection is gone.
    pub fn leave(&self, visitor: Visitor, stay: Stay) {
        self.change(|state| {
            state.connected.remove(&visitor);
            if let Some(present) = state.present.remove(&visitor) {
                present.bot.left(&present.link.outlet);
                self.referee.keep_unread(&present.bot);
                state.bound_guests();
                let effects = state.lobby.leave(visitor, stay, time::now());
                self.carry_out(state, effects);
            }
        });
    }

    /// A bot has read its welcome, where it is still on that connection: of another one's welcome nothing is known.
    pub fn has_read(&self, visitor: Visitor) {
        if let Some(Present { bot, .. }) = self.lock().present.get(&visitor) {
            bot.has_read();
            self.referee.keep_unread(bot);
        }
    }

    /// Forgets the bots that will not come back.
    pub fn forget(&self) {
        let State { bots, lobby, .. } = &mut *self.lock();
        bots.retain(|name, bot| lobby.visitor(name).is_some() || !bot.is_forgettable(GUEST_KEPT.into()));
    }

    /// By a house name whoever comes from `inside` this process is a house bot, and nobody else is anybody.
    fn recognise(&self, state: &mut State, hello: &Hello, inside: bool) -> Result<Known, NotWelcome> {
        match hello.name.as_ref().filter(|name| name.is_house()) {
            Some(name) if inside => return Ok(state.recognise_house(name)),
            Some(_) => {
                return refuse(ErrorCode::BadName, "names beginning house- belong to the server; choose another");
            }
            None => {}
        }
        if let Some(token) = &hello.token {
            return self.recognise_owner(state, hello.name.as_ref(), token);
        }
        let known = hello.resume.as_ref().and_then(|token| state.recognise_guest(hello.name.as_ref(), token));
        // Somebody may have registered the name since.
        if let Some(known) = known.filter(|known| !self.accounts.owns(&known.bot.name)) {
            return Ok(known);
        }
        self.recognise_newcomer(state, hello)
    }

    fn recognise_owner(&self, state: &State, name: Option<&BotName>, token: &Secret) -> Result<Known, NotWelcome> {
        if name.is_none() {
            return refuse(ErrorCode::AuthFailed, "a token needs the bot's name beside it; send name too");
        }
        let account = name.and_then(|name| self.accounts.authenticate(name, token));
        match account {
            Some(Account { banned: Some(reason), .. }) => Err(NotWelcome::Banned(reason)),
            Some(Account { name, .. }) => {
                // A bot of that name may still have games; a guest's, from before the name was registered, is not it.
                let known = state.bots.get(&name).filter(|bot| !bot.is_guest()).cloned();
                let bot = known.unwrap_or_else(|| Arc::new(Bot::new(name, None)));
                Ok(Known { bot, resume: None })
            }
            None => refuse(ErrorCode::AuthFailed, WRONG),
        }
    }

    fn recognise_newcomer(&self, state: &State, hello: &Hello) -> Result<Known, NotWelcome> {
        let owned = hello.name.as_ref().is_some_and(|name| self.accounts.owns(name));
        if owned || hello.resume.is_some() && hello.name.is_none() {
            return refuse(ErrorCode::AuthFailed, WRONG);
        }
        if let Some(name) = hello.name.as_ref().filter(|name| state.lobby.is_taken(name)) {
            return Err(NotWelcome::Error(taken(name)));
        }
        if !self.current().guests {
            let how = if self.current().registration {
                "send register with a name of your own, once, and its token from then on"
            } else {
                "ask it for a name and a token"
            };
            return refuse(ErrorCode::GuestsClosed, format!("this host takes no guests; {how}"));
        }
        let Ok(token) = new_token() else {
            return refuse(ErrorCode::Internal, "the server has no random numbers at present; come back later");
        };
        let name = hello.name.clone().unwrap_or_else(|| state.guest_name(self));
        Ok(Known { bot: Arc::new(Bot::new(name, Some(TokenHash::of(&token)))), resume: Some(token) })
    }

    /// The newest connection of a bot wins (`session.newest-wins`).
    pub(super) fn replace(&self, state: &mut State, name: &BotName) {
        let Some(old) = state.lobby.visitor(name) else { return };
        if let Some(present) = state.present.remove(&old) {
            info!(bot = %name, "replaced");
            present.bot.left(&present.link.outlet);
            self.referee.keep_unread(&present.bot);
            present.link.outlet.goodbye(
                GoodbyeReason::Replaced,
                "this bot has connected anew; of two programs each needs a name of its own",
                None,
            );
        }
        let effects = state.lobby.leave(old, FRUITFUL, time::now());
        self.carry_out(state, effects);
    }

    /// Its ratings in the rated pools that there are.
    fn ratings_of(&self, bot: &Bot) -> BTreeMap<String, PoolRating> {
        if bot.is_guest() {
            return BTreeMap::new();
        }
        let pools = &self.current().pools;
        let rated = pools.iter().filter(|pool| pool.rated).map(|pool| &*pool.name);
        self.referee.ratings().told(rated, &bot.name)
    }

    /// The welcome as a line: of the games that were missed as many as it holds, the newest (`session.missed`,
    /// `transport.server-line-limit`).
    fn welcome(
        &self,
        bot: &Bot,
        secrets: [Option<Secret>; 2],
        limits: WelcomeLimits,
        reference: Option<Ref>,
    ) -> Vec<u8> {
        let [token, resume] = secrets;
        let mut welcome = Welcome {
            protocol: PROTOCOL,
            server: crate::SERVER.to_owned(),
            bot: WelcomedBot { name: bot.name.clone(), guest: bot.is_guest(), ratings: self.ratings_of(bot) },
            token,
            resume,
            pools: self.current().pools.iter().map(PoolInfo::from).collect(),
            limits,
            games: bot.tables().iter().map(|(table, _)| table.id()).collect(),
            missed: bot.unread(),
            reference,
        };
        loop {
            let line = ServerMessage::Welcome(Box::new(welcome.clone())).to_line();
            if line.len() <= SERVER_LINE_BYTES || welcome.missed.is_empty() {
                return line;
            }
            welcome.missed.remove(0);
        }
    }
}

impl State {
    /// Forgets the guests that left first where more than [`GUESTS_KEPT`] could come back (`session.guest-resume`): an
    /// eighth of them at once, so that they are seldom looked through.
    fn bound_guests(&mut self) {
        if self.bots.len().saturating_sub(self.present.len()) <= GUESTS_KEPT {
            return;
        }
        let guests = self.bots.values().filter(|bot| bot.is_guest());
        let mut away: Vec<(Moment, BotName)> =
            guests.filter_map(|guest| Some((guest.away_since()?, guest.name.clone()))).collect();
        if away.len() > GUESTS_KEPT {
            away.sort_unstable_by_key(|(since, _)| *since);
            for (_, name) in &away[..GUESTS_KEPT / 8] {
                self.bots.remove(name);
            }
        }
    }

    /// The house bot of this name, which may have games since before a restart.
    fn recognise_house(&self, name: &BotName) -> Known {
        let known = self.bots.get(name).cloned();
        Known { bot: known.unwrap_or_else(|| Arc::new(Bot::new(name.clone(), None))), resume: None }
    }

    /// The guest that was given this token, if it may come back.
    pub(super) fn recognise_guest(&self, name: Option<&BotName>, token: &Secret) -> Option<Known> {
        let given = TokenHash::of(token);
        // Of hashes of so much chance the time that it takes to compare them tells nothing.
        let is_it = |bot: &&Arc<Bot>| bot.resume.as_ref() == Some(&given);
        let bot = match name {
            Some(name) => self.bots.get(name).filter(is_it),
            None => self.bots.values().find(is_it),
        };
        Some(Known { bot: Arc::clone(bot?), resume: Some(token.clone()) })
    }

    /// A name nobody has, unlike that of any guest before: logs of many days must not take two programs for one.
    fn guest_name(&self, hall: &Hall) -> BotName {
        loop {
            let digits = Uuid::new_v4().simple().to_string();
            if let Ok(name) = BotName::new(&format!("guest-{}", &digits[..8]))
                && !self.bots.contains_key(&name)
                && !hall.accounts.owns(&name)
            {
                return name;
            }
        }
    }
}
