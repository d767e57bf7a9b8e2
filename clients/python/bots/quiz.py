"""Answers the questions of `modiar check bot --rules`, a line each: what a board of one's own is to do."""

import json
import sys

from modiar import Position

for line in sys.stdin:
    position = Position.parse(json.loads(line)["position"])
    answer = {"legal": position.legal(), "after": [], "score": position.score()._asdict()}
    for after, _ in map(position.play, position.legal()):
        answer["after"].append({"pits": after.pits, "captured": after.captured._asdict(), "side": after.side})
    print(json.dumps(answer), flush=True)
