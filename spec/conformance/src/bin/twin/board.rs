//! A board of its own, seed by seed and as plainly as `spec/rules.md` puts them; and, with a fault, one that gets one thing wrong.
//! A fault keeps to what its name says, so that each is found by its own check of the quiz alone.

/// What a board gets wrong.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Fault {
    /// Names the wrong side where no other fault makes a difference.
    Side,
    /// Captures on the first ply.
    FirstPly,
    /// Captures nothing on the second ply either.
    SecondPly,
    /// Plays single seeds beside other pits.
    Singleton,
    /// Forgets the duty to feed.
    Duty,
    /// Feeds a row that single seeds are in.
    FedBySingletons,
    /// Ends the game where the mover cannot feed.
    Unable,
    /// Plays grand slams, those apart that the next one plays.
    Slam,
    /// Plays grand slams that capture in its own row too.
    SlamOwnRow,
    /// Passes over the origin in a lap of 7 to 11 seeds.
    Lap,
    /// Passes over the origin in laps of 12 to 18 seeds.
    Laps,
    /// Passes over the origin in laps of 19 to 24 seeds.
    ThirdLap,
    /// Passes over the origin in laps of 25 seeds and more.
    FourthLap,
    /// Captures nothing after a lap.
    LapCapture,
    /// Ends every chain at the origin.
    LapChain,
    /// Does not capture 2 where they are all.
    Two,
    /// Does not capture 4 where they are all.
    Four,
    /// Does not capture 6 where they are all.
    Six,
    /// Captures no single pit of its own row.
    OwnRow,
    /// Captures 3.
    Three,
    /// Captures every even number.
    Eight,
    /// Captures the last pit alone of a chain in one row.
    Short,
    /// Ends a chain at the end of North's row.
    RowEnd,
    /// Ends a chain at pit 0.
    RingEnd,
    /// Goes on with a chain behind a pit that stops it.
    Over,
    /// Goes on with a chain at 8 and more.
    EvenOver,
    /// Plays a single seed where there is nothing else.
    Immobile,
    /// Plays a grand slam, without its capture, where there is nothing else.
    SlamLast,
    /// Leaves the other row on the board where the mover's is empty.
    Score,
}

/// Every fault by its name.
pub const FAULTS: [(&str, Fault); 29] = [
    ("side", Fault::Side),
    ("first-ply", Fault::FirstPly),
    ("second-ply", Fault::SecondPly),
    ("singleton", Fault::Singleton),
    ("duty", Fault::Duty),
    ("fed-by-singletons", Fault::FedBySingletons),
    ("unable", Fault::Unable),
    ("slam", Fault::Slam),
    ("slam-own-row", Fault::SlamOwnRow),
    ("lap", Fault::Lap),
    ("laps", Fault::Laps),
    ("third-lap", Fault::ThirdLap),
    ("fourth-lap", Fault::FourthLap),
    ("lap-capture", Fault::LapCapture),
    ("lap-chain", Fault::LapChain),
    ("two", Fault::Two),
    ("four", Fault::Four),
    ("six", Fault::Six),
    ("own-row", Fault::OwnRow),
    ("three", Fault::Three),
    ("eight", Fault::Eight),
    ("short", Fault::Short),
    ("row-end", Fault::RowEnd),
    ("ring-end", Fault::RingEnd),
    ("over", Fault::Over),
    ("even-over", Fault::EvenOver),
    ("immobile", Fault::Immobile),
    ("slam-last", Fault::SlamLast),
    ("score", Fault::Score),
];

/// A position; South is 0, North is 1.
#[derive(Clone, Copy)]
pub struct Board {
    pub pits: [u8; 6],
    pub captured: [u8; 2],
    pub mover: usize,
    pub ply: u64,
}

/// What is said of a position: the legal pits, where each leads, and the score where there is none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    pub legal: Vec<usize>,
    pub after: Vec<After>,
    pub score: Option<[u8; 2]>,
}

/// Where a move leads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct After {
    pub pits: [u8; 6],
    pub captured: [u8; 2],
    pub mover: usize,
}

/// A pit played, legal or not.
struct Played {
    origin: usize,
    /// The board before the capture.
    sown: [u8; 6],
    taken: Vec<usize>,
    /// Whether a seed fell into the other row.
    feeds: bool,
}

impl Played {
    fn left(&self) -> [u8; 6] {
        std::array::from_fn(|pit| if self.taken.contains(&pit) { 0 } else { self.sown[pit] })
    }
}

fn owner(pit: usize) -> usize {
    pit / 3
}

fn row(pits: &[u8; 6], side: usize) -> &[u8] {
    &pits[3 * side..3 * side + 3]
}

