"""Players that are measured: learners on evidence, each beside what an ideal observer concludes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import product
from typing import Any, cast, get_args

import numpy as np
import numpy.typing as npt

from gnomon.errors import GnomonError, UnknownNameError, check_word
from gohr.board import DEFAULT_SPEC, BoardSpec
from gohr.experiments.entries import LearnerEntry, RuleEntry
from gohr.experiments.suites import Suite, load_suite
from gohr.induction.conclusions import (
    Conclusion,
    Grade,
    grade,
    ideal_conclusion,
    learner_conclusion,
)
from gohr.induction.conditions import Kind, evidence, trial_boards
from gohr.induction.outcomes import OWN, Induction, Outcome
from gohr.learners.registry import available_learners, plays_alone
from gohr.outcomes import ACCEPTED
from gohr.people.mastery import attempts_to_master
from gohr.playing import TrialLog, play

_Codes = npt.NDArray[np.uint8]


def measure(
    learners: Iterable[str | LearnerEntry] = ("uniform", "tabular_q", "ideal"),
    suite: str | Suite = "gohr-basic",
    testers: Sequence[str] = ("random",),
    *,
    n_boards: Sequence[int] = (1, 2, 3, 5, 10),
    n_tests: int = 5,
    trials: int = 10,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Induction:
    """Let learners conclude from evidence, and grade their conclusions.

    Parameters
    ----------
    learners : iterable of str or LearnerEntry
        Learners of :func:`gohr.available_learners` that need no other program.
    suite : str or Suite
        The rules, with their boards.
    testers : sequence of str
        Whose attempts are the evidence: ``own`` for the learner's own, or a source of
        :func:`~gohr.induction.evidence`.
    n_boards : sequence of int
        Numbers of boards of evidence.
    n_tests : int
        Number of test boards.
    trials, seed : int
        Repetitions on each rule, on new boards.
    progress : callable, optional
        Called with the numbers of trials that are done and of all.

    Returns
    -------
    Induction
        One outcome for each learner, tester, number of boards, rule and trial.

    Raises
    ------
    GnomonError
        If a learner needs another program, which cannot be asked for plans.
    UnknownNameError
        If a learner or a tester does not exist.

    Examples
    --------
    >>> found = measure(["ideal"], "gohr-paper", n_boards=[1], trials=1)
    >>> [one.solved for one in found][:2]
    [1.0, 1.0]
    """
    chosen = load_suite(suite) if isinstance(suite, str) else suite
    entries = [LearnerEntry(x, x) if isinstance(x, str) else x for x in learners]
    for entry in entries:
        if plays_alone(entry.kind):
            continue
        if ":" not in entry.kind and entry.kind not in available_learners():
            raise UnknownNameError("learner", entry.kind, filter(plays_alone, available_learners()))
        raise GnomonError(
            f"learner {entry.name}: expected one of Gnomon that plays without a program"
        )
    for tester in testers:
        check_word("tester", tester, (OWN, *get_args(Kind)))
    found: list[Outcome] = []
    for done, (rule, trial) in enumerate(product(chosen.entries, range(trials)), start=1):
        for tester, n in product(testers, n_boards):
            found += _of_trial(entries, chosen, rule, trial, tester, n, n_tests, seed)
        if progress is not None:
            progress(done, len(chosen.entries) * trials)
    return Induction(tuple(found), settings={"suite": chosen.full_name, "seed": seed})


def _of_trial(
    entries: Sequence[LearnerEntry],
    suite: Suite,
    rule: RuleEntry,
    trial: int,
    tester: str,
    n_boards: int,
    n_tests: int,
    seed: int,
) -> Iterable[Outcome]:
    drawn: dict[str, Any] = {"trial": trial, "seed": seed, "board_spec": suite.board}
    tests = trial_boards(rule, "test", n_tests, **drawn)
    shown = ideal = None
    if tester != OWN:
        shown = evidence(rule, cast(Kind, tester), n_boards, **drawn)
        ideal = ideal_shares(rule, shown, tests, **drawn)
    words = [int(x[:32], 16) for x in (rule.hash, *(entry.hash for entry in entries))]
    for entry, word in zip(entries, words[1:], strict=True):
        rng = np.random.default_rng([seed, words[0], word, trial])
        learner = entry.make(suite.board, rng=rng)
        log = shown
        if log is None:
            boards = trial_boards(rule, "evidence", n_boards, **drawn)
            log = play(boards, learner, rule.rule_set, board_spec=suite.board)
        conclusion = learner_conclusion(learner, rule.rule_set, log, tests, shown=shown is not None)
        graded = grade(conclusion, rule.rule_set, tests, log, board_spec=suite.board)
        about = entry.name, tester, rule, log, graded, tests
        group = suite.group_of(rule.name)
        yield outcome_of(*about, n_boards=n_boards, group=group, ideal=ideal, **drawn)


def outcome_of(
    player: str,
    tester: str,
    rule: RuleEntry,
    log: TrialLog,
    graded: Grade,
    tests: _Codes,
    *,
    n_boards: int,
    group: str = "",
    trial: int = 0,
    seed: int = 0,
    board_spec: BoardSpec = DEFAULT_SPEC,
    ideal: tuple[float, float] | None = None,
) -> Outcome:
    """Return the outcome of a graded conclusion, beside what an ideal observer concludes.

    The observer is given the same evidence, and evidence of as many attempts that it gathers
    itself. ``ideal`` has its two shares if they are known already.

    Examples
    --------
    >>> rule = RuleEntry("one", "(*,*,*,*,1)")
    >>> log, tests = evidence(rule, "random", 1), trial_boards(rule, "test", 2)
    >>> graded = grade(ideal_conclusion(log, tests), rule.rule_set, tests, log)
    >>> outcome_of("model", "random", rule, log, graded, tests, n_boards=1).poor_inference
    0.0
    """
    if ideal is None:
        ideal = ideal_shares(rule, log, tests, trial=trial, seed=seed, board_spec=board_spec)
    m_star = math.nan
    if tester == OWN:
        m_star = attempts_to_master(log.outcomes == ACCEPTED)
    return Outcome(
        player=player,
        tester=tester,
        rule=rule.name,
        group=group,
        trial=trial,
        n_boards=n_boards,
        n_attempts=len(log.actions),
        n_tests=graded.n_boards,
        n_solved=graded.n_solved,
        prefix=graded.prefix,
        m_star=m_star,
        states_rule=graded.states_rule,
        foretells=graded.foretells,
        ideal_on_same=ideal[0],
        ideal_on_own=ideal[1],
    )


def ideal_shares(
    rule: RuleEntry,
    log: TrialLog,
    tests: _Codes,
    *,
    trial: int = 0,
    seed: int = 0,
    board_spec: BoardSpec = DEFAULT_SPEC,
) -> tuple[float, float]:
    """Return the shares of test boards that an ideal observer solves, NaN outside its space.

    From the evidence given, and from as many attempts of its own.
    """

    def share(seen: TrialLog) -> float:
        found = ideal_conclusion(seen, tests, board_spec=board_spec)
        if found is None:
            return math.nan
        plans = Conclusion(found.plans)
        return grade(plans, rule.rule_set, tests, seen, board_spec=board_spec).solved

    n, same = len(log.actions), share(log)
    if not n or math.isnan(same):
        return same, same
    n_boards = math.ceil(n / board_spec.pieces[0])  # a board takes an attempt for each piece
    drawn: dict[str, Any] = {"trial": trial, "seed": seed, "board_spec": board_spec}
    # Fewer boards begin the same evidence, so that a power of two serves most players of a trial.
    n_boards = 1 << (n_boards - 1).bit_length()
    best = _informative(rule, n_boards, **drawn)
    return same, share(evidence(rule, best, n_boards, max_attempts=n, **drawn))


@lru_cache(maxsize=16)
def _informative(rule: RuleEntry, n_boards: int, **drawn: Any) -> TrialLog:
    return evidence(rule, "informative", n_boards, **drawn)
