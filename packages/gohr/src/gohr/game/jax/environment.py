"""The game as an environment in pure JAX: attempts, and new boards for the rows that need them.

Each program is compiled once for all environments of the same dimensions.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from gohr.game.board import N_BUCKETS, N_CELLS, BoardSpec, board_spec
from gohr.game.engine.compiler import CompiledRule, compile_rule
from gohr.game.jax.dealing import n_words, numbers_below, pieces_from_words
from gohr.game.jax.tables import to_tables
from gohr.game.jax.transition import Dimensions, EnvState, Reply, attempt, begin, permitted
from gohr.game.outcomes import STALEMATE
from gohr.game.registration import HORIZON
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
    >>> from gohr.game import jax as gjax
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

    The game of :class:`gohr.game.HiddenRulesEnv` as pure functions. Actions, observations,
    rewards and outcomes are the same; an automatic reset happens in the step that ends an episode,
    and boards have the same distribution but are drawn by JAX. All methods may be transformed by
    ``jax.jit``, ``jax.vmap`` and ``jax.lax.scan``; :func:`~gohr.game.jax.make` makes one, with its
    params. Environments with tables of the same sizes share compiled programs.

    Examples
    --------
    >>> import jax
    >>> from gohr.game import jax as gjax
    >>> env, params = gjax.make("clockwise")
    >>> observation, state = env.reset(jax.random.key(0), params)
    >>> action = env.permitted(params, state).argmax()
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
    def permitted(self, params: EnvParams, state: EnvState) -> jax.Array:
        """Return 1 for the attempts that the rule would accept now, int8 of shape (144,).

        That is the answer: for yardsticks and tests.
        """
        del params
        return permitted(state)

    @functools.partial(jax.jit, static_argnums=0)
    def features(self, observation: Observation) -> jax.Array:
        """Return an observation as zeros and ones, float32 of shape (n,).

        One-hot codes: for each cell its contents, then shape, color and bucket of the last accepted
        attempt; an empty cell is all zeros, and a missing value of the others has its own 1. With
        the usual palettes ``n`` is 591.
        """
        codes = jnp.arange(1, self.board.n_codes, dtype=jnp.uint8)
        cells = (observation.board[:, None] == codes).reshape(-1).astype(jnp.float32)
        last = [
            jax.nn.one_hot(observation.shape, 1 + len(self.board.shape_palette)),
            jax.nn.one_hot(observation.color, 1 + len(self.board.color_palette)),
            jax.nn.one_hot(observation.bucket, 1 + N_BUCKETS),
        ]
        return jnp.concatenate([cells, *last])

    # -- dealing -----------------------------------------------------------------------------------

    def _drawn(
        self, key: jax.Array, batch: tuple[int, ...], rule: Any
    ) -> tuple[jax.Array, jax.Array, jax.Array]:
        """Draw rules, unless `rule` gives them, and boards: cells and codes (*batch, P)."""
        several = int(self.n_rules > 1)
        words = jax.random.bits(key, (several + n_words(self.board), *batch), jnp.uint32)
        cells, codes = pieces_from_words(words[several:], self.board)
        rule = jnp.asarray(rule, jnp.int32) if several else jnp.zeros(batch, jnp.int32)
        if several:
            [number] = numbers_below(words, [self.n_rules], self.n_rules)
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
        """Begin an episode in the rows whose episode has ended, as many at a time as were dealt."""
        ended = jnp.cumsum(done, dtype=jnp.int32)
        order = jnp.arange(1, 1 + len(dealt[0]), dtype=jnp.int32)

        def deal(carry: tuple[jax.Array, EnvState]) -> tuple[jax.Array, EnvState]:
            n_dealt, states = carry
            # Behind the last row, if none is left.
            rows = jnp.searchsorted(ended, n_dealt + order)
            fresh = self._begin_each(params, after.rule[rows], *dealt)
            put = jax.tree.map(lambda x, new: x.at[rows].set(new, mode="drop"), states, fresh)
            return n_dealt + len(order), put

        left = ended[-1]
        return jax.lax.while_loop(lambda c: c[0] < left, deal, (jnp.int32(0), after))[1]


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
        How boards are drawn; a mapping gives fields of a :class:`~gohr.game.BoardSpec`.
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
