"""Boards in play: the state of ``num_envs`` boards under a compiled rule, and their steps.

The work is done by the kernel of :mod:`gohr.engine.transition`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import typeof

from gohr.board import DEFAULT_SPEC, N_BUCKETS, N_CELLS, BoardSpec
from gohr.engine import program as layout
from gohr.engine.acceptance import Bytes, Short
from gohr.engine.compiler import CompiledRule, compile_rule
from gohr.engine.program import Replies
from gohr.engine.transition import permitted, step
from gohr.outcomes import LEAVE, Autoreset
from gohr.rules.syntax import RuleSet

#: Compiles a rule once for all its boards in this process.
_tables_of = functools.lru_cache(maxsize=512)(compile_rule)


@dataclass(frozen=True, slots=True, eq=False)
class Boards:
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
    def empty(
        cls, rule: RuleSet | CompiledRule, num_envs: int, spec: BoardSpec = DEFAULT_SPEC
    ) -> Boards:
        """Allocate ``num_envs`` boards under a rule; each still needs a RESET."""
        tables = rule if isinstance(rule, CompiledRule) else _tables_of(rule, spec)
        n_columns = int(tables.program[layout.N_COLUMNS])
        # Rows a multiple of 4,096 bytes apart would share the few places of a cache.
        padded = np.zeros((layout.N_REPLIES, num_envs + 16 * (num_envs % 512 == 0)), dtype=np.int32)
        return cls(
            tables,
            state=np.zeros((num_envs, n_columns), dtype=np.int16),
            seen=np.zeros((num_envs, N_CELLS + N_CELLS * N_BUCKETS), dtype=np.uint8),
            replies=padded[:, :num_envs],
            padded=padded,
        )

    # -- views ------------------------------------------------------------------------------------

    @property
    def codes(self) -> Bytes:
        """Contents of each cell, shape (num_envs, 36)."""
        return self.seen[:, :N_CELLS]

    @property
    def occupied(self) -> npt.NDArray[np.int8]:
        """1 for the attempts on cells that hold a piece, shape (num_envs, 144)."""
        return self.seen[:, N_CELLS:].view(np.int8)

    @property
    def last(self) -> Replies:
        """Shape, colour and bucket of the last accepted attempt, shape (3, num_envs)."""
        return self.replies[layout.SHAPE : layout.BUCKET + 1]

    @property
    def outcome(self) -> npt.NDArray[np.int32]:
        """Last outcome, one of the codes of :mod:`gohr.outcomes`; shape (num_envs,)."""
        row: npt.NDArray[np.int32] = self.replies[layout.OUTCOME]
        return row

    @property
    def finish(self) -> npt.NDArray[np.int32]:
        """State of each episode: in progress, cleared, or stalemate; shape (num_envs,)."""
        row: npt.NDArray[np.int32] = self.replies[layout.STANDS]
        return row

    @property
    def line(self) -> Short:
        """The active rule line of each board, counted from 0; shape (num_envs,)."""
        return self.state[:, layout.LINE]

    @property
    def final(self) -> Bytes:
        """Codes and last accepted attempt of the episodes that ended, shape (num_envs, 39)."""
        first = 8 * layout.FINAL
        return self.state.view(np.uint8)[:, first : first + layout.N_FINAL]

    def permitted(self) -> npt.NDArray[np.int8]:
        """Return 1 for the attempts that the rule would accept now, shape (num_envs, 144)."""
        mask = np.empty((len(self.seen), N_CELLS * N_BUCKETS), dtype=np.int8)
        permitted(self.state, mask)
        return mask

    # -- steps ------------------------------------------------------------------------------------

    def advance(
        self,
        actions: npt.ArrayLike,
        deck: Bytes,
        *,
        n_dealt: int = 0,
        horizon: int = 0,
        autoreset: int = Autoreset.DISABLED,
    ) -> int:
        """Make an attempt on each board, dealing from row `n_dealt` of `deck`; see :func:`step`.

        Returns the number of boards dealt so far.
        """
        if len(deck) - n_dealt < len(self.seen):
            found = len(deck) - n_dealt
            raise ValueError(f"deck: expected a board for each of {len(self.seen)}, found {found}")
        self.replies[layout.ACTION] = actions
        arrays = self.rule.program, self.state, self.seen, self.padded, deck
        return step(*arrays, n_dealt, horizon, autoreset)

    def bound_step(self, deck: Bytes) -> Callable[[], None]:
        """Return a call that makes the attempts ``replies[0]``, twice as fast as :func:`step`.

        It deals from the first rows of ``deck``, without horizon or automatic reset.
        """
        arrays = (self.rule.program, self.state, self.seen, self.padded, deck)
        arguments = (*arrays, 0, 0, Autoreset.DISABLED)
        self.replies[layout.ACTION] = LEAVE
        return functools.partial(compiled_for(step, *arguments), *arguments)


def compiled_for(kernel: Any, *arguments: Any) -> Callable[..., Any]:
    """Call a kernel once; return its code for arguments of these types, which is called faster."""
    kernel(*arguments)
    # Numba looks at the types of all arguments to choose what to call; they are always these.
    compiled: Callable[..., Any] = kernel.overloads[tuple(map(typeof, arguments))].entry_point
    return compiled
