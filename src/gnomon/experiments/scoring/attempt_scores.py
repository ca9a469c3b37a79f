"""Scores that need each attempt of a trial, and some of them what its rule permitted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from gnomon.experiments.scoring.chance_measures import aai_curves, corrected_success
from gnomon.experiments.scoring.mastery import TARGET_STREAK, attempts_to_master
from gnomon.game.board import BoardSpec
from gnomon.game.outcomes import ACCEPTED, EMPTY_CELL, EPISODE_OVER
from gnomon.learners.base import TrialLog
from gnomon.rules.syntax import RuleSet

__all__ = ["ATTEMPT_METRICS", "AttemptMetric", "TrialAttempts"]


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
    """

    log: TrialLog
    rule_set: RuleSet
    board_spec: BoardSpec
    count_empty: bool = True

    @property
    def counted(self) -> npt.NDArray[np.bool_]:
        """Which rows of the log are attempts: none after the end of an episode."""
        there: npt.NDArray[np.bool_] = self.log.outcomes != EPISODE_OVER
        return there if self.count_empty else there & (self.log.outcomes != EMPTY_CELL)

    @property
    def accepted(self) -> npt.NDArray[np.bool_]:
        """Whether each attempt was a success."""
        good: npt.NDArray[np.bool_] = self.log.outcomes[self.counted] == ACCEPTED
        return good

    def chances(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return, for each attempt, p0 and mu of a player who attempts any piece at random."""
        from gnomon.learners.chance import count_attempts

        counts = count_attempts(self.rule_set, self.log, board_spec=self.board_spec)
        return counts.random[self.counted], counts.random_attempts[self.counted]

    def aai_curves(self) -> dict[str, npt.NDArray[np.float64]]:
        """Return the curves of :func:`gnomon.experiments.scoring.chance_measures.aai_curves`."""
        n_attempts = self.log.n_attempts
        episode = np.repeat(np.arange(n_attempts.size), n_attempts)[self.counted]
        return aai_curves(self.accepted, *self.chances(), episode=episode)


@dataclass(frozen=True, slots=True)
class AttemptMetric:
    """A number that sums up the attempts of a trial; as :class:`~.scores.Metric`.

    Infinite where a trial never got there: such a score is censored.
    """

    name: str
    sentence: str
    unit: str
    higher_is_better: bool
    compute: Callable[[TrialAttempts], float]
    per_episode: bool = False


def _m_star(attempts: TrialAttempts) -> float:
    return attempts_to_master(attempts.accepted)


def _skill(attempts: TrialAttempts) -> float:
    return corrected_success(attempts.accepted, attempts.chances()[0])


def _aai(attempts: TrialAttempts) -> float:
    return 1 - _skill(attempts)


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
        )
    }
)
