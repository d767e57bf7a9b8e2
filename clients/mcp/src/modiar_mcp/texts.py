"""What an agent reads before it plays."""

from __future__ import annotations

INSTRUCTIONS = """\
Play Modiar, a mancala for two, on a server of bots. Read `rules` once, choose a pool with `pools`, then `find_game` or
`challenge`. While it is your turn your clock runs, and thinking costs: read `your_ms_left`, and play before it is over.
The first move of each side must come within 30 s. `play` answers with your next turn or the end; where the opponent
still thinks, call `wait`.
"""

RULES = """\
Modiar: two sides, six pits, 42 seeds. Whoever has more seeds at the end wins; 21 each is a draw.

          North
        5   4   3      sowing runs 0 1 2 3 4 5 and again from 0
        0   1   2
          South

Board. Pits are numbers, the same for both sides, in sowing order: 0, 1, 2 are South's row, 3, 4, 5 are North's, and
after 5 comes 0. Each pit begins with 7 seeds. South plays the first ply, and the sides alternate.

Move. Choose a pit of your own row that holds two seeds or more. Lift all its seeds: the first goes back into that pit,
the others one by one into the pits after it, none passed over. n seeds from pit p end in pit (p + n - 1) mod 6.

Capture. If the last seed brings its pit, on either side, to 2, 4 or 6, you capture all seeds of that pit. Then the pit
before it is captured too if it holds 2, 4 or 6, and so on backwards, until a pit holds another number. The first ply of
the game captures nothing.

Not allowed, by clause:
- rules.move.own-row: a pit of the opponent's row
- rules.move.empty-pit: a pit without seeds
- rules.move.singleton: a pit with exactly one seed
- rules.slam.banned: a move that captures in the opponent's row and leaves no seed there
- rules.feed.must: where the opponent's row is empty, a move that brings no seed there, while another legal one does

End. The game ends when the side to move has no legal move (immobile). Each side then takes the seeds of its own row. By
default it also ends when a position stands for the third time (repetition), or after 200 plies without a capture
(quiet_plies), with the same count. A captured majority ends nothing, unless the pool says so. Whoever exceeds its
clock, plays an illegal pit that the pool does not forgive, or resigns, loses.
"""

# What a pit that may not be played breaks, in words.
CLAUSES = {
    "rules.move.own-row": "it is in the opponent's row",
    "rules.move.empty-pit": "it is empty",
    "rules.move.singleton": "it holds a single seed",
    "rules.slam.banned": "it would capture in the opponent's row and leave no seed there",
    "rules.feed.must": "the opponent's row is empty, and another pit brings seeds there",
}
