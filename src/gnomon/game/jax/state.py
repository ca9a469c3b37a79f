"""The state of boards in play in JAX, the replies to attempts, and what both are measured by."""

from __future__ import annotations

from dataclasses import dataclass

import jax

from gnomon.game.board import BoardSpec
from gnomon.game.jax.rule_tables import Sizes


@dataclass(frozen=True)
class Dimensions:
    """What a compiled program knows beforehand: sizes, how boards are drawn, how many rules.

    Parameters
    ----------
    sizes : Sizes
        Of the tables of the rules.
    board : BoardSpec
        Gives the most pieces, and the palettes.
    n_rules : int
        How many rules the bank holds. With one, nothing is looked up by rule.
    """

    sizes: Sizes
    board: BoardSpec
    n_rules: int

    @property
    def n_pieces(self) -> int:
        """The most pieces of a board."""
        return self.board.pieces[1]

    @property
    def n_colors(self) -> int:
        """Size of the palette of colors."""
        return len(self.board.color_palette)


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class EnvState:
    """The state of one board in play; a leading axis on every field makes it a batch.

    P is the most pieces of a board, W the words of atoms; see
    :class:`~gnomon.game.jax.rule_tables.RuleTables`.

    Parameters
    ----------
    board : uint8, shape (36,)
        Codes of the cells, 0 for an empty one.
    slots : uint8, shape (36,)
        Which piece lay in each cell when the episode began.
    cells, codes : uint8, shape (P,)
        Of the pieces; code 0 for one that is gone.
    accepts : uint32, shape (P, W)
        The buckets into which each atom lets each piece now, whether it is alive or not.
    alive : uint32, shape (W,)
        All bits of the atoms of the active line that are not used up.
    by_color, by_shape : uint8, shape (P,)
        Last bucket of the color and of the shape of each piece, 0 for none, else 1 + bucket.
    last : uint8, shape (3,)
        Shape, color and bucket of the last accepted attempt, each 0 for none, else 1 + index.
    records : uint8, shape (2 P + 5, 4)
        Shape, color, cell and bucket (likewise) of the last piece of the color of each piece, of
        its shape, in each bucket, and of all; without rows where no rule asks for them.
    n_left : uint8
        Pieces on the board.
    line, line_left : int16
        The active line, and what is left of its count, -1 for none.
    left : int16, shape (8 W,)
        What is left of the counts of atoms; empty where no rule has any.
    finish : uint8
        0 in progress, 1 cleared, 2 a stalemate.
    time : int32
        Attempts of this episode.
    rule : int32
        Row of the bank.
    episode : int32
        Episodes before this one, since the reset.

    Examples
    --------
    >>> from gnomon.game import jax as gjax
    >>> env, params = gjax.make("clockwise", board={"pieces": (9, 9)})
    >>> _, state = env.reset(jax.random.key(0), params)
    >>> int(state.n_left), int(state.time)
    (9, 0)
    """

    board: jax.Array
    slots: jax.Array
    cells: jax.Array
    codes: jax.Array
    accepts: jax.Array
    alive: jax.Array
    by_color: jax.Array
    by_shape: jax.Array
    last: jax.Array
    records: jax.Array
    n_left: jax.Array
    line: jax.Array
    line_left: jax.Array
    left: jax.Array
    finish: jax.Array
    time: jax.Array
    rule: jax.Array
    episode: jax.Array


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Reply:
    """The reply to an attempt; a leading axis on every field makes it a batch.

    Parameters
    ----------
    outcome : int8
        A code of :mod:`gnomon.game.outcomes`.
    reward : float32
        0 for an accepted attempt and after the end of an episode, else -1.
    terminated, truncated : bool
        Whether the episode has ended; whether the horizon is reached. Both may be.
    """

    outcome: jax.Array
    reward: jax.Array
    terminated: jax.Array
    truncated: jax.Array
