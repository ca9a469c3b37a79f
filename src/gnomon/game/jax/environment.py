"""The game as an environment in pure JAX, with the interface of gymnax."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

from gnomon.game.board import N_BUCKETS, N_CELLS, BoardSpec
from gnomon.game.jax import episodes
from gnomon.game.jax.episodes import EnvParams, Observation, Step
from gnomon.game.jax.rule_tables import Sizes
from gnomon.game.jax.spaces import Box, Dict, Discrete
from gnomon.game.jax.state import Dimensions, EnvState
from gnomon.game.jax.transition import attempt, occupied, permitted
from gnomon.game.outcomes import STALEMATE


@dataclass(frozen=True)
class HiddenRules:
    """Clear a board by moving pieces into buckets, under a rule that is not shown.

    The game of :class:`gnomon.game.HiddenRulesEnv` as pure functions. Actions, observations,
    rewards and outcomes are the same; an automatic reset happens in the step that ends an episode,
    and boards have the same distribution but are drawn by JAX. All methods may be transformed by
    ``jax.jit``, ``jax.vmap`` and ``jax.lax.scan``; an environment is hashable by its sizes, so that
    rules of the same sizes share compiled programs. :func:`~gnomon.game.jax.make` makes one.

    Parameters
    ----------
    sizes : Sizes
        Of the tables of its rules.
    board : BoardSpec
        How boards are drawn.
    n_rules : int
        Rules of its bank.
    default_params : EnvParams
        Its rules. Not part of its identity: never read it inside a transformed function.

    Examples
    --------
    >>> import jax
    >>> from gnomon.game import jax as gjax
    >>> env, params = gjax.make("clockwise")
    >>> observation, state = env.reset(jax.random.key(0), params)
    >>> action = env.permitted(params, state).argmax()
    >>> observation, state, reward, *_ = env.step(jax.random.key(1), state, action, params)
    >>> float(reward)
    0.0
    """

    sizes: Sizes
    board: BoardSpec
    n_rules: int
    default_params: EnvParams = field(compare=False, repr=False)

    name = "HiddenRules"
    num_actions = N_CELLS * N_BUCKETS

    @property
    def dimensions(self) -> Dimensions:
        """What its compiled programs know."""
        return Dimensions(self.sizes, self.board, self.n_rules)

    # -- one board ---------------------------------------------------------------------------------

    def reset(
        self, key: jax.Array, params: EnvParams | None = None, board: Any = None
    ) -> tuple[Observation, EnvState]:
        """Begin on a random board, or on one that is given.

        Parameters
        ----------
        key : jax.Array
            Decides the board, and the rule where ``params.rule`` is -1.
        params : EnvParams, optional
            The environment's own if left out, outside of transformed functions.
        board : array of int, shape (36,), optional
            Codes of a board to play, of at most as many pieces as ``env.board`` draws.
        """
        params = self._given(params, key)
        if board is not None and not isinstance(board, jax.core.Tracer):
            self._check_board(np.asarray(board))
        return episodes.reset(self.dimensions, key, params, board)

    def step(
        self, key: jax.Array, state: EnvState, action: Any, params: EnvParams | None = None
    ) -> Step:
        """Make one attempt; begin a new episode if it ends this one.

        Parameters
        ----------
        key : jax.Array
            Decides the next board.
        state : EnvState
            As it came from the last call.
        action : int
            ``4 * cell + bucket``.
        params : EnvParams, optional
            As for :meth:`reset`.

        Returns
        -------
        observation, state
            Of the new episode where one began.
        reward : float32
            0 for an accepted attempt, else -1.
        terminated, truncated : bool
            Whether the board is cleared or stuck; whether the horizon is reached. Both may be.
        info : dict
            ``outcome`` (int8), ``stalemate``, and ``final_observation``, what was seen before a new
            episode began.
        """
        return episodes.step(self.dimensions, key, state, action, self._given(params, key))

    def step_env(
        self, key: jax.Array, state: EnvState, action: Any, params: EnvParams
    ) -> tuple[Observation, EnvState, jax.Array, jax.Array, dict[str, Any]]:
        """Make one attempt and begin no new episode: gymnax's inner step, without ``truncated``."""
        del key
        after, reply = attempt(
            self.dimensions, params.rules, state, action, params.max_steps_in_episode
        )
        info = {"outcome": reply.outcome, "stalemate": after.finish == STALEMATE}
        return episodes.observed(after), after, reply.reward, reply.terminated, info

    def reset_env(self, key: jax.Array, params: EnvParams) -> tuple[Observation, EnvState]:
        """Begin on a random board: gymnax's inner reset."""
        return self.reset(key, params)

    def is_terminated(self, state: EnvState, params: EnvParams) -> jax.Array:
        """Tell whether the board is cleared or stuck."""
        del params
        return state.finish != 0

    def is_truncated(self, state: EnvState, params: EnvParams) -> jax.Array:
        """Tell whether the horizon is reached."""
        return state.time >= params.max_steps_in_episode

    # -- many boards -------------------------------------------------------------------------------

    def reset_boards(
        self, key: jax.Array, num_envs: int, params: EnvParams | None = None
    ) -> tuple[Observation, EnvState]:
        """Begin on ``num_envs`` random boards: :meth:`reset` for a batch, from one key.

        ``params.rule`` may have the shape (num_envs,).
        """
        return episodes.reset_boards(self.dimensions, key, num_envs, self._given(params, key))

    def step_boards(
        self,
        key: jax.Array,
        states: EnvState,
        actions: Any,
        params: EnvParams | None = None,
        *,
        n_fresh: int | None = None,
    ) -> Step:
        """Make one attempt on each board, and draw few new boards: :meth:`step` for a batch.

        A transformed :meth:`step` draws a board for every row at every step. Here ``n_fresh`` are
        drawn and handed to the rows whose episodes end; if more end in one step, some rows get the
        same board.

        Parameters
        ----------
        key : jax.Array
            One for the whole batch.
        states, actions
            With a leading axis of N rows.
        params : EnvParams, optional
            As for :meth:`reset`; ``rule`` may have shape (N,).
        n_fresh : int, optional
            1 to N; a sixteenth of N, rounded up, if left out.
        """
        num_envs = states.time.shape[0]
        n_fresh = -(-num_envs // 16) if n_fresh is None else n_fresh
        if not 1 <= n_fresh <= num_envs:
            raise ValueError(f"n_fresh: expected from 1 to {num_envs}, found {n_fresh}")
        return episodes.step_boards(
            self.dimensions, key, states, actions, self._given(params, key), n_fresh
        )

    # -- what a learner may ask --------------------------------------------------------------------

    def observe(self, state: EnvState) -> Observation:
        """Return what a player sees of a board."""
        return episodes.observed(state)

    def action_mask(self, state: EnvState) -> jax.Array:
        """Return 1 for the attempts on cells that hold a piece, int8 of shape (144,)."""
        return occupied(state)

    def permitted(self, params: EnvParams, state: EnvState) -> jax.Array:
        """Return 1 for the attempts that the rule would accept now, int8 of shape (144,).

        That is the answer: for yardsticks and tests.
        """
        del params
        return permitted(state)

    def features(self, observation: Observation) -> jax.Array:
        """Return an observation as zeros and ones, for its palettes."""
        return episodes.features(observation, self.board)

    def action_space(self, params: EnvParams | None = None) -> Discrete:
        """Return the 144 attempts, ``4 * cell + bucket``."""
        del params
        return Discrete(self.num_actions)

    def observation_space(self, params: EnvParams | None = None) -> Dict:
        """Return the space of each field of an observation."""
        del params
        last = {
            "shape": Discrete(1 + len(self.board.shape_palette)),
            "color": Discrete(1 + len(self.board.color_palette)),
            "bucket": Discrete(1 + N_BUCKETS),
        }
        return Dict({"board": Box(0, self.board.n_codes - 1, (N_CELLS,)), **last})

    # ----------------------------------------------------------------------------------------------

    def _given(self, params: EnvParams | None, key: jax.Array) -> EnvParams:
        if params is not None:
            return params
        if isinstance(key, jax.core.Tracer):
            raise ValueError(
                "params: expected EnvParams inside jit or vmap, found None; pass those that make() "
                "returned: environments of the same sizes share compiled programs, not rules"
            )
        return self.default_params

    def _check_board(self, board: Any) -> None:
        most = self.dimensions.n_pieces
        if board.shape != (N_CELLS,) or not 1 <= (board > 0).sum() <= most:
            raise ValueError(
                f"board: expected {N_CELLS} codes with 1 to {most} pieces, found shape "
                f"{board.shape} with {(board > 0).sum()}"
            )
