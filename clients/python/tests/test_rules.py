"""The rules and the reference bots against the specification's vectors."""

import unittest

from support import Message, lines

from modiar import BadPosition, BySide, IllegalMove, Position


def after(moves: str) -> Position:
    position = Position.start()
    for pit in moves:
        position = position.play(int(pit)).after
    return position


class Vectors(unittest.TestCase):
    def test_every_clause_holds(self) -> None:
        for case in lines("vectors/rules.jsonl"):
            with self.subTest(case):
                if "moves" in case:
                    self.assertEqual(after(case["moves"]).text, case["after"])
                else:
                    self.holds(Position.parse(case["position"]), case)

    def holds(self, position: Position, case: Message) -> None:
        self.assertEqual(position.text, case["position"])
        if "legal" in case:
            self.assertEqual(list(position.legal()), case["legal"])
        if "pit" in case:
            sown = position.play(case["pit"])
            self.assertEqual((sown.after.text, sown.taken), (case["after"], case["taken"]))
        if "score" in case:
            self.assertEqual(position.score()._asdict(), case["score"])
        if "pits" in case:
            told = (list(position.pits), position.captured._asdict(), position.side, position.ply)
            self.assertEqual(told, (case["pits"], case["captured"], case["side"], case["ply"]))

    def test_what_is_illegal_is_refused_by_its_clause(self) -> None:
        for case in lines("vectors/rules-invalid.jsonl"):
            if "position" not in case:
                continue
            with self.subTest(case), self.assertRaises((BadPosition, IllegalMove)) as refused:
                Position.parse(case["position"]).play(case["pit"])
            self.assertEqual(getattr(refused.exception, "clause", None), case["clause"])

    def test_every_position_has_its_moves(self) -> None:
        for case in lines("vectors/positions.jsonl"):
            ply = case.get("ply", 3 if case["side"] == "south" else 2)
            position = Position(tuple(case["pits"]), BySide(*case["captured"]), case["side"], ply)
            with self.subTest(position.text):
                self.assertEqual(list(position.legal()), case["legal"])
                for pit, expected in case["after"].items():
                    sown = position.play(int(pit)).after
                    self.assertEqual((list(sown.pits), list(sown.captured)), (expected["pits"], expected["captured"]))

    def test_every_game_ends_as_it_did(self) -> None:
        for case in lines("vectors/games.jsonl"):
            last = after(case["moves"])
            self.assertEqual((last.legal(), last.score()._asdict()), ((), case["score"]), case)

    def test_the_bots_play_what_they_are_defined_to_play(self) -> None:
        for case in lines("vectors/bots.jsonl"):
            position = Position.parse(case["position"])
            told = (list(position.legal()), position.greedy(), position.minimax(), position.value(6))
            self.assertEqual(told, (case["legal"], case["greedy"], case["minimax"], case["worth"]), case)


if __name__ == "__main__":
    unittest.main()
