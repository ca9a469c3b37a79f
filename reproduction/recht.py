"""Recht 2018: performance profiles of DQN and of Sarsa with Blob-PROST features on Atari.

The essay prints no numbers, only figures and what they show. The distance of a method from the best
one of a game is minus the decimal logarithm of a one-sided Welch p-value. The published notebook
divides by n, not by n squared, in the degrees of freedom, which makes tails too heavy; both claims
are checked by the notebook's formula and by Welch and Satterthwaite's.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator

import numpy as np
from scipy import special

import gnomon as gn
from gnomon.scores import ScoreTable, read_scores
from reproduction.comparison import Comparison, data_file, show

TITLE = "Recht 2018: benchmarking machine learning with performance profiles"
_WHERE = "arXiv 1709.06009, tables 8 and 9"
SHALLOW, DEEP = "Sarsa(lambda)+Blob-PROST", "DQN"
#: Thresholds of distance, as `gnomon.profile` has them.
TAU = np.linspace(0.0, 5.0, 101)


def comparisons() -> Iterator[Comparison]:
    """Yield both claims, by both formulas."""
    for profiles, words in ((_published, "his degrees of freedom"), (_ours, "the textbook's")):
        a, b = profiles(_two(200_000_000))
        crossed = bool((a > b).any() and (b > a).any())
        ours = "they cross" if crossed else "they do not cross"
        item = f"200 against 200 million frames, {words}"
        yield Comparison("essay, figure 1", item, "they cross", ours, crossed)
        a, b = profiles(_two(10_000_000))
        above = bool((a >= b).all() and (a > b).any())
        ours = f"{SHALLOW} above" if above else "not above"
        item = f"200 against 10 million frames, {words}"
        yield Comparison("essay, figure 2", item, f"{SHALLOW} above", ours, above)


def _ours(table: ScoreTable) -> list[np.ndarray]:
    return [one.value for one in gn.profile(table, "likelihood", TAU)]


def _published(table: ScoreTable) -> list[np.ndarray]:
    """Return the profiles as the notebook computes them."""
    cells = [[table.runs(name, task) for task in table.tasks] for name in table.algorithms]
    m, s, n = (
        np.array([[f(runs) for runs in own] for own in cells])
        for f in (np.mean, lambda runs: np.std(runs, ddof=1) + 1e-6, np.size)
    )
    games, best = np.arange(m.shape[1]), m.argmax(axis=0)
    total, quartic = (x + x[best, games] for x in (s**2 / n, s**4 / n / (n - 1.0)))
    t = (m - m[best, games]) / np.sqrt(total)
    distance = -np.log10(special.stdtr(total**2 / quartic, t))
    distance[best, games] = 0.0
    return [np.array([(row < tau).mean() for tau in TAU]) for row in distance]


def _two(deep_frames: int) -> ScoreTable:
    text = data_file("scores/machado2018_mean_std.csv", _WHERE).read_text()
    rows = [
        row
        for row in csv.DictReader(text.splitlines())
        if (row["algorithm"], int(row["frames"])) in {(SHALLOW, 200_000_000), (DEEP, deep_frames)}
    ]
    return read_scores(sorted(rows, key=lambda row: row["algorithm"] == DEEP))


if __name__ == "__main__":
    sys.exit(show(TITLE, comparisons()))
