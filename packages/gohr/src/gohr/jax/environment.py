"""The game as an environment in pure JAX: attempts, and new boards for the rows that need them.

Each program is compiled once for all environments whose tables have the same shapes.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from gohr.board import N_BUCKETS, N_CELLS, BoardSpec, board_spec
from gohr.engine.compiler import compile_rule
from gohr.jax.states import EnvState, attempt, begin, permitted
from gohr.jax.tables import to_tables
from gohr.outcomes import ACCEPTED, EPISODE_OVER, IN_PROGRESS, STALEMATE
from gohr.registration import HORIZON
from gohr.rules.catalogue import resolve_rule
from gohr.rules.syntax import RuleSet

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
    """

    rules: Any
    rule: Any = -1
    max_steps_in_episode: Any = HORIZON


@dataclass(frozen=True)
class HiddenRules:
    """Clear a board by moving pieces into buckets, under a rule that is not shown.

    The game of :class:`gohr.HiddenRulesEnv` as pure functions. Actions, observations,
    rewards and outcomes are the same; an automatic reset happens in the step that ends an episode,
    and boards have the same distribution but are drawn by JAX. All methods may be transformed by
    ``jax.jit``, ``jax.vmap`` and ``jax.lax.scan``; :func:`~gohr.jax.make` makes one, with its
    params. Environments with tables of the same shapes share compiled programs.

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

    board: BoardSpec

    num_actions = N_CELLS * N_BUCKETS

    def reset(
        self, key: jax.Array, params: EnvParams, board: Any = None
    ) -> tuple[Observation, EnvState]:
        """Begin on a random board, or on one that is given by its 36 codes.

        The key decides the board, and the rule where ``params.rule`` is -1. A board that is given
        has at most as many pieces as ``env.board`` draws.
        """
        if board is not None and not isinstance(board, jax.core.Tracer):
            n_pieces, most = int((np.asarray(board) > 0).sum()), self.board.pieces[1]
            if np.shape(board) != (N_CELLS,) or not 1 <= n_pieces <= most:
                raise ValueError(
                    f"board: expected {N_CELLS} codes with 1 to {most} pieces, found shape "
                    f"{np.shape(board)} with {n_pieces}"
                )
        return self._begun(key, params, board)

    @functools.partial(jax.jit, static_argnums=0)
    def _begun(self, key: jax.Array, params: EnvParams, board: Any) -> tuple[Observation, EnvState]:
        of_rule, of_board = jax.random.split(key)
        if board is None:
            cells, codes = _draw_boards(of_board, self.board)
        else:
            given = jnp.asarray(board)
            cells = jnp.argsort(given == 0, stable=True)[: self.board.pieces[1]].astype(jnp.uint8)
            codes = given[cells].astype(jnp.uint8)
        rule = jnp.asarray(params.rule, jnp.int32)
        drawn = jax.random.randint(of_rule, (), 0, len(params.rules["cell"]), jnp.int32)
        rule = jnp.where(rule < 0, drawn, rule)
        state = begin(params.rules, rule, cells, codes, self.board)
        return _observed(state), state

    @functools.partial(jax.jit, static_argnums=0)
    def step(self, key: jax.Array, state: EnvState, action: Any, params: EnvParams) -> Step:
        """Make one attempt, ``4 * cell + bucket``; begin a new episode if it ends this one.

        The key determines the next board. The observation and the state are those of the new
        episode where one began; the reward, float32, is 0 for an accepted attempt, else -1.
        Terminated is a board that is cleared or stuck, truncated one at the horizon; both may be.
        ``info`` has ``outcome`` (int8), ``stalemate``, and ``final_observation``, the last one
        before a new episode began.
        """
        horizon, spec = params.max_steps_in_episode, self.board
        after, outcome = attempt(params.rules, state, action, horizon, spec)
        fresh = begin(params.rules, after.rule, *_draw_boards(key, spec), spec)
        return _answer(after, outcome, horizon, lambda done: _new_if(done, fresh, after))

    @functools.partial(jax.jit, static_argnums=(0, 2))
    def reset_boards(
        self, key: jax.Array, num_envs: int, params: EnvParams
    ) -> tuple[Observation, EnvState]:
        """Begin on ``num_envs`` random boards: :meth:`reset` for a batch, from one key.

        ``params.rule`` may have the shape (num_envs,).
        """
        each = replace(params, rule=jnp.broadcast_to(params.rule, (num_envs,)))
        begin_each = jax.vmap(self._begun, (0, EnvParams(None, 0, None), None))
        return begin_each(jax.random.split(key, num_envs), each, None)

    @functools.partial(jax.jit, static_argnums=0)
    def step_boards(
        self, key: jax.Array, states: EnvState, actions: Any, params: EnvParams
    ) -> Step:
        """Make one attempt on each board, and draw few new boards: :meth:`step` for a batch.

        A transformed :meth:`step` draws a board for every row at every step. Here a sixteenth of
        the number of rows is drawn and handed to the rows whose episodes end; if more end in one
        step, some rows get the same board.

        ``states`` and ``actions`` have a leading axis of N rows, and ``params.rule`` may have the
        shape (N,); the key is one for the whole batch.
        """
        horizon = params.max_steps_in_episode
        make_attempts = jax.vmap(lambda s, a: attempt(params.rules, s, a, horizon, self.board))
        after, outcomes = make_attempts(states, actions)
        boards = _draw_boards(key, self.board, -(-len(outcomes) // 16))
        begin_anew = functools.partial(self._begin_anew, params, after, boards)
        return _answer(after, outcomes, horizon, begin_anew)

    #: What the rule would accept now, for reference players and tests.
    permitted = staticmethod(jax.jit(permitted))

    def _begin_anew(
        self, params: EnvParams, states: EnvState, boards: tuple[jax.Array, ...], done: jax.Array
    ) -> EnvState:
        """Begin an episode in the rows that are done; the n-th of them gets the n-th board."""
        n_rows, n_boards = len(done), len(boards[0])

        def begun(rules: jax.Array, nth: jax.Array) -> EnvState:
            dealt = (each[nth % n_boards] for each in boards)
            begin_each = jax.vmap(functools.partial(begin, params.rules, spec=self.board))
            return begin_each(rules, *dealt)

        def in_all_rows() -> EnvState:
            fresh = begun(states.rule, jnp.cumsum(done, dtype=jnp.int32) - 1)
            return jax.vmap(_new_if)(done, fresh, states)

        def in_few_rows() -> EnvState:
            [rows_done] = jnp.nonzero(done, size=n_rows, fill_value=n_rows)
            some = jnp.arange(-(-n_boards // 4), dtype=jnp.int32)

            def begin_some(turn: jax.Array, states: EnvState) -> EnvState:
                nth = turn * len(some) + some
                # Behind the last row, if none is left.
                rows = rows_done.at[nth].get(mode="fill", fill_value=n_rows)
                fresh = begun(states.rule[rows], nth)
                return jax.tree.map(lambda x, new: x.at[rows].set(new, mode="drop"), states, fresh)

            n_turns = -(-done.sum(dtype=jnp.int32) // len(some))
            return jax.lax.fori_loop(0, n_turns, begin_some, states)

        # A processor handles the few rows that are done; a GPU is faster over all of them.
        of_gpu = {"cuda": in_all_rows, "rocm": in_all_rows}
        return jax.lax.platform_dependent(default=in_few_rows, **of_gpu)


def make(
    rules: str | RuleSet | Sequence[str | RuleSet] = "color-match",
    *,
    board: BoardSpec | Mapping[str, Any] | None = None,
    **params: Any,
) -> tuple[HiddenRules, EnvParams]:
    """Create an environment of one hidden rule or of a bank of rules.

    Parameters
    ----------
    rules : str, RuleSet, or a sequence of them
        Names of the library, files, or trees. With several rules, every board plays one of
        them.
    board : BoardSpec or mapping, optional
        How boards are drawn; a mapping gives fields of a :class:`~gohr.BoardSpec`.
    **params
        Other fields of :class:`EnvParams`.

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
    >>> int(params.rule), int(params.max_steps_in_episode)
    (1, 50)
    """
    spec = board_spec(board)
    each = [rules] if isinstance(rules, str | RuleSet) else rules
    compiled = [compile_rule(resolve_rule(rule), spec) for rule in each]
    numbers = {"rule": -1, "max_steps_in_episode": HORIZON, **params}
    given = EnvParams(to_tables(compiled), **{name: np.int32(n) for name, n in numbers.items()})
    return HiddenRules(spec), jax.tree.map(jnp.asarray, given)


def _new_if(done: jax.Array, new: EnvState, old: EnvState) -> EnvState:
    return jax.tree.map(functools.partial(jnp.where, done), new, old)


def _observed(state: EnvState) -> Observation:
    """Return the observation of a board, or of a batch."""
    return Observation(state.board, *(state.last[..., k] for k in range(3)))


def _answer(
    after: EnvState, outcome: jax.Array, horizon: Any, begin_anew: Callable[[jax.Array], EnvState]
) -> Step:
    """Return what learners get, with new episodes where one has ended."""
    terminated, truncated = after.finish != IN_PROGRESS, after.time >= horizon
    state, final = begin_anew(terminated | truncated), _observed(after)
    is_free = (outcome == ACCEPTED) | (outcome == EPISODE_OVER)
    reward = jnp.where(is_free, 0.0, -1.0).astype(jnp.float32)
    info = {"outcome": outcome, "stalemate": after.finish == STALEMATE, "final_observation": final}
    return _observed(state), state, reward, terminated, truncated, info


# -- random boards ---------------------------------------------------------------------------------


def _draw_boards(key: jax.Array, spec: BoardSpec, *batch: int) -> tuple[jax.Array, jax.Array]:
    """Draw boards with the distribution of :func:`gohr.draw_boards`, which describes it.

    Returns the cells of the pieces, 0 to 35 and all different, and their codes, 0 for an absent
    piece; both uint8 of shape (*batch, most pieces).
    """
    n_words = itertools.count()  # advanced by each word that the boards take
    blank = (jnp.zeros(batch, jnp.uint32) for _ in n_words)
    jax.eval_shape(lambda: _boards_from(blank, spec))
    words = jax.random.bits(key, (next(n_words), *batch), jnp.uint32)
    return _boards_from(iter(words), spec)


def _boards_from(words: Iterator[jax.Array], spec: BoardSpec) -> tuple[jax.Array, jax.Array]:
    """Make boards of words of 32 random bits.

    A choice among n is the high word of the product of a word and n, and the low word serves the
    next choice, as long as all choices of a word together have at most 2**18 outcomes, which keeps
    the bias below 2**-14. Until the end the batch is the last axis, so that a choice is one
    operation on vectors.
    """
    word, room = jnp.uint32(0), 0
    most, palettes = spec.pieces[1], (len(spec.shape_palette), len(spec.color_palette))

    def below(size: int, *bounds: int | jax.Array) -> list[jax.Array]:
        """Draw a number below each bound, of which none is above `size`."""
        nonlocal word, room
        numbers = []
        for bound in bounds:
            if size > room:
                word, room = next(words), 1 << 18
            room //= size
            high, low = word >> 16, word & 0xFFFF
            numbers.append((high * bound + (low * bound >> 16)) >> 16)
            word *= bound
        return numbers

    def distinct(k: int, bound: int | jax.Array, size: int) -> jax.Array:
        """Draw different numbers below a bound.

        This decodes a Lehmer code: from the end, each choice shifts for the one before it.
        """
        chosen = below(size, *(bound - i for i in range(k)))
        for i in reversed(range(k)):
            for j in range(i + 1, k):
                chosen[j] += chosen[j] >= chosen[i]
        return jnp.stack(chosen)

    def look(n_classes: jax.Array, ends: tuple[int, int], size: int) -> jax.Array:
        """Draw the shapes, or the colors, of all pieces."""
        least, k = ends
        found = jnp.stack(below(size, *[jnp.where(n_classes == 0, size, n_classes)] * most))
        if k:
            for i, chosen in enumerate(distinct(k, n_pieces, most)):
                found = jnp.where((slot == chosen) & (i < n_classes), jnp.uint32(i), found)
        if not k or least == size:  # with all names, it makes no difference which is which
            return found
        known = jnp.minimum(found, k - 1).astype(jnp.int32)
        names = distinct(k, size, size)
        named = jnp.take_along_axis(names, known, axis=0, mode="promise_in_bounds")
        return jnp.where(n_classes == 0, found, named)

    ranges = spec.pieces, spec.shapes, spec.colors
    n_pieces, n_shapes, n_colors = (low + below(n := high - low + 1, n)[0] for low, high in ranges)
    slot = np.arange(most, dtype=np.uint32).reshape(-1, *[1] * n_pieces.ndim)
    cells = distinct(most, N_CELLS, N_CELLS)
    code = 1 + palettes[1] * look(n_shapes, spec.shapes, palettes[0])
    code += look(n_colors, spec.colors, palettes[1])
    codes = jnp.where(slot < n_pieces, code, 0)
    cells, codes = (jnp.moveaxis(x, 0, -1).astype(jnp.uint8) for x in (cells, codes))
    return cells, codes
