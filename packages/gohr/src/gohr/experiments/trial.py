"""A trial of an experiment: what determines it, and its way into the run folder.

It is played and encoded, here or in a worker process; the process that runs the experiment writes
it.
"""

from __future__ import annotations

import hashlib
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from gohr.errors import RuleError
from gohr.experiments.config.config_entries import LearnerEntry, RuleEntry, content_text
from gohr.experiments.config.experiment_config import ExperimentConfig
from gohr.experiments.config.predefined_boards import PredefinedBoards, RecordedBoards
from gohr.experiments.store import TrialRecord, attempts_hash
from gohr.game.board import BoardSpec, draw_boards

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from gohr.playing import Replay, TrialLog


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
        Which of the trials of this learner on this rule, from 0.
    episodes, horizon, seed, board, predefined
        As in :class:`gohr.experiments.ExperimentConfig`.
    task : str
        For a recorded game, a label that distinguishes it from others on this rule and these
        boards: its name in the experiment, such as the rule played before it.

    Examples
    --------
    >>> import gohr
    >>> config = gohr.ExperimentConfig("tiny", ["color-match"], ["uniform"], trials=2, episodes=3)
    >>> trial = next(iter(trials_of(config)))
    >>> trial.number, trial.episodes
    (0, 3)
    """

    learner: LearnerEntry
    rule: RuleEntry
    number: int
    episodes: int
    horizon: int
    seed: int
    board: BoardSpec
    predefined: PredefinedBoards | None = None
    task: str = ""

    @classmethod
    def of(
        cls, played: ExperimentConfig, learner: LearnerEntry, rule: RuleEntry, number: int
    ) -> Trial:
        """Return a trial of an experiment."""
        boards, episodes, task = played.predefined, played.episodes, ""
        if isinstance(boards, RecordedBoards):
            boards, task = boards.of_trial(rule.name, number), rule.name
            episodes = len(boards.codes)
        rest = (played.horizon, played.seed, played.board)
        return cls(learner, rule, number, episodes, *rest, boards, task)

    @cached_property
    def key(self) -> str:
        """Content hash of all that determines the attempts, 32 hexadecimal digits."""
        shared = _shared(
            self.episodes, self.horizon, self.seed, self.board, self.predefined, self.task
        )
        return _key(self.learner.hash, self.rule.hash, self.number, shared)

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

        draws = np.random.default_rng([self.seed, _word(self.rule.hash), self.number])
        if self.predefined is None:
            return draw_boards(self.episodes, self.board, rng=draws)
        return self.predefined.deal(self.episodes, rng=draws)

    def learner_rng(self) -> np.random.Generator:
        """Return the generator that the learner draws from."""
        import numpy as np

        entropy = [self.seed, _word(self.rule.hash), _word(self.learner.hash), self.number]
        return np.random.default_rng(entropy)


def stuck_as_dealt(config: ExperimentConfig, rule: RuleEntry) -> str | None:
    """Return a warning if a rule lets no piece move on most of its boards as they are dealt.

    No player can make an error there, so such a rule looks easy. Up to a hundred boards of the
    first trial are tested; None for a rule that plays, and for recorded games.

    Raises RuleError: the rule cannot be played, or is too large for the engine.

    Examples
    --------
    >>> rule = RuleEntry("typo", "(*,sqare,*,*,1)")
    >>> config = ExperimentConfig("first", [rule], ["uniform"], trials=1, episodes=20)
    >>> stuck_as_dealt(config, rule).partition(";")[0]
    'rule typo: no piece can be moved on 20 of 20 boards tested, as they are dealt'
    """
    if isinstance(config.predefined, RecordedBoards):
        return None
    import numpy as np

    from gohr.game.outcomes import STALEMATE
    from gohr.playing import replay

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


def key_finder(config: ExperimentConfig) -> Callable[[str, str, int], str | None]:
    """Return what gives the key of a trial by its learner, its rule and its number.

    It gives None for a trial that the experiment has not, and costs a third of making each trial.

    Examples
    --------
    >>> config = ExperimentConfig("first", ["clockwise"], ["uniform"], trials=2)
    >>> key_of = key_finder(config)
    >>> [key_of("uniform", "clockwise", n) == t.key for n, t in enumerate(trials_of(config))]
    [True, True]
    >>> key_of("uniform", "clockwise", 2) is key_of("uniform", "color-match", 0) is None
    True
    """
    learners = {learner.name: learner for learner in config.learners}
    rules = {rule.name: rule for rule in config.rules}
    boards = config.predefined
    recorded = isinstance(boards, RecordedBoards)
    settings = (config.episodes, config.horizon, config.seed, config.board)
    shared = "" if isinstance(boards, RecordedBoards) else _shared(*settings, boards, "")

    def key_of(learner: str, rule: str, number: int) -> str | None:
        if learner not in learners or rule not in rules or not 0 <= number < config.trials:
            return None
        if recorded:  # Each trial has its own boards.
            return Trial.of(config, learners[learner], rules[rule], number).key
        return _key(learners[learner].hash, rules[rule].hash, number, shared)

    return key_of


def _key(learner_hash: str, rule_hash: str, number: int, shared: str) -> str:
    # One list as JSON, of which thousands of trials share the second half.
    ours = f'["{learner_hash}","{rule_hash}",{number},'
    return hashlib.sha256((ours + shared[1:]).encode()).hexdigest()[:32]


@lru_cache
def _shared(
    episodes: int,
    horizon: int,
    seed: int,
    board: BoardSpec,
    predefined: PredefinedBoards | None,
    task: str,
) -> str:
    """Return what the key has of the settings of an experiment, for all trials that share them."""
    boards = [] if predefined is None else [dict(predefined.to_record())]
    told_apart = [task] if task else []
    return content_text([episodes, horizon, seed, board.record(), *boards, *told_apart])


def _word(hexadecimal: str) -> int:
    """Return the first 128 bits of a hash, as a seed sequence takes them."""
    return int(hexadecimal[:32], 16)


#: A trial as the run folder has it: its record, and its compressed attempts if it is done.
Encoded = tuple[TrialRecord, bytes | None]


def play(trial: Trial) -> Encoded:
    """Play a trial and encode it, in any process."""
    wall, cpu = time.perf_counter(), time.process_time()
    log = trial.play()
    return encode(trial, log, time.perf_counter() - wall, time.process_time() - cpu)


def encode(
    trial: Trial, log: TrialLog, wall_time_s: float, cpu_time_s: float, counts: Replay | None = None
) -> Encoded:
    """Encode a trial, with the chances of a random player unless its rule is hidden.

    ``counts`` has the possible attempts, if they are not any piece on the board.
    """
    from gohr.experiments.attempts import attempt_bytes
    from gohr.experiments.metrics import episode_bytes
    from gohr.playing import replay_log

    if trial.rule.hidden:
        counts = None
    elif counts is None:
        counts = replay_log(log, trial.rule.rule_set, board_spec=trial.board)
    raw = attempt_bytes(log, counts)
    # The lowest level: higher ones take several times as long and save little space.
    data = zlib.compress(raw, level=1)
    record = TrialRecord(
        trial.key,
        trial.learner.name,
        trial.rule.name,
        trial.number,
        "done",
        n_attempts=int(log.n_attempts.sum()),
        wall_time_s=wall_time_s,
        cpu_time_s=cpu_time_s,
        attempts_hash=attempts_hash(trial.key, raw),
        n_bytes=len(data),
        episodes=episode_bytes(log),
    )
    return record, data


def failure(trial: Trial, error: str | None, traceback: str | None) -> TrialRecord:
    """Return the record of a trial that failed."""
    named = trial.key, trial.learner.name, trial.rule.name, trial.number
    return TrialRecord(*named, "failed", error=error, traceback=traceback)


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
                play(replace(whole, episodes=1, horizon=1))


def prepare() -> None:
    """Load in this process what every trial needs, which takes a second, or many after a change."""
    config = ExperimentConfig("prepare", ["anything-goes"], ["uniform"], trials=1, episodes=1)
    for trial in trials_of(config):
        play(trial)
