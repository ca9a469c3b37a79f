"""Completion of sparse tables: summaries averaged over posterior draws of the missing scores."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from gnomon.distillation.forecasts.covariance import shrunk_covariance
from gnomon.distillation.forecasts.simulation import SuiteModel
from gnomon.distillation.preparation.prepared import PreparedScores
from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.scores.table import FloatArray

_N_COMPLETIONS = 120
#: Where more than this share of the cells is missing, a summary of what is there says too little.
_SPARSE = 0.1
#: Above this share, errors are about twice those of a complete table.
_VERY_SPARSE = 0.5
#: Fewest scores of a candidate and of an algorithm, and fewest algorithms of a pair of tasks.
_LEAST_SCORES, _LEAST_OWN, _LEAST_TOGETHER = 8, 3, 3


def completed_targets(data: PreparedScores) -> PreparedScores:
    """Return the scores of a sparse table with the summary of the suite that gaps leave open.

    Where more than 10 % of the cells are missing, the summary of an algorithm's own tasks depends
    on which these are. Its target is then the mean of the summaries of 120 completions, drawn from
    the normal distribution of the tasks that it lacks given those that it has.

    Raises
    ------
    ScoreDataError
        More than half of the pairs of tasks have fewer than three algorithms in common, or too few
        algorithms or tasks have enough scores.

    Warns
    -----
    DegenerateScoresWarning
        More than 10 % of the cells are missing; more than half are.
    """
    missing = float(np.isnan(data.x).mean())
    if missing <= _SPARSE or len(data.tasks) < _LEAST_OWN or len(data.algorithms) < _LEAST_SCORES:
        return data
    seen = ~np.isnan(data.x)
    together = seen.T.astype(np.float64) @ seen.astype(np.float64)
    pairs = together[np.triu_indices(len(data.tasks), 1)]
    if np.mean(pairs < _LEAST_TOGETHER) > 0.5:
        raise ScoreDataError(
            f"expected pairs of tasks with at least {_LEAST_TOGETHER} algorithms in common; "
            f"{np.mean(pairs < _LEAST_TOGETHER):.0%} of the pairs have fewer"
        )
    data = data.rows(seen.sum(axis=1) >= _LEAST_OWN)
    enough = set(np.array(data.tasks)[(~np.isnan(data.x)).sum(axis=0) >= _LEAST_SCORES].tolist())
    candidates = tuple(task for task in data.candidates if task in enough)
    if not candidates:
        raise ScoreDataError(f"expected tasks with at least {_LEAST_SCORES} algorithms")
    target, smoothed, variance = completed_summaries(data)
    text = (
        f"{missing:.0%} of the scores are missing: summaries are means over completed suites, "
        f"standard deviation {np.sqrt(variance):.2g} ({data.transform.name})"
    )
    if missing > _VERY_SPARSE:
        text += "; expect about twice the error of a complete table"
    warnings.warn(text, DegenerateScoresWarning, stacklevel=4)
    record = (*data.record, text)
    return replace(data, candidates=candidates, target=target, smoothed=smoothed, record=record)


def completed_summaries(data: PreparedScores) -> tuple[FloatArray, FloatArray, float]:
    """Return each algorithm's summary over completed suites, the smoothed one, and the variance.

    The covariance is that of the tasks alone, shrunk towards one factor; an algorithm's missing
    tasks are drawn given those that it has. The smoothed summary takes a random half of each
    completion. The last number is the mean variance of a summary over the completions.
    """
    varies = data.varies(data.tasks)
    names = tuple(t for t, v in zip(data.tasks, varies, strict=True) if v)
    x = data.x[:, varies]
    fitted = shrunk_covariance(x)
    loadings = fitted.loadings * np.sqrt(np.diag(fitted.covariance))
    suite = SuiteModel(
        names, fitted.mean, fitted.covariance, loadings, (), data.summary, data.transform.name
    )
    halves = np.random.default_rng(0).random((_N_COMPLETIONS, len(names))).argsort(axis=1)
    halves = halves[:, : max(1, len(names) // 2)]
    target, smoothed, variance = (np.empty(len(x)) for _ in range(3))
    for i, row in enumerate(x):
        seen = np.flatnonzero(~np.isnan(row))
        suites = suite.suites(seen, row[seen], heavy=False, n_draws=_N_COMPLETIONS)
        summaries = suite.summarized(suites)
        target[i], variance[i] = summaries.mean(), summaries.var()
        smoothed[i] = suite.summarized(np.take_along_axis(suites, halves, axis=1)).mean()
    return target, smoothed, float(variance.mean())
