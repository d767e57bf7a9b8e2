//! The steps of a script that are about seeks and games.

use super::game::{Game, RESIGNATION};
use super::referee::{Heard, Referee, Seek, Step, with_ref};
use crate::report::skip;
use modiar_protocol::client::Move;
use modiar_protocol::{ClientMessage, Incoming, Ref};
use modiar_rules::{Line, Pit, Side, parse_moves};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// How long a bot may take from its last words to its end.
const LEAVES: Duration = Duration::from_secs(2);

/// How a bot goes on once its seek is done.
pub(crate) enum Next {
    Seeks,
    Leaves,
}

impl Referee<'_> {
    // ---- seeks

    /// Connection, hello, welcome, seek.
    pub(crate) fn sit(&mut self) -> Step {
        self.arrive()?;
        self.welcome(&[]);
        self.hear_seek()
    }

    /// [`sit`](Self::sit), and a game as South.
    pub(crate) fn begin(&mut self) -> Step {
        self.sit()?;
        self.start(Side::South, "")
    }

    /// Waits for a seek and lets it stand.
    pub(crate) fn hear_seek(&mut self) -> Step {
        let seek = self.hear_refused_seek()?;
        self.stand(seek);
        Ok(())
    }

    /// Lets a seek stand that comes in this time.
    pub(crate) fn hear_seek_within(&mut self, time: Duration) -> Step {
        match self.hear(time)? {
            Heard::Silence(_) => {}
            heard => {
                let seek = self.read_seek(heard)?;
                self.stand(seek);
            }
        }
        Ok(())
    }

    fn stand(&mut self, seek: Seek) {
        let seeking = json!({"type": "seeking", "pool": seek.pool, "waiting": 1});
        self.say(&with_ref(seeking, seek.reference.as_ref()));
        self.seek = Some(seek);
    }

    /// Waits for a seek that the script answers itself.
    pub(crate) fn hear_refused_seek(&mut self) -> Step<Seek> {
        let heard = self.hear(self.patience)?;
        self.read_seek(heard)
    }

    fn read_seek(&self, heard: Heard) -> Step<Seek> {
        match heard {
            Heard::Said(Incoming { message: ClientMessage::Seek { pool, games }, reference }) => {
                if !["bullet", "blitz", "practice"].contains(&&*pool) {
                    return self.fault_text("session.unknown-pool", "a seek in a pool of welcome", format!("'{pool}'"));
                }
                Ok(Seek { pool, left: (games > 0).then_some(games), reference })
            }
            heard => self.fault(self.clause(), "a seek", &heard),
        }
    }

    /// What a bot does once its seek is done: it seeks again, or leaves in good order.
    pub(crate) fn next(&mut self) -> Step<Next> {
        match self.hear_past_moves()? {
            Heard::Said(Incoming { message: ClientMessage::Bye, reference }) => {
                let goodbye = json!({"type": "goodbye", "reason": "bye", "message": "goodbye"});
                self.say(&with_ref(goodbye, reference.as_ref()));
                self.cut();
                Ok(Next::Leaves)
            }
            Heard::Closed => match self.process.ends_within(LEAVES) {
                None | Some(0) => Ok(Next::Leaves),
                Some(_) => self.fault(self.clause(), "bye, an end with status 0, or a new seek", &Heard::Closed),
            },
            heard @ Heard::Said(Incoming { message: ClientMessage::Seek { .. }, .. }) => {
                let seek = self.read_seek(heard)?;
                self.stand(seek);
                Ok(Next::Seeks)
            }
            heard => self.fault(self.clause(), "bye, the end of the connection, or a new seek", &heard),
        }
    }

    /// What comes when no game runs, behind such moves of games that are over as have crossed their end.
    fn hear_past_moves(&mut self) -> Step<Heard> {
        loop {
            match self.hear(self.patience)? {
                Heard::Said(Incoming { message: ClientMessage::Move(said), reference }) => {
                    self.judge(said, reference)?;
                }
                heard => return Ok(heard),
            }
        }
    }

    /// Whether a game more is wanted; one is sought then.
    pub(crate) fn wants_more(&mut self) -> Step<bool> {
        Ok(self.seek.is_some() || matches!(self.next()?, Next::Seeks))
    }

    /// A second game, or the check is left out.
    pub(crate) fn need_second(&mut self) -> Step {
        if self.wants_more()? { Ok(()) } else { skip("the bot wanted one game; let it play two, as with --games 2") }
    }

    /// The bot lives: it plays on where its seek goes on, and leaves in good order where not.
    pub(crate) fn goes_on(&mut self) -> Step {
        if self.wants_more()? {
            self.start(Side::South, "")?;
            self.hear_move()?;
        }
        Ok(())
    }

    // ---- games

    /// Starts a game behind this opening, and asks the bot where it is to move.
    pub(crate) fn start(&mut self, side: Side, opening: &str) -> Step {
        let moves = parse_moves(opening).map_err(std::io::Error::other)?;
        let line = Line::replay(self.rules, moves).map_err(std::io::Error::other)?;
        let pool = self.seek.as_ref().map_or_else(|| "practice".to_owned(), |seek| seek.pool.clone());
        let mut game = Game::new(self.games.len() as u128, &pool, &self.name(), side, line);
        game.guest = self.is_guest();
        game.rated = pool != "practice" && !game.guest;
        let started = game.started(false);
        self.now = self.games.len();
        self.games.push(game);
        self.say(&started);
        if self.game().is_bots() {
            self.ask();
        }
        Ok(())
    }

    /// The game that steps are about.
    pub(crate) fn game(&mut self) -> &mut Game {
        &mut self.games[self.now]
    }

    /// Tells the bot that it is to move.
    pub(crate) fn ask(&mut self) {
        let game = self.game();
        game.told = Some(game.ply());
        let turn = game.turn();
        self.say(&turn);
    }

    /// Waits for the bot's move and plays it; which it was.
    pub(crate) fn hear_move(&mut self) -> Step<Pit> {
        let deadline = Instant::now() + self.patience;
        loop {
            match self.hear(deadline.saturating_duration_since(Instant::now()))? {
                Heard::Said(Incoming { message: ClientMessage::Move(said), reference }) => {
                    if let Some(pit) = self.judge(said, reference)? {
                        return Ok(pit);
                    }
                }
                Heard::Silence(_) => return self.fault(self.clause(), "a move", &Heard::Silence(self.patience)),
                heard => return self.fault(self.clause(), "a move", &heard),
            }
        }
    }

    /// Whether the bot gives its game up before anything else; a move that comes instead is left to be heard.
    pub(crate) fn hear_resignation(&mut self) -> Step<bool> {
        match self.hear(self.patience)? {
            Heard::Said(Incoming { message: ClientMessage::Resign { .. }, .. }) => {
                let game = self.game();
                let ended = game.ended_by(Some(game.side.other()), RESIGNATION);
                self.end(ended);
                Ok(true)
            }
            heard => {
                self.unheard = Some(heard);
                Ok(false)
            }
        }
    }

    /// Plays what was said; nothing for a move that costs nothing, which is answered.
    fn judge(&mut self, Move { game, pit, ply }: Move, reference: Option<Ref>) -> Step<Option<Pit>> {
        let Some(at) = self.games.iter().position(|known| known.id == game.as_str()) else {
            return self.fault_text("verdict.wrong-game", "a move in a game of its own", format!("game {game}"));
        };
        self.now = at;
        let about = with_ref(json!({"game": game}), reference.as_ref());
        let known = &self.games[at];
        let now = known.ply();
        let said = format!("pit {pit} for ply {}, where ply {now} is to be played", ply.unwrap_or(now));
        if known.ended.is_some() {
            if known.told.is_none_or(|told| told < now) {
                return self.fault_text("forfeit.once", "no move after the end of a game", said);
            }
            self.say_error("game_over", "the game has ended; read 'ended'", about);
            return Ok(None);
        }
        match ply {
            Some(ply) if known.played(ply, pit) => {
                self.say_error("duplicate", "this move was played already; it counted", about);
                Ok(None)
            }
            Some(ply) if ply < now => self.fault_text("verdict.stale-ply", "a move for the newest turn", said),
            Some(ply) if ply > now => self.fault_text("verdict.not-your-turn", "a move for the newest turn", said),
            _ if !known.is_bots() => self.fault_text("verdict.not-your-turn", "no move on the other side's turn", said),
            _ => self.accept(pit).map(Some),
        }
    }

    fn accept(&mut self, pit: Pit) -> Step<Pit> {
        let legal = self.game().line.legal();
        match self.game().play(pit) {
            Ok(()) => {
                self.tell_moved();
                if self.game().line.ending().is_some() {
                    self.end_by_rules();
                }
                Ok(pit)
            }
            Err(clause) => self.fault_text(clause, &format!("one of the legal pits {legal}"), format!("pit {pit}")),
        }
    }

    /// The opponent plays; the bot is asked, or reads the end.
    pub(crate) fn reply(&mut self) -> Step {
        let Some(pit) = self.game().reply() else { return Ok(()) };
        self.game().play(pit).map_err(std::io::Error::other)?;
        self.tell_moved();
        if self.game().line.ending().is_some() {
            self.end_by_rules();
        } else {
            self.ask();
        }
        Ok(())
    }

    /// Bots that asked for it read every ply.
    fn tell_moved(&mut self) {
        if self.hello.as_ref().is_some_and(|hello| hello.updates) {
            let moved = self.game().moved_last();
            self.say(&moved);
        }
    }

    /// So many moves of the bot, the opponent's between them. At the end the opponent is to move.
    pub(crate) fn exchange(&mut self, moves: usize) -> Step {
        for _ in 0..moves {
            if !self.game().is_bots() {
                self.reply()?;
            }
            self.hear_move()?;
        }
        Ok(())
    }

    /// Nothing comes for this time but what costs nothing.
    pub(crate) fn quiet(&mut self, time: Duration, awaited: &str) -> Step {
        let deadline = Instant::now() + time;
        loop {
            match self.hear(deadline.saturating_duration_since(Instant::now()))? {
                Heard::Silence(_) => return Ok(()),
                Heard::Said(Incoming { message: ClientMessage::Move(said), reference }) => {
                    if self.judge(said, reference)?.is_some() {
                        return self.fault_text(self.clause(), awaited, "a move".to_owned());
                    }
                }
                heard => return self.fault(self.clause(), awaited, &heard),
            }
        }
    }

    // ---- ends

    /// The game has ended; and with the last game of a seek the seek.
    pub(crate) fn end(&mut self, ended: Value) {
        let counted = ended["result"] != "none";
        self.game().ended = Some(ended.clone());
        let left = self.seek.as_mut().and_then(|seek| seek.left.as_mut());
        let done = left.is_some_and(|left| {
            *left = left.saturating_sub(u64::from(counted));
            *left == 0
        });
        let seek = if done { self.seek.take() } else { None };
        self.together(|at| {
            at.say(&ended);
            if let Some(seek) = seek {
                at.say(&json!({"type": "seek_ended", "pool": seek.pool, "reason": "done"}));
            }
        });
    }

    fn end_by_rules(&mut self) {
        if let Some(ended) = self.game().ended_by_rules() {
            self.end(ended);
        }
    }

    /// What a bot is told of games that it played before the program was started.
    pub(crate) fn old_ends(&self) -> Vec<Value> {
        /// Beyond the numbers of all new games.
        const OLD: [u128; 2] = [0x80, 0x81];
        let old = |number| Game::new(number, "practice", &self.name(), Side::South, Line::new(self.rules));
        OLD.map(|number| old(number).ended_by(Some(Side::South), RESIGNATION)).to_vec()
    }

    /// The opponent gives up.
    pub(crate) fn opponent_resigns(&mut self) {
        let game = self.game();
        let ended = game.ended_by(Some(game.side), RESIGNATION);
        self.end(ended);
    }

    /// One short game: the opponent gives up after the bot's first move.
    pub(crate) fn short_game(&mut self) -> Step {
        self.start(Side::South, "")?;
        self.hear_move()?;
        self.opponent_resigns();
        Ok(())
    }

    // ---- a lost link

    /// The bot comes back, and finds itself to move: where it was not, the opponent has played meanwhile.
    pub(crate) fn back(&mut self, missed: &[Value]) -> Step {
        self.arrive()?;
        self.plays_unseen()?;
        self.resume(missed);
        Ok(())
    }

    /// The opponent plays, if it is to move, and the bot is not told.
    pub(crate) fn plays_unseen(&mut self) -> Step {
        let game = self.game();
        if game.ended.is_none()
            && !game.is_bots()
            && let Some(pit) = game.reply()
        {
            game.play(pit).map_err(std::io::Error::other)?;
        }
        Ok(())
    }

    /// Welcome with the games that go on, each with `started` and, where the bot is to move, `turn`.
    pub(crate) fn resume(&mut self, missed: &[Value]) {
        self.together(|at| {
            at.welcome(missed);
            for game in 0..at.games.len() {
                at.now = game;
                if at.game().ended.is_none() {
                    let started = at.game().started(true);
                    at.say(&started);
                    if at.game().is_bots() {
                        at.ask();
                    }
                }
            }
        });
    }
}
