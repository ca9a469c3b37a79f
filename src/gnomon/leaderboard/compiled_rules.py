"""Rules as the engine plays them, compiled once in each process."""

from __future__ import annotations

from functools import lru_cache

from gnomon.errors import NotCompilableError
from gnomon.game.board import BoardSpec
from gnomon.game.compiler import CompiledRule, compile_rule
from gnomon.rules.syntax import RuleSet

__all__ = ["compiled"]


@lru_cache(maxsize=512)
def compiled(rule_set: RuleSet, board_spec: BoardSpec) -> CompiledRule | None:
    """Return the tables of a rule; None, without a word, if the engine has none for it.

    Examples
    --------
    >>> from gnomon.game.board import DEFAULT_SPEC
    >>> from gnomon.rules.parser import parse
    >>> compiled(parse("(*,*,*,*,2)"), DEFAULT_SPEC).n_shapes
    4
    """
    try:
        return compile_rule(rule_set, board_spec)
    except NotCompilableError:
        return None
