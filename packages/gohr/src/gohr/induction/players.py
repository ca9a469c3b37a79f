"""Players that are measured: learners on evidence, each beside what an ideal observer concludes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, cast, get_args

import numpy as np
import numpy.typing as npt

from gnomon.errors import GnomonError, UnknownNameError, check_count, check_word
from gohr.experiments.entries import LearnerEntry, seed_of
from gohr.experiments.suites import Suite, load_suite
from gohr.induction.conclusions import (
    NOT_TESTED,
    Conclusion,
    Grade,
    grade,
    ideal_conclusion,
    learner_conclusion,
)
from gohr.induction.diagnosis import OWN, Induction, Outcome
from gohr.induction.testers import Kind, RuleTrial, evidence
from gohr.learners.registry import available_learners, plays_alone
from gohr.outcomes import ACCEPTED
from gohr.people.mastery import attempts_to_master
from gohr.playing import TrialLog, play

if TYPE_CHECKING:
    from gohr.experiments.runs import Run

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
    for done, (rule, number) in enumerate(product(chosen.entries, range(trials)), start=1):
        trial = RuleTrial(rule, number, seed, chosen.board, chosen.group_of(rule.name))
        tests = trial.boards("test", n_tests)
        for tester, n in product(testers, n_boards):
            seen: TrialLog | _Codes = trial.boards("evidence", n)
            ideal = None
            if tester != OWN:
                seen = evidence(trial, cast(Kind, tester), n)
                ideal = ideal_shares(trial, seen, tests)
            found += [
                _outcome_of_learner(entry, tester, trial, seen, tests, n_boards=n, ideal=ideal)
                for entry in entries
            ]
        if progress is not None:
            progress(done, len(chosen.entries) * trials)
    return Induction(tuple(found), settings={"suite": chosen.full_name, "seed": seed})


def _outcome_of_learner(
    entry: LearnerEntry,
    tester: str,
    trial: RuleTrial,
    seen: TrialLog | _Codes,
    tests: _Codes,
    *,
    n_boards: int,
    ideal: tuple[float, float] | None = None,
    horizon: int = 100,
) -> Outcome:
    """Let a learner observe the attempts of another player, or play boards itself, and conclude."""
    rule, spec = trial.rule, trial.board_spec
    rng = rule.stream(trial.seed, seed_of(entry.hash), trial.number)
    learner = entry.make(spec, rng=rng)
    if isinstance(seen, TrialLog):
        log = seen
    else:
        log = play(seen, learner, rule.rule_set, horizon=horizon, board_spec=spec)
    conclusion = learner_conclusion(learner, rule.rule_set, log, tests, shown=seen is log)
    graded = grade(conclusion, trial, tests, log)
    return outcome_of(entry.name, tester, trial, log, graded, tests, n_boards=n_boards, ideal=ideal)


def outcomes_of_run(run: Run, n_boards: int = 5, *, n_tests: int = 5) -> Induction:
    """Let the learners of a run conclude after the first boards of each trial.

    A learner plays these boards again, and then plans its moves on test boards. It also concludes
    from as many attempts of an ideal observer. For people, and for learners that need another
    program or are shown the rule, only the attempts are compared with those of an observer.

    Parameters
    ----------
    run : Run
        Trials that failed or are not played yet are left out.
    n_boards, n_tests : int
        Boards of each trial, and test boards, at least 1.

    Returns
    -------
    Induction
        An outcome of each trial (tester ``own``), and one from the observer's attempts
        (``informative``) where the learner concludes and the rule is in the observer's space.

    Examples
    --------
    >>> import tempfile
    >>> import gohr
    >>> config = gohr.ExperimentConfig("one", ["clockwise"], ["ideal"], trials=1, episodes=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     own, other = outcomes_of_run(gohr.run(config, folder), 1)
    >>> own.tester, other.tester, own.n_attempts == other.n_attempts
    ('own', 'informative', True)
    """
    check_count("n_boards", n_boards)
    check_count("n_tests", n_tests)
    config = run.config
    entries = {entry.name: entry for entry in config.learners}
    rules = {rule.name: rule for rule in config.rules}
    found = []
    for record, log in run.each([trial for trial in run.trials() if trial.error is None]):
        entry = entries[record.learner]
        trial = RuleTrial(rules[record.rule], record.trial, config.seed, config.board)
        seen, tests = evidence(trial, log, n_boards), trial.boards("test", n_tests)
        n = len(seen.boards)
        if not plays_alone(entry.kind) or entry.is_shown_the_rule:
            found.append(outcome_of(entry.name, OWN, trial, seen, NOT_TESTED, tests, n_boards=n))
            continue
        own = _outcome_of_learner(
            entry, OWN, trial, seen.boards, tests, n_boards=n, horizon=config.horizon
        )
        found.append(own)
        if own.n_attempts and not math.isnan(own.ideal_on_own):
            best, ideal = _best_attempts(trial, own.n_attempts), (own.ideal_on_own,) * 2
            concluded = entry, "informative", trial, best, tests
            found.append(_outcome_of_learner(*concluded, n_boards=0, ideal=ideal))
    return Induction(tuple(found), settings={"seed": config.seed})


def outcome_of(
    player: str,
    tester: str,
    trial: RuleTrial,
    log: TrialLog,
    graded: Grade,
    tests: _Codes,
    *,
    n_boards: int,
    ideal: tuple[float, float] | None = None,
) -> Outcome:
    """Return the outcome of a graded conclusion, beside what an ideal observer concludes.

    The observer is given the same evidence, and evidence of as many attempts that it gathers
    itself. ``ideal`` has its two shares if they are known already.

    Examples
    --------
    >>> import gohr
    >>> trial = RuleTrial(gohr.experiments.RuleEntry("one", "(*,*,*,*,1)"))
    >>> log, tests = evidence(trial, "random", 1), trial.boards("test", 2)
    >>> graded = grade(ideal_conclusion(log, tests), trial, tests, log)
    >>> outcome_of("model", "random", trial, log, graded, tests, n_boards=1).poor_inference
    0.0
    """
    if ideal is None:
        ideal = ideal_shares(trial, log, tests)
    m_star = math.nan
    if tester == OWN:
        m_star = attempts_to_master(log.outcomes == ACCEPTED)
    return Outcome(
        player=player,
        tester=tester,
        rule=trial.rule.name,
        group=trial.group,
        trial=trial.number,
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


def ideal_shares(trial: RuleTrial, log: TrialLog, tests: _Codes) -> tuple[float, float]:
    """Return the shares of test boards that an ideal observer solves, NaN outside its space.

    From the evidence given, and from as many attempts of its own.
    """

    def share(seen: TrialLog) -> float:
        found = ideal_conclusion(seen, tests, board_spec=trial.board_spec)
        if found is None:
            return math.nan
        return grade(Conclusion(found.plans), trial, tests, seen).solved

    n, same = len(log.actions), share(log)
    if not n or math.isnan(same):
        return same, same
    return same, share(_best_attempts(trial, n))


def _best_attempts(trial: RuleTrial, n: int) -> TrialLog:
    """Return the first attempts that an ideal observer makes."""
    n_boards = math.ceil(n / trial.board_spec.pieces[0])  # each piece takes an attempt
    # Fewer boards begin the same evidence, so that a power of two serves most players of a trial.
    n_boards = 1 << (n_boards - 1).bit_length()
    return evidence(trial, _informative(trial, n_boards), n_boards, max_attempts=n)


@lru_cache(maxsize=16)
def _informative(trial: RuleTrial, n_boards: int) -> TrialLog:
    return evidence(trial, "informative", n_boards)
