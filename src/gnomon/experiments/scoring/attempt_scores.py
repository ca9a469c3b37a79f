"""Scores that need each attempt of a trial: m*, and the AAI family of the reference system.

The AAI family sets errors against those of a player who knows nothing: a rule that permits much
forgives much. Let ``p0`` be the chance of success at each attempt of a player who knows nothing
(:mod:`gnomon.learners.chance`), and ``mu`` how many attempts that player needs on average to remove
a piece from the board as it lies. Then ``sum(1 - p0)`` errors were to be expected, and ``AAI`` is
the errors made by that measure: 1 for chance, 0 for a player who errs no more. What is said of a
series holds after each of its attempts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon.experiments.scoring.learning_curve import fit_learning_curve
from gnomon.experiments.scoring.mastery import TARGET_STREAK, attempts_to_master
from gnomon.game.board import BoardSpec
from gnomon.game.outcomes import ACCEPTED, EMPTY_CELL, EPISODE_OVER
from gnomon.learners.base import TrialLog
from gnomon.rules.syntax import RuleSet

if TYPE_CHECKING:
    from gnomon.experiments.shard import TrialOutcomes

_Floats = npt.NDArray[np.float64]

#: W are the errors so far, m the attempts, q the pieces removed; a "board" is one as it lies.
AAI_FAMILY: Mapping[str, str] = {
    "aai": "W / sum(1 - p0)",
    "aaib": "AAI * m",
    "aaic": "AAI * q; about q for chance",
    "aaid": "W / (sum of 1 - p0 at errors) * q, which changes at errors only",
    "aaie": "AAI * q, which changes at errors only",
    "aaig": "W / (sum of mu - 1 over boards) * q",
    "aaih": "sum of 1 / (mu - 1) at errors, mu of the board's first attempt, where that is > 1; "
    "drawn over pieces removed where mu > 1",
    "omega": "over boards, the sum of W * sum(p0) / sum(1 - p0) on that board; about q for chance",
    "omega_by_attempt": "the sum of p0 / (1 - p0) at errors",
}


def corrected_success(accepted: npt.ArrayLike, p0: npt.ArrayLike) -> float:
    """Return the probability of success, corrected for what chance alone would give.

    The share ``g`` of attempts that a player would have got right beyond chance, in the model
    ``P(success) = p0 + (1 - p0) g``: ``1 - errors / sum(1 - p0)``. It is 0 for chance, 1 without
    errors, and below 0 for a player worse than chance.

    Parameters
    ----------
    accepted : array_like of bool, shape (n_attempts,)
    p0 : array_like of float, shape (n_attempts,)
        Chance of success of a player who knows nothing, 0 to 1.

    Returns
    -------
    float
        NaN where chance could not fail, or there are no attempts.

    Examples
    --------
    >>> corrected_success([1, 1, 0, 1], [0.5, 0.5, 0.5, 0.5])
    0.5
    """
    good, p0 = np.asarray(accepted, dtype=np.bool_), np.asarray(p0, dtype=np.float64)
    _check(good, p0)
    expected = float((1 - p0).sum())
    return 1 - float((~good).sum()) / expected if expected > 0 else float("nan")


def aai_curves(
    accepted: npt.ArrayLike,
    p0: npt.ArrayLike,
    mu: npt.ArrayLike,
    *,
    episode: npt.ArrayLike | None = None,
    as_reference: bool = False,
) -> dict[str, _Floats]:
    """Return each measure of the AAI family after each attempt of a series.

    Parameters
    ----------
    accepted : array_like of bool, shape (n_attempts,)
        Whether each attempt was a success, which removes a piece.
    p0 : array_like of float, shape (n_attempts,)
        Chance of success at each attempt.
    mu : array_like of float, shape (n_attempts,)
        Attempts that such a player needs to remove a piece, at least 1.
    episode : array_like of int, shape (n_attempts,), optional
        Which episode each attempt was made in; one episode if not given.
    as_reference : bool
        Where chance could not have failed, put in what the reference system does: 0 in place of
        AAI, and for an error there, in OMEGA, ½ for the sum of 1 - p0.

    Returns
    -------
    dict from str to numpy.ndarray of float, shape (n_attempts,)
        By the names of `AAI_FAMILY`. NaN as long as chance could not have failed; OMEGA leaves out
        errors on boards where it could not.

    Raises
    ------
    ValueError
        If the lengths differ, or a chance is not between 0 and 1.

    References
    ----------
    The reference system's ``BuildCurves``. What it calls a segment of OMEGA is taken to be the
    attempts between two removals.

    Examples
    --------
    >>> curves = aai_curves([0, 1, 0, 0, 1], [0.5] * 5, [2.0] * 5)
    >>> curves["aai"].tolist()
    [2.0, 1.0, 1.3333333333333333, 1.5, 1.2]
    >>> curves["aaig"].tolist()[-1]
    3.0
    """
    good = np.asarray(accepted, dtype=np.bool_)
    p0, mu = np.asarray(p0, dtype=np.float64), np.asarray(mu, dtype=np.float64)
    _check(good, p0)
    if mu.shape != good.shape:
        raise ValueError(f"mu: expected {good.size} numbers, found {mu.size}")
    errors, removed = np.cumsum(~good), np.cumsum(good)
    aai = _ratio(errors, np.cumsum(1 - p0), 0.0 if as_reference else np.nan)
    of_episode = np.zeros(good.size) if episode is None else np.asarray(episode)
    # A board lies as it does until a piece is removed, or another is dealt.
    changed = good[:-1] | (of_episode[1:] != of_episode[:-1])
    begins = np.append(True, changed)[: good.size]
    board = np.cumsum(begins)
    first_mu = mu[np.flatnonzero(begins)][board - 1]
    hard = (first_mu > 1) & ~good
    return {
        "aai": aai,
        "aaib": aai * np.arange(1, good.size + 1),
        "aaic": aai * removed,
        "aaid": _held(_ratio(errors, np.cumsum(np.where(good, 0.0, 1 - p0))) * removed, ~good),
        "aaie": _held(aai * removed, ~good),
        "aaig": _ratio(errors, np.cumsum(np.where(begins, mu - 1, 0.0))) * removed,
        "aaih": np.cumsum(np.divide(1, first_mu - 1, out=np.zeros(good.size), where=hard)),
        "omega": _omega(good, p0, board, 0.5 if as_reference else np.inf),
        "omega_by_attempt": _omega(good, p0, np.arange(good.size), 0.5 if as_reference else np.inf),
    }


def _omega(
    good: npt.NDArray[np.bool_], p0: _Floats, board: npt.NDArray[np.int_], never_fails: float
) -> _Floats:
    """Sum over boards the errors there, each by the odds of success.

    ``never_fails`` stands for the sum of 1 - p0 where that is 0.
    """
    total = np.zeros(good.size)
    before = 0.0
    for at in np.split(np.arange(good.size), np.flatnonzero(np.diff(board)) + 1):
        failed = np.cumsum(~good[at])
        fails = np.cumsum(1 - p0[at])
        odds = np.cumsum(p0[at]) / np.where(fails > 0, fails, never_fails)
        total[at] = before + failed * odds
        before = total[at[-1]] if at.size else before
    return total


def _held(values: _Floats, changes: npt.NDArray[np.bool_]) -> _Floats:
    """Return each value as it was at the last change; 0 before the first."""
    last = np.maximum.accumulate(np.where(changes, np.arange(values.size), -1))
    held: _Floats = np.where(last >= 0, values[np.maximum(last, 0)], 0.0)
    return held


def _ratio(a: npt.NDArray[np.generic], b: _Floats, none: float = np.nan) -> _Floats:
    ratio: _Floats = np.divide(a, b, out=np.full(b.size, none), where=b > 0)
    return ratio


def _check(good: npt.NDArray[np.bool_], p0: _Floats) -> None:
    if good.ndim != 1 or good.shape != p0.shape:
        raise ValueError(f"expected a chance for each attempt, found {p0.size} and {good.size}")
    if not ((p0 >= 0) & (p0 <= 1)).all():
        raise ValueError("p0: expected chances between 0 and 1")


@dataclass(frozen=True, slots=True, eq=False)
class TrialAttempts:
    """A trial with its rule, seen attempt by attempt.

    Parameters
    ----------
    log : TrialLog
    rule_set : RuleSet
        What it was played on.
    board_spec : BoardSpec
        Gives the palettes.
    count_empty : bool
        Whether an attempt on an empty cell is an attempt; if not, it is left out.

    Examples
    --------
    >>> import gnomon as gn
    >>> rng = np.random.default_rng(0)
    >>> learner = gn.make_learner("uniform", gn.BoardSpec(), rng=rng)
    >>> log = gn.play_trial(learner, gn.load_rule("anything-goes"), gn.draw_boards(3, rng=rng))
    >>> found = TrialAttempts(log, gn.load_rule("anything-goes"), gn.BoardSpec())
    >>> found.log.n_attempts
    array([9, 9, 9])
    """

    log: TrialLog
    rule_set: RuleSet
    board_spec: BoardSpec
    count_empty: bool = True

    @property
    def counted(self) -> npt.NDArray[np.bool_]:
        """Which rows of the log are attempts of the player: none after the end of an episode."""
        counted, own = _counted(self.log.outcomes, self.count_empty), self.log.own
        return counted if own is None else counted & own

    @property
    def accepted(self) -> npt.NDArray[np.bool_]:
        """Whether each attempt was a success."""
        good: npt.NDArray[np.bool_] = self.log.outcomes[self.counted] == ACCEPTED
        return good

    @property
    def p0(self) -> npt.NDArray[np.float64]:
        """Chance of success at each attempt of a player who attempts any piece at random."""
        return self.chances()[0]

    def chances(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return, for each attempt, p0 and mu of a player who attempts any piece at random."""
        from gnomon.learners.chance import count_attempts

        counts = count_attempts(self.rule_set, self.log, board_spec=self.board_spec)
        return counts.random[self.counted], counts.random_attempts[self.counted]

    def hypothesis_tests(self) -> tuple[npt.NDArray[np.bool_], _Floats]:
        """Return, for each attempt, whether it told anything, and its chance to be accepted.

        Both for one who believes what the replies so far allow; NaN where that is nothing.
        """
        from gnomon.learners.ideal.regret import hypothesis_tests

        found = hypothesis_tests(self.log, board_spec=self.board_spec)
        return found.informative[self.counted], found.expected[self.counted]

    def aai_curves(self) -> dict[str, npt.NDArray[np.float64]]:
        """Return the curves of :func:`gnomon.experiments.scoring.attempt_scores.aai_curves`."""
        n_attempts = self.log.n_attempts
        episode = np.repeat(np.arange(n_attempts.size), n_attempts)[self.counted]
        return aai_curves(self.accepted, *self.chances(), episode=episode)


