"""Populations of known truth: suites smoothed from published runs, and made families kept apart.

Two generators, so that an interval tuned on one can fail on the other. ``published`` smooths the
recorded runs of real suites (Silverman's smoothed bootstrap, which keeps each task's mean and
variance; scores with bounds are reflected at them). ``made`` draws from families that no constant
of the intervals was chosen on: runs that collapse, success rates of few episodes, suites whose
neighbouring tasks resemble each other, runs of unequal numbers, and shapes with known moments.
Truth is what the estimator gives on twenty thousand runs of the population itself.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gnomon.errors import DegenerateScoresWarning
from gnomon.scores import normalize, read_scores

__all__ = ["Population", "documented_failures", "made", "published"]

SCORES = Path(__file__).parents[1] / ".." / "shared" / "data" / "scores"

Array = npt.NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Array]


@dataclass(frozen=True)
class Population:
    """A suite of tasks from which any number of runs can be drawn.

    Parameters
    ----------
    name : str
        What is printed beside a cell.
    draw : callable
        ``draw(rng, n_runs)`` gives scores of shape (runs, tasks); NaN where a run is missing.
    kind : str
        What is hard about it, as the docs group them: real, bounded, tied, heavy tails,
        two humps, collapses, unequal runs, plain.
    """

    name: str
    draw: Draw
    kind: str

    def seed(self) -> int:
        """Return a number that the name alone decides."""
        return sum(i * ord(c) for i, c in enumerate(self.name, start=1))

    def truth(self) -> Array:
        """Return twenty thousand runs of every task, without gaps."""
        drawn = self.draw(np.random.default_rng([1, self.seed()]), 20_000)
        return drawn[~np.isnan(drawn).any(axis=1)]


# Recorded runs, smoothed.


def published() -> Iterator[Population]:
    """Give the suites smoothed from recorded runs; none where the data folder is absent."""
    if not SCORES.is_dir():
        return
    for algorithm in ("DER", "DrQ(eps)", "SPR"):
        runs = _runs("atari100k_runs.csv", algorithm, baselines=True)
        yield Population(f"Atari 100k {algorithm}, 26", _smoothed(runs), "real")
    for algorithm in ("DQN", "IQN"):
        runs = _runs("dopamine_atari_legacy_last10.csv", algorithm, baselines=True)
        yield Population(f"Dopamine {algorithm}, {len(runs)}", _smoothed(runs), "heavy tails")
    for algorithm in ("DrQ", "SAC-rr1"):
        runs = _runs("dmc_resets_curves.csv", algorithm, last=True)
        if runs:
            bounded = [x / 1000.0 for x in runs]
            draw = _smoothed(bounded, bounds=(0.0, 1.0))
            yield Population(f"DMC {algorithm}, {len(runs)}", draw, "bounded")
    humps = _two_humped(_runs("atari100k_runs.csv", "SPR", baselines=True))
    yield Population("Atari 100k SPR, 16, one two-humped", humps, "two humps")


def _runs(file: str, algorithm: str, *, baselines: bool = False, last: bool = False) -> list[Array]:
    """Return the recorded scores of each task that has three runs or more."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateScoresWarning)
        table = read_scores(SCORES / file)
        if baselines:
            table = normalize(table, "random-human")
        if algorithm not in table.algorithms:
            return []
        if last:
            table = table.last_step()
        found = [table.runs(algorithm, task) for task in table.tasks_of(algorithm)]
    found = [x[np.isfinite(x)] for x in found]
    return [x for x in found if x.size >= 3]


def _smoothed(runs: list[Array], bounds: tuple[float, float] | None = None) -> Draw:
    """Return the smoothed bootstrap of each task's runs.

    A recorded run plus normal noise of width h s, pulled to the task's mean by sqrt(1 + h^2), so
    that mean and variance stay; h = 0.9 n^(-1/5) (Silverman 1986, section 6.4.1).
    """
    mean = np.array([x.mean() for x in runs])
    spread = np.array([x.std() for x in runs])
    width = 0.9 * np.array([float(x.size) for x in runs]) ** -0.2

    def draw(rng: np.random.Generator, n_runs: int) -> Array:
        picked = np.column_stack([rng.choice(x, n_runs) for x in runs])
        noise = width * spread * rng.normal(size=picked.shape)
        drawn = mean + (picked - mean + noise) / np.sqrt(1.0 + width**2)
        return drawn if bounds is None else _reflected(drawn, *bounds)

    return draw


def _reflected(x: Array, low: float, high: float) -> Array:
    """Return scores beyond a bound mirrored at it; what a mirror cannot mend lies on the bound."""
    x = np.where(x < low, 2.0 * low - x, x)
    x = np.where(x > high, 2.0 * high - x, x)
    return np.clip(x, low, high)


def _two_humped(runs: list[Array]) -> Draw:
    """Return sixteen smoothed tasks, the widest of which reaches one of two levels."""
    smooth = _smoothed(sorted(runs, key=np.ptp)[-16:])

    def draw(rng: np.random.Generator, n_runs: int) -> Array:
        drawn = smooth(rng, n_runs)
        drawn[:, -1] += np.where(rng.random(n_runs) < 0.4, 0.0, 6.0)
        return drawn

    return draw


# Families made for this purpose.