fn is_taken(seeds: u8) -> bool {
    [2, 4, 6].contains(&seeds)
}

impl Board {
    /// What a board with this fault says.
    pub fn answer(&self, fault: Option<Fault>) -> Answer {
        let played = self.moves(fault);
        let side = if fault == Some(Fault::Side) && self.is_plain() { self.mover } else { 1 - self.mover };
        let after = played.iter().map(|played| {
            let (pits, mut captured) = (played.left(), self.captured);
            captured[self.mover] += played.sown.iter().sum::<u8>() - pits.iter().sum::<u8>();
            After { pits, captured, mover: side }
        });
        Answer {
            after: after.collect(),
            score: played.is_empty().then(|| self.score(fault)),
            legal: played.into_iter().map(|played| played.origin).collect(),
        }
    }

    /// Whether no fault but the wrong side makes a difference.
    fn is_plain(&self) -> bool {
        let right = self.answer(None);
        FAULTS.iter().all(|(_, fault)| *fault == Fault::Side || self.answer(Some(*fault)) == right)
    }

    fn score(&self, fault: Option<Fault>) -> [u8; 2] {
        let empty = row(&self.pits, self.mover).iter().all(|seeds| *seeds == 0);
        let leaves = fault == Some(Fault::Score) && empty;
        [0, 1].map(|side| self.captured[side] + if leaves { 0 } else { row(&self.pits, side).iter().sum() })
    }

    /// The legal moves, or those that a fault takes for legal.
    fn moves(&self, fault: Option<Fault>) -> Vec<Played> {
        let other = row(&self.pits, 1 - self.mover);
        let least = if fault == Some(Fault::FedBySingletons) { 1 } else { 0 };
        let mut moves = self.able(fault);
        if fault != Some(Fault::Duty) && other.iter().all(|seeds| *seeds <= least) {
            if moves.iter().any(|played| played.feeds) {
                moves.retain(|played| played.feeds);
            } else if fault == Some(Fault::Unable) {
                moves.clear();
            }
        }
        moves
    }

    /// The moves that no clause but that of feeding forbids.
    fn able(&self, fault: Option<Fault>) -> Vec<Played> {
        let of = |least: u8| {
            let own = 3 * self.mover..3 * self.mover + 3;
            own.filter(move |pit| self.pits[*pit] >= least).map(|pit| self.play(pit, fault))
        };
        let allowed: Vec<Played> = of(2).filter(|played| !self.is_slam(played)).collect();
        match (fault, allowed.is_empty()) {
            (Some(Fault::Singleton), false) if !self.is_other_empty() => {
                of(1).filter(|played| !self.is_slam(played)).collect()
            }
            (Some(Fault::Immobile), true) => of(1).filter(|played| !self.is_slam(played)).collect(),
            (Some(Fault::SlamLast), true) => of(2).map(|played| Played { taken: Vec::new(), ..played }).collect(),
            (Some(Fault::Slam), false) => of(2).filter(|one| !self.is_slam(one) || !self.takes_own(one)).collect(),
            (Some(Fault::SlamOwnRow), false) => of(2).filter(|one| !self.is_slam(one) || self.takes_own(one)).collect(),
            _ => allowed,
        }
    }

    fn is_other_empty(&self) -> bool {
        row(&self.pits, 1 - self.mover).iter().all(|seeds| *seeds == 0)
    }

    fn takes_own(&self, played: &Played) -> bool {
        played.taken.iter().any(|pit| owner(*pit) == self.mover)
    }

    fn is_slam(&self, played: &Played) -> bool {
        let there = played.taken.iter().any(|pit| owner(*pit) != self.mover);
        there && row(&played.left(), 1 - self.mover).iter().all(|seeds| *seeds == 0)
    }

    fn play(&self, origin: usize, fault: Option<Fault>) -> Played {
        let path: Vec<usize> = (origin..origin + usize::from(self.pits[origin])).map(|step| step % 6).collect();
        let sown = self.sow(origin, &path);
        let feeds = path.iter().any(|pit| owner(*pit) != self.mover);
        let right = Played { origin, sown, taken: self.chain(&sown, &path, fault), feeds };
        match fault {
            // The first plies, grand slams, and an empty row have faults of their own.
            Some(fault) if self.ply > 2 && !self.is_slam(&right) && !self.is_other_empty() => {
                self.wrong(right, &path, fault)
            }
            _ => right,
        }
    }

    fn sow(&self, origin: usize, path: &[usize]) -> [u8; 6] {
        let mut pits = self.pits;
        pits[origin] = 0;
        path.iter().for_each(|pit| pits[*pit] += 1);
        pits
    }

