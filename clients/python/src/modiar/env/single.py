"""The Gymnasium environment, `ModiarSingle-v0`: one agent, and an opponent that is part of the environment.

    import gymnasium
    import modiar.env

    env = gymnasium.make("ModiarSingle-v0", opponent="greedy")

clients/python/ENV.md is its page.

History:
    v0: the first; the rules of protocol 1.
"""

from __future__ import annotations

from typing import Any, SupportsIndex, get_args

import gymnasium

from . import _view
from ._picture import Picture, picture
from ._table import Bot, LocalTable, Policy, Scene, Seat, Table
from ._view import Observation, RenderMode, Reward
from .game import Opening, Rules, after_openings
from .ladder import ABORTED, LadderOpponent


class ModiarSingle(gymnasium.Env[Observation, SupportsIndex]):
    """One agent against `opponent`: a reference bot by name, a policy, or a `LadderOpponent`.

    `side`: the agent's; `random` lets the seed choose one for each game. `reward`, `opening` and `rules` are as in
    `modiar_v0`; with a LadderOpponent side, opening and rules are the server's. A wrong word or opening raises
    ValueError.

    An observation is (8,) int8; the action mask, (3,) int8, is in the info. An illegal action, of either, loses.
    """

    metadata = {"render_modes": list(get_args(RenderMode)), "render_fps": 2}

    def __init__(
        self,
        opponent: Bot | Policy | LadderOpponent = "random",
        side: Seat = "random",
        reward: Reward = "sign",
        opening: Opening = None,
        render_mode: RenderMode | None = None,
        rules: Rules = Rules(),  # noqa: B008 (immutable)
    ) -> None:
        _view.check_word("side", side, get_args(Seat))
        _view.check_word("reward", reward, get_args(Reward))
        _view.check_word("render_mode", render_mode, (None, *get_args(RenderMode)))
        starts = after_openings(opening, rules)
        self.render_mode = render_mode
        self._mode: RenderMode | None = render_mode
        self.observation_space = _view.observation_space()
        self.action_space = _view.action_space()
        self._reward: Reward = reward
        self._table: Table = opponent if isinstance(opponent, LadderOpponent) else LocalTable(opponent, side, starts)
        self._scene: Scene | None = None  # until the first reset

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begins a game, and plays until the agent is to move. The seed chooses openings, sides and the random bot's
        actions, of this and the following games; there are no options."""
        super().reset(seed=seed)
        return self._seen(self._table.begin(self.np_random))

    def step(self, action: SupportsIndex) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Plays an action and the opponent's answer. One outside 0 to 2 raises ValueError, as a step before reset does.

        Where the opponent's first ply was the last one of the game, no action is legal and any tells the end.
        """
        scene, chosen = self._begun(), _view.check_action(action)
        if scene.end is None:
            scene = self._table.play(chosen)
        seen, info = self._seen(scene)
        if scene.end is None:
            return seen, 0.0, False, False, info
        aborted = scene.end.termination == ABORTED
        return seen, scene.end.reward(self._reward, scene.side), not aborted, aborted, info

    def render(self) -> str | Picture | None:
        """The board as text or as (128, 320, 3) uint8, by `render_mode`."""
        if self._mode is None:
            gymnasium.logger.warn("render needs a render_mode: ansi or rgb_array")
            return None
        return picture(self._begun().position, self._mode)

    def close(self) -> None:
        """Leaves a live opponent; an unfinished game with it is resigned."""
        self._table.close()

    def _begun(self) -> Scene:
        if self._scene is None:
            raise ValueError("no game has begun: call reset first")
        return self._scene

    def _seen(self, scene: Scene) -> tuple[Observation, dict[str, Any]]:
        self._scene = scene
        info = {"action_mask": _view.action_mask(scene.legal), "side": scene.side}
        return _view.observation(scene.position, scene.side), {**info, **(scene.end.info() if scene.end else {})}
