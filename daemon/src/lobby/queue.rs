//! The seeks of one pool, in the order of waiting.

use super::machine::Visitor;
use modiar_protocol::BotName;
use std::collections::VecDeque;

/// A bot looking for games in a pool.
#[derive(Clone, Debug)]
pub struct Seek {
    /// Its number, by which a game remembers the seek that wanted it.
    pub number: u64,
    /// Whose.
    pub visitor: Visitor,
    /// The bot.
    pub bot: BotName,
    /// How many games it wants; `None` until it says stop.
    pub wanted: Option<u64>,
    /// Games made for it and not aborted.
    pub made: u64,
    /// Of these, still running.
    pub running: u64,
}

impl Seek {
    /// Whether it still lacks games.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.wanted.is_none_or(|wanted| self.made < wanted)
    }

    /// Whether all its games are played.
    #[must_use]
    pub fn is_done(&self) -> bool {
        !self.is_open() && self.running == 0
    }
}

/// The seeks of one pool.
#[derive(Clone, Debug, Default)]
pub struct Queue(VecDeque<Seek>);

impl Queue {
    /// Adds a seek at the end.
    pub fn join(&mut self, seek: Seek) {
        self.0.push_back(seek);
    }

    /// The seek of a connection.
    pub fn of(&mut self, visitor: Visitor) -> Option<&mut Seek> {
        self.0.iter_mut().find(|seek| seek.visitor == visitor)
    }

    /// Takes the seek of a connection out.
    pub fn leave(&mut self, visitor: Visitor) -> Option<Seek> {
        let at = self.0.iter().position(|seek| seek.visitor == visitor)?;
        self.0.remove(at)
    }

    /// Takes all seeks out.
    pub fn clear(&mut self) -> impl Iterator<Item = Seek> + '_ {
        self.0.drain(..)
    }

    /// Puts the seek of a connection before all others.
    pub fn move_to_front(&mut self, visitor: Visitor) {
        if let Some(seek) = self.leave(visitor) {
            self.0.push_front(seek);
        }
    }

    /// Puts the seek of a connection behind all others: its wait begins anew.
    pub fn move_to_back(&mut self, visitor: Visitor) {
        if let Some(seek) = self.leave(visitor) {
            self.0.push_back(seek);
        }
    }

    /// The bots that could play now, by `ready`, in the order of waiting.
    pub fn waiting<'a>(&'a self, ready: impl Fn(&Seek) -> bool + 'a) -> impl Iterator<Item = &'a Seek> + 'a {
        self.0.iter().filter(move |seek| seek.is_open() && ready(seek))
    }
}