def made() -> list[Population]:
    """Return the made families; each has a finite variance."""
    g = np.random.default_rng(20261122)
    return [
        Population("collapses, 20", _collapses(g, 20, 0.08), "collapses"),
        Population("collapses, 50, rare", _collapses(g, 50, 0.03), "collapses"),
        Population("success of 10 episodes, 12", _successes(g, 12, 10), "tied"),
        Population("success of 50 episodes, 40", _successes(g, 40, 50), "tied"),
        Population("neighbours alike, 30", _autocorrelated(g, 30), "plain"),
        Population("unequal runs, 24", _ragged(_autocorrelated(g, 24)), "unequal runs"),
        Population("unequal runs, success, 16", _ragged(_successes(g, 16, 20)), "unequal runs"),
        Population("beta, 6", _beta(g, 6), "bounded"),
        Population("beta, 20", _beta(g, 20), "bounded"),
        Population("lognormal, 30", _lognormal(g, 30), "heavy tails"),
        Population("t of 3 d.f., 57", _student(g, 57), "heavy tails"),
        Population("two humps, 10", _humps(g, 10), "two humps"),
        Population("equal tasks, 26", lambda rng, n: 1 + 0.3 * rng.normal(size=(n, 26)), "plain"),
    ]


def documented_failures() -> list[Population]:
    """Give suites on which some interval is known to fail, and the docs say so."""
    g = np.random.default_rng(20261123)
    level = 1.0 + g.gamma(2.0, 1.0, 26)
    cluster = np.repeat([0.2, 1.0], [12, 13])
    return [
        Population(
            "end of a tight cluster, 25", lambda rng, n: cluster + _noise(rng, n, 25), "gap"
        ),
        Population("deep collapses, 26", _deep(level), "collapses"),
    ]


def _noise(rng: np.random.Generator, n_runs: int, n_tasks: int) -> Array:
    return 0.1 * rng.normal(size=(n_runs, n_tasks))


def _deep(level: Array) -> Draw:
    """Return tasks above the target, of whose runs one in fifty falls ten levels below zero."""

    def draw(rng: np.random.Generator, n_runs: int) -> Array:
        drawn = level * (1.0 + _noise(rng, n_runs, level.size))
        return np.where(rng.random(drawn.shape) < 0.02, -10.0 * level, drawn)

    return draw


def _collapses(g: np.random.Generator, n_tasks: int, share: float) -> Draw:
    """Return tasks of which a share of the runs falls back to a tenth of the level."""
    level, spread = g.gamma(2.0, 0.5, n_tasks), g.uniform(0.05, 0.25, n_tasks)

    def draw(rng: np.random.Generator, n_runs: int) -> Array:
        drawn = level * (1.0 + spread * rng.normal(size=(n_runs, n_tasks)))
        return np.where(rng.random(drawn.shape) < share, 0.1 * drawn, drawn)

    return draw


def _successes(g: np.random.Generator, n_tasks: int, n_episodes: int) -> Draw:
    """Return success rates of few episodes, the chance of success itself varying over runs."""
    chance = g.beta(0.8, 0.8, n_tasks).clip(0.02, 0.98)

    def draw(rng: np.random.Generator, n_runs: int) -> Array:
        own = rng.beta(12 * chance, 12 * (1 - chance), size=(n_runs, n_tasks))
        return rng.binomial(n_episodes, own) / n_episodes

    return draw


def _autocorrelated(g: np.random.Generator, n_tasks: int) -> Draw:
    """Return tasks whose levels and spreads follow an autoregression along the suite."""
    level, log_spread = (_walk(g, n_tasks, 0.8) for _ in range(2))
    spread = 0.3 * np.exp(0.6 * log_spread)
    return lambda rng, n: level + spread * rng.normal(size=(n, n_tasks))


def _walk(g: np.random.Generator, n: int, memory: float) -> Array:
    x = np.empty(n)
    x[0] = g.normal()
    for i in range(1, n):
        x[i] = memory * x[i - 1] + np.sqrt(1 - memory**2) * g.normal()
    return x


def _ragged(draw: Draw) -> Draw:
    """Return the same tasks with runs missing: task t lacks the last t mod 3 runs, two are left."""

    def drawn(rng: np.random.Generator, n_runs: int) -> Array:
        x = draw(rng, n_runs)
        if n_runs > 1000:  # the truth
            return x
        for t in range(x.shape[1]):
            x[max(2, n_runs - t % 3) :, t] = np.nan
        return x

    return drawn


def _beta(g: np.random.Generator, n_tasks: int) -> Draw:
    """Return bounded scores, skewed towards the nearer bound."""
    mean, size = g.uniform(0.05, 0.95, n_tasks), g.uniform(4.0, 30.0, n_tasks)
    return lambda rng, n: rng.beta(size * mean, size * (1 - mean), size=(n, n_tasks))


def _lognormal(g: np.random.Generator, n_tasks: int) -> Draw:
    """Return skewed scores over levels that differ by orders of magnitude."""
    level, spread = np.exp(g.normal(0, 1, n_tasks)), g.uniform(0.1, 0.6, n_tasks)
    return lambda rng, n: level * np.exp(spread * rng.normal(size=(n, n_tasks)))


def _student(g: np.random.Generator, n_tasks: int) -> Draw:
    """Return scores with Student's t of three degrees of freedom as noise."""
    level, spread = g.gamma(1.5, 0.8, n_tasks), g.uniform(0.05, 0.4, n_tasks)
    return lambda rng, n: level + spread * rng.standard_t(3, size=(n, n_tasks))


def _humps(g: np.random.Generator, n_tasks: int) -> Draw:
    """Return tasks whose runs reach one of two levels, the lower with chance 0.2 to 0.5."""
    low, fails = g.uniform(0.0, 0.4, n_tasks), g.uniform(0.2, 0.5, n_tasks)

    def draw(rng: np.random.Generator, n_runs: int) -> Array:
        failed = rng.random((n_runs, n_tasks)) < fails
        return np.where(failed, low, 1.0) + 0.05 * rng.normal(size=(n_runs, n_tasks))

    return draw