@dataclass(frozen=True, slots=True, eq=False)
class RecordedAttempts:
    """The attempts of a trial as its shard has them: whether each was a success, and its p0.

    ``as_reference`` is how a learning curve is fitted to them.
    """

    accepted: npt.NDArray[np.bool_]
    p0: npt.NDArray[np.float64]
    as_reference: bool = False

    @classmethod
    def of(cls, trial: TrialOutcomes, *, count_empty: bool) -> RecordedAttempts:
        """Take the rows that are attempts from a trial that was read with its chances."""
        counted = _counted(trial.outcomes, count_empty)
        return cls(trial.outcomes[counted] == ACCEPTED, trial.p0[counted])


def _counted(outcomes: npt.NDArray[np.int8], count_empty: bool) -> npt.NDArray[np.bool_]:
    there: npt.NDArray[np.bool_] = outcomes != EPISODE_OVER
    return there if count_empty else there & (outcomes != EMPTY_CELL)


@dataclass(frozen=True, slots=True)
class AttemptMetric:
    """A number that sums up the attempts of a trial; as :class:`gnomon.experiments.Metric`.

    Infinite where a trial never got there: such a score is censored. One that ``needs_log`` is
    computed of :class:`TrialAttempts` alone: it looks at the boards.

    Examples
    --------
    >>> ATTEMPT_METRICS["m_star"].unit
    'attempts'
    """

    name: str
    sentence: str
    unit: str
    higher_is_better: bool
    compute: Callable[[Any], float]
    needs_log: bool = False
    per_episode: bool = False


