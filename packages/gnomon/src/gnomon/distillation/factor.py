"""Factor model of a suite: a covariance shrunk towards one factor, and suites simulated from it.

With 62 algorithms and 57 tasks a sample covariance fits chance. One factor (how good an algorithm
is) explains most of the variance, so the covariance is shrunk towards that of a one-factor model,
fitted by expectation-maximisation where scores are missing. Rows follow a multivariate t
distribution (Liu and Rubin 1995), so that an unusual algorithm counts less. The result is positive
definite.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.distillation.summaries import transform_of, transformed_summary
from gnomon.scores.table import FloatArray

I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: Weight of the one-factor model in the covariance; degrees of freedom of a row (Lange, Little and
#: Taylor 1989 recommend 4). Errors change little between a weight of 0.25 and one of 0.4.
SHRINKAGE, DEGREES_OF_FREEDOM = 0.25, 4.0
#: Least share of a task's variance that is its own; ridge on the loadings, in rows.
_LEAST_UNIQUE, _RIDGE = 0.02, 1.0
_N_ITERATIONS = 20


@dataclass(frozen=True, eq=False)
class FactorFits:
    """One-factor models of the same columns, one for each way to count the rows: (fits, columns).

    `loadings` are correlations with the factor; each covariance is shrunk and positive definite.
    """

    mean: FloatArray
    loadings: FloatArray
    covariance: FloatArray


def fit_factors(
    x: FloatArray,
    counts: FloatArray | None = None,
    chosen: Sequence[int] | None = None,
    *,
    shrinkage: float = SHRINKAGE,
    degrees_of_freedom: float = DEGREES_OF_FREEDOM,
) -> FactorFits:
    """Fit a one-factor model to columns with gaps, for several counts of the rows at once.

    Column j of row i is m_j + l_j f_i + u_ij, with f of variance 1 and u_j of variance psi_j.
    Expectation-maximisation gives the expected second moments C over the gaps and the model's
    covariance F = l l' + psi; the result is (1 - a) C + a F with shrinkage a.

    Parameters
    ----------
    x : ndarray of float, shape (rows, columns)
        NaN where missing.
    counts : ndarray of float, shape (fits, rows), optional
        How often each row counts; one fit with each row once if not given. A column that does not
        vary among the counted rows is ignored in that fit.
    chosen : sequence of int, optional
        The columns to return; all if not given.
    shrinkage, degrees_of_freedom : float
        An infinite number of degrees of freedom makes rows normal.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> skill = rng.normal(size=(500, 1))
    >>> x = skill @ [[0.9, 0.9, 0.1]] + rng.normal(size=(500, 3)) * 0.4
    >>> np.abs(fit_factors(x).loadings[0]).round(1)
    array([0.8, 0.8, 0.2])
    """
    n, p = x.shape
    times = (np.ones((1, n)) if counts is None else counts).T
    there = ~np.isnan(x)
    seen = there.astype(np.float64)
    # One scale for all fits: sums of squares of large numbers would lose the differences.
    shift = np.where(there, x, 0.0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1.0)
    unit = np.sqrt(np.where(there, x - shift, 0.0).__pow__(2).sum(axis=0) / seen.sum(axis=0))
    unit[unit == 0.0] = 1.0
    z = np.where(there, (x - shift) / unit, 0.0)
    squares = z * z
    n_seen = np.maximum(seen.T @ times, 1.0)
    mean = z.T @ times / n_seen
    scale = np.sqrt(np.maximum(squares.T @ times / n_seen - mean**2, 0.0))
    varies = _varies(z, there, times)
    live = varies.astype(np.float64)
    scale = np.where(varies, scale, 1.0)
    loadings, unique = _start(z, seen, times, mean, scale, live)
    n_own, gone = seen @ live, times.sum(axis=0) - seen.T @ times
    least = _LEAST_UNIQUE * scale**2
    for iteration in range(_N_ITERATIONS + 1):
        ratio, inverse = loadings / unique, live / unique
        pull = z @ ratio - seen @ (mean * ratio)
        spread = 1.0 / (1.0 + seen @ (loadings * ratio))
        factor = spread * pull
        weight = np.ones_like(factor)
        if degrees_of_freedom < np.inf:
            distance = squares @ inverse - 2.0 * (z @ (mean * inverse)) - spread * pull**2
            distance += seen @ (mean**2 * inverse)
            weight = (degrees_of_freedom + n_own) / (degrees_of_freedom + distance)
        if iteration == _N_ITERATIONS:
            break
        heavy = times * weight
        pulled, whole = heavy * factor, heavy.sum(axis=0)
        unsure = times * spread
        total = (pulled * factor).sum(axis=0) + unsure.sum(axis=0)
        x_heavy, x_pulled = np.split(z.T @ np.hstack([heavy, pulled]), 2, axis=1)
        parts = np.hstack([heavy, pulled, pulled * factor, unsure])
        there_parts = seen.T @ parts
        gone_parts = parts.sum(axis=0) - there_parts
        gone_heavy, gone_pulled, gone_factor, gone_unsure = np.split(gone_parts, 4, axis=1)
        there_pulled = there_parts[:, times.shape[1] : 2 * times.shape[1]]
        middle = (x_heavy - loadings * there_pulled + mean * gone_heavy) / whole
        # Sums over rows of the completed scores, their squares, and their products with f.
        sums = x_heavy + mean * gone_heavy + loadings * gone_pulled
        total_squares = squares.T @ heavy + mean**2 * gone_heavy + loadings**2 * gone_factor
        total_squares += 2.0 * mean * loadings * gone_pulled
        with_factor = x_pulled + mean * gone_pulled + loadings * (gone_factor + gone_unsure)
        with_factor -= middle * pulled.sum(axis=0)
        square = total_squares - 2.0 * middle * sums + middle**2 * whole
        square += unique * gone + loadings**2 * gone_unsure
        mean = np.where(varies, middle, mean)
        loadings = live * with_factor / (total + _RIDGE)
        own = square - 2.0 * loadings * with_factor + loadings**2 * total
        unique = np.where(varies, np.maximum(own / times.sum(axis=0), least), 1.0)
    picked = np.arange(p) if chosen is None else np.asarray(chosen)
    fits = _moments(z, there, times, (mean, loadings, unique), (factor, spread, weight), picked)
    middle, moments, alone = fits
    covariance = (1.0 - shrinkage) * moments + shrinkage * alone
    units = unit[picked]
    return FactorFits(
        shift[picked] + units * middle,
        (loadings / scale)[picked].T,
        covariance * np.outer(units, units),
    )


def _varies(z: FloatArray, there: Mask, times: FloatArray) -> Mask:
    """Return which columns have two different scores among the counted rows, (columns, fits)."""
    found = []
    for counted in (times > 0).T:
        rows, seen = z[counted], there[counted]
        low = np.where(seen, rows, np.inf).min(axis=0, initial=np.inf)
        high = np.where(seen, rows, -np.inf).max(axis=0, initial=-np.inf)
        found.append(np.square(np.maximum(high - low, 0.0)) > 0.0)
    return np.array(found).T


def _start(
    z: FloatArray,
    seen: FloatArray,
    times: FloatArray,
    mean: FloatArray,
    scale: FloatArray,
    live: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return loadings and unique variances from the mean of each row's standardised scores."""
    f = (z @ (live / scale) - seen @ (live * mean / scale)) / np.maximum(seen @ live, 1.0)
    share = times / times.sum(axis=0)
    spread = np.sqrt((share * (f - (share * f).sum(axis=0)) ** 2).sum(axis=0))
    pulled = times * f / np.where(spread > 0, spread, 1.0)
    n_seen = np.maximum(seen.T @ times, 1.0)
    loadings = live * (z.T @ pulled - mean * (seen.T @ pulled)) / (scale * n_seen)
    loadings = np.clip(loadings, -0.98, 0.98)
    unique = np.maximum(1.0 - loadings**2, _LEAST_UNIQUE)
    return loadings * scale, unique * scale**2


