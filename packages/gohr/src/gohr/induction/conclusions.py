"""Conclusions about a hidden rule: plans for test boards, and a statement of the rule; graded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from gnomon.results import FieldRecord
from gohr.experiments.stated_rules import read_statement
from gohr.game.board import DEFAULT_SPEC, N_BUCKETS, N_CELLS, Board, BoardSpec, draw_boards
from gohr.game.equivalence import equivalent
from gohr.game.outcomes import ACCEPTED, DENIED, IMMOVABLE, STALEMATE
from gohr.game.reference import ReferenceGame
from gohr.induction.conditions import RandomTester
from gohr.playing import Observation, Transition, TrialLog, play, replay
from gohr.rules.syntax import RuleSet

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

    Examples
    --------
    >>> Conclusion(((0, 4), None), "(*,*,*,*,0)").plans[0]
    (0, 4)
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

    Examples
    --------
    >>> Grade(5, 4, 0.9, 1.0, 1.0, 1.0, 1.0, 0.0).solved
    0.8
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
        """Share of the test boards that are solved."""
        return self.n_solved / self.n_boards


def grade(
    conclusion: Conclusion,
    rule: RuleSet,
    boards: npt.NDArray[np.uint8],
    log: TrialLog,
    *,
    board_spec: BoardSpec = DEFAULT_SPEC,
    seed: int = 0,
) -> Grade:
    """Grade a conclusion against the hidden rule.

    Parameters
    ----------
    conclusion : Conclusion
        Further plans than there are test boards are ignored.
    rule : RuleSet
        The hidden rule.
    boards : numpy.ndarray of uint8, shape (n_boards, 36)
        The test boards, at least one.
    log : TrialLog
        The evidence.
    board_spec : BoardSpec
    seed : int
        Seed of the random boards on which the statement is tried.

    Returns
    -------
    Grade

    Examples
    --------
    >>> import gohr
    >>> rule = gohr.load_rule("nearby")
    >>> rng = np.random.default_rng(0)
    >>> boards = gohr.draw_boards(2, rng=rng)
    >>> log = gohr.play(boards, gohr.make_learner("uniform", gohr.BoardSpec(), rng=rng), rule)
    >>> plan = plan_of(rule, boards[0])
    >>> found = grade(Conclusion((plan,), "(*,*,*,*,Nearby)"), rule, boards, log)
    >>> found.n_solved, found.states_rule, found.foretells
    (1, 1.0, 1.0)
    """
    plans = [*conclusion.plans[: len(boards)], *[None] * (len(boards) - len(conclusion.plans))]
    runs = [
        accepted_run(plan, board, rule, board_spec)
        for plan, board in zip(plans, boards, strict=True)
    ]
    n_pieces = np.count_nonzero(boards, axis=1).tolist()
    solved = [
        plan is not None and len(plan) == run == n
        for plan, run, n in zip(plans, runs, n_pieces, strict=True)
    ]
    prefix = float(np.mean([run / n for run, n in zip(runs, n_pieces, strict=True)]))
    stated = _stated(conclusion, rule, plans, boards, log, board_spec, seed)
    return Grade(len(boards), sum(solved), prefix, *stated)


def _stated(
    conclusion: Conclusion,
    rule: RuleSet,
    plans: Sequence[Plan],
    boards: npt.NDArray[np.uint8],
    log: TrialLog,
    spec: BoardSpec,
    seed: int,
) -> tuple[float, float, float, float, float]:
    if conclusion.statement is None:
        return (math.nan,) * 5
    stated, _ = read_statement(conclusion.statement)
    if stated is None:
        return 0.0, 0.0, 0.0, math.nan, math.nan
    same = float(bool(equivalent(rule, stated, spec)))
    rng = np.random.default_rng(seed)
    random_boards = draw_boards(_N_RANDOM, spec, rng=rng)
    others = play(random_boards, RandomTester(rng), rule, board_spec=spec)
    own = [
        plan is not None
        and len(plan) == accepted_run(plan, board, stated, spec) == np.count_nonzero(board)
        for plan, board in zip(plans, boards, strict=True)
    ]
    seen, random = (foretells(stated, one, board_spec=spec) for one in (log, others))
    alone = play(random_boards, _FirstPermitted(), stated, board_spec=spec)
    return same, seen, random, float(np.mean(own)), float((alone.finish == STALEMATE).mean())


def accepted_run(
    plan: Plan, board: npt.NDArray[np.uint8], rule: RuleSet, board_spec: BoardSpec = DEFAULT_SPEC
) -> int:
    """Return the number of attempts of a plan that are accepted before its first error.

    Examples
    --------
    >>> import gohr
    >>> board = np.eye(1, 36, 7, dtype=np.uint8)[0]
    >>> accepted_run([4 * 7 + 1], board, gohr.parse("(*,*,*,*,1)"))
    1
    """
    if not plan or not all(0 <= action < N_CELLS * N_BUCKETS for action in plan):
        return 0
    made = replay(
        board[None], np.array([len(plan)]), np.array(plan), rule, board_spec=board_spec
    ).outcomes
    errors = np.flatnonzero(made != ACCEPTED)
    return int(errors[0]) if len(errors) else len(made)


def plan_of(
    rule: RuleSet, board: npt.NDArray[np.uint8], board_spec: BoardSpec = DEFAULT_SPEC
) -> list[int]:
    """Return a plan that clears a board under a rule, as far as the rule gets.

    Of the attempts that the rule accepts, the first is taken each time.

    Examples
    --------
    >>> import gohr
    >>> board = np.eye(1, 36, 7, dtype=np.uint8)[0]
    >>> plan_of(gohr.parse("(*,*,*,*,1)"), board)
    [29]
    """
    log = play(board[None], _FirstPermitted(), rule, board_spec=board_spec)
    return [int(action) for action in log.actions]


class _FirstPermitted:
    """A player that knows the rule."""

    reveal = True

    def act(self, observation: Observation) -> int:
        assert observation.permitted is not None
        return int(observation.permitted.argmax())

    def observe(self, made: Transition) -> None:
        """Learn nothing."""


def foretells(stated: RuleSet, log: TrialLog, *, board_spec: BoardSpec = DEFAULT_SPEC) -> float:
    """Return the share of the replies of a trial that a stated rule predicts.

    Each attempt is put to the stated rule on the true board, with the memory of the moves that
    were really accepted before: accepted, denied or immovable must be the reply. A move that was
    accepted is carried out in any case, and where the stated rule would have refused it, none of
    its counters runs down. So one wrong prediction does not make the following ones wrong.

    Parameters
    ----------
    stated : RuleSet
    log : TrialLog
        Any player's trial on the hidden rule. Attempts on empty cells, and after the end of a
        board, are not counted.
    board_spec : BoardSpec

    Returns
    -------
    float
        From 0 to 1; NaN if there are no attempts.

    Examples
    --------
    >>> import gohr
    >>> rng, rule = np.random.default_rng(0), gohr.load_rule("clockwise")
    >>> boards = gohr.draw_boards(3, rng=rng)
    >>> log = gohr.play(boards, gohr.make_learner("frugal", gohr.BoardSpec(), rng=rng), rule)
    >>> foretells(rule, log), foretells(gohr.load_rule("anything-goes"), log) < 0.5
    (1.0, True)
    """
    n_right = n = row = 0
    for board, n_attempts in zip(log.boards, log.n_attempts.tolist(), strict=True):
        game = ReferenceGame(stated, Board.from_codes(board.tolist(), board_spec))
        at = {piece.pos - 1: piece.id for piece in game.pieces}
        movable = game.legal_moves()
        for action, outcome in zip(
            log.actions[row : row + n_attempts].tolist(),
            log.outcomes[row : row + n_attempts].tolist(),
            strict=True,
        ):
            if outcome not in (ACCEPTED, DENIED, IMMOVABLE):
                continue
            cell, bucket = divmod(action, N_BUCKETS)
            if (at[cell], bucket) in movable:
                foretold = ACCEPTED
            else:
                foretold = DENIED if any(i == at[cell] for i, _ in movable) else IMMOVABLE
            n, n_right = n + 1, n_right + (foretold == outcome)
            if outcome == ACCEPTED:
                game.follow(at[cell], bucket)
                movable = game.legal_moves()
        row += n_attempts
    return n_right / n if n else math.nan