def _m_star(attempts: TrialAttempts | RecordedAttempts) -> float:
    return attempts_to_master(attempts.accepted)


def _skill(attempts: TrialAttempts | RecordedAttempts) -> float:
    return corrected_success(attempts.accepted, attempts.p0)


def _aai(attempts: TrialAttempts | RecordedAttempts) -> float:
    return 1 - _skill(attempts)


def _fitted(part: str) -> Callable[[TrialAttempts | RecordedAttempts], float]:
    """Return what computes a number of the fitted learning curve; NaN where there is no curve."""

    def compute(attempts: TrialAttempts | RecordedAttempts) -> float:
        if not (attempts.p0 < 1).any():
            return float("nan")
        as_reference = isinstance(attempts, RecordedAttempts) and attempts.as_reference
        curve = fit_learning_curve(attempts.accepted, attempts.p0, as_reference=as_reference)
        return float(getattr(curve, part))

    return compute


def _informative(attempts: TrialAttempts) -> float:
    informative, _ = attempts.hypothesis_tests()
    return float(informative.mean()) if informative.size else float("nan")


def _positive_tests(attempts: TrialAttempts) -> float:
    _, expected = attempts.hypothesis_tests()
    known = expected[np.isfinite(expected)]
    return float((known > 0.5).mean()) if known.size else float("nan")


