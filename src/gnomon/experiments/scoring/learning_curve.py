"""A learning curve of four numbers, fitted to the successes and failures of one trial."""

from __future__ import annotations

import itertools
import math
import warnings
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon.errors import DegenerateScoresWarning

_Floats = npt.NDArray[np.float64]

#: Below this probability the logarithm is continued by its tangent, so that it has an end.
_LEAST = 1e-6
#: Of what a probability is above 1, squared.
_PENALTY = 1000.0
#: Starting points of the search: times of learning, and at each a gradual and a sudden one.
_STARTS, _SLOPES = 16, (10.0, 200.0)
_STEEPEST = 1e3
#: The likeliest of them that are followed, for how many steps, and how many of these to the bottom.
_FOLLOWED, _ROUGH, _POLISHED = 16, 30, 2


@dataclass(frozen=True, slots=True)
class LearningCurve:
    """``g(t) = start + (end - start) / (1 + exp(-steepness (t - inflection)))``.

    Parameters
    ----------
    start, end : float
        Probability of success before and after learning, beyond chance if the fit was given that.
    inflection : float
        The attempt, from 0, at which half is learned; NaN if nothing changes.
    steepness : float
        At least 0, an attempt to the minus one; NaN if nothing changes.
    log_likelihood : float
    n_attempts : int
        How many were used.

    Examples
    --------
    >>> found = LearningCurve(0.2, 1.0, 50.0, 0.1, -30.0, 200)
    >>> found.start, found.end, found.inflection
    (0.2, 1.0, 50.0)
    """

    start: float
    end: float
    inflection: float
    steepness: float
    log_likelihood: float
    n_attempts: int

    def __call__(self, t: npt.ArrayLike) -> _Floats:
        """Return the curve at the attempts ``t``."""
        t = np.asarray(t, dtype=np.float64)
        if math.isnan(self.inflection):
            return np.full(t.shape, self.end)
        return _curve(t, self.start, self.end, self.inflection, self.steepness)


def fit_learning_curve(
    accepted: npt.ArrayLike, p0: npt.ArrayLike | None = None, *, as_reference: bool = False
) -> LearningCurve:
    """Fit a learning curve to a trial by maximum likelihood.

    The probability of success at attempt ``t`` is ``g(t)``, or ``p0 + (1 - p0) g(t)`` if the chance
    ``p0`` of a player who knows nothing is given; attempts at which chance could not fail say
    nothing then and are left out. The search starts from many times of learning, and the best end
    is kept.

    Parameters
    ----------
    accepted : array_like of bool, shape (n_attempts,)
        Whether each attempt was a success.
    p0 : array_like of float, shape (n_attempts,), optional
        Chance of success at each attempt, 0 to 1.
    as_reference : bool
        Let skills be any numbers, as the reference system does: below 0 a player does worse than
        chance. What makes a reply more than certain is held back by a penalty only, which is part
        of the log-likelihood.

    Returns
    -------
    LearningCurve
        With NaN for what a trial without any failure, or without any success, cannot tell; a
        `DegenerateScoresWarning` says so.

    Raises
    ------
    ValueError
        If the lengths differ, or there are no attempts to fit.

    Notes
    -----
    The reference system's ``AnalyzeTranscripts`` fits the same curve by conjugate gradients; here
    (L-BFGS-B) the skills are probabilities, unless ``as_reference`` is asked for.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> t = np.arange(2000)
    >>> success = rng.random(2000) < 0.2 + 0.7 / (1 + np.exp(-0.02 * (t - 800)))
    >>> curve = fit_learning_curve(success)
    >>> bool(abs(curve.inflection - 800) < 50), round(curve.start, 1), round(curve.end, 1)
    (True, 0.2, 0.9)
    """
    good = np.asarray(accepted, dtype=np.float64)
    chance = np.zeros(good.size) if p0 is None else np.asarray(p0, dtype=np.float64)
    if good.ndim != 1 or good.shape != chance.shape:
        raise ValueError(f"expected a chance for each attempt, found {chance.size}, {good.size}")
    t = np.arange(good.size, dtype=np.float64)
    used = chance < 1
    t, good, chance = t[used], good[used], chance[used]
    if not good.size:
        raise ValueError("expected at least one attempt at which chance could fail")
    if good.min() == good.max():
        what = "failure" if good[0] else "success"
        text = f"learning curve: not estimable, there is no {what} among {good.size} attempts"
        warnings.warn(text, DegenerateScoresWarning, stacklevel=2)
        return LearningCurve(good[0], good[0], math.nan, math.nan, 0.0, good.size)
    return _best(t, good, chance, as_reference=as_reference)


