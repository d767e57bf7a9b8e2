//! The checks of the quiz, and what to do where one fails.

use crate::About;

/// The check that asks nothing.
pub(super) const ENDS: &str = "ends";

const CHECKS: [About; 15] = [
    About {
        name: "plain",
        title: "knows positions in which nothing rare happens",
        clauses: &["rules.turn.south-first", "rules.move.own-row", "rules.sow.origin-first"],
        advice: "Begin here: lift the seeds of a pit, put the first back into it, the others one by one into the following pits, and change the side. List the legal pits in ascending order, and what each leads to in the same order.",
    },
    About {
        name: "first-ply",
        title: "knows that the first ply of a game captures nothing, and only that one",
        clauses: &["rules.capture.first-ply"],
        advice: "Leave the seeds where they fell at ply 1, and capture from ply 2 on.",
    },
    About {
        name: "singleton",
        title: "moves no single seed",
        clauses: &["rules.move.singleton"],
        advice: "A pit may be played from two seeds on.",
    },
    About {
        name: "laps",
        title: "drops a seed into the origin at every lap",
        clauses: &["rules.sow.every-pit"],
        advice: "Pass over no pit: n seeds end in pit (origin + n - 1) mod 6, with 12 seeds and more too.",
    },
    About {
        name: "lap-capture",
        title: "captures after a lap as after any sowing",
        clauses: &["rules.capture.even", "rules.capture.chain"],
        advice: "Look at the last pit and those before it when all seeds are sown, the origin included.",
    },
    About {
        name: "capture",
        title: "captures 2, 4 and 6, in either row",
        clauses: &["rules.capture.even", "rules.capture.either-side"],
        advice: "If the last seed brings its pit to 2, 4 or 6, the mover captures all of it, in its own row too.",
    },
    About {
        name: "no-capture",
        title: "captures no other number",
        clauses: &["rules.capture.even"],
        advice: "Only 2, 4 and 6 are captured: not 3, and not 8 or more.",
    },
    About {
        name: "chain",
        title: "captures the chain of pits before the last one",
        clauses: &["rules.capture.chain"],
        advice: "After a capture go backwards, pit by pit, as long as they hold 2, 4 or 6.",
    },
    About {
        name: "chain-wraps",
        title: "follows a chain from row to row, and from pit 0 to pit 5",
        clauses: &["rules.capture.chain"],
        advice: "Before pit 3 comes pit 2, and before pit 0 comes pit 5: the pit before is (pit + 5) mod 6, whosever it is.",
    },
    About {
        name: "chain-stops",
        title: "ends a chain at the first pit that holds another number",
        clauses: &["rules.capture.chain"],
        advice: "Stop at the first pit that does not hold 2, 4 or 6, with 8 and more too: what lies behind it stays.",
    },
    About {
        name: "feeding",
        title: "feeds an empty row if it can, and goes on if it cannot",
        clauses: &["rules.feed.must", "rules.feed.if-able"],
        advice: "Where the other row holds no seed at all, only moves that sow into it are legal, if there is one; if there is none, the other moves stand. A single seed is a seed: then there is no duty.",
    },
    About {
        name: "slam",
        title: "plays no grand slam",
        clauses: &["rules.slam.banned", "rules.slam.own-row"],
        advice: "A move that captures in the other row and leaves no seed there is illegal, whatever it captures in your own row. Look after sowing and capture.",
    },
    About {
        name: "immobile",
        title: "knows when the side to move cannot",
        clauses: &["rules.end.immobile", "rules.slam.banned", "rules.move.singleton"],
        advice: "Where there are only empty pits, single seeds and grand slams, no pit is legal, and the game is over: `legal` and `after` are empty, and `score` is there.",
    },
    About {
        name: "score",
        title: "gives each side its own row at the end",
        clauses: &["rules.end.scoop"],
        advice: "At the end each side has its captures and the seeds left in its own row, whoever was to move; both together are 42.",
    },
    About {
        name: ENDS,
        title: "ends with status 0 when there are no more questions",
        clauses: &["transport.tcp"],
        advice: "Read stdin to its end, answer each line once, and exit with status 0.",
    },
];

/// Every check, in the order in which they are told.
pub fn checks() -> impl Iterator<Item = &'static About> {
    const { &CHECKS }.iter()
}
