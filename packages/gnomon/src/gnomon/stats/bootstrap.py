"""The stratified bootstrap: runs are drawn with replacement inside each task.

A resample is how often each run was drawn, so a whole block of resamples is a few matrix products.
Algorithms with the same numbers of runs share the draws where each one's own interval is wanted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.scores.columns import IntArray
from gnomon.scores.table import FloatArray
from gnomon.stats.metrics import Metric, median
from gnomon.stats.strata import Strata

#: Resamples, and numbers, that are worked on together, so that they stay in the processor's cache.
BLOCK, BLOCK_SIZE = 2048, 1 << 19
#: Largest number of runs for which comparisons are faster than `numpy.bincount`.
FEW = 32
#: Resamples at a time from which a loop over scores is faster than `numpy.cumsum`.
MANY = 256
#: Up to this number of draws their counts are kept for the next algorithm.
FEW_DRAWS = 1 << 20


def draw_key(rng: np.random.Generator) -> np.uint64:
    """Return the number from which all draws of one set of resamples follow."""
    return np.uint64(rng.integers(0, 2**64, dtype=np.uint64))


@dataclass(frozen=True, eq=False)
class Resamples:
    """Resamples of the scores of one algorithm; the same runs for equal numbers of runs and key."""

    strata: Strata
    n_resamples: int
    key: np.uint64
    draw_tasks: bool = False

    def task_means(self) -> Iterator[FloatArray]:
        """Yield the means of the drawn tasks in blocks of resamples, (resamples, tasks)."""
        strata = self.strata
        for slots, picks in self._picks():
            drawn = np.where(picks >= 0, strata.values[picks], 0.0)
            yield drawn.sum(axis=-1) / strata.counts[slots]

    def _picks(self) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield blocks of drawn tasks, (resamples, tasks), and scores, (resamples, tasks, runs).

        A score is -1 beyond the runs of its task.
        """
        counts, starts = self.strata.counts, self.strata.starts
        n_tasks, most = counts.size, int(counts.max())
        rng = np.random.default_rng(self.key)
        for size in _blocks(self.n_resamples, _block(n_tasks * most)):
            slots = np.broadcast_to(np.arange(n_tasks), (size, n_tasks))
            if self.draw_tasks:
                slots = rng.integers(0, n_tasks, slots.shape)
            runs = rng.random((size, n_tasks, most)) * counts[slots][..., None]
            picks = starts[slots][..., None] + runs.astype(np.int64)
            beyond = np.arange(most) >= counts[slots][..., None]
            yield slots, np.where(beyond, -1, picks)

    def values_of(self, metric: Metric) -> FloatArray:
        """Return the metric of every resample by calling it on batches of them."""
        strata, found = self.strata, []
        for slots, picks in self._picks():
            if self.draw_tasks and not isinstance(strata.n_runs, int):
                for chosen, tasks in zip(picks, slots, strict=True):
                    starts = np.concatenate([[0], np.cumsum(strata.counts[tasks])])
                    drawn = Strata(strata.values[chosen[chosen >= 0]], starts)
                    found.append(np.atleast_1d(metric.value(drawn)))
                continue
            batch = strata.values[picks.reshape(len(picks), -1)[:, picks[0].ravel() >= 0]]
            found.append(metric.values(Strata(batch, strata.starts)))
        return np.concatenate(found)


def replicates(
    samples: Sequence[Strata],
    metrics: Sequence[Metric],
    *,
    n_resamples: int,
    key: np.uint64,
    draw_tasks: bool = False,
) -> FloatArray:
    """Return metrics of every resample of several algorithms.

    Algorithms with the same numbers of runs share their draws, which is right for an interval of
    each, and for differences where runs are pairs. The shape is (algorithms, metrics, n_resamples).
    """
    found = np.empty((len(samples), len(metrics), n_resamples))
    groups: dict[tuple[int, ...], list[int]] = {}
    for i, strata in enumerate(samples):
        known = [m.value is median or m.each is not None or m.cut is not None for m in metrics]
        fast = not draw_tasks and bool(np.isfinite(strata.values).all())
        if fast and any(known):
            groups.setdefault(tuple(strata.counts.tolist()), []).append(i)
        resamples = Resamples(strata, n_resamples, key, draw_tasks)
        for j, metric in enumerate(metrics):
            if not (fast and known[j]):
                found[i, j] = resamples.values_of(metric)
    for runs, places in groups.items():
        first = 0
        tables = [_Counted(samples[i], metrics) for i in places]
        few = sum(runs) * n_resamples <= FEW_DRAWS
        for counts in (_kept_counts if few else _counts)(key, runs, n_resamples):
            size = counts.shape[1]
            needed = any(table.needs_floats for table in tables)
            floats = counts.astype(np.float64) if needed else np.empty(0)
            for i, table in zip(places, tables, strict=True):
                table.fill(found[i, :, first : first + size], counts, floats)
            first += size
    return found


