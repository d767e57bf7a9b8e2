"""Environments to train agents in. They need the extra: `pip install "modiar[env]"`.

`modiar_v0` is that of PettingZoo, `ModiarSingle-v0` that of Gymnasium, `vector` plays many boards at once, and
`LadderOpponent` is a live bot. clients/python/ENV.md is their page.
"""

from importlib import import_module

try:
    for _module in ("numpy", "gymnasium", "pettingzoo"):
        import_module(_module)
except ImportError as error:
    raise ImportError(f'modiar.env needs {error.name}: pip install "modiar[env]"', name=error.name) from error

from gymnasium.envs.registration import register  # noqa: E402 # pyright: ignore[reportUnknownVariableType]

from . import modiar_v0, vector  # noqa: E402
from .game import Rules  # noqa: E402
from .ladder import LadderOpponent  # noqa: E402
from .single import ModiarSingle  # noqa: E402

__all__ = ["LadderOpponent", "ModiarSingle", "Rules", "modiar_v0", "vector"]

register(id="ModiarSingle-v0", entry_point="modiar.env.single:ModiarSingle")
