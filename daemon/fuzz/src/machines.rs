//! A session and a game, driven by bytes as a script of events, in any order whatever.

use modiar::clock::{Arrival, Charge, Control, Micros, Moment};
use modiar::config::Limits;
use modiar::referee::{Decision, Game, Phase, Terms, Verdict};
use modiar::session::{Said, Session, Step};
use modiar_protocol::client::{Move, decode};
use modiar_protocol::server::Error;
use modiar_protocol::{ErrorCode, GameId, GameRules, LineTooLong, Termination};
use modiar_rules::{BySide, EndRules, Pit, SEEDS, Side};

struct Script<'a>(&'a [u8]);

impl Script<'_> {
    /// The next byte below `end`; `None` at the script's end.
    fn below(&mut self, end: u8) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first % end)
    }

    /// A length of time: small ones exactly, large ones roughly.
    fn time(&mut self) -> Option<u64> {
        let (scale, value) = (self.below(30)?, self.below(255)?);
        Some(u64::from(value) << scale)
    }
}

struct At {
    received: Moment,
    own: Micros,
}

impl Arrival for At {
    fn received(&self) -> Moment {
        self.received
    }

    fn own(&self, _turn: Moment) -> Micros {
        self.own
    }
}

/// Neither panics, and what holds of a game holds after each event.
pub(crate) fn target(input: &[u8]) {
    let mut script = Script(input);
    let Some(mut scene) = Scene::new(&mut script) else { return };
    while scene.event(&mut script).is_some() {
        scene.check();
    }
}

struct Scene {
    now: Moment,
    game: Game,
    session: Session,
    gone: bool,
    /// The first decision: there is never another.
    decision: Option<Decision>,
    /// Costs of the plies that were accepted, as they were told.
    charges: Vec<Charge>,
}

impl Scene {
    fn new(script: &mut Script<'_>) -> Option<Self> {
        let control = Control {
            base: Micros(script.time()?),
            increment: Micros(script.time()?),
            grace: Micros(script.time()?),
            per_move: if script.below(2)? == 1 { Some(Micros(script.time()?)) } else { None },
        };
        let ends = EndRules {
            repetition: u16::from(script.below(5)?),
            quiet_plies: u16::from(script.below(40)?),
            majority: script.below(2)? == 1,
        };
        let rules = GameRules::new(ends, u16::from(script.below(3)?));
        let must_show = BySide::new(script.below(2)? == 1, script.below(2)? == 1);
        let game = Game::new(Terms { control, rules, opening: Vec::new(), must_show }).ok()?;
        let now = Moment(script.time()?);
        let decision = game.decision().cloned();
        Some(Self {
            now,
            session: Session::new(now, &Limits::default()),
            game,
            gone: false,
            decision,
            charges: Vec::new(),
        })
    }

    fn event(&mut self, script: &mut Script<'_>) -> Option<()> {
        match script.below(16)? {
            0..=6 => self.play(script)?,
            7 => self.game.turn_written(self.now),
            8 => self.now = self.now + Micros(script.time()?),
            9 => self.say(script)?,
            10 => drop(self.game.flag(self.now)),
            11 => drop(self.game.resign(side(script)?, &At { received: self.now, own: Micros(0) })),
            12 => self.come_back(),
            13 => self.game.committed(),
            14 if script.below(8)? == 0 => drop(self.game.abort(Termination::Aborted)),
            _ => self.game.stand(),
        }
        Some(())
    }