def _moments(
    z: FloatArray,
    there: Mask,
    times: FloatArray,
    model: tuple[FloatArray, FloatArray, FloatArray],
    rows: tuple[FloatArray, FloatArray, FloatArray],
    picked: I64,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return means, expected second moments and the model's covariance of some columns."""
    mean, loadings, unique = (part[picked].T for part in model)
    factor, spread, weight = (part.T for part in rows)
    counts = times.T
    complete = np.where(
        there[:, picked], z[:, picked], mean[:, None] + factor[..., None] * loadings[:, None]
    )
    heavy = counts * weight
    middle = (heavy[:, None] @ complete)[:, 0] / heavy.sum(axis=1)[:, None]
    missing = (~there[:, picked]).astype(np.float64)
    weighted = np.sqrt(heavy)[..., None] * (complete - middle[:, None])
    unsure = np.sqrt(counts * spread)[..., None] * missing
    outer = loadings[:, :, None] * loadings[:, None]
    moments = weighted.transpose(0, 2, 1) @ weighted + outer * (unsure.transpose(0, 2, 1) @ unsure)
    diagonal = np.arange(picked.size)
    moments[:, diagonal, diagonal] += counts @ missing * unique
    moments /= counts.sum(axis=1)[:, None, None]
    outer[:, diagonal, diagonal] += unique
    return middle, (moments + moments.transpose(0, 2, 1)) / 2.0, outer


#: The level of an algorithm has Student's t distribution with the fewest degrees of freedom that
#: have a variance: a normal one whose variance has an inverse gamma distribution (Lange, Little and
#: Taylor 1989, Journal of the American Statistical Association 84:881), here on a grid.
LEVEL_DF = 3.0
_LEVEL_VARIANCES = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0])
_PRIOR = np.exp(-LEVEL_DF / 2.0 * (np.log(_LEVEL_VARIANCES) + 1.0 / _LEVEL_VARIANCES))
_N_DRAWS = 300


