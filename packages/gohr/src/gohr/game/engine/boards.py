"""Boards in play: the state of ``num_envs`` boards under a compiled rule, and their steps.

The work is done by the kernel of :mod:`gohr.game.engine.transition`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import typeof

from gohr.game import board_views as views
from gohr.game.board import N_BUCKETS, N_CELLS
from gohr.game.board_views import BoardViews, Replies
from gohr.game.engine import program as layout
from gohr.game.engine.acceptance import Bytes, Int, Short
from gohr.game.engine.compiler import CompiledRule
from gohr.game.engine.transition import permitted, step
from gohr.game.outcomes import LEAVE, Autoreset


@dataclass(frozen=True, slots=True, eq=False)
class Boards(BoardViews):
    """The state of ``num_envs`` boards and their observations, changed in place.

    Parameters
    ----------
    rule : CompiledRule
    state : numpy.ndarray of int16, shape (num_envs, n_columns)
        The hidden state: the active line, the counts, the memory.
    seen : numpy.ndarray of uint8, shape (num_envs, 180)
        The observation: the code of each cell, and for each of the 144 attempts whether its cell
        holds a piece.
    replies : numpy.ndarray of int32, shape (11, num_envs)
        The actions to make, and their results: shape, colour and bucket of the last accepted
        attempt (each 0 for none, else 1 + index), outcome, reward, terminated, truncated, and the
        state of the episode.
    padded : numpy.ndarray of int32
        The same, as the kernels take it: in memory of its own, with columns to spare.
    """

    rule: CompiledRule
    state: Short
    seen: Bytes
    replies: Replies
    padded: Replies

    @classmethod
    def empty(cls, rule: CompiledRule, num_envs: int) -> Boards:
        """Allocate ``num_envs`` boards under a rule; each still needs a RESET."""
        n_columns = int(rule.program[layout.N_COLUMNS])
        # Rows a multiple of 4,096 bytes apart would share the few places of a cache.
        padded = np.zeros((views.N_REPLIES, num_envs + 16 * (num_envs % 512 == 0)), dtype=np.int32)
        return cls(
            rule,
            state=np.zeros((num_envs, n_columns), dtype=np.int16),
            seen=np.zeros((num_envs, N_CELLS + N_CELLS * N_BUCKETS), dtype=np.uint8),
            replies=padded[:, :num_envs],
            padded=padded,
        )

    @property
    def line(self) -> Short:
        """The active rule line of each board, counted from 0; shape (num_envs,)."""
        return self.state[:, layout.LINE]

    @property
    def final(self) -> Bytes:
        """Codes and last accepted attempt of the episodes that ended, shape (num_envs, 39)."""
        first = 8 * layout.FINAL
        return self.state.view(np.uint8)[:, first : first + layout.N_FINAL]

    def advance(self, deck: Bytes, n_dealt: int, horizon: int, autoreset: int) -> int:
        """Make the attempts ``replies[0]``; return the new n_dealt, see :func:`step`."""
        return step(
            self.rule.program,
            self.state,
            self.seen,
            self.padded,
            deck,
            n_dealt,
            horizon,
            autoreset,
        )

    def bound_step(self, deck: Bytes) -> Callable[[], None]:
        """Return a call that makes the attempts ``replies[0]``, twice as fast as :func:`step`.

        It deals from the first rows of ``deck``, without horizon or automatic reset.
        """
        arrays = (self.rule.program, self.state, self.seen, self.padded, deck)
        arguments = (*arrays, 0, 0, Autoreset.DISABLED)
        self.replies[views.ACTION] = LEAVE
        step(*arguments)
        # Numba looks at the types of all arguments to choose what to call; they are always these.
        compiled: Any = step.overloads[tuple(map(typeof, arguments))]
        return functools.partial(compiled.entry_point, *arguments)

    def permitted(self) -> npt.NDArray[np.int8]:
        """Return 1 for the attempts that the rule would accept now, shape (num_envs, 144)."""
        mask = np.empty((len(self.seen), N_CELLS * N_BUCKETS), dtype=np.int8)
        permitted(self.state, mask)
        return mask

    def counts_left(self, env: int) -> tuple[int, list[int]]:
        """Return the remaining counts of the active line and its atoms, -1 if not metered."""
        rule = self.rule
        start, stop, _ = rule.lines[self.state[env, layout.LINE]]
        atoms = rule.counts[start:stop].astype(np.int16)
        if (atoms > 0).any():  # the engine keeps no counts of a line without meters
            left = int(rule.program[layout.LEFT])
            atoms = self.state[env, left : left + stop - start]
        return int(self.state[env, layout.LINE_LEFT]), atoms.tolist()


def advance(
    rule: CompiledRule,
    boards: Boards,
    actions: Int,
    deck: Bytes,
    *,
    n_dealt: int = 0,
    horizon: int = 0,
    autoreset: int = Autoreset.DISABLED,
) -> int:
    """Make one attempt on each board: :func:`step` with the records spelt out, and checked.

    Examples
    --------
    >>> import gohr
    >>> rule = gohr.compile_rule(gohr.load_rule("clockwise"))
    >>> boards = Boards.empty(rule, 1)
    >>> deck = gohr.draw_boards(1, rng=np.random.default_rng(0))
    >>> advance(rule, boards, np.array([gohr.game.RESET]), deck)  # boards dealt
    1
    """
    if len(deck) - n_dealt < len(boards.seen):
        raise ValueError(
            f"deck: expected a board for each of {len(boards.seen)}, found {len(deck) - n_dealt}"
        )
    boards.replies[views.ACTION] = actions
    return boards.advance(deck, n_dealt, horizon, autoreset)
