"""rliable's library: interval estimates and performance profiles by the stratified bootstrap."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.compat.rliable.bootstraps import (
    Bootstrap,
    RandomState,
    StratifiedBootstrap,
    StratifiedIndependentBootstrap,
    generator_of,
)
from gnomon.compat.rliable.resampled import ResampledScores
from gnomon.scores.table import FloatArray
from gnomon.stats.profiles import average_score_profile, run_score_profile


def get_interval_estimates(
    score_dict: Mapping[str, Any],
    func: Callable[..., Any],
    method: str = "percentile",
    task_bootstrap: bool = False,
    reps: int = 50000,
    confidence_interval_size: float = 0.95,
    random_state: RandomState = None,
) -> tuple[dict[str, Any], dict[str, FloatArray]]:
    """Return point estimates and bootstrap intervals of `func` for every entry.

    Parameters
    ----------
    score_dict : mapping from name to array, or to a list of arrays
        Shape (runs, tasks, ...). A list is handed to `func` as several arguments, resampled
        independently (then `task_bootstrap` has no meaning and is refused).
    func : function
        Returns a number or a 1-D array.
    method, reps, confidence_interval_size, random_state
        As in :meth:`StratifiedBootstrap.conf_int`.
    task_bootstrap : bool
        Whether tasks are drawn with replacement too.

    Returns
    -------
    point_estimates, interval_estimates : dict
        Under each name what `func` returns, and an array (2, statistics).

    Examples
    --------
    >>> from gnomon.compat.rliable import metrics
    >>> scores = {"dqn": np.arange(20.0).reshape(5, 4)}
    >>> points, ends = get_interval_estimates(
    ...     scores, lambda x: np.array([metrics.aggregate_iqm(x)]), reps=2000, random_state=0
    ... )
    >>> points["dqn"], ends["dqn"].shape
    (array([9.5]), (2, 1))
    """
    rng = generator_of(random_state)
    points: dict[str, Any] = {}
    ends: dict[str, FloatArray] = {}
    for name, scores in score_dict.items():
        bootstrap: Bootstrap
        if isinstance(scores, list | tuple):
            if task_bootstrap:
                raise ValueError(f"{name}: task_bootstrap is not possible for several arrays")
            arrays: Sequence[Any] = scores
            bootstrap = StratifiedIndependentBootstrap(*arrays, random_state=rng)
        else:
            arrays = [scores]
            bootstrap = StratifiedBootstrap(scores, random_state=rng, task_bootstrap=task_bootstrap)
        points[name] = func(*arrays)
        ends[name] = bootstrap.conf_int(func, reps, method, confidence_interval_size)
    return points, ends


def run_score_deviation(scores: npt.ArrayLike, tau: float) -> Any:
    """Return the share of runs above tau."""
    return np.mean(np.asarray(scores) > tau)


def mean_score_deviation(scores: npt.ArrayLike, tau: float) -> Any:
    """Return the share of tasks whose mean is above tau."""
    return np.mean(np.mean(np.asarray(scores), axis=0) > tau)


def score_distributions(scores: Any, tau_list: npt.ArrayLike) -> FloatArray:
    """Return the run-score profile: the share of runs above each threshold."""
    if isinstance(scores, ResampledScores):
        return scores.profiles(np.asarray(tau_list, dtype=np.float64), "run_score")
    x = np.asarray(scores, dtype=np.float64)
    return run_score_profile(x.reshape(x.shape[0], -1), tau_list)


def average_score_distributions(scores: Any, tau_list: npt.ArrayLike) -> FloatArray:
    """Return the average-score profile: the share of tasks whose mean is above each threshold."""
    if isinstance(scores, ResampledScores):
        return scores.profiles(np.asarray(tau_list, dtype=np.float64), "average_score")
    x = np.asarray(scores, dtype=np.float64)
    return average_score_profile(x.reshape(x.shape[0], -1), tau_list)


def create_performance_profile(
    score_dict: Mapping[str, Any],
    tau_list: npt.ArrayLike,
    use_score_distribution: bool = True,
    custom_profile_func: Callable[..., Any] | None = None,
    method: str = "percentile",
    task_bootstrap: bool = False,
    reps: int = 2000,
    confidence_interval_size: float = 0.95,
    random_state: RandomState = None,
) -> tuple[dict[str, Any], dict[str, FloatArray]]:
    """Return performance profiles and their pointwise bands.

    Parameters
    ----------
    score_dict : mapping from name to array of shape (runs, tasks, ...)
    tau_list : array_like of float
        Thresholds.
    use_score_distribution : bool
        Profile of runs; else of task means.
    custom_profile_func : function, optional
        From (scores, tau_list) to a profile, used instead.
    method, task_bootstrap, reps, confidence_interval_size, random_state
        As in :func:`get_interval_estimates`.

    Returns
    -------
    profiles, profile_cis : dict
        Arrays of shape (thresholds,) and (2, thresholds).
    """
    tau = np.asarray(tau_list)
    own = score_distributions if use_score_distribution else average_score_distributions
    profile = own if custom_profile_func is None else custom_profile_func
    return get_interval_estimates(
        score_dict,
        lambda scores: profile(scores, tau),
        method,
        task_bootstrap,
        reps,
        confidence_interval_size,
        random_state,
    )
