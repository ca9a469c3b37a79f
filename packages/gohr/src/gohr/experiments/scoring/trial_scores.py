"""From attempts to numbers: each score with its unit and its direction.

An *error* is an attempt that was not accepted: denied, on an immovable piece, or on an empty cell.
The logs of the captive game server leave attempts on empty cells out; ``count_empty=False`` does
likewise, and the table of scores records the choice. Attempts after the end of an episode, which a
learner makes that plays on until the horizon, are neither attempts nor errors.

An episode is *finished* when its board is cleared or stuck (a stalemate); else the horizon cut it
off. A rule is *learned* at the first ten finished episodes in a row without an error. A stalemate
counts as finished there too: no player can make a move that the rule does not permit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gnomon.errors import UnknownNameError
from gohr.experiments.scoring.attempt_scores import ATTEMPT_METRICS, AttemptMetric, TrialAttempts
from gohr.game.board import DEFAULT_SPEC, BoardSpec
from gohr.game.outcomes import ACCEPTED, EMPTY_CELL, EPISODE_OVER, IN_PROGRESS

if TYPE_CHECKING:
    from gohr.experiments.attempts import TrialOutcomes
    from gohr.playing import TrialLog
    from gohr.rules.syntax import RuleSet

#: Number of finished, error-free episodes in a row after which a rule counts as learned.
STREAK = 10

Errors = npt.NDArray[np.int64]
Finish = npt.NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Metric:
    """A number, or one number an episode, that sums up a trial.

    Parameters
    ----------
    name, sentence, unit : str
        Label, description and unit.
    higher_is_better : bool
    per_episode : bool
        Whether there is one number after each episode; the step is the number of episodes played.
    compute : callable
        Function of the errors in each episode and the way each ended; returns the number or
        numbers. Infinite where a trial never got there: such a score is censored.

    Examples
    --------
    >>> METRICS["tce"].unit, METRICS["tce"].higher_is_better
    ('errors', False)
    """

    name: str
    sentence: str
    unit: str
    higher_is_better: bool
    per_episode: bool
    compute: Callable[[Errors, Finish], float | npt.NDArray[np.float64]]


def episode_errors(log: TrialLog | TrialOutcomes, *, count_empty: bool = True) -> Errors:
    """Return the number of errors in each episode of a trial.

    Parameters
    ----------
    log : TrialLog or TrialOutcomes
        The attempts.
    count_empty : bool
        Whether an attempt on an empty cell is an error; if not, it is left out.

    Returns
    -------
    numpy.ndarray of int64, shape (episodes,)

    Examples
    --------
    >>> import gohr
    >>> rng = np.random.default_rng(0)
    >>> learner = gohr.make_learner("uniform", gohr.BoardSpec(), rng=rng)
    >>> boards = gohr.draw_boards(3, rng=rng)
    >>> log = gohr.play(boards, learner, gohr.load_rule("anything-goes"))
    >>> episode_errors(log)
    array([0, 0, 0])
    """
    wrong = (log.outcomes != ACCEPTED) & (log.outcomes != EPISODE_OVER)
    if log.own is not None:
        wrong &= log.own
    if not count_empty:
        wrong &= log.outcomes != EMPTY_CELL
    episode = np.repeat(np.arange(log.n_attempts.size), log.n_attempts)
    return np.bincount(episode[wrong], minlength=log.n_attempts.size).astype(np.int64)


def _streak_start(errors: Errors, finish: Finish) -> int | None:
    """Return the episode with which the first streak begins, from 0; None if there is no streak."""
    length = 0
    for episode, good in enumerate(((errors == 0) & (finish != IN_PROGRESS)).tolist()):
        length = length + 1 if good else 0
        if length == STREAK:
            return episode - STREAK + 1
    return None


def _terminal_errors(errors: Errors, finish: Finish) -> float:
    return float(errors.sum())


def _errors_to_learn(errors: Errors, finish: Finish) -> float:
    start = _streak_start(errors, finish)
    return math.inf if start is None else float(errors[:start].sum())


def _episodes_to_learn(errors: Errors, finish: Finish) -> float:
    start = _streak_start(errors, finish)
    return math.inf if start is None else float(start)


def _learned(errors: Errors, finish: Finish) -> float:
    return float(_streak_start(errors, finish) is not None)


def _each(errors: Errors, finish: Finish) -> npt.NDArray[np.float64]:
    return errors.astype(np.float64)


def _cumulated(errors: Errors, finish: Finish) -> npt.NDArray[np.float64]:
    return np.cumsum(errors).astype(np.float64)


#: Every score of a trial, by name.
METRICS: Mapping[str, Metric] = MappingProxyType(
    {
        metric.name: metric
        for metric in (
            Metric(
                "tce",
                "Terminal cumulated error: all errors of the trial.",
                "errors",
                False,
                False,
                _terminal_errors,
            ),
            Metric(
                "errors_to_learn",
                "Errors before the first ten finished episodes in a row without one.",
                "errors",
                False,
                False,
                _errors_to_learn,
            ),
            Metric(
                "episodes_to_learn",
                "Episodes before the first ten finished episodes in a row without an error.",
                "episodes",
                False,
                False,
                _episodes_to_learn,
            ),
            Metric(
                "learned",
                "1 if there were ten finished episodes in a row without an error, else 0.",
                "fraction",
                True,
                False,
                _learned,
            ),
            Metric("errors_per_episode", "Errors in each episode.", "errors", False, True, _each),
            Metric(
                "cumulated_errors",
                "Errors in all episodes so far.",
                "errors",
                False,
                True,
                _cumulated,
            ),
        )
    }
)


def score_trial(
    log: TrialLog,
    metric: str = "tce",
    *,
    count_empty: bool = True,
    rule_set: RuleSet | None = None,
    board_spec: BoardSpec = DEFAULT_SPEC,
) -> float | npt.NDArray[np.float64]:
    """Return a score of one trial.

    Parameters
    ----------
    log : TrialLog
        The attempts.
    metric : str
        One of `METRICS` or `ATTEMPT_METRICS`.
    count_empty : bool
        As in :func:`episode_errors`.
    rule_set, board_spec : RuleSet, BoardSpec
        The trial's rule and boards; needed for `ATTEMPT_METRICS` only.

    Returns
    -------
    float or numpy.ndarray of float, shape (episodes,)
        One number, or one an episode. Infinite where the trial never got there.

    Raises
    ------
    UnknownNameError
        With the nearest names.
    ValueError
        If the metric needs the rule, and it is not given.

    Examples
    --------
    >>> import gohr
    >>> rng = np.random.default_rng(0)
    >>> learner = gohr.make_learner("uniform", gohr.BoardSpec(), rng=rng)
    >>> boards = gohr.draw_boards(3, rng=rng)
    >>> log = gohr.play(boards, learner, gohr.load_rule("anything-goes"))
    >>> score_trial(log, "tce")
    0.0
    """
    chosen = metric_named(metric)
    if isinstance(chosen, Metric):
        return chosen.compute(episode_errors(log, count_empty=count_empty), log.finish)
    if rule_set is None:
        raise ValueError(f"{metric}: expected the rule that the trial was played on")
    return chosen.compute(TrialAttempts(log, rule_set, board_spec, count_empty))


def metric_named(name: str) -> Metric | AttemptMetric:
    """Return one of `METRICS` or `ATTEMPT_METRICS`; UnknownNameError with the nearest names."""
    known: dict[str, Metric | AttemptMetric] = {**METRICS, **ATTEMPT_METRICS}
    if name not in known:
        raise UnknownNameError("metric", name, known)
    return known[name]
