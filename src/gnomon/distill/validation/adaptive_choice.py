"""Tasks chosen one by one for each algorithm, by what they still tell of its summary."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gnomon.distill.models import SubsetModel
from gnomon.distill.preparation.prepared import PreparedScores
from gnomon.distill.procedures.factor import FactorProcedure
from gnomon.scores.table import FloatArray


class Training:
    """What one training says of algorithms that it has not seen; nothing is computed twice."""

    def __init__(self, base: FactorProcedure, rows: PreparedScores) -> None:
        self.base, self.rows = base, rows
        self.names, self.suite = base.covariance(rows)[0], base.suite(rows)
        self._columns = rows.columns(self.suite.tasks)
        self._able = np.isin(self.suite.tasks, self.names)
        self._models: dict[tuple[str, ...], SubsetModel] = {}
        self._told: dict[tuple[bytes, tuple[int, ...]], FloatArray] = {}
        self._said: dict[tuple[bytes, tuple[str, ...]], float] = {}

    def said(self, tasks: tuple[str, ...], row: FloatArray) -> float:
        """Return the summary predicted from the scores on some tasks."""
        x = row[self.rows.columns(tasks)]
        key = x.tobytes(), tasks
        if key not in self._said:
            if tasks not in self._models:
                self._models[tasks] = self.base.fit(self.rows, tasks)
            self._said[key] = float(self._models[tasks].predict(x))
        return self._said[key]

    def able(self, row: FloatArray) -> npt.NDArray[np.bool_]:
        """Return which tasks of the suite are candidates that an algorithm has."""
        return self._able & ~np.isnan(row[self._columns])

    def told(self, row: FloatArray, chosen: Sequence[int]) -> FloatArray:
        """Return how much of the summary each task tells when some are known: r squared."""
        seen = np.array(chosen, dtype=np.int64)
        scores = row[self._columns][seen]
        key = scores.tobytes(), tuple(chosen)
        if key not in self._told:
            suites = self.suite.suites(seen, scores, heavy=False)
            dy = self.suite.summarized(suites)
            dy = dy - dy.mean()
            dx = suites - suites.mean(axis=0)
            scale = np.sqrt((dx**2).sum(axis=0))
            self._told[key] = (np.abs(dy @ dx) / np.where(scale > 1e-12, scale, np.inf)) ** 2
        return self._told[key]

    def adapted(self, row: FloatArray, prices: FloatArray, budget: float) -> float:
        """Return the summary predicted from tasks chosen one by one for an algorithm.

        The next one is that with the most r squared for its price, while the budget pays for one;
        NaN if it pays for none.
        """
        tasks, able = self.suite.tasks, self.able(row)
        chosen: list[int] = []
        while (able := able & (prices <= budget)).any():
            worth = self.told(row, chosen) / prices
            chosen.append(int(np.argmax(np.where(able, worth, -1.0))))
            able[chosen[-1]] = False
            budget -= prices[chosen[-1]]
        return self.said(tuple(tasks[j] for j in chosen), row) if chosen else float("nan")
