"""A trial of an experiment: its key, its seeds, and how it is played.

A trial can be played in any process; the process of the run writes its result.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from gohr.board import N_CELLS, BoardSpec, draw_boards
from gohr.errors import RuleError
from gohr.experiments.config import ExperimentConfig
from gohr.experiments.entries import LearnerEntry, RuleEntry, content_hash, seed_of
from gohr.experiments.store import TrialRecord, attempts_hash

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from gohr.playing import TrialLog

#: Boards of a rule on which its first moves are tested.
_MOST_TESTED = 100


@dataclass(frozen=True)
class Trial:
    """One learner on one rule from scratch: a complete record, which any process can play.

    Parameters
    ----------
    learner : LearnerEntry
    rule : RuleEntry
    number : int
        Number of the trial of this learner on this rule, from 0.
    episodes, horizon, seed, board
        As in :class:`gohr.experiments.ExperimentConfig`.
    recorded : bytes, optional
        For a trial that was played elsewhere: its boards, 36 codes each.
    task : str
        For such a trial, the name of its rule in the experiment, which distinguishes it from others
        on the same rule and boards.
    """

    learner: LearnerEntry
    rule: RuleEntry
    number: int
    episodes: int
    horizon: int
    seed: int
    board: BoardSpec
    recorded: bytes | None = None
    task: str = ""

    @classmethod
    def of(
        cls, config: ExperimentConfig, learner: LearnerEntry, rule: RuleEntry, number: int
    ) -> Trial:
        """Return a trial of an experiment."""
        rest = config.horizon, config.seed, config.board
        if config.recorded is None:
            return cls(learner, rule, number, config.episodes, *rest)
        boards = config.recorded[rule.name][number]
        return cls(learner, rule, number, len(boards) // N_CELLS, *rest, boards, rule.name)

    @cached_property
    def key(self) -> str:
        """Content hash of all that determines the attempts, 32 hexadecimal digits."""
        own = self.learner.hash, self.rule.hash, self.number
        settings = self.episodes, self.horizon, self.seed, _record_of(self.board)
        dealt: list[object] = []
        if self.recorded is not None:
            dealt = [{"boards": self.boards().tolist(), "order": "listed"}, self.task]
        return content_hash([*own, *settings, *dealt])[:32]

    def play(self) -> TrialLog:
        """Play the trial.

        The boards come from a generator of (seed, rule, number) and the learner draws from one of
        (seed, rule, learner, number): all learners get the same boards, and no trial depends on
        another.
        """
        from gohr.playing import play

        learner = self.learner.make(self.board, rng=self.learner_rng())
        return play(
            self.boards(), learner, self.rule.rule_set, horizon=self.horizon, board_spec=self.board
        )

    def boards(self) -> npt.NDArray[np.uint8]:
        """Return the boards of the trial, shape (episodes, 36): the same ones for every learner."""
        import numpy as np

        if self.recorded is not None:
            return np.frombuffer(self.recorded, dtype=np.uint8).reshape(-1, N_CELLS)
        draws = self.rule.stream(self.seed, self.number)
        return draw_boards(self.episodes, self.board, rng=draws)

    def learner_rng(self) -> np.random.Generator:
        """Return the generator that the learner draws from."""
        return self.rule.stream(self.seed, seed_of(self.learner.hash), self.number)


#: The record of the boards, which thousands of trials share.
_record_of = lru_cache(BoardSpec.record)


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
                trial = Trial.of(config, learner, rule, number)
                if trial.episodes:
                    yield trial


def stuck_as_dealt(config: ExperimentConfig, rule: RuleEntry) -> str | None:
    """Return a warning if a rule lets no piece move on most of its boards as they are dealt.

    No player can make an error there, so such a rule looks easy. Up to a hundred boards of the
    first trial are tested; None for a rule that plays, and for recorded games.

    Raises RuleError: the rule cannot be played, or is too large for the engine.
    """
    if config.recorded is not None:
        return None
    import numpy as np

    from gohr.outcomes import STALEMATE
    from gohr.replays import replay

    trial = Trial.of(config, config.learners[0], rule, 0)
    boards = replace(trial, episodes=min(config.episodes, _MOST_TESTED)).boards()
    no_attempts = np.zeros(len(boards), dtype=np.int64)
    try:
        first = replay(
            boards, no_attempts, no_attempts[:0], rule.rule_set, board_spec=config.board
        ).first
    except RuleError as error:
        raise RuleError(f"rule {rule.name}: {error}") from None
    n_stuck = int((first == STALEMATE).sum())
    if n_stuck <= len(boards) / 2:
        return None
    return (
        f"rule {rule.name}: no piece can be moved on {n_stuck} of {len(boards)} boards tested, as "
        "they are dealt; no error is possible there, so its errors do not show how hard it is; "
        "gohr rules check finds misspelt names"
    )


def play_and_encode(trial: Trial) -> tuple[TrialRecord, bytes]:
    """Play a trial and encode it, in any process."""
    begun = time.perf_counter()
    log = trial.play()
    return encode(trial, log, time.perf_counter() - begun)


def encode(
    trial: Trial, log: TrialLog, wall_time_s: float | None = None
) -> tuple[TrialRecord, bytes]:
    """Return a trial as a run keeps it: its record, and its compressed attempts."""
    from gohr.experiments.attempts import attempt_bytes
    from gohr.experiments.metrics import episode_bytes

    raw = attempt_bytes(log)
    record = TrialRecord(
        trial.key,
        trial.learner.name,
        trial.rule.name,
        trial.number,
        wall_time_s=wall_time_s,
        attempts_hash=attempts_hash(trial.key, raw),
        episodes=episode_bytes(log),
    )
    # The lowest level: higher ones take several times as long and save little space.
    return record, zlib.compress(raw, level=1)


def compile_kernels(config: ExperimentConfig) -> None:
    """Compile whatever the learners of an experiment need, so that other processes find it done.

    Two processes that need a kernel at the same time would both compile it. So each learner makes
    one attempt here, except those that would start a program or call a server. A learner that
    cannot is reported by its failed trials.
    """
    from gohr.learners.registry import plays_alone

    for learner in config.learners:
        if plays_alone(learner.kind):
            with suppress(Exception):
                whole = Trial.of(config, learner, config.rules[0], 0)
                play_and_encode(replace(whole, episodes=1, horizon=1))


def prepare() -> None:
    """Load in this process what every trial needs, which takes a second, or many after a change."""
    config = ExperimentConfig("prepare", ["anything-goes"], ["uniform"], trials=1, episodes=1)
    for trial in trials_of(config):
        play_and_encode(trial)
