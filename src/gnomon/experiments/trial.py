"""A trial of an experiment: which it is, what determines it, and how it is played."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon.experiments.config import ExperimentConfig
from gnomon.experiments.config_entries import LearnerEntry, RuleEntry, content_hash
from gnomon.experiments.predefined_boards import PredefinedBoards
from gnomon.game.board import BoardSpec, draw_boards

if TYPE_CHECKING:
    from gnomon.learners.base import TrialLog
    from gnomon.learners.chance import AttemptCounts

__all__ = ["Trial", "trials_of"]


@dataclass(frozen=True)
class Trial:
    """One learner on one rule from scratch: a complete record, which any process can play.

    Parameters
    ----------
    learner : LearnerEntry
    rule : RuleEntry
    number : int
        Which of the trials of this learner on this rule, from 0.
    episodes, horizon, seed, board, predefined
        As in :class:`gnomon.experiments.config.ExperimentConfig`.
    """

    learner: LearnerEntry
    rule: RuleEntry
    number: int
    episodes: int
    horizon: int
    seed: int
    board: BoardSpec
    predefined: PredefinedBoards | None = None

    @cached_property
    def key(self) -> str:
        """Content hash of all that determines the attempts, 32 hexadecimal digits."""
        parts: list[Any] = [self.learner.hash, self.rule.hash, self.number]
        parts += [self.episodes, self.horizon, self.seed, _as_record(self.board)]
        if self.predefined is not None:
            parts.append(dict(self.predefined.to_record()))
        return content_hash(parts)[:32]

    def play(self) -> TrialLog:
        """Play the trial.

        The boards come from a generator of (seed, rule, number) and the learner draws from one of
        (seed, rule, learner, number): all learners meet the same boards, and no trial depends on
        another.
        """
        from gnomon.learners.trial import play_trial

        learner = self.learner.make(self.board, rng=self.learner_rng())
        return play_trial(
            learner,
            self.rule.rule_set,
            self.boards(),
            horizon=self.horizon,
            board_spec=self.board,
        )

    def counts(self, log: TrialLog) -> AttemptCounts:
        """Return what the rule permitted at each attempt, whence p0 of a random player."""
        from gnomon.learners.chance import count_attempts

        return count_attempts(self.rule.rule_set, log, board_spec=self.board)

    def boards(self) -> npt.NDArray[np.uint8]:
        """Return the boards of the trial, shape (episodes, 36): the same ones for every learner."""
        draws = np.random.default_rng([self.seed, _word(self.rule.hash), self.number])
        if self.predefined is None:
            return draw_boards(self.episodes, self.board, rng=draws)
        return self.predefined.deal(self.episodes, rng=draws)

    def learner_rng(self) -> np.random.Generator:
        """Return the generator that the learner draws from."""
        entropy = [self.seed, _word(self.rule.hash), _word(self.learner.hash), self.number]
        return np.random.default_rng(entropy)


def trials_of(config: ExperimentConfig) -> Iterator[Trial]:
    """Yield every trial of an experiment, the first of each learner and rule first.

    Examples
    --------
    >>> config = ExperimentConfig("first", ["clockwise", "color-match"], ["uniform"], trials=2)
    >>> [(trial.rule.name, trial.number) for trial in trials_of(config)]
    [('clockwise', 0), ('color-match', 0), ('clockwise', 1), ('color-match', 1)]
    """
    for number in range(config.trials):
        for rule in config.rules:
            for learner in config.learners:
                yield Trial(
                    learner,
                    rule,
                    number,
                    config.episodes,
                    config.horizon,
                    config.seed,
                    config.board,
                    config.predefined,
                )


@lru_cache
def _as_record(board: BoardSpec) -> dict[str, Any]:
    """Return a board specification as the key has it, for all trials that share it."""
    return asdict(board)


def _word(hexadecimal: str) -> int:
    """Return the first 128 bits of a hash, as a seed sequence takes them."""
    return int(hexadecimal[:32], 16)
