//! What the host does to a bot.

use super::conduct::FRUITFUL;
use super::hall::Hall;
use crate::store::Owner;
use modiar_protocol::{BotName, GoodbyeReason};
use std::borrow::Cow;

impl Hall {
    /// Says goodbye to one bot; whether it was here.
    pub fn dismiss_bot(&self, name: &BotName, reason: GoodbyeReason, message: Cow<'static, str>) -> bool {
        let state = self.lock();
        let present = state.lobby.visitor(name).and_then(|visitor| state.present.get(&visitor));
        if let Some(present) = present {
            present.link.outlet.goodbye(reason, message, None);
        }
        present.is_some()
    }

    /// Whether a bot of that name is connected.
    #[must_use]
    pub fn is_connected(&self, name: &BotName) -> bool {
        self.lock().lobby.visitor(name).is_some()
    }

    /// See [`Lobby::give`].
    pub fn give(&self, name: &BotName, owner: Option<Owner>) {
        self.lock().lobby.give(name, owner);
    }

    /// Lets a bot go that the host has removed; its games run on, and nobody comes back to them.
    pub fn remove_bot(&self, name: &BotName, message: Cow<'static, str>) {
        self.dismiss_bot(name, GoodbyeReason::Banned, message);
        let visitor = self.lock().lobby.visitor(name);
        if let Some(visitor) = visitor {
            self.leave(visitor, FRUITFUL);
        }
        let mut state = self.lock();
        state.lobby.disown(name);
        // A guest's of the same name are not the removed bot's.
        let bot = state.bots.get(name).filter(|bot| bot.is_registered()).cloned();
        drop(state);
        for (table, side) in bot.iter().flat_map(|bot| bot.tables()) {
            table.disown(side);
        }
    }
}