def _block(n_scores: int) -> int:
    """Return how many resamples to work on at a time."""
    return max(1, min(BLOCK, BLOCK_SIZE // n_scores))


def _blocks(n_resamples: int, size: int) -> list[int]:
    return [min(size, n_resamples - first) for first in range(0, n_resamples, size)]


def _counts(key: np.uint64, runs: tuple[int, ...], n: int) -> Iterator[npt.NDArray[np.uint16]]:
    """Yield how often each run is drawn, in blocks of resamples."""
    rng = np.random.default_rng(key)
    for size in _blocks(n, _block(sum(runs))):
        yield draw_counts(rng, runs, size)


@lru_cache(maxsize=2)
def _kept_counts(key: np.uint64, runs: tuple[int, ...], n: int) -> list[npt.NDArray[np.uint16]]:
    """Return :func:`_counts`, once for algorithms that are estimated one after another."""
    return list(_counts(key, runs, n))


def draw_counts(rng: np.random.Generator, runs: Sequence[int], n: int) -> npt.NDArray[np.uint16]:
    """Return how often each run is drawn, (all runs, resamples)."""
    found = np.empty((sum(runs), n), np.uint16)
    first = 0
    for m in runs:
        part = found[first : first + m]
        if m <= FEW:
            drawn = rng.integers(0, m, (m, n), np.uint8)
            for run in range(m):
                part[run] = np.sum(drawn == run, axis=0, dtype=np.uint8)
        else:
            cells = rng.integers(0, m, (m, n)) * n + np.arange(n)
            part[:] = np.bincount(cells.ravel(), minlength=m * n).reshape(m, n)
        first += m
    return found


class _Counted:
    """Metrics of one algorithm, whose scores are finite, from how often each run is drawn."""

    def __init__(self, strata: Strata, metrics: Sequence[Metric]) -> None:
        self.strata, self.metrics = strata, metrics
        n = strata.n_scores
        self.order = np.argsort(strata.values, kind="stable")
        self.ordered = strata.values[self.order]
        self.units = np.repeat(strata.units, strata.counts)
        #: Sums of counts are then whole numbers, which 16 bits hold.
        self.whole = isinstance(strata.n_runs, int) and n < 2**16
        self.additive = {m.name: m.each(strata.values) * self.units / n for m in metrics if m.each}
        self.cuts = {m.name: m.cut(strata) for m in metrics if m.cut}
        #: Metrics other than trimmed means of equal numbers of runs multiply the counts.
        self.needs_floats = not self.whole or len(self.cuts) < len(metrics)

    def fill(self, out: FloatArray, counts: npt.NDArray[np.uint16], floats: FloatArray) -> None:
        """Fill `out`, (metrics, resamples), from counts of shape (scores, resamples)."""
        below: FloatArray | npt.NDArray[np.uint16] | None = None
        for row, metric in zip(out, self.metrics, strict=True):
            if metric.each is not None:
                row[:] = self.additive[metric.name] @ floats
            elif metric.cut is not None:
                if below is None:
                    below = self._running_sums(counts, floats)
                row[:] = self._pooled_mean(below, self.cuts[metric.name])
            elif metric.value is median:
                row[:] = self._median(floats)

    def _running_sums(
        self, counts: npt.NDArray[np.uint16], floats: FloatArray
    ) -> FloatArray | npt.NDArray[np.uint16]:
        """Return the weight up to each score but the last, in ascending order.

        For many resamples at a time, a loop of additions takes a tenth of the time of
        `numpy.cumsum` along the first axis; for few, up to 500 times as long.
        """
        first = self.order[:-1]
        below = counts[first] if self.whole else floats[first] * self.units[first, None]
        if below.shape[1] < MANY:
            return np.cumsum(below, axis=0, dtype=below.dtype, out=below)
        for i in range(1, len(below)):
            np.add(below[i - 1], below[i], out=below[i])
        return below

    def _pooled_mean(self, below: FloatArray | npt.NDArray[np.uint16], cut: float) -> FloatArray:
        """Return the mean between two cuts: the sum of x dF by parts is x F - sum of F dx."""
        n = self.strata.n_scores
        ends = (int(cut), int(n - cut)) if self.whole else (cut, n - cut)
        inside: npt.NDArray[Any] = np.clip(below, *ends)
        total = self.ordered[-1] * (n - cut) - self.ordered[0] * cut
        return np.asarray((total - np.diff(self.ordered) @ inside) / (n - 2.0 * cut))

    def _median(self, floats: FloatArray) -> FloatArray:
        starts, counts = self.strata.starts.tolist(), self.strata.counts
        values, n_tasks = self.strata.values, self.strata.n_tasks
        means = np.empty((n_tasks, floats.shape[1]))
        for t, n in enumerate(counts):
            task = slice(starts[t], starts[t + 1])
            means[t] = values[task] @ floats[task] / n
        means.sort(axis=0)
        return np.asarray((means[(n_tasks - 1) // 2] + means[n_tasks // 2]) / 2.0)


def quantiles(replicates: FloatArray, probabilities: npt.ArrayLike) -> FloatArray:
    """Return quantiles along the first axis, as `numpy.quantile` (linear) but fit for infinities.

    NaN where a replicate is NaN.
    """
    at = np.asarray(probabilities, dtype=np.float64) * (replicates.shape[0] - 1)
    below = np.floor(at).astype(np.int64)
    above = np.ceil(at).astype(np.int64)
    # The last place is sorted too, since NaN goes there.
    wanted = np.unique(np.concatenate([below, above, [replicates.shape[0] - 1]]))
    ordered = np.partition(replicates, wanted, axis=0)
    low, high = ordered[below], ordered[above]
    share = (at - below).reshape(-1, *[1] * (replicates.ndim - 1))
    with np.errstate(invalid="ignore"):
        mixed = np.where((low == high) | (share == 0.0), low, low + share * (high - low))
    return np.where(np.isnan(ordered[-1]), np.nan, mixed)