@lru_cache(maxsize=2)
def _standard_normals(n_tasks: int) -> tuple[FloatArray, FloatArray]:
    """Return the normal numbers of all suites with this many tasks, and of their level."""
    rng = np.random.default_rng(0)
    return rng.standard_normal((_N_DRAWS, n_tasks)), rng.standard_normal(_N_DRAWS)


@dataclass(frozen=True, eq=False)
class SuiteModel:
    """Normal distribution of the transformed scores of a whole suite, with a heavy-tailed level.

    The covariance is Sigma + (g - 1) l l', with loadings l and g drawn from 1, 2, 4, ... 32: an
    algorithm may be much better or worse than all others on all tasks together. Missing tasks are
    simulated given the known ones, and the summary is taken of each simulated suite. `fixed` are
    transformed scores that are the same for all algorithms.
    """

    tasks: tuple[str, ...]
    mean: FloatArray
    covariance: FloatArray
    loadings: FloatArray
    fixed: tuple[float, ...]
    summary: str
    transform: str

    @classmethod
    def fit(
        cls,
        tasks: Sequence[str],
        x: FloatArray,
        summary: str,
        transform: str,
        *,
        shrinkage: float = SHRINKAGE,
        degrees_of_freedom: float = DEGREES_OF_FREEDOM,
    ) -> SuiteModel:
        """Fit the model to transformed scores, (algorithms, tasks); further columns may follow."""
        p = len(tasks)
        low, high = np.full(p, np.inf), np.full(p, -np.inf)
        np.fmin.reduce(x[:, :p], axis=0, out=low)
        np.fmax.reduce(x[:, :p], axis=0, out=high)
        varies = np.square(high - low) > 0.0
        keep = np.r_[varies, np.ones(x.shape[1] - p, dtype=bool)]
        fits = fit_factors(
            x[:, keep],
            chosen=range(int(varies.sum())),
            shrinkage=shrinkage,
            degrees_of_freedom=degrees_of_freedom,
        )
        return cls(
            tasks=tuple(t for t, v in zip(tasks, varies, strict=True) if v),
            mean=fits.mean[0],
            covariance=fits.covariance[0],
            loadings=fits.loadings[0] * np.sqrt(np.diag(fits.covariance[0])),
            fixed=tuple(low[~varies & ~np.isnan(low)].tolist()),
            summary=summary,
            transform=transform,
        )

    @cached_property
    def _normals(self) -> tuple[FloatArray, FloatArray]:
        """Draws of the suite about 0 for g = 1, and of the level; always the same."""
        tasks, level = _standard_normals(len(self.tasks))
        return tasks @ np.linalg.cholesky(self.covariance).T, level

    def suites(
        self, seen: I64, x: FloatArray, *, heavy: bool = True, n_draws: int = _N_DRAWS
    ) -> FloatArray:
        """Return simulated transformed scores, (draws, tasks), given those of some columns.

        The draws are the same in every call. `heavy` gives the level heavy tails.
        """
        base, level = (part[:n_draws] for part in self._normals)
        variances = _LEVEL_VARIANCES if heavy else _LEVEL_VARIANCES[:1]
        counts = self._shares(seen, x, n_draws) if heavy else np.array([n_draws])
        drawn, start = np.empty_like(base), 0
        for g, count in zip(variances, counts.tolist(), strict=True):
            if count == 0:
                continue
            part, start = slice(start, start + count), start + count
            z = base[part] + np.sqrt(g - 1.0) * np.outer(level[part], self.loadings)
            drawn[part] = self.mean + z
            if seen.size:
                inside, cross = self._covariance(seen, g)
                off = x - self.mean[seen] - z[:, seen]
                drawn[part] += off @ np.linalg.solve(inside, cross.T)
        drawn[:, seen] = x
        transform = transform_of(self.transform)
        low = transform.forward(np.array(transform.low)) if np.isfinite(transform.low) else -np.inf
        return np.maximum(drawn, low)

    def summarized(self, suites: FloatArray) -> FloatArray:
        """Return the transformed summary of transformed scores, (..., tasks)."""
        if self.fixed:
            same = np.broadcast_to(self.fixed, (*suites.shape[:-1], len(self.fixed)))
            suites = np.concatenate([suites, same], axis=-1)
        return transformed_summary(suites, self.summary, transform_of(self.transform))

    def columns(self, tasks: Sequence[str]) -> I64:
        """Return the columns of some tasks."""
        place = {task: j for j, task in enumerate(self.tasks)}
        return np.array([place[task] for task in tasks], dtype=np.int64)

    def _covariance(self, seen: I64, g: float) -> tuple[FloatArray, FloatArray]:
        """Return the covariance of the columns seen, and of all columns with these."""
        cross = self.covariance[:, seen] + (g - 1.0) * np.outer(self.loadings, self.loadings[seen])
        return cross[seen], cross

    def _shares(self, seen: I64, x: FloatArray, n_draws: int) -> I64:
        """Return how many draws each variance of the level has, by its posterior weight."""
        log_weight = np.log(_PRIOR)
        if seen.size:
            off = x - self.mean[seen]
            inside = np.stack([self._covariance(seen, g)[0] for g in _LEVEL_VARIANCES])
            pulled = np.linalg.solve(inside, np.broadcast_to(off[:, None], (6, off.size, 1)))
            log_weight -= 0.5 * (np.linalg.slogdet(inside)[1] + pulled[..., 0] @ off)
        weight = np.exp(log_weight - log_weight.max())
        edges = np.round(n_draws * np.cumsum(weight) / weight.sum()).astype(np.int64)
        return np.asarray(np.diff(edges, prepend=0), dtype=np.int64)

    def as_record(self) -> dict[str, Any]:
        """Return the model as a mapping fit for JSON."""
        lower = [row[: j + 1].tolist() for j, row in enumerate(self.covariance)]
        numbers = {"mean": self.mean.tolist(), "covariance": lower}
        numbers |= {"loadings": self.loadings.tolist(), "fixed": list(self.fixed)}
        names = {"tasks": list(self.tasks), "summary": self.summary, "transform": self.transform}
        return names | numbers

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> SuiteModel:
        """Return the model of such a mapping."""
        covariance = np.zeros((len(record["tasks"]),) * 2)
        for j, row in enumerate(record["covariance"]):
            covariance[j, : j + 1] = covariance[: j + 1, j] = row
        arrays = {name: np.array(record[name], dtype=np.float64) for name in ("mean", "loadings")}
        return cls(
            tasks=tuple(record["tasks"]),
            covariance=covariance,
            fixed=tuple(record["fixed"]),
            summary=record["summary"],
            transform=record["transform"],
            **arrays,
        )
