"""Players that conclude: the built-in learners and the ideal observer, on given evidence."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from gnomon.errors import GnomonError
from gohr.experiments.config.config_entries import LearnerEntry, RuleEntry
from gohr.experiments.config.suites import Suite, load_suite
from gohr.game.board import DEFAULT_SPEC, N_BUCKETS, BoardSpec
from gohr.game.outcomes import ACCEPTED, EPISODE_OVER, STALEMATE
from gohr.induction.conclusions import Conclusion, Grade, grade, plan_of
from gohr.induction.conditions import Kind, evidence, trial_boards
from gohr.induction.outcomes import OWN, Induction, Outcome
from gohr.learners import Ideal, Learner
from gohr.people.mastery import attempts_to_master
from gohr.playing import Observation, TrialInPlay, TrialLog, play
from gohr.rules.parser import parse

if TYPE_CHECKING:
    from gohr.learners.belief import Belief

_Codes = npt.NDArray[np.uint8]


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
    >>> rule = RuleEntry("turn", "(*,*,*,*,1)")
    >>> found = ideal_conclusion(evidence(rule, "random", 2), trial_boards(rule, "test", 1))
    >>> {action % 4 for action in found.plans[0]}
    {1}
    """
    belief = observed(log, board_spec)
    if not len(belief.alive):
        return None
    [(likeliest, _)] = belief.likeliest(1)
    rule = parse(likeliest.text)
    plans = tuple(plan_of(rule, board, board_spec) for board in boards)
    return Conclusion(plans, str(replace(rule, description=())).strip())


def observed(log: TrialLog, board_spec: BoardSpec = DEFAULT_SPEC) -> Belief:
    """Return the belief of an ideal observer after a log.

    Examples
    --------
    >>> rule = RuleEntry("turn", "(*,*,*,*,1)")
    >>> len(observed(evidence(rule, "random", 2)).alive) < 100
    True
    """
    belief, row = Ideal(board_spec, rng=np.random.default_rng(0)).belief, 0
    for board, n, finish in zip(log.boards, log.n_attempts.tolist(), log.finish, strict=True):
        if n:
            belief.begin(board)
        rows = range(row, row := row + n)
        left = np.count_nonzero(board)
        good = [k for k in rows if log.outcomes[k] == ACCEPTED]
        for k in rows:
            if log.outcomes[k] == EPISODE_OVER:
                continue
            left -= log.outcomes[k] == ACCEPTED
            over = left == 0 or (finish == STALEMATE and k == good[-1])
            belief.update(action=int(log.actions[k]), outcome=int(log.outcomes[k]), over=over)
    return belief


def learner_conclusion(
    learner: Learner, rule: RuleEntry, log: TrialLog, boards: _Codes, *, shown: bool = True
) -> Conclusion:
    """Return the plans of a learner: what it would attempt, if each attempt were accepted.

    Parameters
    ----------
    learner : Learner
        At the start of its trial.
    rule : RuleEntry
        The hidden rule, which makes the replies of the evidence again.
    log : TrialLog
        The evidence, which the learner observes attempt by attempt.
    boards : numpy.ndarray of uint8, shape (n_boards, 36)
        The test boards.
    shown : bool
        With False, the learner made the attempts of the log itself and observes nothing.

    Examples
    --------
    >>> import gohr
    >>> rule = RuleEntry("one", "(*,*,*,*,1)")
    >>> learner = gohr.make_learner("tabular_q", gohr.BoardSpec(), rng=np.random.default_rng(0))
    >>> log, tests = evidence(rule, "random", 3), trial_boards(rule, "test", 1)
    >>> found = learner_conclusion(learner, rule, log, tests)
    >>> len(found.plans[0])
    9
    """
    if isinstance(learner, Ideal):
        return ideal_conclusion(log, boards, board_spec=learner.board_spec) or Conclusion(
            (None,) * len(boards)
        )
    if shown:
        _show(learner, rule, log)
    return Conclusion(tuple(_plan(copy.deepcopy(learner), board) for board in boards))


def _show(learner: Learner, rule: RuleEntry, log: TrialLog) -> None:
    """Let a learner observe attempts that another player made."""
    row = 0
    for board, n in zip(log.boards, log.n_attempts.tolist(), strict=True):
        if not n:
            continue
        trial = TrialInPlay(board[None], rule.rule_set, horizon=n, board_spec=learner.board_spec)
        for action in log.actions[row : row + n].tolist():
            learner.act(trial.observation)  # it is asked, as in its own play, and not heard
            learner.observe(trial.attempt(action))
        row += n


def _plan(learner: Learner, board: _Codes) -> list[int]:
    """Return the attempts of a learner that is told nothing, as if each were accepted."""
    codes, last, plan = board.copy(), (0, 0, 0), []
    n_colors = len(learner.board_spec.color_palette)
    while codes.any():
        mask = np.repeat(codes > 0, N_BUCKETS).astype(np.int8)
        action = int(learner.act(Observation(codes.copy(), *last, mask)))
        cell, bucket = divmod(action, N_BUCKETS)
        plan.append(action)
        if not codes[cell]:  # an empty cell: the plan fails here
            break
        shape, color = divmod(int(codes[cell]) - 1, n_colors)
        last = shape + 1, color + 1, bucket + 1
        codes[cell] = 0
    return plan


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

    Examples
    --------
    >>> found = measure(["ideal"], "gohr-paper", n_boards=[1], trials=1)
    >>> [one.solved for one in found][:2]
    [1.0, 1.0]
    """
    from gohr.learners.registry import plays_alone

    chosen = load_suite(suite) if isinstance(suite, str) else suite
    entries = [LearnerEntry(x, x) if isinstance(x, str) else x for x in learners]
    for entry in entries:
        if not plays_alone(entry.kind):
            raise GnomonError(f"learner {entry.name}: expected one that plays without a program")
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
        conclusion = learner_conclusion(learner, rule, log, tests, shown=shown is not None)
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
    """Return the shares of the test boards that an ideal observer solves, NaN outside its space.

    From the evidence given, and from as many attempts of its own.
    """
    n, same = len(log.actions), _ideal_share(rule, log, tests, board_spec)
    if not n or math.isnan(same):
        return same, same
    own = _as_many(rule, n, trial, seed, board_spec)
    return same, _ideal_share(rule, own, tests, board_spec)


def _ideal_share(rule: RuleEntry, log: TrialLog, tests: _Codes, spec: BoardSpec) -> float:
    """Return the share of the test boards that an ideal observer solves; NaN if it has no rule."""
    found = ideal_conclusion(log, tests, board_spec=spec)
    if found is None:
        return math.nan
    return grade(Conclusion(found.plans), rule.rule_set, tests, log, board_spec=spec).solved


def _as_many(rule: RuleEntry, n: int, trial: int, seed: int, spec: BoardSpec) -> TrialLog:
    """Return as many attempts of the ideal tester on the boards of the evidence, and on more."""
    n_boards = math.ceil(n / spec.pieces[0])  # each board takes an attempt for each piece, or more
    return evidence(
        rule, "informative", n_boards, trial=trial, seed=seed, board_spec=spec, max_attempts=n
    )
