"""Answers questions about rules and codec, a JSON object a line on stdin and on stdout: what compares this library with the
others. Run it with clients/python/src on PYTHONPATH, or beside an installed `modiar`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from modiar import BadPosition, IllegalMove, LineTooLong, Position, wire

Question = dict[str, Any]


def legal(position: Position, _: Question) -> Question:
    return {"legal": position.legal()}


def parse(position: Position, _: Question) -> Question:
    return {
        "pits": position.pits,
        "captured": position.captured._asdict(),
        "side": position.side,
        "ply": position.ply,
        "text": position.text,
    }


def play(position: Position, question: Question) -> Question:
    after, taken = position.play(question["pit"])
    return {"after": after.text, "taken": taken}


def score(position: Position, _: Question) -> Question:
    return {"score": position.score()._asdict()}


def greedy(position: Position, _: Question) -> Question:
    return {"pit": position.greedy()}


def minimax(position: Position, question: Question) -> Question:
    return {"pit": position.minimax(question["depth"]), "value": position.value(question["depth"])}


OF_POSITION: dict[str, Callable[[Position, Question], Question]] = {
    function.__name__: function for function in (legal, parse, play, score, greedy, minimax)
}


def decode(question: Question) -> Question:
    decoder = wire.Decoder()
    return {"messages": [message for chunk in question["chunks"] for message in decoder.feed(bytes.fromhex(chunk))]}


def answer(question: Question) -> Question:
    op = question["op"]
    try:
        if op in OF_POSITION:
            return OF_POSITION[op](Position.parse(question["position"]), question)
        if op == "decode":
            return decode(question)
        if op == "encode":
            return {"line": wire.encode(question["message"]).decode()}
    except (BadPosition, IllegalMove) as error:
        return {"error": error.clause}
    except LineTooLong:
        return {"error": "line_too_long"}
    return {"error": "unknown op"}


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line)), separators=(",", ":")), flush=True)
