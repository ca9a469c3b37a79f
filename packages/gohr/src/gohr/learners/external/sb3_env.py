"""Environment in which a Stable-Baselines3 algorithm plays and waits, in a separate thread."""

from __future__ import annotations

import queue
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt

from gnomon.errors import UnknownNameError
from gohr.errors import ConfigError
from gohr.game.board import N_BUCKETS, N_CELLS, BoardSpec
from gohr.playing import Observation, Transition

_Array = npt.NDArray[np.int64]


class _StoppedError(Exception):
    """No further action is expected."""


class Exchange:
    """Exchange of observations from the trial and actions from the algorithm."""

    def __init__(self) -> None:
        self._seen: queue.SimpleQueue[Observation | Transition | None] = queue.SimpleQueue()
        self._actions: queue.SimpleQueue[int | Exception] = queue.SimpleQueue()

    def show(self, seen: Observation | Transition) -> None:
        """Leave the first observation of an episode, or the outcome of an attempt."""
        self._seen.put(seen)

    def action(self) -> int:
        """Wait for an action; raise what went wrong instead of one."""
        action = self._actions.get()
        if isinstance(action, Exception):
            raise action
        return action

    def stop(self) -> None:
        """Signal that there are no more observations."""
        self._seen.put(None)

    def look(self) -> Observation | Transition:
        """Wait for an observation."""
        seen = self._seen.get()
        if seen is None:
            raise _StoppedError
        return seen

    def do(self, action: int | Exception) -> None:
        """Leave an action, or an error."""
        self._actions.put(action)


class WaitingEnv(gymnasium.Env[_Array, np.int64]):
    """An environment whose boards are dealt, and attempts made, elsewhere.

    An observation is 39 categories: the code of each cell, and shape, colour and bucket of the last
    accepted attempt.
    """

    def __init__(self, exchange: Exchange, spec: BoardSpec) -> None:
        n_shapes, n_colors = len(spec.shape_palette), len(spec.color_palette)
        sizes = [spec.n_codes] * N_CELLS + [1 + n_shapes, 1 + n_colors, 1 + N_BUCKETS]
        self.observation_space = gymnasium.spaces.MultiDiscrete(sizes)
        self.action_space = gymnasium.spaces.Discrete(N_CELLS * N_BUCKETS)
        self._exchange = exchange
        self._mask = np.ones(N_CELLS * N_BUCKETS, dtype=np.bool_)

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return whether each attempt is on a cell that holds a piece, as MaskablePPO requires."""
        return self._mask

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[_Array, dict[str, Any]]:
        """Wait for the first observation of an episode."""
        super().reset(seed=seed)
        seen = self._exchange.look()
        if isinstance(seen, Transition):
            raise RuntimeError("expected the first observation of an episode, found an attempt's")
        return self._vector(seen), {}

    def step(self, action: np.int64) -> tuple[_Array, float, bool, bool, dict[str, Any]]:
        """Hand out an action, and wait for what comes of it."""
        self._exchange.do(int(action))
        seen = self._exchange.look()
        if isinstance(seen, Observation):
            raise RuntimeError("expected what came of an attempt, found a new episode")
        after = self._vector(seen.next_observation)
        return after, seen.reward, seen.terminated, seen.truncated, {}

    def _vector(self, seen: Observation) -> _Array:
        if seen.action_mask.any():  # a cleared board offers nothing, which no policy can draw from
            self._mask = seen.action_mask != 0
        last = [seen.shape, seen.color, seen.bucket]
        return np.concatenate([seen.board.astype(np.int64), last])


def learn(
    exchange: Exchange,
    spec: BoardSpec,
    algorithm: str,
    policy: str,
    planned_attempts: int,
    *,
    threads: int,
    arguments: Mapping[str, Any],
) -> None:
    """Let an algorithm learn until the exchange stops; an error is left there."""
    try:
        import_module("torch").set_num_threads(threads)
        maker = _algorithm(algorithm)
        try:
            model = maker(policy, WaitingEnv(exchange, spec), **arguments)
        except (TypeError, ValueError, AssertionError) as error:
            raise ConfigError(f"learner 'sb3': {algorithm}: {error}") from None
        first = True
        while True:
            model.learn(planned_attempts, reset_num_timesteps=first)
            first = False
    except _StoppedError:
        pass
    except Exception as error:  # it is raised again on the other side
        exchange.do(error)


def _algorithm(name: str) -> Any:
    """Return the class of an algorithm."""
    known: dict[str, Any] = {}
    for package in ("stable_baselines3", "sb3_contrib"):
        module = import_module(package)
        known |= {name: getattr(module, name) for name in module.__all__}
    base = import_module("stable_baselines3.common.base_class").BaseAlgorithm
    known = {k: v for k, v in known.items() if isinstance(v, type) and issubclass(v, base)}
    if name not in known:
        raise ConfigError(f"learner 'sb3': {UnknownNameError('algorithm', name, known)}")
    return known[name]
