//! The bots: what each does with what it reads. None is told how it ought to behave, each only how it does.

use super::dice::Dice;
use super::network::Line;
use modiar_protocol::client::{Challenge, Hello, Move};
use modiar_protocol::{BotName, ChallengeId, ClientMessage, GameId, Incoming, PROTOCOL};
use modiar_rules::{Pit, PitSet, Side};

/// A bot and what it knows.
pub struct Bot {
    pub name: BotName,
    pub guest: bool,
    pub limit: u64,
    /// Its connection, while it believes in it.
    pub connection: Option<usize>,
    pub temper: Temper,
    /// The games it has heard of.
    pub games: Vec<GameId>,
}

/// How often, in a hundred turns, it does what.
#[derive(Clone, Copy)]
pub struct Temper {
    pub slow: u64,
    pub silent: u64,
    pub odd: u64,
    pub leaves: u64,
}

impl Temper {
    pub fn roll(dice: &mut Dice) -> Self {
        let mut often = |most: u64| if dice.once_in(2) { 0 } else { dice.below(most) };
        Self { slow: often(30), silent: often(12), odd: often(40), leaves: often(10) }
    }
}

/// A turn as its bot reads it.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    pub game: GameId,
    pub ply: u32,
    pub legal: PitSet,
    /// Microseconds until the flag.
    pub left: u64,
}

/// A line, and how long after the one before it is sent.
pub type Sent = (u64, Line);

fn said(message: ClientMessage) -> Line {
    Line::Message(Box::new(Incoming { message, reference: None }))
}

pub fn hello(bot: &Bot) -> Line {
    said(ClientMessage::Hello(Box::new(Hello {
        protocol: PROTOCOL,
        name: Some(bot.name.clone()),
        token: None,
        register: false,
        resume: None,
        client: None,
        version: None,
        games: bot.limit,
        updates: false,
    })))
}

pub fn seek(pool: &str, games: u64) -> Line {
    said(ClientMessage::Seek { pool: pool.to_owned(), games })
}

fn play(game: GameId, pit: u8, ply: Option<u32>) -> Line {
    said(ClientMessage::Move(Move { game, pit: Pit::new(pit % 6).unwrap(), ply }))
}

/// What the bot sends for a turn.
pub fn answer(temper: Temper, turn: Turn, dice: &mut Dice) -> Vec<Sent> {
    let Turn { game, ply, .. } = turn;
    let legal: Vec<Pit> = turn.legal.iter().collect();
    let pit = if legal.is_empty() { 0 } else { dice.pick(&legal).index() };
    let think = if dice.below(100) < temper.slow {
        // Close to the flag, on either side of it.
        (turn.left + dice.below(40_000)).saturating_sub(20_000)
    } else {
        dice.below(90_000)
    };
    let marked = if dice.once_in(3) { None } else { Some(ply) };
    let good = (think, play(game, pit, marked));
    if dice.below(100) < temper.silent {
        return Vec::new();
    }
    if dice.below(100) >= temper.odd {
        return vec![good];
    }
    match dice.below(12) {
        0 => vec![good, (dice.below(3_000), play(game, pit, Some(ply)))],
        1 => vec![good, (dice.below(3_000), play(game, pit, None))],
        2 => vec![(0, play(game, pit, Some(ply + 1))), good],
        3 => vec![(0, play(game, pit, Some(ply.saturating_sub(2).max(1)))), good],
        4 => vec![(think, play(game, u8::try_from(dice.below(6)).unwrap(), Some(ply))), (10, good.1)],
        5 => vec![(think, said(ClientMessage::Resign { game }))],
        6 => (0..20 + dice.below(150)).map(|_| (10, said(ClientMessage::Ping))).chain([good]).collect(),
        7 => vec![(0, Line::Bad), (0, Line::Empty), good],
        8 => vec![(0, play(GameId::NOWHERE, pit, None)), good],
        9 => vec![good, (dice.below(100), said(ClientMessage::Ping))],
        10 => vec![good, (dice.below(30_000), said(ClientMessage::Resign { game }))],
        _ => vec![good, (dice.below(60_000), play(game, pit, Some(ply + 2)))],
    }
}

/// What a bot says now and then, whatever happens.
pub fn whim(bots: &[Bot], own: usize, pools: &[&str], dice: &mut Dice) -> Line {
    let pool = dice.pick(pools);
    match dice.below(8) {
        0..=2 => seek(pool, dice.pick(&[0, 1, 1, 2, 3])),
        3 => said(ClientMessage::Unseek { pool: dice.once_in(2).then(|| pool.to_owned()) }),
        4 => {
            let other = (own + 1) % bots.len();
            let opponent = bots[if dice.once_in(8) { own } else { other }].name.as_str().to_owned();
            let (side, games) = (dice.pick(&[None, Some(Side::South)]), 1 + dice.below(3));
            let terms = Challenge { opponent, pool: pool.to_owned(), side, rated: false, games };
            said(ClientMessage::Challenge(Box::new(terms)))
        }
        5 => match bots[own].games.as_slice() {
            [] => said(ClientMessage::Ping),
            games => play(dice.pick(games), u8::try_from(dice.below(6)).unwrap(), None),
        },
        6 if dice.once_in(8) => said(ClientMessage::Bye),
        _ => said(ClientMessage::Ping),
    }
}

/// What a bot makes of a challenge.
pub fn challenged(challenge: ChallengeId, dice: &mut Dice) -> Vec<Sent> {
    let wait = dice.below(80_000);
    match dice.below(5) {
        0 => vec![(wait, said(ClientMessage::Decline { challenge }))],
        1 => Vec::new(),
        2 => vec![(wait, said(ClientMessage::Accept { challenge })), (0, said(ClientMessage::Accept { challenge }))],
        _ => vec![(wait, said(ClientMessage::Accept { challenge }))],
    }
}
