//! One game: a value changed in one place by one pure transition.
//!
//! ```text
//!            play, forgiven pit, turn_written
//!              ┌───────┐
//!              │       ▼
//!  new ──▶  Running ───────▶ Decided ───────▶ Over
//!            play that ends    committed
//!            play past its deadline, illegal pit
//!            resign, flag, abort
//! ```
//!
//! While a game is Decided its result is on its way to the disk and nobody has been told (`forfeit.durable`); what is said
//! about it meanwhile is answered `game_over`, after `ended`. No socket, no store, no wall clock here.

use crate::clock::{Arrival, Charge, Clock, Control, Micros, Moment};
use modiar_protocol::client::Move;
use modiar_protocol::limits::FIRST_PLY;
use modiar_protocol::{Detail, ErrorCode, GameResult, GameRules, PitList, Termination};
use modiar_rules::{BySide, Illegal, Line, Pit, Refusal as RulesRefusal, ReplayError, SEEDS, Side};

/// What a game is played by.
#[derive(Clone, Debug)]
pub struct Terms {
    /// The time control.
    pub control: Control,
    /// The rules, as told in `started`.
    pub rules: GameRules,
    /// Plies played for the bots before the first turn.
    pub opening: Vec<Pit>,
    /// Sides for which not showing up is a forfeit, not an abort (`forfeit.second`).
    pub must_show: BySide<bool>,
}

/// The state of a game.
#[derive(Clone, Debug)]
pub struct Game {
    terms: Terms,
    line: Line,
    clock: Clock,
    charges: Vec<Charge>,
    last: Option<Played>,
    forgiven: BySide<u16>,
    phase: Phase,
}

/// Where a game stands.
#[derive(Clone, Debug, PartialEq)]
pub enum Phase {
    /// The side to move has a turn.
    Running,
    /// The result is known and not yet stored.
    Decided(Decision),
    /// The result is stored and told.
    Over(Decision),
}

/// How a game ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// Who won.
    pub result: GameResult,
    /// Why.
    pub termination: Termination,
    /// What an illegal move was.
    pub detail: Option<Detail>,
    /// The arithmetic of a turn that brought no move.
    pub unfinished: Option<Charge>,
    /// The side that did not show up.
    pub absent: Option<Side>,
}

/// An accepted ply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Played {
    /// Its number, the first is 1.
    pub ply: u32,
    /// Who played.
    pub side: Side,
    /// What.
    pub pit: Pit,
    /// Seeds captured.
    pub taken: u8,
    /// What it cost.
    pub charge: Charge,
}

/// What became of a move, a resignation or a check of the flag.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The ply stands; the other side is to move unless the game is now Decided.
    Accepted(Played),
    /// The game is now Decided without a ply.
    Decided,
    /// Nothing changed; the sender reads this.
    Refused(Refused),
    /// The game is Decided or Over: `game_over`, once that has been told.
    TooLate,
    /// It would not have been accepted, and its sender has used up its rate.
    Limited,
    /// There was nothing to do.
    Nothing,
}

/// A refusal that costs nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    /// The published code.
    pub code: ErrorCode,
    /// What was wrong and what to do.
    pub message: String,
    /// For a forgiven pit: the clause, and what may be played.
    pub illegal: Option<(&'static str, PitList)>,
}

impl Game {
    /// A game by these terms; its clock stands until its first turn is written.
    ///
    /// # Errors
    /// The opening cannot be played.
    pub fn new(terms: Terms) -> Result<Self, ReplayError> {
        let line = Line::replay(terms.rules.ends(), terms.opening.iter().copied())?;
        let mut game = Self {
            clock: Clock::new(terms.control),
            charges: Vec::new(),
            last: None,
            forgiven: BySide::default(),
            phase: Phase::Running,
            line,
            terms,
        };
        game.end_by_rules();
        Ok(game)
    }

    /// A game as it stood when these plies, each with its cost, had been played and so many illegal pits forgiven. Its
    /// clock stands until its turn is written anew.
    ///
    /// # Errors
    /// A ply cannot be played.
    pub fn resume(terms: Terms, plies: &[(Pit, Charge)], forgiven: BySide<u16>) -> Result<Self, ReplayError> {
        let mut game = Self::new(terms)?;
        game.forgiven = forgiven;
        for (pit, charge) in plies {
            let (side, ply) = (game.side_to_move(), game.line.position().ply());
            let taken = game.line.play(*pit).map_err(|refusal| ReplayError { ply, pit: *pit, refusal })?;
            game.book(side, *pit, taken, *charge);
        }
        game.clock.stand();
        Ok(game)
    }

    /// The terms.
    #[must_use]
    pub const fn terms(&self) -> &Terms {
        &self.terms
    }

    /// The plies and the position.
    #[must_use]
    pub const fn line(&self) -> &Line {
        &self.line
    }

    /// The clock.
    #[must_use]
    pub const fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The arithmetic of each ply after the opening.
    #[must_use]
    pub fn charges(&self) -> &[Charge] {
        &self.charges
    }

