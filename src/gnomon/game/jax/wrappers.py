"""Wrappers of the JAX environment that show a learner more of what happened.

Each has the interface of :class:`~gnomon.game.jax.HiddenRules`, and its observation and state hold
those of the environment inside.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from gnomon.game.board import N_BUCKETS
from gnomon.game.jax.environment import HiddenRules
from gnomon.game.jax.episodes import EnvParams, Observation
from gnomon.game.jax.state import EnvState
from gnomon.game.outcomes import ACCEPTED

#: An attempt in a history: 1 + cell, 1 + bucket, shape and color of the piece (0 for an empty
#: cell), and whether it was accepted. A row of zeros is no attempt.
_WIDTH = 5


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class WrappedState:
    """The state of the environment inside, and what the wrapper remembers."""

    env_state: EnvState
    memory: Any


class _Wrapper(ABC):
    """An environment around another, which remembers something from attempt to attempt."""

    env: HiddenRules

    @abstractmethod
    def _nothing(self) -> Any:
        """Return the memory before the first attempt."""

    @abstractmethod
    def _remembered(
        self, memory: Any, before: EnvState, action: jax.Array, reward: jax.Array, info: Any
    ) -> Any:
        """Return the memory after an attempt, whether or not it ends the episode."""

    @abstractmethod
    def _shown(self, observation: Observation, memory: Any) -> Any:
        """Return the observation with the memory."""

    def _kept(self, memory: Any, done: jax.Array) -> Any:
        """Return the memory with which the next attempt begins."""
        del done
        return memory

    @property
    def default_params(self) -> EnvParams:
        """Those of the environment inside."""
        return self.env.default_params

    def __getattr__(self, name: str) -> Any:
        if name == "env":
            raise AttributeError(name)
        return getattr(self.env, name)

    def reset(
        self, key: jax.Array, params: EnvParams | None = None, board: Any = None
    ) -> tuple[Any, WrappedState]:
        """Begin on a random board, with nothing remembered."""
        observation, state = self.env.reset(key, params, board)
        memory = self._nothing()
        return self._shown(observation, memory), WrappedState(state, memory)

    def step(
        self, key: jax.Array, state: WrappedState, action: Any, params: EnvParams | None = None
    ) -> tuple[Any, WrappedState, jax.Array, jax.Array, jax.Array, dict[str, Any]]:
        """Make one attempt, and remember it."""
        replies = self.env.step(key, state.env_state, action, params)
        return _after(self, state, jnp.asarray(action), replies)

    def reset_boards(
        self, key: jax.Array, num_envs: int, params: EnvParams | None = None
    ) -> tuple[Any, WrappedState]:
        """Begin on ``num_envs`` random boards."""
        observations, states = self.env.reset_boards(key, num_envs, params)
        nothing = self._nothing()
        memory = jax.tree.map(lambda x: jnp.broadcast_to(x, (num_envs, *x.shape)), nothing)
        return jax.vmap(self._shown)(observations, memory), WrappedState(states, memory)

    def step_boards(
        self,
        key: jax.Array,
        states: WrappedState,
        actions: Any,
        params: EnvParams | None = None,
        *,
        n_fresh: int | None = None,
    ) -> tuple[Any, WrappedState, jax.Array, jax.Array, jax.Array, dict[str, Any]]:
        """Make one attempt on each board."""
        inner = states.env_state
        replies = self.env.step_boards(key, inner, actions, params, n_fresh=n_fresh)
        after = jax.vmap(lambda *row: _after(self, *row))
        return after(states, jnp.asarray(actions), replies)

    def action_mask(self, state: WrappedState) -> jax.Array:
        """Return 1 for the attempts on cells that hold a piece."""
        return self.env.action_mask(state.env_state)

    def permitted(self, params: EnvParams, state: WrappedState) -> jax.Array:
        """Return 1 for the attempts that the rule would accept now."""
        return self.env.permitted(params, state.env_state)


@functools.partial(jax.jit, static_argnums=0)
def _after(
    wrapper: _Wrapper, state: WrappedState, action: jax.Array, replies: Any
) -> tuple[Any, WrappedState, jax.Array, jax.Array, jax.Array, dict[str, Any]]:
    """Return what a wrapper replies, given what the environment inside replied."""
    observation, inner, reward, terminated, truncated, info = replies
    memory = wrapper._remembered(state.memory, state.env_state, action, reward, info)
    kept = wrapper._kept(memory, terminated | truncated)
    info = {**info, "final_observation": wrapper._shown(info["final_observation"], memory)}
    shown = wrapper._shown(observation, kept)
    return shown, WrappedState(inner, kept), reward, terminated, truncated, info


class SeenHistory(NamedTuple):
    """An observation, and the last attempts of its episode."""

    board: jax.Array
    shape: jax.Array
    color: jax.Array
    bucket: jax.Array
    history: jax.Array


@dataclass(frozen=True)
class History(_Wrapper):
    """The observation, and the last ``k`` attempts of the episode, accepted or not.

    ``observation.history``, int16 of shape (k, 5), has the rows of
    :class:`gnomon.game.HistoryStack`, the newest last: 1 + cell, 1 + bucket, 1 + shape and
    1 + color of the piece (0 for an empty cell), and 1 if it was accepted. Rows of zeros stand
    before the first attempt.

    Parameters
    ----------
    env : HiddenRules
        The game.
    k : int
        How many attempts, at least 1.

    Examples
    --------
    >>> import jax
    >>> from gnomon.game import jax as gjax
    >>> env, params = gjax.make("clockwise")
    >>> gjax.History(env, k=3).reset(jax.random.key(0), params)[0].history.shape
    (3, 5)
    """

    env: HiddenRules
    k: int

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ValueError(f"k: expected at least 1, found {self.k}")

    def _nothing(self) -> jax.Array:
        return jnp.zeros((self.k, _WIDTH), jnp.int16)

    def _remembered(
        self, memory: Any, before: EnvState, action: jax.Array, reward: jax.Array, info: Any
    ) -> jax.Array:
        cell, bucket = action // N_BUCKETS, action % N_BUCKETS
        code = before.board[cell].astype(jnp.int32)
        look, n_colors = jnp.maximum(code, 1) - 1, len(self.env.board.color_palette)
        piece = [jnp.where(code > 0, 1 + part, 0) for part in (look // n_colors, look % n_colors)]
        row = [1 + cell, 1 + bucket, *piece, info["outcome"] == ACCEPTED]
        newest = jnp.stack([part.astype(jnp.int16) for part in row])
        return jnp.concatenate([memory[1:], newest[None]])

    def _kept(self, memory: Any, done: jax.Array) -> jax.Array:
        return jnp.where(done, jnp.int16(0), memory)

    def _shown(self, observation: Observation, memory: Any) -> SeenHistory:
        return SeenHistory(*observation, memory)


class SeenTrial(NamedTuple):
    """An observation, and what came of the attempt before it."""

    board: jax.Array
    shape: jax.Array
    color: jax.Array
    bucket: jax.Array
    last_action: jax.Array
    last_reward: jax.Array
    last_done: jax.Array


@dataclass(frozen=True)
class Trial(_Wrapper):
    """The observation, and the last action, its reward and whether it ended an episode.

    What a learner with a memory needs to learn a rule while it plays (meta-learning): nothing is
    forgotten when an episode ends. Before the first attempt ``last_action`` is 144, which is none.

    Parameters
    ----------
    env : HiddenRules
        The game.

    Examples
    --------
    >>> import jax
    >>> from gnomon.game import jax as gjax
    >>> env, params = gjax.make(["clockwise", "color-match"], episodes_per_rule=5)
    >>> int(gjax.Trial(env).reset(jax.random.key(0), params)[0].last_action)
    144
    """

    env: HiddenRules

    def _nothing(self) -> tuple[jax.Array, ...]:
        return jnp.int32(self.env.num_actions), jnp.float32(0), jnp.bool_(False)

    def _remembered(
        self, memory: Any, before: EnvState, action: jax.Array, reward: jax.Array, info: Any
    ) -> tuple[jax.Array, ...]:
        return action.astype(jnp.int32), reward, jnp.bool_(False)

    def _kept(self, memory: Any, done: jax.Array) -> tuple[jax.Array, ...]:
        return (*memory[:2], done)

    def _shown(self, observation: Observation, memory: Any) -> SeenTrial:
        return SeenTrial(*observation, *memory)