    /// The first seed goes into the origin, and no other.
    fn sow_without_return(&self, origin: usize) -> [u8; 6] {
        let rest = (origin + 1..).map(|step| step % 6).filter(|pit| *pit != origin);
        let path: Vec<usize> = std::iter::once(origin).chain(rest).take(self.pits[origin].into()).collect();
        self.sow(origin, &path)
    }

    /// The pits that are captured, from the last one backwards.
    fn chain(&self, sown: &[u8; 6], path: &[usize], fault: Option<Fault>) -> Vec<usize> {
        let forfeited = match self.ply {
            1 => fault != Some(Fault::FirstPly),
            2 => fault == Some(Fault::SecondPly),
            _ => false,
        };
        let backwards = path.iter().rev().copied().take(6);
        backwards.take_while(|pit| !forfeited && is_taken(sown[*pit])).collect()
    }

    /// What a board with this fault makes of a move.
    fn wrong(&self, right: Played, path: &[usize], fault: Fault) -> Played {
        let skips = match fault {
            Fault::Lap => (7..12).contains(&path.len()),
            Fault::Laps => (12..19).contains(&path.len()),
            Fault::ThirdLap => (19..25).contains(&path.len()),
            Fault::FourthLap => path.len() >= 25,
            _ => false,
        };
        if skips && right.taken.is_empty() {
            return Played { sown: self.sow_without_return(right.origin), ..right };
        }
        let taken = if path.len() > 6 {
            after_lap(&right, fault)
        } else if right.taken.is_empty() {
            against_all(&right.sown, path, fault)
        } else {
            self.another_chain(&right, path, fault)
        };
        Played { taken: taken.unwrap_or(right.taken), ..right }
    }

    /// What is captured in place of a chain, or of a single pit. Behind a pit that stops it only what a fault adds counts.
    fn another_chain(&self, Played { sown, taken, .. }: &Played, path: &[usize], fault: Fault) -> Option<Vec<usize>> {
        let longer = [Fault::Over, Fault::EvenOver].map(|fault| (fault, longer(sown, path, fault)));
        if longer.iter().any(|(_, longer)| longer != taken) {
            return longer.into_iter().find(|(one, _)| *one == fault).map(|(_, longer)| longer);
        }
        match taken[..] {
            [pit] => self.misses(pit, sown[pit], fault).then(Vec::new),
            _ => shorter(taken, fault),
        }
    }

    /// Whether a board with this fault does not capture a single pit.
    fn misses(&self, pit: usize, seeds: u8, fault: Fault) -> bool {
        let own = owner(pit) == self.mover;
        match fault {
            Fault::Two => !own && seeds == 2,
            Fault::Four => !own && seeds == 4,
            Fault::Six => !own && seeds == 6,
            Fault::OwnRow => own,
            _ => false,
        }
    }
}

/// What is captured after a lap by a board with this fault.
fn after_lap(right: &Played, fault: Fault) -> Option<Vec<usize>> {
    match fault {
        Fault::LapCapture => Some(Vec::new()),
        Fault::LapChain => Some(right.taken.iter().copied().take_while(|pit| *pit != right.origin).collect()),
        _ => None,
    }
}

/// What is captured where nothing should be.
fn against_all(sown: &[u8; 6], path: &[usize], fault: Fault) -> Option<Vec<usize>> {
    let last = *path.last()?;
    let takes = match fault {
        Fault::Three => sown[last] == 3,
        Fault::Eight => sown[last] > 6 && sown[last].is_multiple_of(2),
        _ => false,
    };
    takes.then(|| vec![last])
}

/// The chain as far as a board with this fault follows it.
fn shorter(chain: &[usize], fault: Fault) -> Option<Vec<usize>> {
    let step = |from, to| chain.windows(2).position(|pair| *pair == [from, to]).map(|at| at + 1);
    let kept = match fault {
        Fault::Short if chain.iter().all(|pit| owner(*pit) == owner(chain[0])) => Some(1),
        Fault::RowEnd => step(3, 2),
        Fault::RingEnd => step(0, 5),
        _ => None,
    };
    kept.map(|kept| chain[..kept].to_vec())
}

/// The chain of a board that knows no stop, or not every one.
fn longer(sown: &[u8; 6], path: &[usize], fault: Fault) -> Vec<usize> {
    let backwards = path.iter().rev().copied();
    if fault == Fault::Over {
        backwards.filter(|pit| is_taken(sown[*pit])).collect()
    } else {
        backwards.take_while(|pit| sown[*pit] > 0 && sown[*pit].is_multiple_of(2)).collect()
    }
}