    /// The newest ply that a bot played.
    #[must_use]
    pub const fn last(&self) -> Option<&Played> {
        self.last.as_ref()
    }

    /// Illegal pits forgiven so far.
    #[must_use]
    pub const fn forgiven(&self) -> BySide<u16> {
        self.forgiven
    }

    /// Where the game stands.
    #[must_use]
    pub const fn phase(&self) -> &Phase {
        &self.phase
    }

    /// The decision, once there is one.
    #[must_use]
    pub const fn decision(&self) -> Option<&Decision> {
        match &self.phase {
            Phase::Running => None,
            Phase::Decided(decision) | Phase::Over(decision) => Some(decision),
        }
    }

    /// The final score by the rules where the game was played to its end, else what was captured (`ended.score`).
    #[must_use]
    pub fn score(&self) -> BySide<u8> {
        if self.line.ending().is_some() { self.line.score() } else { self.line.position().captured() }
    }

    /// The side to move.
    #[must_use]
    pub fn side_to_move(&self) -> Side {
        self.line.position().side()
    }

    /// What each side has left at this moment (`clock.wire-running`).
    #[must_use]
    pub fn left(&self, now: Moment) -> BySide<Micros> {
        let mut left = self.clock.remaining();
        if self.phase == Phase::Running {
            let side = self.side_to_move();
            left[side] = left[side].less(self.clock.running_charge(now).charged);
        }
        left
    }

    /// The last moment at which a move of the side to move is in time; `None` where no clock runs.
    #[must_use]
    pub fn deadline(&self) -> Option<Moment> {
        if self.phase == Phase::Running { self.clock.deadline(self.allowance()) } else { None }
    }

    /// The turn of the side to move was written at `written`.
    pub const fn turn_written(&mut self, written: Moment) {
        self.clock.turn_written(written);
    }

    /// Who is to move is back by this arrival (`clock.return`).
    pub fn excuse(&mut self, hello: &dyn Arrival) {
        self.clock.excuse(hello);
    }

    /// The turn of the side to move cannot be written yet: no clock runs.
    pub const fn stand(&mut self) {
        self.clock.stand();
    }

    /// Judges a move, in the order of `verdict.order`, and applies it. A `limited` one is applied only if it is accepted.
    pub fn play(&mut self, side: Side, wanted: Move, arrival: &dyn Arrival, limited: bool) -> Verdict {
        if self.phase != Phase::Running {
            return Verdict::TooLate;
        }
        let refused = self.wrong_ply(side, wanted);
        if limited && (refused.is_some() || self.line.check(wanted.pit).is_err()) {
            return Verdict::Limited;
        }
        if let Some(refused) = refused {
            return Verdict::Refused(refused);
        }
        let charge = self.clock.charge(arrival);
        if charge.charged > self.allowance() {
            return self.fall(charge);
        }
        match self.line.play(wanted.pit) {
            Ok(taken) => Verdict::Accepted(self.book(side, wanted.pit, taken, charge)),
            Err(RulesRefusal::Illegal(illegal)) => self.illegal(side, wanted.pit, illegal, charge),
            Err(RulesRefusal::Over(_)) => Verdict::TooLate,
        }
    }

    /// `side` gives the game up (`verdict.resign`); past its own deadline its flag has fallen instead.
    pub fn resign(&mut self, side: Side, arrival: &dyn Arrival) -> Verdict {
        if self.phase != Phase::Running {
            return Verdict::TooLate;
        }
        let charge = self.clock.charge(arrival);
        if side == self.side_to_move() && charge.charged > self.allowance() {
            return self.fall(charge);
        }
        self.decide(GameResult::win(side.other()), Termination::Resignation, None, Some(charge))
    }

    /// The flag of the side to move, all that it sent having been read (`clock.flag`).
    pub fn flag(&mut self, now: Moment) -> Verdict {
        let charge = self.clock.running_charge(now);
        let fallen = self.phase == Phase::Running && charge.charged > self.allowance();
        if fallen { self.fall(charge) } else { Verdict::Nothing }
    }

    /// Time is up and nobody is there: ends the game without a result, the running turn as long as it was.
    pub fn abandon(&mut self, now: Moment) -> Verdict {
        let charge = self.clock.running_charge(now);
        match self.phase {
            Phase::Running => self.decide(GameResult::None, Termination::Aborted, None, Some(charge)),
            _ => Verdict::Nothing,
        }
    }

    /// Ends the game without a result.
    pub fn abort(&mut self, termination: Termination) -> Verdict {
        match self.phase {
            Phase::Running => self.decide(GameResult::None, termination, None, None),
            _ => Verdict::Nothing,
        }
    }

    /// The server failed at this game, wherever it stands before it is told (`forfeit.server-error`). What the failure left
    /// half done is put right from the plies and charges; one that ended the game by the rules has ended it.
    pub fn fault(&mut self) {
        let plies: Vec<_> =
            self.line.moves().iter().skip(self.terms.opening.len()).copied().zip(self.charges.clone()).collect();
        if let Ok(game) = Self::resume(self.terms.clone(), &plies, self.forgiven) {
            *self = game;
        }
        if self.phase == Phase::Running {
            self.decide(GameResult::None, Termination::ServerError, None, None);
        }
    }

