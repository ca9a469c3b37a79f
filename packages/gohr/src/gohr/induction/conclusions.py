"""Conclusions about a hidden rule: plans for test boards and a statement of the rule, graded.

Learners conclude as they would play, and an ideal observer from the rules that are still possible.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from gnomon.results import FieldRecord
from gohr.board import DEFAULT_SPEC, N_BUCKETS, N_CELLS, BoardSpec, draw_boards
from gohr.equivalence import equivalent
from gohr.induction.statements import foretells, read_statement
from gohr.induction.testers import RandomTester, RuleTrial
from gohr.learners import Ideal, Learner
from gohr.outcomes import ACCEPTED, STALEMATE
from gohr.playing import Observation, SeenBoard, Transition, TrialInPlay, TrialLog, play
from gohr.replays import replay
from gohr.rules.parser import parse
from gohr.rules.syntax import RuleSet

_Codes: TypeAlias = npt.NDArray[np.uint8]

#: The attempts proposed for a board, ``4 * cell + bucket`` each; None if there is no plan.
Plan: TypeAlias = Sequence[int] | None
#: Boards on which a stated rule is tried beside those of the evidence.
_N_RANDOM = 100


@dataclass(frozen=True)
class Conclusion:
    """A player's conclusion from evidence.

    Parameters
    ----------
    plans : tuple of (sequence of int or None)
        For each test board the attempts that should clear it, ``4 * cell + bucket``.
    statement : str or None
        The rule in the rule language, alone or as the last block of code; None if none is given.
    words : str or None
        The rule in English. It is kept and not graded.
    """

    plans: tuple[Plan, ...]
    statement: str | None = None
    words: str | None = None


@dataclass(frozen=True)
class Grade(FieldRecord):
    """Grades of a conclusion.

    Parameters
    ----------
    n_boards : int
        Number of test boards: a missing plan counts as unsolved.
    n_solved : int
        Boards that their plan clears without an error. A plan with more or fewer attempts than the
        board has pieces is unsolved.
    prefix : float
        Share of a board's pieces that the plan moves before its first error, the mean over boards.
    states_rule : float
        1 if the statement is equivalent to the hidden rule, 0 if it is another rule or none; NaN
        where no statement was wanted.
    foretells : float
        Share of the replies in the evidence that the stated rule predicts (:func:`foretells`); 0
        for a text that is not a rule, NaN without a statement.
    foretells_random : float
        The same for the attempts of a random player on a hundred boards.
    self_consistent : float
        Share of the plans that clear their board under the player's own statement.
    stuck : float
        Share of a hundred random boards on which the stated rule, played by itself, gets stuck.
    """

    n_boards: int
    n_solved: int
    prefix: float
    states_rule: float
    foretells: float
    foretells_random: float
    self_consistent: float
    stuck: float

    @property
    def solved(self) -> float:
        """Share of the test boards that are solved; NaN if there were none."""
        return self.n_solved / self.n_boards if self.n_boards else math.nan


#: The grade of a player that was not asked for a conclusion.
NOT_TESTED = Grade(0, 0, *(math.nan,) * 6)


def grade(conclusion: Conclusion, trial: RuleTrial, boards: _Codes, log: TrialLog) -> Grade:
    """Grade a conclusion against the hidden rule.

    Parameters
    ----------
    conclusion : Conclusion
        Further plans than there are test boards are ignored.
    trial : RuleTrial
        Has the hidden rule, and the seed of the random boards on which the statement is tried.
    boards : numpy.ndarray of uint8, shape (n_boards, 36)
        The test boards, at least one.
    log : TrialLog
        The evidence.

    Returns
    -------
    Grade

    Examples
    --------
    >>> import gohr
    >>> from gohr.induction import evidence
    >>> trial = RuleTrial(gohr.experiments.RuleEntry.named("nearby"))
    >>> log, boards = evidence(trial, "random", 2), trial.boards("test", 2)
    >>> found = grade(Conclusion((), "(*,*,*,*,Nearby)"), trial, boards, log)
    >>> found.n_solved, found.states_rule, found.foretells
    (0, 1.0, 1.0)
    """
    rule, board_spec = trial.rule.rule_set, trial.board_spec
    plans = [*conclusion.plans[: len(boards)], *[None] * (len(boards) - len(conclusion.plans))]
    asked = list(zip(plans, boards, strict=True))
    solved = sum(_clears(plan, board, rule, board_spec) for plan, board in asked)
    runs = [
        _accepted_run(plan, board, rule, board_spec) / np.count_nonzero(board)
        for plan, board in asked
    ]
    done = len(boards), solved, float(np.mean(runs))
    if conclusion.statement is None:
        return Grade(*done, *(math.nan,) * 5)
    stated, _ = read_statement(conclusion.statement)
    if stated is None:
        return Grade(*done, 0.0, 0.0, 0.0, math.nan, math.nan)
    rng = np.random.default_rng(trial.seed)
    drawn = draw_boards(_N_RANDOM, board_spec, rng=rng)
    others = play(drawn, RandomTester(rng), rule, board_spec=board_spec)
    alone = play(drawn, _FirstPermitted(), stated, board_spec=board_spec)
    return Grade(
        *done,
        states_rule=float(bool(equivalent(rule, stated, board_spec))),
        foretells=foretells(stated, log, board_spec=board_spec),
        foretells_random=foretells(stated, others, board_spec=board_spec),
        self_consistent=float(np.mean([_clears(*one, stated, board_spec) for one in asked])),
        stuck=float((alone.finish == STALEMATE).mean()),
    )


def _accepted_run(plan: Plan, board: _Codes, rule: RuleSet, spec: BoardSpec) -> int:
    """Return the number of attempts of a plan that are accepted before its first error."""
    if not plan or not all(0 <= action < N_CELLS * N_BUCKETS for action in plan):
        return 0
    rows = np.array([len(plan)]), np.array(plan)
    errors = np.flatnonzero(replay(board[None], *rows, rule, board_spec=spec).outcomes != ACCEPTED)
    return int(errors[0]) if len(errors) else len(plan)


def _clears(plan: Plan, board: _Codes, rule: RuleSet, spec: BoardSpec) -> bool:
    """Return whether a plan clears a board without an error, and has no further attempts."""
    n = int(np.count_nonzero(board))
    return plan is not None and len(plan) == n == _accepted_run(plan, board, rule, spec)


class _FirstPermitted:
    """A player that knows the rule."""

    reveal = True

    def act(self, observation: Observation) -> int:
        assert observation.permitted is not None
        return int(observation.permitted.argmax())

    def observe(self, made: Transition) -> None:
        """Learn nothing."""


def ideal_conclusion(
    log: TrialLog, boards: _Codes, *, board_spec: BoardSpec = DEFAULT_SPEC
) -> Conclusion | None:
    """Return what an ideal observer concludes from evidence: its most probable rule, and its plans.

    Parameters
    ----------
    log : TrialLog
        The evidence.
    boards : numpy.ndarray of uint8, shape (n_boards, 36)
        The test boards.
    board_spec : BoardSpec
        At most four shapes and four colours in the palettes.

    Returns
    -------
    Conclusion or None
        None if no rule of the observer's space (:class:`gohr.learners.Ideal`) agrees with the
        evidence.

    Examples
    --------
    >>> import gohr
    >>> rule, boards = gohr.parse("(*,*,*,*,1)"), gohr.draw_boards(3)
    >>> log = gohr.play(boards, gohr.make_learner("frugal", gohr.BoardSpec()), rule)
    >>> {action % 4 for action in ideal_conclusion(log, boards).plans[0]}
    {1}
    """
    belief = Ideal(board_spec).belief
    for row, _, over in belief.follow(log):
        action, outcome = int(log.actions[row]), int(log.outcomes[row])
        belief.update(action=action, outcome=outcome, over=over)
    if belief.likeliest is None:
        return None
    rule = parse(belief.likeliest.text)
    plans = [
        play(board[None], _FirstPermitted(), rule, board_spec=board_spec).actions
        for board in boards
    ]
    text = str(replace(rule, description=())).strip()
    return Conclusion(tuple(tuple(plan.tolist()) for plan in plans), text)


def learner_conclusion(
    learner: Learner, rule: RuleSet, log: TrialLog, boards: _Codes, *, shown: bool
) -> Conclusion:
    """Return the plans of a learner: what it would attempt, if each attempt were accepted.

    It is at the start of its trial and observes the evidence first, if it is ``shown``; else it
    made these attempts itself.
    """
    if isinstance(learner, Ideal):
        found = ideal_conclusion(log, boards, board_spec=learner.board_spec)
        return found or Conclusion((None,) * len(boards))
    row = 0
    for board, n in zip(log.boards, log.n_attempts.tolist() if shown else (), strict=shown):
        if n:
            trial = TrialInPlay(board[None], rule, horizon=n, board_spec=learner.board_spec)
        for action in log.actions[row : (row := row + n)].tolist():
            learner.act(trial.observation)  # it is asked, as in its own play, and not heard
            learner.observe(trial.attempt(action))
    return Conclusion(tuple(_plan(copy.deepcopy(learner), board) for board in boards))


def _plan(learner: Learner, board: _Codes) -> list[int]:
    """Return the attempts of a learner that gets no replies, as if each were accepted."""
    seen, plan = SeenBoard(board, learner.board_spec), []
    while (observation := seen.observation()).board.any():
        action = int(learner.act(observation))
        plan.append(action)
        if not observation.board[action // N_BUCKETS]:  # an empty cell: the plan fails here
            break
        seen.attempted(action, ACCEPTED)
    return plan
