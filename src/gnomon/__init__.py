"""Gnomon: a workbench for measuring learning agents.

The public names, by room; each is loaded when it is first asked for.

Rules
    :func:`parse`, :func:`load_rule`, :func:`available_rules`
The game
    :class:`Board`, :class:`BoardSpec`, :func:`draw_boards`, :func:`compile_rule`,
    :class:`HiddenRulesEnv`, :class:`HiddenRulesVectorEnv`
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from gnomon.game.registration import register_environments

__version__ = "0.1.0"

_ROOM_OF = {
    "parse": "rules.parser",
    "load_rule": "rules.catalogue",
    "available_rules": "rules.catalogue",
    "Board": "game.board",
    "BoardSpec": "game.board",
    "draw_boards": "game.board",
    "compile_rule": "game.compiler",
    "HiddenRulesEnv": "game.env",
    "HiddenRulesVectorEnv": "game.vector_env",
}

__all__ = ["__version__", *_ROOM_OF]

register_environments()


def __getattr__(name: str) -> Any:
    if name not in _ROOM_OF:
        raise AttributeError(f"module 'gnomon' has no attribute {name!r}")
    return getattr(import_module(f"gnomon.{_ROOM_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