def _best(t: _Floats, good: _Floats, chance: _Floats, *, as_reference: bool) -> LearningCurve:
    """Search from many starting points; times are in units of the whole trial."""
    from scipy.optimize import minimize

    scale = max(1.0, float(t[-1]))
    skills = (-np.inf, np.inf) if as_reference else (0.0, 1.0)
    times = (-1.0, 2.0) if as_reference else (0.0, 1.0)
    bounds = [skills, skills, times, (0.0, _STEEPEST)]
    data = (t / scale, good, chance)
    n_starts = min(_STARTS, t.size)
    guesses = []
    places = (np.arange(n_starts) + 0.5) / n_starts
    for inflection, steepness in itertools.product(places, _SLOPES):
        before = t <= inflection * scale
        start = good[before].mean() if before.any() else good.mean()
        end = good[~before].mean() if (~before).any() else good.mean()
        # Off the bounds, where there is no slope to follow.
        guesses.append(np.array([*np.clip([start, end], 0.05, 0.95), inflection, steepness]))
    guesses.sort(key=lambda guess: _loss(guess, *data)[0])
    results = [
        minimize(
            _loss, guess, data, jac=True, method="L-BFGS-B", bounds=bounds,
            options={"maxiter": _ROUGH},
        )
        for guess in guesses[:_FOLLOWED]
    ]  # fmt: skip
    results.sort(key=lambda result: float(result.fun))

    def alone(parameters: _Floats) -> float:
        return _loss(parameters, *data)[0]

    # Where learning is sudden two of the slopes all but vanish: no gradient helps there.
    polished = [
        minimize(
            alone, result.x, method="Nelder-Mead", bounds=bounds,
            options={"xatol": 1e-8, "fatol": 1e-9, "maxfev": 4000},
        )
        for result in results[:_POLISHED]
    ]  # fmt: skip
    best = min(polished, key=lambda result: float(result.fun))
    start, end, inflection, steepness = map(float, best.x)
    loss = float(best.fun)
    return LearningCurve(start, end, inflection * scale, steepness / scale, -loss, t.size)


def _curve(t: _Floats, start: float, end: float, inflection: float, steepness: float) -> _Floats:
    from scipy.special import expit

    rise: _Floats = expit(steepness * (t - inflection))
    return start + (end - start) * rise


def _loss(parameters: _Floats, t: _Floats, good: _Floats, chance: _Floats) -> tuple[float, _Floats]:
    """Return the negative log-likelihood and its gradient."""
    from scipy.special import expit

    start, end, inflection, steepness = parameters
    rise = expit(steepness * (t - inflection))
    p = chance + (1 - chance) * (start + (end - start) * rise)
    value, slope = _log(np.where(good == 1, p, 1 - p))
    by_g = np.where(good == 1, slope, -slope) * (1 - chance)
    by_rise = by_g * (end - start) * rise * (1 - rise)
    gradient = [
        (by_g * (1 - rise)).sum(),
        (by_g * rise).sum(),
        -(by_rise * steepness).sum(),
        (by_rise * (t - inflection)).sum(),
    ]
    return -float(value.sum()), -np.array(gradient)


def _log(p: _Floats) -> tuple[_Floats, _Floats]:
    """Return the logarithm, continued by a line below the least probability, and its slope.

    Above 1 a penalty is taken off, as in the reference system.
    """
    bounded, beyond = np.maximum(p, _LEAST), np.maximum(p - 1, 0.0)
    value = np.log(bounded) + (p - bounded) / bounded - _PENALTY * beyond**2
    return value, 1 / bounded - 2 * _PENALTY * beyond
