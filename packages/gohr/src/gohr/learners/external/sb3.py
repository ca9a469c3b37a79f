"""A learner that is any algorithm of Stable-Baselines3, or of sb3-contrib."""

from __future__ import annotations

import importlib.util
import json
import threading
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, final

from gohr.errors import ConfigError
from gohr.learners.base import Learner
from gohr.learners.settings import Range
from gohr.playing import Observation, Transition

if TYPE_CHECKING:
    from gohr.learners.external.sb3_env import Exchange

_PACKAGES = ("stable_baselines3", "sb3_contrib")
_MISSING = "stable_baselines3 is not installed; it comes with pip install 'gohr[rl]'"
_PATIENCE_S = 5.0


@final
@dataclass(kw_only=True, eq=False)
class StableBaselines(Learner):
    """Let an algorithm of Stable-Baselines3 learn from its first attempt on.

    The algorithm sees the code of each cell and the last accepted attempt as categories (one-hot in
    its networks) and chooses among 144 attempts, on empty cells too; one that takes masks, as
    ``MaskablePPO`` does, is kept to cells that hold a piece. Its rewards are 0 and -1.

    Such an algorithm drives its environment itself, and here the trial drives the learner. So it
    runs in a separate thread, and the two wait for each other at every attempt.

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
    planned_attempts: Annotated[int, Range(1, 10**9)] = 20_000
    threads: Annotated[int, Range(1, 1024)] = 1

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
            self._exchange.show(observation)
            self._begun = True
        return self._exchange.action()

    def observe(self, transition: Transition) -> None:
        """Pass on the outcome; the algorithm learns when the next action is requested."""
        if self._exchange is not None:
            self._exchange.show(transition)
        self._begun = not (transition.terminated or transition.truncated)

    def _start(self) -> Exchange:
        """Start the algorithm in its thread."""
        from gohr.learners.external.sb3_env import Exchange, learn

        exchange = Exchange()
        thread = threading.Thread(
            target=learn,
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
    exchange.stop()
    thread.join(_PATIENCE_S)
