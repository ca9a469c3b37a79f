"""Pulick et al. 2022, section 5: three claims on a linear DQN, in three readings of the text.

The paper prints figures without numbers, one p-value and three claims. Its text leaves open what
counts as an action, whether an episode goes on with reward 0 after the board is cleared, and the
settings of the learner. Three readings are played: the default of this package; one in which all
cells are actions, the episode goes on, gamma is 1 and the target network is renewed every 40
episodes; and one in which only occupied cells are actions and the learning rate is 0.05. The third
shows two of the three claims. ``python -m reproduction.gohr [TRIALS]`` plays 100 trials of each
rule, or as many as given.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy import stats

import gnomon as gn
import gohr
from gohr.experiments import load_experiment
from reproduction.comparison import Comparison, show

TITLE = "Pulick et al. 2022, section 5: a linear DQN on four rules of the Game of Hidden Rules"
READINGS: Mapping[str, Mapping[str, object]] = {
    "default": {},
    "goes on": {"plays_on": True, "actions": "all", "gamma": 1.0, "target_period": 40},
    "occupied": {"actions": "occupied", "gamma": 1.0, "learning_rate": 0.05},
}
SKEWED = "color-match"
#: A curve is flat if its last 20 episodes have at most 5 % of the errors of its first 20.
_ENDS, _FLAT = 20, 0.05
#: The bound that the paper prints for the p-values of its one-sided tests.
_P = 0.002


def comparisons(trials: int = 100) -> Iterator[Comparison]:
    """Yield the three claims beside what comes out, in each reading."""
    for reading, settings in READINGS.items():
        config = load_experiment(
            "paper-section-5",
            name=f"paper-section-5-{reading.replace(' ', '-')}",
            learners=[{"kind": "linear_dqn", **settings}],
            trials=trials,
            seed=0,
        )
        with tempfile.TemporaryDirectory() as folder:
            run = gohr.run(config, Path(folder) / "run", workers=os.cpu_count() or 1)
            curves = _curves(gohr.score(run, "cumulated_errors"))
        yield from _claims(f"section 5, reading: {reading}", curves)


def _curves(table: gn.ScoreTable) -> dict[str, np.ndarray]:
    """Return the cumulated errors of each rule, shape (trials, episodes)."""
    found = {}
    for rule in table.tasks:
        steps = table.select(tasks=[rule]).to_polars().sort("run", "step")
        n_runs = steps["run"].n_unique()
        found[rule] = steps["score"].to_numpy().reshape(n_runs, -1)
    return found


def _claims(where: str, curves: Mapping[str, np.ndarray]) -> Iterator[Comparison]:
    flat = {rule: _flat_share(errors) for rule, errors in curves.items()}
    ours = ", ".join(f"{rule} {share:.0%}" for rule, share in flat.items())
    known = "the paper does not define flat: some trials still err, though less often"
    holds = min(flat.values()) == 1.0
    yield Comparison(where, "curves that flatten", "all runs", ours, holds, explained=known)
    ends = {rule: errors[:, -1] for rule, errors in curves.items()}
    skew = {rule: float(stats.skew(values)) for rule, values in ends.items()}
    ours = ", ".join(f"{rule} {value:.1f}" for rule, value in skew.items())
    heavy = bool(skew[SKEWED] > 1.0 and min(skew.values()) < skew[SKEWED])
    item = "skewness of the terminal errors"
    known = "no reading that was tried shows the skew together with the other claims"
    yield Comparison(where, item, f"heavy for {SKEWED}", ours, heavy, explained=known)
    order = sorted(ends, key=lambda rule: -float(np.median(ends[rule])))
    p = {
        f"{a} > {b}": stats.mannwhitneyu(ends[a], ends[b], alternative="greater").pvalue
        for a, b in pairwise(order)
    }
    ours = ", ".join(f"{pair} p = {value:.2g}" for pair, value in p.items())
    item = "one-sided tests in the order of the medians"
    known = "which neighbours are separated depends on the reading"
    holds = bool(max(p.values()) < _P)
    yield Comparison(where, item, f"p < {_P}", ours, holds, explained=known)


def _flat_share(errors: np.ndarray) -> float:
    """Return the share of trials whose cumulated errors are flat at the end."""
    made = np.diff(errors, axis=1, prepend=0.0)
    early, late = made[:, :_ENDS].sum(axis=1), made[:, -_ENDS:].sum(axis=1)
    return float((late <= _FLAT * early).mean())


if __name__ == "__main__":
    sys.exit(show(TITLE, comparisons(*map(int, sys.argv[1:2]))))
