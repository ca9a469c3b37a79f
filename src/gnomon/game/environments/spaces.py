"""Observation and action spaces of Gymnasium, shared by the single and the vector environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from gnomon.game.board import N_BUCKETS, N_CELLS, Board, BoardSpec
from gnomon.rules.catalogue import resolve_rule
from gnomon.rules.syntax import RuleSet

__all__ = [
    "BoardLike",
    "action_space",
    "board_codes",
    "board_spec",
    "observation_space",
    "rule_set",
]

#: A board spec, or its fields by name.
BoardLike: TypeAlias = BoardSpec | Mapping[str, Any] | None


def action_space() -> spaces.Discrete:
    """Return the 144 attempts: ``4 * cell + bucket``, cells from 0 at the bottom left."""
    return spaces.Discrete(N_CELLS * N_BUCKETS)


def observation_space(spec: BoardSpec) -> spaces.Dict:
    """Return the board's 36 codes and the last accepted attempt, each 0 for none."""
    return spaces.Dict(
        {
            "board": spaces.MultiDiscrete([spec.n_codes] * N_CELLS, dtype=np.uint8),
            "shape": spaces.Discrete(1 + len(spec.shape_palette)),
            "color": spaces.Discrete(1 + len(spec.color_palette)),
            "bucket": spaces.Discrete(1 + N_BUCKETS),
        }
    )


def rule_set(rule: str | RuleSet) -> RuleSet:
    """Return a rule given as a tree, as a name of the catalogue, or as a file."""
    return rule if isinstance(rule, RuleSet) else resolve_rule(rule)


def board_spec(board: BoardLike) -> BoardSpec:
    """Return a board spec given as one, by its fields, or not at all."""
    if board is None:
        return BoardSpec()
    return board if isinstance(board, BoardSpec) else BoardSpec(**board)


def board_codes(board: Any, spec: BoardSpec) -> npt.NDArray[np.uint8]:
    """Return a board given as a :class:`Board` or as 36 codes, checked, as 36 codes."""
    if isinstance(board, Board):
        return board.codes(spec)
    codes = np.asarray(board)
    is_row = codes.shape == (N_CELLS,) and codes.dtype.kind in "iu"
    if not is_row or not ((codes >= 0) & (codes < spec.n_codes)).all():
        raise ValueError(f"board: expected 36 codes from 0 to {spec.n_codes - 1}, found {board!r}")
    return codes.astype(np.uint8)