#: Numbers of the fitted learning curve: name, part of the curve, sentence, unit, whether more is
#: better.
_FITTED = (
    ("start_skill", "start", "Skill before learning, of the fitted curve.", "fraction", True),
    ("end_skill", "end", "Skill after learning, of the fitted curve.", "fraction", True),
    ("inflection", "inflection", "Attempt at which half is learned.", "attempts", False),
    ("steepness", "steepness", "Steepness of the fitted curve.", "1/attempts", True),
)
#: Every such score, by name.
ATTEMPT_METRICS: Mapping[str, AttemptMetric] = MappingProxyType(
    {
        metric.name: metric
        for metric in (
            AttemptMetric(
                "m_star",
                f"Attempts before the first {TARGET_STREAK} successes in a row.",
                "attempts",
                False,
                _m_star,
            ),
            AttemptMetric(
                "aai",
                "Errors, relative to those to be expected of a random player.",
                "ratio",
                False,
                _aai,
            ),
            AttemptMetric(
                "skill",
                "Probability of success, corrected for that of a random player.",
                "fraction",
                True,
                _skill,
            ),
            *(
                AttemptMetric(name, sentence, unit, higher, _fitted(part))
                for name, part, sentence, unit, higher in _FITTED
            ),
            AttemptMetric(
                "informative",
                "Attempts whose reply ruled out a hypothesis, of all attempts.",
                "fraction",
                True,
                _informative,
                needs_log=True,
            ),
            AttemptMetric(
                "positive_tests",
                "Attempts that what was known let expect to succeed, of all that it told anything "
                "of; the others test what is expected to fail.",
                "fraction",
                True,
                _positive_tests,
                needs_log=True,
            ),
        )
    }
)