    fn play(&mut self, script: &mut Script<'_>) -> Option<()> {
        let before = (self.game.line().clone(), self.game.clock().remaining());
        let mover = self.game.side_to_move();
        let side = if script.below(8)? == 0 { mover.other() } else { mover };
        let how = script.below(12)?;
        let legal: Vec<Pit> = before.0.legal().iter().collect();
        let pit = match legal.get(usize::from(how) % legal.len().max(1)) {
            Some(pit) if how != 11 => *pit,
            _ => Pit::new(script.below(6)?)?,
        };
        let current = before.0.position().ply();
        let ply = match script.below(8)? {
            0 => None,
            1 => Some(current.saturating_sub(u32::from(script.below(4)?)).max(1)),
            2 => Some(current.saturating_add(u32::from(script.below(3)?))),
            _ => Some(current),
        };
        let wanted = Move { game: GameId::NOWHERE, pit, ply };
        let at = At { received: self.now, own: Micros(script.time()?) };
        let verdict = self.game.play(side, wanted, &at, script.below(4)? == 0);
        if let Verdict::Accepted(played) = verdict {
            assert_eq!((played.side, played.pit, played.ply), (mover, pit, current));
            self.charges.push(played.charge);
        } else {
            assert_eq!(
                (self.game.line(), self.game.clock().remaining()),
                (&before.0, before.1),
                "{verdict:?} changed it"
            );
        }
        Some(())
    }

    fn say(&mut self, script: &mut Script<'_>) -> Option<()> {
        const LINES: [&str; 6] = [
            r#"{"type":"hello","protocol":1}"#,
            r#"{"type":"hello","protocol":2}"#,
            r#"{"type":"seek","pool":"blitz"}"#,
            r#"{"type":"move","game":"g","pit":1}"#,
            r#"{"type":"bye"}"#,
            "{",
        ];
        let error = || Error::new(ErrorCode::NameTaken, "");
        let said = match script.below(14)? {
            0 => Said::Empty,
            1 => Said::HandshakeExpired(5000),
            2 => Said::HelloRefused(error()),
            3 => Said::Welcomed,
            4 => Said::MoveRefused(Some(error())),
            5 => Said::MoveLimited(None),
            6 if script.below(8)? == 0 => Said::TooLong(LineTooLong),
            at => decode(LINES[usize::from(at) % LINES.len()].as_bytes()).map_or_else(Said::Bad, Said::Message),
        };
        let times = script.below(3)? * 60 + 1;
        for _ in 0..times {
            let step = self.session.hear(said.clone(), self.now);
            assert!(!self.gone || step == Step::Nothing, "a session that is gone said {step:?}");
            self.gone |= matches!(step, Step::Goodbye(..));
        }
        assert!(!(self.gone && self.session.is_welcome()));
        Some(())
    }

    /// As after a restart; where it had ended otherwise than by its plies, that had not happened.
    fn come_back(&mut self) {
        if self.game.decision().is_some() {
            return;
        }
        let plies = self.game.line().moves().iter().copied().zip(self.charges.iter().copied());
        let plies: Vec<_> = plies.collect();
        let again = Game::resume(self.game.terms().clone(), &plies, self.game.forgiven()).unwrap();
        assert_eq!(again.line(), self.game.line());
        assert_eq!(again.clock().remaining(), self.game.clock().remaining());
        assert_eq!(again.deadline(), None);
        self.game = again;
    }

    fn check(&mut self) {
        let position = self.game.line().position();
        let captured = position.captured();
        assert_eq!(position.pits().iter().sum::<u8>() + captured.south + captured.north, SEEDS);
        assert_eq!(self.game.charges(), self.charges);
        let control = self.game.terms().control;
        let mut left = BySide::new(control.base.0, control.base.0);
        for (at, charge) in self.charges.iter().enumerate() {
            let side = if at % 2 == 0 { Side::South } else { Side::North };
            left[side] = left[side].checked_sub(charge.charged.0).unwrap() + control.increment.0;
        }
        assert_eq!(self.game.clock().remaining().map(|time| time.0), left);
        let running = *self.game.phase() == Phase::Running;
        assert!(running || self.game.deadline().is_none(), "a clock runs in a game that is decided");
        if let Some(decision) = &self.decision {
            assert_eq!(self.game.decision(), Some(decision), "a second result");
        }
        self.decision = self.game.decision().cloned();
    }
}

fn side(script: &mut Script<'_>) -> Option<Side> {
    Some(if script.below(2)? == 0 { Side::South } else { Side::North })
}
