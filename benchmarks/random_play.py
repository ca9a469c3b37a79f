"""Mean returns of uniform random play on MinAtar, which are the lower anchors of its suite.

The games are those of the package ``minatar`` 1.0.15 as it makes them: six actions, each repeated
with chance 0.1 instead of the one chosen, difficulty rising, no limit of steps but Freeway's 2,500.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.record import Measurement

SEED = 20261123
#: Episodes of each game; one of Freeway has 2,500 steps.
EPISODES = {
    "asterix": 20_000,
    "breakout": 20_000,
    "freeway": 1_000,
    "seaquest": 20_000,
    "space_invaders": 20_000,
}


def measure() -> Iterator[Measurement]:
    """Give the mean return of each game with its standard error."""
    try:
        minatar: Any = importlib.import_module("minatar")
    except ImportError:
        note = "minatar is not installed here (pip install minatar)"
        yield Measurement("random play", math.nan, "return", note=note)
        return
    for game, n in EPISODES.items():
        environment = minatar.Environment(game)
        environment.seed(SEED)
        draws = np.random.default_rng(SEED)
        returns = np.array([_return(environment, draws) for _ in range(n)])
        error = returns.std(ddof=1) / math.sqrt(n)
        note = f"± {error:.3f}; {n:,} episodes, seed {SEED}"
        yield Measurement(game, float(returns.mean()), "return", note=note)


def _return(environment: Any, draws: np.random.Generator) -> float:
    """Return the sum of rewards of one episode."""
    environment.reset()
    total, done = 0.0, False
    while not done:
        reward, done = environment.act(int(draws.integers(environment.num_actions())))
        total += reward
    return total
