"""Evidence about a hidden rule: attempts that a player sees before it draws a conclusion.

The boards of a trial come from two streams, one for evidence and one for test boards, so that the
test boards are the same in every condition, and evidence of n boards begins evidence of n + 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from gnomon.errors import check_count, check_word
from gohr.board import DEFAULT_SPEC, N_BUCKETS, N_CELLS, BoardSpec, draw_boards
from gohr.experiments.entries import RuleEntry
from gohr.learners.fixed_players import RulePlayer, note_failure
from gohr.outcomes import ACCEPTED, IN_PROGRESS
from gohr.people.mastery import TARGET_STREAK
from gohr.playing import Observation, Transition, TrialLog, play
from gohr.replays import replay_log

if TYPE_CHECKING:
    from gohr.playing import Policy

_Codes: TypeAlias = npt.NDArray[np.uint8]
#: Sources of attempts that need no other player.
Kind: TypeAlias = Literal["random", "positive", "negative", "informative"]
#: The two streams of boards of a trial.
Part: TypeAlias = Literal["evidence", "test"]
#: The streams of a tester's draws, and of the pieces that are left out.
_TESTER, _PIECES = 2, 3
#: A player that repeats no failure needs at most four attempts for each piece after each success.
_HORIZON = 1_000


@dataclass(frozen=True)
class RuleTrial:
    """A trial on a hidden rule: all that its boards depend on.

    Parameters
    ----------
    rule : RuleEntry
    number, seed : int
        Decide on the boards, together with the rule.
    board_spec : BoardSpec
    group : str
        The group of the rule in its suite, if it has one.

    Examples
    --------
    >>> trial = RuleTrial(RuleEntry("turn", "(*,*,*,*,[1,2])"))
    >>> bool((trial.boards("test", 3) == trial.boards("test", 5)[:3]).all())
    True
    """

    rule: RuleEntry
    number: int = 0
    seed: int = 0
    board_spec: BoardSpec = DEFAULT_SPEC
    group: str = ""

    def boards(self, part: Part, n: int) -> _Codes:
        """Return the first boards of evidence, or the first test boards, shape (n, 36).

        Raises UnknownNameError: the part is neither ``evidence`` nor ``test``.
        """
        check_word("part", part, get_args(Part))
        return draw_boards(n, self.board_spec, rng=self.stream(get_args(Part).index(part)))

    def stream(self, which: int) -> np.random.Generator:
        """Return a generator of its own for each use."""
        return self.rule.stream(self.seed, self.number, which)


def evidence(
    trial: RuleTrial,
    source: Kind | TrialLog,
    n_boards: int,
    *,
    max_attempts: int | None = None,
    with_streak: bool = True,
) -> TrialLog:
    """Return the attempts that a player is shown.

    Parameters
    ----------
    trial : RuleTrial
        Decides on the boards and on the tester's draws.
    source : {"random", "positive", "negative", "informative"} or TrialLog
        Whose attempts they are. ``random``: until the board is clear, a random piece among those
        not known to be immovable, then a random bucket among those that have not refused it.
        ``positive``: accepted attempts alone, each drawn from all that would be accepted.
        ``negative``: the refusals of a random player before its first success, on each board as it
        is dealt and with 8, 7, ... 1 of its pieces; boards without a refusal are left out,
        which may be all.
        ``informative``: the most informative attempts (:class:`gohr.learners.Ideal`). A log has
        the attempts of another player: a person, a model, the player itself.
    n_boards : int
        Number of boards, at least 1; a log that has fewer is shown whole.
    max_attempts : int, optional
        Show only the first ones; the last board may then be shown in part.
    with_streak : bool
        If False, only the first of ten or more successes in a row at the end is shown, so that the
        player does not see that the rule was mastered.

    Returns
    -------
    TrialLog

    Raises
    ------
    ValueError
        If a number is below 1, or the replies in a log are not those of the rule.
    UnknownNameError
        If the source is another word.

    Examples
    --------
    >>> trial = RuleTrial(RuleEntry("turn", "(*,*,*,*,[1,2])"))
    >>> two, three = (evidence(trial, "random", n) for n in (2, 3))
    >>> bool((two.actions == three.actions[: len(two.actions)]).all())
    True
    >>> sorted(set(evidence(trial, "positive", 2).outcomes.tolist()))
    [0]
    """
    check_count("n_boards", n_boards)
    if isinstance(source, TrialLog):
        replay_log(source, trial.rule.rule_set, board_spec=trial.board_spec)
        log = _cut(source, source.n_attempts[:n_boards], source.finish[:n_boards])
    else:
        check_word("source", source, get_args(Kind))
        log = _tested(trial, source, n_boards)
    if not with_streak:
        max_attempts = min(_without_streak(log), max_attempts or len(log.actions))
    return log if max_attempts is None else _first_attempts(log, max_attempts)


def _tested(trial: RuleTrial, source: Kind, n_boards: int) -> TrialLog:
    boards, rng, spec = trial.boards("evidence", n_boards), trial.stream(_TESTER), trial.board_spec
    if source == "negative":
        boards = _thinned(boards, trial.stream(_PIECES))
    player: Policy = RandomTester(rng)
    if source == "informative":
        from gohr.learners import Ideal

        player = Ideal(spec, rng=rng)
    elif source == "positive":
        player = RulePlayer(spec, rng=rng)
    log = play(boards, player, trial.rule.rule_set, horizon=_HORIZON, board_spec=spec)
    return _refusals_before_success(log) if source == "negative" else log


class RandomTester:
    """A policy: a piece at random, then a bucket at random; never a failure that is known."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._failed = np.zeros(N_CELLS * N_BUCKETS, dtype=np.bool_)

    def act(self, observation: Observation) -> int:
        """Choose an attempt."""
        open_ = ((observation.action_mask != 0) & ~self._failed).reshape(N_CELLS, N_BUCKETS)
        cell = int(self._rng.choice(np.flatnonzero(open_.any(axis=1))))
        return N_BUCKETS * cell + int(self._rng.choice(np.flatnonzero(open_[cell])))

    def observe(self, made: Transition) -> None:
        """Remember a failure until the board changes."""
        over = made.terminated or made.truncated
        note_failure(self._failed, made.action, made.outcome, over)


