"""A table of values learns by playing against itself, and then meets the random bot. `selfplay.py [GAMES]`"""

import random
import sys
from collections import defaultdict
from typing import Any

import gymnasium

from modiar.env import modiar_v0


def choose(values: dict[Any, float], board: Any, mask: Any, curiosity: float = 0.0) -> tuple[bytes, int]:
    keys = [(board.tobytes(), action) for action in range(3) if mask[action]]
    return random.choice(keys) if random.random() < curiosity else max(keys, key=lambda key: values[key])


def train(games: int) -> dict[Any, float]:
    env, values = modiar_v0.env(mask="info"), defaultdict[Any, float](float)
    for _ in range(games):
        env.reset()
        played: dict[str, list[Any]] = {agent: [] for agent in env.agents}
        for agent in env.agent_iter():
            board, reward, over, _, info = env.last()
            if not over:
                played[agent].append(choose(values, board, info["action_mask"], curiosity=0.1))
            for key in played[agent] if over else []:
                values[key] += 0.1 * (reward - values[key])
            env.step(None if over else played[agent][-1][1])
    return values


if __name__ == "__main__":
    table, match, won = train(int(sys.argv[1]) if sys.argv[1:] else 5000), gymnasium.make("ModiarSingle-v0"), 0
    for game in range(500):
        (seen, told), done = match.reset(seed=game), False
        while not done:
            seen, result, done, _, told = match.step(choose(table, seen, told["action_mask"])[1])
            won += float(result) > 0
    print(f"won {won} of 500 games against random")
