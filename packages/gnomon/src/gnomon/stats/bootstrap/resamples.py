"""The stratified bootstrap: draw runs inside each task again and again, and see what moves.

One set of resamples serves all metrics. The draws are a function of one number from `rng` alone
(see :mod:`gnomon.stats.bootstrap.kernels`), so results do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.scores.table import FloatArray
from gnomon.stats.aggregates import n_trimmed
from gnomon.stats.metrics import Metric
from gnomon.stats.strata import IntArray, Strata, as_strata

#: What the kernel computes besides one additive metric.
KERNEL_COLUMNS = ("mean", "median", "iqm")

#: Replicates that are computed in one piece; has no influence on any number.
BLOCK = 4096
#: Draws that are held in memory together; has no influence either.
PICKS_BLOCK = 30_000


def draw_key(rng: np.random.Generator) -> np.uint64:
    """Return the number that all draws of one set of resamples follow from.

    Examples
    --------
    >>> key = draw_key(np.random.default_rng(0))
    >>> key == draw_key(np.random.default_rng(0)), key.dtype
    (np.True_, dtype('uint64'))
    """
    return np.uint64(rng.integers(0, 2**64, dtype=np.uint64))


class Resamples:
    """One set of resamples of one algorithm's scores, which serves all metrics.

    Runs are drawn with replacement inside each task, as many as it has, tasks independently.
    Algorithms with equal numbers of runs that are given the same key are resampled in pairs: the
    same run indices in every task.

    Parameters
    ----------
    scores : array_like of shape (runs, tasks), or Strata
    n_resamples : int
        Number of resamples.
    key : uint64
        From :func:`draw_key`.
    draw_tasks : bool
        Whether tasks are drawn with replacement too, for a statement about tasks not tried.
    n_threads : int
        Threads to work with; does not change the result.

    Examples
    --------
    >>> from gnomon.stats.metrics import metric_named
    >>> key = draw_key(np.random.default_rng(0))
    >>> resamples = Resamples([[1.0, 5.0], [2.0, 7.0]], n_resamples=4, key=key)
    >>> resamples.of(metric_named("mean"))
    array([3.75, 3.5 , 3.75, 3.25])
    """

    def __init__(
        self,
        scores: Strata | npt.ArrayLike,
        *,
        n_resamples: int,
        key: np.uint64,
        draw_tasks: bool = False,
        n_threads: int = 1,
    ) -> None:
        self.strata = as_strata(scores)
        self.n_resamples = n_resamples
        self.key = key
        self.draw_tasks = draw_tasks
        self.n_threads = n_threads
        self._columns: dict[str, FloatArray] = {}

    def of(self, metric: Metric) -> FloatArray:
        """Return the metric of every resample, shape (n_resamples,)."""
        if metric.name not in self._columns:
            if metric.name in KERNEL_COLUMNS:
                self._add_kernel_columns(None)
            elif metric.additive and metric.influence is not None:
                self._add_kernel_columns(metric)
            else:
                values = [metric.value(drawn) for drawn in self.drawn()]
                self._columns[metric.name] = np.array(values, dtype=np.float64)
        return self._columns[metric.name]

    def of_all(self, metrics: Iterable[Metric]) -> None:
        """Compute several metrics, as many as possible in one pass."""
        metrics = [metric for metric in metrics if metric.name not in self._columns]
        additive = [m for m in metrics if m.additive and m.name not in KERNEL_COLUMNS]
        if additive:
            self._add_kernel_columns(additive[0])
        for metric in metrics:
            self.of(metric)

    def drawn(self) -> Iterator[Strata]:
        """Yield the resamples themselves."""
        for picks in self._picks():
            for chosen in picks:
                present = chosen >= 0
                starts = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
                yield Strata(self.strata.values[chosen[present]], starts)

    def _picks(self) -> Iterator[IntArray]:
        """Yield which scores are drawn, (some resamples, tasks, most runs), -1 for none."""
        from gnomon.stats.bootstrap.kernels import draw_scores

        n_tasks, most = self.strata.n_tasks, int(self.strata.counts.max())
        block = max(1, PICKS_BLOCK // (n_tasks * most))
        for first in range(0, self.n_resamples, block):
            picks = np.full((min(block, self.n_resamples - first), n_tasks, most), -1)
            draw_scores(self.key, first, self.strata.starts, self.draw_tasks, picks)
            yield picks

    def _add_kernel_columns(self, extra: Metric | None) -> None:
        """Fill in mean, median and IQM, and one additive metric."""
        strata = self.strata
        extras = strata.values
        if extra is not None and extra.influence is not None:
            extras = extra.influence(strata)
        out = self._compiled(extras, float(n_trimmed(strata.values.size, 0.25)))
        self._columns |= {name: out[:, i] for i, name in enumerate(KERNEL_COLUMNS)}
        if extra is not None:
            self._columns[extra.name] = out[:, 3]

    def _compiled(self, extras: FloatArray, cut: float) -> FloatArray:
        """Return mean, median, trimmed mean and the mean of the extras in every resample."""
        from gnomon.stats.bootstrap.kernels import resample_aggregates

        strata = self.strata
        order = np.argsort(strata.values, kind="stable")
        places = np.empty_like(order)
        places[order] = np.arange(order.size)
        arguments = (strata.values, extras, strata.starts, places, strata.values[order])
        out = np.empty((self.n_resamples, 4))
        _in_blocks(
            lambda first, part: resample_aggregates(
                self.key, first, *arguments, strata.units, cut, self.draw_tasks, part
            ),
            out,
            self.n_threads,
        )
        return out


def _in_blocks(
    fill: Callable[[int, npt.NDArray[Any]], None], out: npt.NDArray[Any], n_threads: int
) -> None:
    """Fill the rows of `out` block by block, on some threads."""
    firsts = range(0, out.shape[0], BLOCK)
    if n_threads == 1 or len(firsts) == 1:
        for first in firsts:
            fill(first, out[first : first + BLOCK])
        return
    with ThreadPoolExecutor(n_threads) as threads:
        list(threads.map(lambda first: fill(first, out[first : first + BLOCK]), firsts))