def _thinned(boards: _Codes, rng: np.random.Generator) -> _Codes:
    """Return each board whole, and with one piece less after the other."""
    found = []
    for board in boards:
        pieces = rng.permutation(np.flatnonzero(board))
        for n in range(len(pieces), 0, -1):
            kept = np.zeros_like(board)
            kept[pieces[:n]] = board[pieces[:n]]
            found.append(kept)
    return np.array(found)


def _refusals_before_success(log: TrialLog) -> TrialLog:
    """Return the refusals before the first success on each board that has any."""
    begins = np.cumsum(log.n_attempts) - log.n_attempts
    rows: list[int] = []
    counts = np.zeros(len(log.boards), dtype=np.int64)
    for k, (begin, n) in enumerate(zip(begins.tolist(), log.n_attempts.tolist(), strict=True)):
        good = np.flatnonzero(log.outcomes[begin : begin + n] == ACCEPTED)
        counts[k] = good[0] if len(good) else n
        rows += range(begin, begin + int(counts[k]))
    some = counts > 0
    finish = np.full(int(some.sum()), IN_PROGRESS, dtype=np.int8)
    return TrialLog(log.boards[some], counts[some], log.actions[rows], log.outcomes[rows], finish)


def _first_attempts(log: TrialLog, n: int) -> TrialLog:
    """Return the first attempts of a trial; the last board may be cut, and is then in progress."""
    check_count("max_attempts", n)
    if n >= len(log.actions):
        return log
    ends = np.cumsum(log.n_attempts)
    last = int(np.searchsorted(ends, n))
    counts, finish = log.n_attempts[: last + 1].copy(), log.finish[: last + 1].copy()
    if ends[last] > n:
        counts[last] -= ends[last] - n
        finish[last] = IN_PROGRESS
    return _cut(log, counts, finish)


def _cut(
    log: TrialLog, n_attempts: npt.NDArray[np.int64], finish: npt.NDArray[np.int8]
) -> TrialLog:
    """Return the first boards of a trial, with as many attempts on each as are given."""
    n, rows = len(n_attempts), slice(int(n_attempts.sum()))
    columns = log.boards[:n], n_attempts, log.actions[rows], log.outcomes[rows], finish
    return TrialLog(*columns, only_movable=log.only_movable)


def _without_streak(log: TrialLog) -> int:
    """Return the number of attempts to the first success of the series that ends a trial."""
    failures = np.flatnonzero(log.outcomes != ACCEPTED)
    begin = int(failures[-1]) + 1 if len(failures) else 0
    return begin + 1 if len(log.outcomes) - begin >= TARGET_STREAK else len(log.outcomes)
