"""A learner that is any algorithm of Stable-Baselines3, or of sb3-contrib.

Such an algorithm drives its environment itself, and here the trial drives the learner: it plays in
a separate thread, in an environment that waits.
"""

from __future__ import annotations

import importlib.util
import json
import queue
import threading
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, Any, final

import gymnasium
import numpy as np
import numpy.typing as npt
from pydantic import Field

from gnomon.errors import UnknownNameError
from gohr.board import N_BUCKETS, N_CELLS, BoardSpec
from gohr.errors import ConfigError
from gohr.learners.base import Learner
from gohr.playing import Observation, Transition

_Array = npt.NDArray[np.int64]

_PACKAGES = ("stable_baselines3", "sb3_contrib")
_MISSING = "stable_baselines3 is not installed; it comes with pip install 'gohr[rl]'"
_PATIENCE_S = 5.0


class _StoppedError(Exception):
    """No further action is expected."""


class Exchange:
    """Queues between the trial and the algorithm, one for each direction.

    The trial shows the first observation of an episode and the outcome of each attempt, and None
    when there are no more; the algorithm answers with an action, or the error that ended it.
    """

    def __init__(self) -> None:
        self.seen: queue.SimpleQueue[Observation | Transition | None] = queue.SimpleQueue()
        self.actions: queue.SimpleQueue[int | Exception] = queue.SimpleQueue()

    def look(self) -> Observation | Transition:
        """Wait for an observation."""
        seen = self.seen.get()
        if seen is None:
            raise _StoppedError
        return seen


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
        self._exchange.actions.put(int(action))
        seen = self._exchange.look()
        if isinstance(seen, Observation):
            raise RuntimeError("expected the outcome of an attempt, found a new episode")
        after = self._vector(seen.next_observation)
        return after, seen.reward, seen.terminated, seen.truncated, {}

    def _vector(self, seen: Observation) -> _Array:
        if seen.action_mask.any():  # a cleared board offers nothing, which no policy can draw from
            self._mask = seen.action_mask != 0
        last = [seen.shape, seen.color, seen.bucket]
        return np.concatenate([seen.board.astype(np.int64), last])


def _learn(
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
        exchange.actions.put(error)


def _algorithm(name: str) -> Any:
    """Return the class of an algorithm."""
    known: dict[str, Any] = {}
    for package in _PACKAGES:
        module = import_module(package)
        known |= {name: getattr(module, name) for name in module.__all__}
    base = import_module("stable_baselines3.common.base_class").BaseAlgorithm
    known = {k: v for k, v in known.items() if isinstance(v, type) and issubclass(v, base)}
    if name not in known:
        raise ConfigError(f"learner 'sb3': {UnknownNameError('algorithm', name, known)}")
    return known[name]


@final
@dataclass(kw_only=True, eq=False)
class StableBaselines(Learner):
    """Let an algorithm of Stable-Baselines3 learn from its first attempt on.

    The algorithm sees the code of each cell and the last accepted attempt as categories (one-hot in
    its networks) and chooses among 144 attempts, on empty cells too; one that takes masks, as
    ``MaskablePPO`` does, is kept to cells that hold a piece. Its rewards are 0 and -1.

    Parameters
    ----------
    board_spec : BoardSpec
        Its palettes fix the categories.
    rng : numpy.random.Generator
        Draws the algorithm's seed. Torch then has one generator for the process, as it always has.
    algorithm : str
        Name of a class of ``stable_baselines3`` or ``sb3_contrib`` that takes discrete actions:
        ``MaskablePPO``, ``PPO``, ``A2C``, ``DQN``, ``QRDQN``, ``TRPO``, ...
    policy : str
        Name of its policy.
    arguments : str
        Its other arguments, as a JSON object: ``{"n_steps": 256, "learning_rate": 0.001}``. The
        defaults of the package are made for millions of steps: PPO, for one, first learns after
        2,048 attempts.
    planned_attempts : int
        How many attempts its schedules are made for, at least 1: 200 boards of 100 attempts make
        20,000. It goes on learning after them.
    threads : int
        How many threads torch may use, in this whole process, at least 1. Small networks are
        slower with more, and sums may round differently.

    Raises
    ------
    ConfigError
        If Stable-Baselines3 is not installed; and, while it plays, if there is no such algorithm or
        policy, or it does not take these arguments.
    ValueError
        If a parameter is out of its range.
    """

    algorithm: str = "MaskablePPO"
    policy: str = "MlpPolicy"
    arguments: str = "{}"
    planned_attempts: Annotated[int, Field(ge=1, le=10**9)] = 20_000
    threads: Annotated[int, Field(ge=1, le=1024)] = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            self._arguments = json.loads(self.arguments)
        except ValueError:
            self._arguments = None
        if not isinstance(self._arguments, dict):
            raise ValueError(f"arguments: expected a JSON object, found {self.arguments!r}")
        if any(importlib.util.find_spec(package) is None for package in _PACKAGES):
            raise ConfigError(_MISSING)
        self._seed = int(self.rng.integers(2**31))
        self._exchange: Exchange | None = None
        self._begun = False

    def act(self, observation: Observation) -> int:
        """Wait for the algorithm's choice."""
        if self._exchange is None:
            self._exchange = self._start()
        if not self._begun:
            self._exchange.seen.put(observation)
            self._begun = True
        action = self._exchange.actions.get()
        if isinstance(action, Exception):
            raise action
        return action

    def observe(self, transition: Transition) -> None:
        """Pass on the outcome; the algorithm learns when the next action is requested."""
        if self._exchange is not None:
            self._exchange.seen.put(transition)
        self._begun = not (transition.terminated or transition.truncated)

    def _start(self) -> Exchange:
        """Start the algorithm in its thread."""
        exchange = Exchange()
        thread = threading.Thread(
            target=_learn,
            args=(exchange, self.board_spec, self.algorithm, self.policy, self.planned_attempts),
            kwargs={
                "threads": self.threads,
                "arguments": {"device": "cpu", "seed": self._seed, **self._arguments},
            },
            daemon=True,
        )
        thread.start()
        weakref.finalize(self, _stop, exchange, thread)
        return exchange


def _stop(exchange: Exchange, thread: threading.Thread) -> None:
    """Stop the algorithm where it waits."""
    exchange.seen.put(None)
    thread.join(_PATIENCE_S)
