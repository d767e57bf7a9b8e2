"""The PettingZoo environment: two agents that move in turn (AEC).

    from modiar.env import modiar_v0

    env = modiar_v0.env()
    env.reset(seed=1)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        ...

clients/python/ENV.md is its page.

History:
    v0: the first; the rules of protocol 1.
"""

from __future__ import annotations

from typing import Any, Literal, SupportsIndex, get_args

import numpy as np
from gymnasium import logger, spaces
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from ..rules import Side
from . import _view
from ._picture import Picture, picture
from ._view import End, Mask, RenderMode, Reward
from .game import Opening, Rules, after_openings

MaskPlace = Literal["observation", "info"]

# An Observation, or a dict of `observation` and `action_mask` where the mask is to be there.
Seen = Any

SIDES: dict[str, Side] = {"player_0": "south", "player_1": "north"}


def env(
    reward: Reward = "sign",
    mask: MaskPlace = "observation",
    opening: Opening = None,
    render_mode: RenderMode | None = None,
    rules: Rules = Rules(),  # noqa: B008 (immutable)
) -> AECEnv[str, Seen, SupportsIndex | None]:
    """`raw_env` behind wrappers that assert the order of calls and that an action is in its space."""
    raw = raw_env(reward, mask, opening, render_mode, rules)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(raw))


class raw_env(AECEnv[str, Seen, SupportsIndex | None]):  # noqa: N801 (the name that PettingZoo has for it)
    """Agents `player_0`, South, and `player_1`, North. An action, 0 to 2, is a pit of the own row in sowing order.

    `reward`: `sign`, -1, 0 or 1 at the end, or `margin`, the lead in seeds / 42. `mask`: where the action mask is, in
    the observation or in the info. `opening`: plies that are played first, as digits, or several such texts of which
    each reset takes one by its seed. `rules`: what a pool may set. A wrong word or opening raises ValueError.

    An illegal action loses: -1, and +1 for the other. Every end is a termination; nothing truncates.
    """

    def __init__(
        self,
        reward: Reward = "sign",
        mask: MaskPlace = "observation",
        opening: Opening = None,
        render_mode: RenderMode | None = None,
        rules: Rules = Rules(),  # noqa: B008 (immutable)
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        _view.check_word("reward", reward, get_args(Reward))
        _view.check_word("mask", mask, get_args(MaskPlace))
        _view.check_word("render_mode", render_mode, (None, *get_args(RenderMode)))
        self.metadata = {
            "name": "modiar_v0",
            "render_modes": list(get_args(RenderMode)),
            "render_fps": 2,
            "is_parallelizable": False,
        }
        self.render_mode = render_mode
        self._mode: RenderMode | None = render_mode
        self.possible_agents = list(SIDES)
        self.agents: list[str] = []
        self._reward: Reward = reward
        self._mask_is_seen = mask == "observation"
        self._starts = after_openings(opening, rules)
        self._game = self._starts[0]
        self._end: End | None = None
        self._random = np.random.default_rng()
        self.observation_spaces = {agent: self._space() for agent in SIDES}
        self.action_spaces = {agent: _view.action_space() for agent in SIDES}

    def _space(self) -> spaces.Space[Any]:
        seen = _view.observation_space()
        if not self._mask_is_seen:
            return seen
        return spaces.Dict({"observation": seen, "action_mask": _view.mask_space()})

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.action_spaces[agent]

    def observe(self, agent: str) -> Seen:
        """(8,) int8, own row, other row, own store, other store; with a mask of (3,) int8 where it is to be there."""
        seen = _view.observation(self._game.position, SIDES[agent])
        return {"observation": seen, "action_mask": self._mask(agent)} if self._mask_is_seen else seen

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begins a game. A seed chooses the openings of this and the following games; there are no options."""
        if seed is not None:
            self._random = np.random.default_rng(seed)
        self._game, self._end = self._starts[self._random.integers(len(self._starts))], None
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._turn()

    def step(self, action: SupportsIndex | None) -> None:
        """Plays an action of `agent_selection`; None where that agent is done. Another number than 0, 1 or 2 raises
        ValueError, and what is no number TypeError."""
        agent = self.agent_selection
        if self.terminations[agent] or action is None:
            self._was_dead_step(action)
            return
        self._clear_rewards()
        self._cumulative_rewards[agent] = 0.0
        self._game, self._end = _view.play(self._game, _view.check_action(action))
        if self._end:
            self.rewards = {one: self._end.reward(self._reward, side) for one, side in SIDES.items()}
            self.terminations = dict.fromkeys(self.agents, True)
        self._accumulate_rewards()
        self._turn()

    def _turn(self) -> None:
        """Tells whose turn it is and what may be played."""
        self.agent_selection = next(agent for agent, side in SIDES.items() if side == self._game.position.side)
        told = self._end.info() if self._end else {}
        self.infos = {agent: dict(told) for agent in self.agents}
        if not self._mask_is_seen:
            for agent, info in self.infos.items():
                info["action_mask"] = self._mask(agent)

    def _mask(self, agent: str) -> Mask:
        """Its actions; none where it is not to move, or the game is over."""
        moves = self._end is None and self._game.position.side == SIDES[agent]
        return _view.action_mask(self._game.legal if moves else ())

    def render(self) -> str | Picture | None:
        """The board as text or as (128, 320, 3) uint8, by `render_mode`."""
        if self._mode is None:
            logger.warn("render needs a render_mode: ansi or rgb_array")
            return None
        return picture(self._game.position, self._mode)

    def close(self) -> None:
        """There is nothing to close."""
