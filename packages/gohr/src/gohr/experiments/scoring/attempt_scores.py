"""Scores that need each attempt of a trial: m*, skill, and the hypotheses tested."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gohr.game.board import BoardSpec
from gohr.game.outcomes import ACCEPTED, EMPTY_CELL, EPISODE_OVER
from gohr.people.mastery import TARGET_STREAK, attempts_to_master
from gohr.playing import TrialLog
from gohr.rules.syntax import RuleSet

if TYPE_CHECKING:
    from gohr.experiments.attempts import TrialOutcomes

_Floats = npt.NDArray[np.float64]


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
        Description of the boards.
    board_spec : BoardSpec
        Gives the palettes.
    count_empty : bool
        Whether an attempt on an empty cell counts as an attempt; if not, it is left out.

    Examples
    --------
    >>> import gohr
    >>> rng = np.random.default_rng(0)
    >>> learner = gohr.make_learner("uniform", gohr.BoardSpec(), rng=rng)
    >>> boards = gohr.draw_boards(3, rng=rng)
    >>> log = gohr.play(boards, learner, gohr.load_rule("anything-goes"))
    >>> found = TrialAttempts(log, gohr.load_rule("anything-goes"), gohr.BoardSpec())
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
        from gohr.learners.chance import chance_of_success

        chances = chance_of_success(self.rule_set, self.log, board_spec=self.board_spec)
        return chances[self.counted]

    def hypothesis_tests(self) -> tuple[npt.NDArray[np.bool_], _Floats]:
        """Return, for each attempt, whether it was informative, and its chance of acceptance.

        Both are for a player who believes the rules that agree with the replies so far; NaN where
        no rule does.
        """
        from gohr.learners.ideal.regret import regret

        found = regret(self.log, board_spec=self.board_spec)
        return found.informative[self.counted], found.expected[self.counted]


@dataclass(frozen=True, slots=True, eq=False)
class RecordedAttempts:
    """The attempts of a trial as its shard has them: whether each was a success, and its p0."""

    accepted: npt.NDArray[np.bool_]
    p0: npt.NDArray[np.float64]

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
    """A number that sums up the attempts of a trial; as :class:`gohr.experiments.Metric`.

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


def _informative(attempts: TrialAttempts) -> float:
    informative, _ = attempts.hypothesis_tests()
    return float(informative.mean()) if informative.size else float("nan")


def _positive_tests(attempts: TrialAttempts) -> float:
    _, expected = attempts.hypothesis_tests()
    known = expected[np.isfinite(expected)]
    return float((known > 0.5).mean()) if known.size else float("nan")


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
                "skill",
                "Probability of success, corrected for that of a random player.",
                "fraction",
                True,
                _skill,
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
