"""Players that are measured: learners on evidence, each beside what an ideal observer concludes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any, cast, get_args

import numpy as np
import numpy.typing as npt

from gnomon.errors import GnomonError, UnknownNameError, check_count, check_word
from gohr.board import DEFAULT_SPEC, BoardSpec
from gohr.experiments.entries import LearnerEntry, RuleEntry
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
from gohr.induction.testers import Kind, evidence, trial_boards
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
    for done, (rule, trial) in enumerate(product(chosen.entries, range(trials)), start=1):
        drawn: dict[str, Any] = {"trial": trial, "seed": seed, "board_spec": chosen.board}
        tests = trial_boards(rule, "test", n_tests, **drawn)
        about = {"group": chosen.group_of(rule.name), **drawn}
        for tester, n in product(testers, n_boards):
            if tester == OWN:
                seen: TrialLog | _Codes = trial_boards(rule, "evidence", n, **drawn)
            else:
                seen = evidence(rule, cast(Kind, tester), n, **drawn)
                about["ideal"] = ideal_shares(rule, seen, tests, **drawn)
            found += [
                _outcome_of_learner(entry, tester, rule, seen, tests, n_boards=n, **about)
                for entry in entries
            ]
            about["ideal"] = None
        if progress is not None:
            progress(done, len(chosen.entries) * trials)
    return Induction(tuple(found), settings={"suite": chosen.full_name, "seed": seed})


def _outcome_of_learner(
    entry: LearnerEntry,
    tester: str,
    rule: RuleEntry,
    seen: TrialLog | _Codes,
    tests: _Codes,
    *,
    horizon: int = 100,
    **about: Any,
) -> Outcome:
    """Let a learner observe the attempts of another player, or play boards itself, and conclude."""
    spec = about["board_spec"]
    words = [int(x[:32], 16) for x in (rule.hash, entry.hash)]
    rng = np.random.default_rng([about["seed"], *words, about["trial"]])
    learner = entry.make(spec, rng=rng)
    if isinstance(seen, TrialLog):
        log = seen
    else:
        log = play(seen, learner, rule.rule_set, horizon=horizon, board_spec=spec)
    conclusion = learner_conclusion(learner, rule.rule_set, log, tests, shown=seen is log)
    graded = grade(conclusion, rule.rule_set, tests, log, board_spec=spec)
    return outcome_of(entry.name, tester, rule, log, graded, tests, **about)


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
        entry, rule = entries[record.learner], rules[record.rule]
        drawn: dict[str, Any] = {"trial": record.trial, "seed": config.seed}
        drawn["board_spec"] = config.board
        seen = evidence(rule, log, n_boards, board_spec=config.board)
        tests = trial_boards(rule, "test", n_tests, **drawn)
        about = drawn | {"n_boards": len(seen.boards)}
        if not plays_alone(entry.kind) or entry.is_shown_the_rule:
            found.append(outcome_of(entry.name, OWN, rule, seen, NOT_TESTED, tests, **about))
            continue
        about["horizon"] = config.horizon
        own = _outcome_of_learner(entry, OWN, rule, seen.boards, tests, **about)
        found.append(own)
        if own.n_attempts and not math.isnan(own.ideal_on_own):
            best = _best_attempts(rule, own.n_attempts, **drawn)
            about |= {"n_boards": 0, "ideal": (own.ideal_on_own, own.ideal_on_own)}
            found.append(_outcome_of_learner(entry, "informative", rule, best, tests, **about))
    return Induction(tuple(found), settings={"seed": config.seed})


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
    return same, share(_best_attempts(rule, n, trial=trial, seed=seed, board_spec=board_spec))


def _best_attempts(rule: RuleEntry, n: int, **drawn: Any) -> TrialLog:
    """Return the first attempts that an ideal observer makes."""
    n_boards = math.ceil(n / drawn["board_spec"].pieces[0])  # each piece takes an attempt
    # Fewer boards begin the same evidence, so that a power of two serves most players of a trial.
    n_boards = 1 << (n_boards - 1).bit_length()
    best = _informative(rule, n_boards, **drawn)
    return evidence(rule, best, n_boards, max_attempts=n, **drawn)


@lru_cache(maxsize=16)
def _informative(rule: RuleEntry, n_boards: int, **drawn: Any) -> TrialLog:
    return evidence(rule, "informative", n_boards, **drawn)
