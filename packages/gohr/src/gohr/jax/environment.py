"""The game as an environment in pure JAX: attempts, and new boards for the rows that need them.

Each program is compiled once for all environments of the same dimensions.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log2
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from gohr.board import N_BUCKETS, N_CELLS, BoardSpec, board_spec
from gohr.engine.compiler import CompiledRule, compile_rule
from gohr.jax.tables import to_tables
from gohr.jax.transition import Dimensions, EnvState, Reply, attempt, begin, permitted
from gohr.outcomes import STALEMATE
from gohr.registration import HORIZON
from gohr.rules.catalogue import resolve_rule
from gohr.rules.syntax import RuleSet

Rule: TypeAlias = str | RuleSet | CompiledRule
#: Cells and codes of the pieces of some boards.
Dealt: TypeAlias = tuple[jax.Array, jax.Array]
Step: TypeAlias = tuple["Observation", EnvState, jax.Array, jax.Array, jax.Array, dict[str, Any]]


class Observation(NamedTuple):
    """Observation of a player, as in the Gymnasium environment.

    Attributes
    ----------
    board : uint8, shape (36,)
        Codes of the contents of each cell from the bottom left: 0 nothing, else ``1 + shape *
        n_colors + color``.
    shape, color, bucket : uint8
        Properties of the last accepted attempt of the episode, each 0 for none and else 1 + index.

    Examples
    --------
    >>> from gohr import jax as gjax
    >>> env, params = gjax.make("clockwise", board={"pieces": (9, 9)})
    >>> observation, _ = env.reset(jax.random.key(0), params)
    >>> int((observation.board > 0).sum()), int(observation.bucket)
    (9, 0)
    """

    board: jax.Array
    shape: jax.Array
    color: jax.Array
    bucket: jax.Array


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class EnvParams:
    """The rules of an environment, and the parameters that may change without recompilation.

    Parameters
    ----------
    rules : dict of arrays
        The bank: one for all rows of a batch.
    rule : int32
        The rule of the bank to play, for all episodes until the next reset; -1 draws one.
    max_steps_in_episode : int32
        Attempts after which an episode is truncated, at least 1.

    Examples
    --------
    Each row its own rule, under ``jax.vmap``: the tables are shared, the rule's number is not.

    >>> axes = (0, EnvParams(None, 0, None))
    """

    rules: Any
    rule: Any = -1
    max_steps_in_episode: Any = HORIZON


@dataclass(frozen=True)
class HiddenRules(Dimensions):
    """Clear a board by moving pieces into buckets, under a rule that is not shown.

    The game of :class:`gohr.HiddenRulesEnv` as pure functions. Actions, observations,
    rewards and outcomes are the same; an automatic reset happens in the step that ends an episode,
    and boards have the same distribution but are drawn by JAX. All methods may be transformed by
    ``jax.jit``, ``jax.vmap`` and ``jax.lax.scan``; :func:`~gohr.jax.make` makes one, with its
    params. Environments with tables of the same sizes share compiled programs.

    Examples
    --------
    >>> import jax
    >>> from gohr import jax as gjax
    >>> env, params = gjax.make("clockwise")
    >>> observation, state = env.reset(jax.random.key(0), params)
    >>> action = env.permitted(state).argmax()
    >>> observation, state, reward, *_ = env.step(jax.random.key(1), state, action, params)
    >>> float(reward)
    0.0
    """

    num_actions = N_CELLS * N_BUCKETS

    # -- one board ---------------------------------------------------------------------------------

    def reset(
        self, key: jax.Array, params: EnvParams, board: Any = None
    ) -> tuple[Observation, EnvState]:
        """Begin on a random board, or on one that is given.

        Parameters
        ----------
        key : jax.Array
            Decides the board, and the rule where ``params.rule`` is -1.
        params : EnvParams
            The rules.
        board : array of int, shape (36,), optional
            Codes of a board to play, of at most as many pieces as ``env.board`` draws.
        """
        if board is not None and not isinstance(board, jax.core.Tracer):
            n_pieces = int((np.asarray(board) > 0).sum())
            if np.shape(board) != (N_CELLS,) or not 1 <= n_pieces <= self.n_pieces:
                raise ValueError(
                    f"board: expected {N_CELLS} codes with 1 to {self.n_pieces} pieces, found "
                    f"shape {np.shape(board)} with {n_pieces}"
                )
        return self._begun(key, params, board)

    @functools.partial(jax.jit, static_argnums=0)
    def _begun(self, key: jax.Array, params: EnvParams, board: Any) -> tuple[Observation, EnvState]:
        rule, cells, codes = self._drawn(key, (), params.rule)
        if board is not None:
            given = jnp.asarray(board)
            cells = jnp.argsort(given == 0, stable=True)[: self.n_pieces].astype(jnp.uint8)
            codes = given[cells].astype(jnp.uint8)
        state = begin(self, params.rules, rule, cells, codes)
        return _observed(state), state

    @functools.partial(jax.jit, static_argnums=0)
    def step(self, key: jax.Array, state: EnvState, action: Any, params: EnvParams) -> Step:
        """Make one attempt; begin a new episode if it ends this one.

        Parameters
        ----------
        key : jax.Array
            Determines the next board.
        state : EnvState
            State from the last call.
        action : int
            ``4 * cell + bucket``.
        params : EnvParams
            The rules.

        Returns
        -------
        observation, state
            Observation, of the new episode where one began.
        reward : float32
            0 for an accepted attempt, else -1.
        terminated, truncated : bool
            Whether the board is cleared or stuck; whether the horizon is reached. Both may be.
        info : dict
            ``outcome`` (int8), ``stalemate``, and ``final_observation``, the last observation
            before a new episode began.
        """
        after, reply = attempt(self, params.rules, state, action, params.max_steps_in_episode)
        fresh = begin(self, params.rules, *self._drawn(key, (), after.rule))
        done = reply.terminated | reply.truncated
        return _answer(after, reply, jax.tree.map(lambda a, b: jnp.where(done, a, b), fresh, after))

    # -- many boards -------------------------------------------------------------------------------

    @functools.partial(jax.jit, static_argnums=(0, 2))
    def reset_boards(
        self, key: jax.Array, num_envs: int, params: EnvParams
    ) -> tuple[Observation, EnvState]:
        """Begin on ``num_envs`` random boards: :meth:`reset` for a batch, from one key.

        ``params.rule`` may have the shape (num_envs,).
        """
        rule, cells, codes = self._drawn(key, (num_envs,), params.rule)
        states = self._begin_each(params, jnp.broadcast_to(rule, (num_envs,)), cells, codes)
        return _observed(states), states

    @functools.partial(jax.jit, static_argnums=0)
    def step_boards(
        self, key: jax.Array, states: EnvState, actions: Any, params: EnvParams
    ) -> Step:
        """Make one attempt on each board, and draw few new boards: :meth:`step` for a batch.

        A transformed :meth:`step` draws a board for every row at every step. Here a sixteenth of
        the number of rows is drawn and handed to the rows whose episodes end; if more end in one
        step, some rows get the same board.

        Parameters
        ----------
        key : jax.Array
            One for the whole batch.
        states, actions
            With a leading axis of N rows.
        params : EnvParams
            The rules; ``rule`` may have shape (N,).
        """
        horizon = params.max_steps_in_episode
        make_attempts = jax.vmap(lambda s, a: attempt(self, params.rules, s, a, horizon))
        after, reply = make_attempts(states, actions)
        done = reply.terminated | reply.truncated
        n_fresh = -(-len(done) // 16)
        dealt = self._drawn(key, (n_fresh,), 0)[1:]
        # A processor handles the few rows that have ended; a GPU is faster over all of them.
        deal = {"default": self._deal_to_few, "cuda": self._deal_to_all, "rocm": self._deal_to_all}
        states = jax.lax.platform_dependent(params, after, done, dealt, **deal)
        return _answer(after, reply, states)

    # -- queries of a learner ----------------------------------------------------------------------

    @functools.partial(jax.jit, static_argnums=0)
    def action_mask(self, state: EnvState) -> jax.Array:
        """Return 1 for the attempts on cells that hold a piece, int8 of shape (144,)."""
        there = (state.board > 0).astype(jnp.int8)
        return jnp.repeat(there, N_BUCKETS, total_repeat_length=self.num_actions)

    @functools.partial(jax.jit, static_argnums=0)
    def permitted(self, state: EnvState) -> jax.Array:
        """Return 1 for the attempts that the rule would accept now, int8 of shape (144,).

        For reference players and tests.
        """
        return permitted(state)

    # -- dealing -----------------------------------------------------------------------------------

    def _drawn(
        self, key: jax.Array, batch: tuple[int, ...], rule: Any
    ) -> tuple[jax.Array, jax.Array, jax.Array]:
        """Draw rules, unless `rule` gives them, and boards: cells and codes (*batch, P)."""
        several = int(self.n_rules > 1)
        words = jax.random.bits(key, (several + _n_words(self.board), *batch), jnp.uint32)
        cells, codes = _pieces_from_words(words[several:], self.board)
        rule = jnp.asarray(rule, jnp.int32) if several else jnp.zeros(batch, jnp.int32)
        if several:
            [number] = _numbers_below(words, [self.n_rules], self.n_rules)
            rule = jnp.where(rule < 0, number.astype(jnp.int32), rule)
        return rule, jnp.moveaxis(cells, 0, -1), jnp.moveaxis(codes, 0, -1)

    def _begin_each(self, params: EnvParams, *rows: jax.Array) -> EnvState:
        """Begin with rules, cells and codes row by row."""
        return jax.vmap(functools.partial(begin, self, params.rules))(*rows)

    def _deal_to_all(
        self, params: EnvParams, after: EnvState, done: jax.Array, dealt: Dealt
    ) -> EnvState:
        """Begin an episode in every row, and keep those of the rows whose episode has ended."""
        nth = (jnp.cumsum(done, dtype=jnp.int32) - 1) % len(dealt[0])
        fresh = self._begin_each(params, after.rule, *(each[nth] for each in dealt))

        def choose(new: jax.Array, old: jax.Array) -> jax.Array:
            return jnp.where(done.reshape(-1, *[1] * (new.ndim - 1)), new, old)

        return jax.tree.map(choose, fresh, after)

    def _deal_to_few(
        self, params: EnvParams, after: EnvState, done: jax.Array, dealt: Dealt
    ) -> EnvState:
        """Begin an episode in the rows whose episode has ended, a few at a time."""
        n_rows, n_dealt = len(done), len(dealt[0])
        [ended] = jnp.nonzero(done, size=n_rows, fill_value=n_rows)
        some = jnp.arange(-(-n_dealt // 4), dtype=jnp.int32)

        def deal(carry: tuple[jax.Array, EnvState]) -> tuple[jax.Array, EnvState]:
            n_begun, states = carry
            # Behind the last row, if none is left.
            rows = ended.at[n_begun + some].get(mode="fill", fill_value=n_rows)
            boards = (each[(n_begun + some) % n_dealt] for each in dealt)
            fresh = self._begin_each(params, after.rule[rows], *boards)
            put = jax.tree.map(lambda x, new: x.at[rows].set(new, mode="drop"), states, fresh)
            return n_begun + len(some), put

        n_ended = done.sum(dtype=jnp.int32)
        return jax.lax.while_loop(lambda c: c[0] < n_ended, deal, (jnp.int32(0), after))[1]


def make(
    rules: Rule | Sequence[Rule] = "color-match",
    *,
    board: BoardSpec | Mapping[str, Any] | None = None,
    **params: Any,
) -> tuple[HiddenRules, EnvParams]:
    """Create an environment of one hidden rule or of a bank of rules.

    Parameters
    ----------
    rules : str, RuleSet, CompiledRule, or a sequence of them
        Names of the catalogue, rule files, or rules. With several rules, every board plays one of
        them.
    board : BoardSpec or mapping, optional
        How boards are drawn; a mapping gives fields of a :class:`~gohr.BoardSpec`.
    **params
        Other fields of :class:`EnvParams`.

    Returns
    -------
    HiddenRules
    EnvParams

    Raises
    ------
    UnknownNameError, RuleSyntaxError
        If a rule cannot be had.
    RuleError
        If it cannot be played, or has a condition over too many things at once; the message names
        the part.

    Examples
    --------
    >>> env, params = make(["clockwise", "color-match"], rule=1, max_steps_in_episode=50)
    >>> env.n_rules, int(params.rule)
    (2, 1)
    """
    spec = board_spec(board)
    each = [rules] if isinstance(rules, str | RuleSet | CompiledRule) else list(rules)
    compiled = [_compiled(rule, spec) for rule in each]
    tables, sizes = to_tables(compiled)
    numbers = {"rule": -1, "max_steps_in_episode": HORIZON, **params}
    given = EnvParams(tables, **{name: np.int32(n) for name, n in numbers.items()})
    given = jax.tree.map(jnp.asarray, given)
    return HiddenRules(sizes, spec, len(compiled)), given


def _compiled(rule: Rule, spec: BoardSpec) -> CompiledRule:
    if isinstance(rule, CompiledRule):
        return rule
    return compile_rule(rule if isinstance(rule, RuleSet) else resolve_rule(rule), spec)


def _observed(state: EnvState) -> Observation:
    """Return the observation of a board, or of a batch."""
    return Observation(state.board, *(state.last[..., k] for k in range(3)))


def _answer(after: EnvState, reply: Reply, state: EnvState) -> Step:
    info = {
        "outcome": reply.outcome,
        "stalemate": after.finish == STALEMATE,
        "final_observation": _observed(after),
    }
    seen = _observed(state)
    return seen, state, reply.reward, reply.terminated, reply.truncated, info


# -- random boards ---------------------------------------------------------------------------------

# Their distribution is that of gohr.draw_boards. A word of 32 bits is used for several
# choices: a choice among n is the high word of its product with n, and the low word is used for the
# next, as long as all its choices together have at most 2**18 outcomes, which keeps the bias below
# 2**-14. Arrays have the batch last, so that a choice is one operation on vectors.

#: Permutations of more are decoded in a loop instead of one instruction after another.
_UNROLLED = 12


def _n_words(spec: BoardSpec) -> int:
    """Return the number of random words for a board."""
    most, n = spec.pieces[1], 0
    for low, high in (spec.pieces, spec.shapes, spec.colors):
        n += low < high
    for n_choices, size in (
        (most, N_CELLS),
        (spec.colors[1], most),
        *_choices(most, spec.shapes, len(spec.shape_palette)),
        *_choices(most, spec.colors, len(spec.color_palette)),
    ):
        n += -(-n_choices // _a_word(size))
    return n


def _choices(most: int, ends: tuple[int, int], size: int) -> list[tuple[int, int]]:
    """Return the numbers of choices of classes and of names, and among how many."""
    return [(most, size), (ends[1] if ends[0] < size else 0, size)]


def _a_word(most: int) -> int:
    """Return how many numbers below ``most`` one word gives."""
    return max(1, int(18 / log2(max(most, 2)) + 1e-9))


def _numbers_below(
    words: jax.Array, bounds: Sequence[int | jax.Array], most: int
) -> list[jax.Array]:
    """Turn uniform words into numbers, uint32, one below each bound; no bound is above `most`."""
    numbers, a_word = [], _a_word(most)
    for first in range(0, len(bounds), a_word):
        rest = words[first // a_word]
        for each in bounds[first : first + a_word]:
            bound = jnp.asarray(each, jnp.uint32)
            numbers.append(((rest >> 16) * bound + (((rest & 0xFFFF) * bound) >> 16)) >> 16)
            rest = rest * bound
    return numbers


def _pieces_from_words(words: jax.Array, spec: BoardSpec) -> tuple[jax.Array, jax.Array]:
    """Draw the pieces of boards from uniform words, uint32 of shape (_n_words(spec), *batch).

    Returns the cells of the pieces, 0 to 35 and all different, and their codes, 0 for an absent
    piece; both uint8 of shape (most pieces, *batch). Cells come in random order, so that the first
    ``k`` pieces may be those that make each of ``k`` shapes appear; for colors, others are chosen.
    """
    most, left = spec.pieces[1], words

    def draw(bounds: Sequence[int | jax.Array], size: int) -> jax.Array:
        nonlocal left
        numbers = _numbers_below(left, bounds, size)
        left = left[-(-len(bounds) // _a_word(size)) :]
        return jnp.stack(numbers)

    def drawn_classes(k: jax.Array, size: int) -> jax.Array:
        return draw([jnp.where(k == 0, size, k)] * most, size)

    def named(classes: jax.Array, k: jax.Array, ends: tuple[int, int], size: int) -> jax.Array:
        """Give the k classes random names of a palette, unless there are no classes."""
        if ends[0] == size or ends[1] == 0:  # with all names, it makes no difference which is which
            return classes
        names = _distinct(draw(range(size, size - ends[1], -1), size))
        known = jnp.minimum(classes, ends[1] - 1).astype(jnp.int32)
        chosen = jnp.take_along_axis(names, known, axis=0, mode="promise_in_bounds")
        return jnp.where(k == 0, classes, chosen)

    n_pieces, n_shapes, n_colors = (
        low + draw([high - low + 1], high - low + 1)[0] if low < high else jnp.uint32(low)
        for low, high in (spec.pieces, spec.shapes, spec.colors)
    )
    cells = _distinct(draw(range(N_CELLS, N_CELLS - most, -1), N_CELLS))
    slot = jnp.arange(most, dtype=jnp.uint32).reshape(-1, *[1] * (words.ndim - 1))

    size = len(spec.shape_palette)
    shape = jnp.where(slot < n_shapes, slot, drawn_classes(n_shapes, size))
    shape = named(shape, n_shapes, spec.shapes, size)
    size = len(spec.color_palette)
    color = drawn_classes(n_colors, size)
    if spec.colors[1]:
        pieces = _distinct(draw([n_pieces - i for i in range(spec.colors[1])], most))
        for i in range(spec.colors[1]):
            color = jnp.where((slot == pieces[i]) & (i < n_colors), jnp.uint32(i), color)
    color = named(color, n_colors, spec.colors, size)
    codes = jnp.where(slot < n_pieces, 1 + shape * size + color, 0)
    return cells.astype(jnp.uint8), codes.astype(jnp.uint8)


def _distinct(numbers: jax.Array) -> jax.Array:
    """Turn choices among the remaining items, entry ``i`` among ``n - i``, into the chosen items.

    This decodes a Lehmer code: from the end, each entry shifts for the one before it.
    """
    n = numbers.shape[0]
    place = jnp.arange(n, dtype=jnp.uint32).reshape(-1, *[1] * (numbers.ndim - 1))

    def make_room(t: int | jax.Array, chosen: jax.Array) -> jax.Array:
        i = n - 2 - t
        one = jax.lax.dynamic_index_in_dim(chosen, i, keepdims=True)
        return chosen + ((place > i) & (chosen >= one)).astype(jnp.uint32)

    if n <= _UNROLLED:
        for t in range(n - 1):
            numbers = make_room(t, numbers)
        return numbers
    found: jax.Array = jax.lax.fori_loop(0, n - 1, make_room, numbers)
    return found