    /// Whether board and captures together hold the seeds of the start.
    #[must_use]
    pub fn conserves_seeds(&self) -> bool {
        let position = self.line.position();
        let captured = position.captured();
        let seeds: u32 = position.pits().into_iter().chain([captured.south, captured.north]).map(u32::from).sum();
        seeds == u32::from(SEEDS)
    }

    /// The result is durable.
    pub fn committed(&mut self) {
        if let Phase::Decided(decision) = &self.phase {
            self.phase = Phase::Over(decision.clone());
        }
    }

    /// Whether the side to move has still to play its first ply.
    fn first_ply(&self) -> bool {
        self.charges.len() < 2
    }

    /// What the side to move may be charged: for its first ply at most [`FIRST_PLY`] (`forfeit.no-show`).
    /// What the side to move may be charged for this turn before it has forfeited the game.
    #[must_use]
    pub fn allowance(&self) -> Micros {
        let allowance = self.clock.allowance(self.side_to_move());
        if self.first_ply() { allowance.min(FIRST_PLY.into()) } else { allowance }
    }

    fn wrong_ply(&self, side: Side, wanted: Move) -> Option<Refused> {
        let current = self.line.position().ply();
        let ply = wanted.ply.unwrap_or(current);
        if ply < current {
            return Some(self.played_before(side, wanted.pit, ply));
        }
        if ply > current || side != self.side_to_move() {
            let message = format!(
                "it is not your turn to play ply {ply}: {} is to play ply {current}; wait for your turn",
                self.side_to_move()
            );
            return Some(Refused { code: ErrorCode::NotYourTurn, message, illegal: None });
        }
        None
    }

    fn played_before(&self, side: Side, pit: Pit, ply: u32) -> Refused {
        let at = usize::try_from(ply).unwrap_or(usize::MAX) - 1;
        let mover = if ply % 2 == 1 { Side::South } else { Side::North };
        let same = side == mover && at >= self.terms.opening.len() && self.line.moves().get(at) == Some(&pit);
        let current = self.line.position().ply();
        let (code, what) =
            if same { (ErrorCode::Duplicate, "this move stands already") } else { (ErrorCode::StalePly, "it is past") };
        Refused { code, message: format!("ply {ply}: {what}; ply {current} is to be played"), illegal: None }
    }

    fn book(&mut self, side: Side, pit: Pit, taken: u8, charge: Charge) -> Played {
        self.clock.settle(side, charge);
        self.charges.push(charge);
        self.end_by_rules();
        let ply = u32::try_from(self.line.moves().len()).unwrap_or(u32::MAX);
        *self.last.insert(Played { ply, side, pit, taken, charge })
    }

    fn end_by_rules(&mut self) {
        if let Some(ending) = self.line.ending() {
            self.decide(GameResult::by_score(self.line.score()), ending.into(), None, None);
        }
    }

    /// Time is up: a flag, or at a first ply a bot that did not show up.
    fn fall(&mut self, charge: Charge) -> Verdict {
        let side = self.side_to_move();
        let absent = self.first_ply() && charge.charged > self.clock.remaining()[side].min(FIRST_PLY.into());
        let verdict = if absent && !self.terms.must_show[side] {
            self.decide(GameResult::None, Termination::Aborted, None, Some(charge))
        } else {
            self.decide(GameResult::win(side.other()), Termination::TimeForfeit, None, Some(charge))
        };
        if let Phase::Decided(decision) = &mut self.phase {
            decision.absent = absent.then_some(side);
        }
        verdict
    }

    /// An illegal pit loses, unless the pool forgives it (`verdict.illegal-loses`, `verdict.illegal-allowed`).
    fn illegal(&mut self, side: Side, pit: Pit, illegal: Illegal, charge: Charge) -> Verdict {
        let legal = PitList(self.line.legal());
        let clause = illegal.clause();
        if self.forgiven[side] < self.terms.rules.illegal_moves {
            self.forgiven[side] += 1;
            let left = self.terms.rules.illegal_moves - self.forgiven[side];
            let message = format!(
                "pit {pit} may not be played: {illegal}; {left} more will be forgiven; your clock runs, send another move"
            );
            return Verdict::Refused(Refused { code: ErrorCode::IllegalMove, message, illegal: Some((clause, legal)) });
        }
        let detail = Detail { pit, clause: clause.into(), legal };
        self.decide(GameResult::win(side.other()), Termination::IllegalMove, Some(detail), Some(charge))
    }

    fn decide(
        &mut self,
        result: GameResult,
        termination: Termination,
        detail: Option<Detail>,
        unfinished: Option<Charge>,
    ) -> Verdict {
        self.phase = Phase::Decided(Decision { result, termination, detail, unfinished, absent: None });
        Verdict::Decided
    }
}
