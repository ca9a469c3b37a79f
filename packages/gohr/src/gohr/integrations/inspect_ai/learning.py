"""A model concludes from evidence what a hidden rule is: ``inspect eval gohr/rule_learning``.

It sees its own attempts or those of another player, states the rule and plans its moves on test
boards without feedback, on the boards of :func:`gohr.induction.measure`.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

import anyio.to_thread
import numpy as np
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import read_eval_log
from inspect_ai.model import ResponseSchema
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import JSONSchema

from gnomon.errors import GnomonError, ScoreDataError, check_word
from gohr.board import BoardSpec
from gohr.experiments.entries import RuleEntry
from gohr.experiments.suites import Suite, load_suite
from gohr.induction.conclusions import Conclusion, grade
from gohr.induction.diagnosis import OWN, Outcome
from gohr.induction.players import outcome_of
from gohr.induction.testers import Kind, RuleTrial, evidence
from gohr.integrations.inspect_ai.discovery import ask, is_answer, names_in
from gohr.integrations.words import (
    AGAIN,
    ANSWER_SCHEMA,
    PROMPT_VERSION,
    Language,
    TrialInWords,
    Turn,
    opening,
    others_words,
    question,
    read_conclusion,
)
from gohr.outcomes import ACCEPTED
from gohr.people.mastery import TARGET_STREAK, attempts_to_master
from gohr.people.transcripts import is_transcript, read_transcripts
from gohr.playing import TrialInPlay, TrialLog

#: Keys of a sample's store.
_ACTIONS, _SAID = "gohr_attempts", "gohr_conclusion"
_HORIZON = 1_000
#: The condition with the attempts of people or of another model, and the columns of a log.
_YOKED = "yoked"
_COLUMNS = {
    "boards": np.uint8, "n_attempts": np.int64, "actions": np.uint8, "outcomes": np.int8,
    "finish": np.int8,
}  # fmt: skip


@task
def rule_learning(
    suite: str = "gohr-basic",
    condition: str | list[str] = "random",
    boards: int = 5,
    test_boards: int = 5,
    trials: int = 10,
    seed: int = 0,
    source: str | None = None,
    with_streak: bool = True,
    language: Language = "full",
    target_streak: int = TARGET_STREAK,
    max_attempts: int = 300,
) -> Task:
    """Return the task: conclude from evidence what the hidden rule is.

    Parameters
    ----------
    suite : str
        A suite of rules.
    condition : str or list of str
        Whose attempts are the evidence: ``random``, ``positive``, ``negative``, ``informative``
        (:func:`gohr.induction.evidence`); ``own``: the model plays until it has `target_streak`
        successes in a row; or ``yoked``: the attempts in `source`.
    boards : int
        Number of boards of evidence; a model that plays itself gets as many as it needs.
    test_boards, trials, seed : int
        Test boards per trial, trials per rule, and the seed of all boards.
    source : str, optional
        For ``yoked``: a log of this task with own play, by any model, or a folder of transcripts of
        people with their boards. Its trials of the rules of the suite are shown, at most `trials`.
    with_streak : bool
        With False, the successes that end the attempts of another player are cut
        (:func:`gohr.induction.evidence`).
    language : {"full", "short"}
        How much of the rule language is explained.
    target_streak, max_attempts : int
        When a model's own play ends.

    Examples
    --------
    >>> task = rule_learning("gohr-paper", "random,own", boards=1, trials=1)
    >>> [sample.id for sample in task.dataset][:2]
    ['color-match/random/0', 'color-match/own/0']
    """
    conditions = names_in(condition)
    for name in conditions:
        check_word("condition", name, (*get_args(Kind), OWN, _YOKED))
    check_word("language", language, get_args(Language))
    if (source is None) == (_YOKED in conditions):
        raise GnomonError("source: expected attempts for the condition 'yoked', and for no other")
    chosen, others = load_suite(suite), {} if source is None else _logs_in(Path(source))
    settings = {
        "boards": boards, "test_boards": test_boards, "seed": seed, "with_streak": with_streak
    }  # fmt: skip
    samples = [
        _sample(chosen, rule, name, trial, settings, others.get((rule.name, trial)))
        for trial in range(trials)
        for rule in chosen.entries
        for name in conditions
        if name != _YOKED or (rule.name, trial) in others
    ]
    return Task(
        dataset=MemoryDataset(samples, name=chosen.full_name),
        solver=[play_until(target_streak, max_attempts), conclude(language)],
        scorer=[graded_tests(), *([mastery(max_attempts)] if OWN in conditions else [])],
        version=PROMPT_VERSION,
        metadata={"lower_is_better": ["mastery"]},
    )


def _logs_in(source: Path) -> dict[tuple[str, int], TrialLog]:
    """Return the attempts of people or models by rule, and number of the trial on it."""
    found: dict[tuple[str, int], TrialLog] = {}
    if any(map(is_transcript, source.glob("*.csv"))):
        met: Counter[str] = Counter()
        for series in read_transcripts(source):
            if not series.boards_known:
                raise ScoreDataError(f"{source}: expected the boards of {series.player}")
            found[series.rule, met[series.rule]] = series.log
            met[series.rule] += 1
        return found
    for sample in read_eval_log(str(source)).samples or ():
        if sample.metadata.get("condition") == OWN:
            about = _About(sample.metadata, str(sample.target), sample.store)
            found[about.trial.rule.name, about.trial.number] = about.evidence()
    return found


def _sample(
    suite: Suite,
    rule: RuleEntry,
    condition: str,
    trial: int,
    settings: Mapping[str, Any],
    log: TrialLog | None,
) -> Sample:
    """Return a sample, with all that is needed to make its boards and evidence again."""
    shown = {}
    if log is not None and condition == _YOKED:
        shown_on = RuleTrial(rule, board_spec=suite.board)
        evidence(shown_on, log, settings["boards"])  # checks the replies
        shown = {"log": {name: getattr(log, name).tolist() for name in _COLUMNS}}
    return Sample(
        id=f"{rule.name}/{condition}/{trial}",
        input=f"Evidence about one hidden rule ({condition}), and test boards.",
        target=rule.text,
        metadata={
            "rule": rule.name,
            "group": suite.group_of(rule.name),
            "condition": condition,
            "trial": trial,
            "board": json.dumps(suite.board.record()),
            **settings,
            **shown,
        },
    )


class _About:
    """The rule, boards and evidence of a sample."""

    def __init__(self, about: Mapping[str, Any], rule: str, store: Any) -> None:
        self.condition, self.n_boards = about["condition"], about["boards"]
        self.spec = BoardSpec(**json.loads(about["board"]))
        entry = RuleEntry(about["rule"], rule)
        self.trial = RuleTrial(entry, about["trial"], about["seed"], self.spec, about["group"])
        self.tests = self.trial.boards("test", about["test_boards"])
        self.actions: list[int] = store.get(_ACTIONS, [])
        self.source = self.condition
        if self.condition == _YOKED:
            columns = (np.array(about["log"][name], kind) for name, kind in _COLUMNS.items())
            self.source = TrialLog(*columns)
        self.with_streak = about["with_streak"]

    @classmethod
    def of(cls, state: TaskState) -> _About:
        return cls(state.metadata, state.target.text, state.store)

    def in_play(self, n_boards: int) -> TrialInPlay:
        boards, rule = self.trial.boards("evidence", n_boards), self.trial.rule.rule_set
        return TrialInPlay(boards, rule, horizon=_HORIZON, board_spec=self.spec)

    def evidence(self) -> TrialLog:
        """Return the attempts that the model saw, or made."""
        if self.condition != OWN:
            return evidence(self.trial, self.source, self.n_boards, with_streak=self.with_streak)
        game = self.in_play(len(self.actions) + 1)
        for action in self.actions:
            game.attempt(action)
        done = game.log()
        return done if len(done.actions) == len(self.actions) else game.log(in_play=True)


@solver
def play_until(target_streak: int, max_attempts: int) -> Solver:
    """Let the model attempt moves until it has `target_streak` successes in a row.

    Samples with the evidence of others pass.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        about = _About.of(state)
        if about.condition != OWN:
            return state
        game = TrialInWords(about.in_play(max_attempts), about.spec)
        actions: list[int] = []
        streak = 0
        while streak < target_streak and len(actions) < max_attempts and not game.given_up:
            state = await ask(state, generate, game.turns())
            made = game.take(state.output.completion, answered=is_answer(state))
            if made is not None:
                actions.append(made.action)
                streak = streak + 1 if made.outcome == ACCEPTED else 0
            state.store.set(_ACTIONS, actions)
        return state

    return solve


@solver
def conclude(language: Language = "full") -> Solver:
    """Ask for the rule and for plans, once more if the answer cannot be read."""
    schema = ResponseSchema(name="conclusion", json_schema=JSONSchema(**ANSWER_SCHEMA))

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        about = _About.of(state)
        told = others_words(about.evidence(), about.spec)
        if about.condition == OWN:
            told = f"These are your attempts.\n\n{told}"
        asked = f"{told}\n\n{question(about.tests, about.spec, language)}"
        turns = [Turn("system", opening(others=about.condition != OWN)), Turn("user", asked)]
        for _ in range(2):
            state = await ask(state, generate, turns, response_schema=schema)
            said = state.output.completion if is_answer(state) else ""
            if read_conclusion(said, len(about.tests)) is not None:
                state.store.set(_SAID, said)
                break
            turns += [Turn("assistant", said or "(no answer)"), Turn("user", AGAIN)]
        state.completed = True
        return state

    return solve


def _outcome(state: TaskState) -> tuple[Outcome, Conclusion, Mapping[str, float]]:
    """Return what a sample is scored by; a missing answer counts as no plan and no rule."""
    about = _About.of(state)
    log = about.evidence()
    said = state.store.get(_SAID, "")
    none = Conclusion((None,) * len(about.tests), "")
    conclusion = read_conclusion(said, len(about.tests)) or none
    graded = grade(conclusion, about.trial, about.tests, log)
    n_boards = 0 if about.condition == OWN else about.n_boards
    outcome = outcome_of(
        "model", about.condition, about.trial, log, graded, about.tests, n_boards=n_boards
    )
    values = {
        "solved": graded.solved,
        "prefix": graded.prefix,
        "states_rule": graded.states_rule,
        "foretells": 0.0 if math.isnan(graded.foretells) else graded.foretells,
        "foretells_random": graded.foretells_random,
        "self_consistent": 0.0 if math.isnan(graded.self_consistent) else graded.self_consistent,
        "ideal": outcome.ideal_on_same,
    }
    return outcome, conclusion, values


@scorer(metrics={"*": [mean(), stderr(cluster="rule")]})
def graded_tests() -> Scorer:
    """Score the plans and the stated rule, beside what an ideal observer solves (``ideal``)."""

    async def score(state: TaskState, target: Target) -> Score:
        # Equivalence is searched for, which may take seconds.
        outcome, conclusion, values = await anyio.to_thread.run_sync(_outcome, state)
        record = {name: _for_json(value) for name, value in asdict(outcome).items()}
        return Score(
            value={**values},
            answer=conclusion.statement,
            explanation=conclusion.words,
            metadata={"outcome": record},
        )

    return score


def _for_json(value: Any) -> Any:
    """Return a number as every reader of JSON takes it."""
    if not isinstance(value, float) or math.isfinite(value):
        return value
    return None if math.isnan(value) else "inf"


@scorer(metrics=[mean(), stderr(cluster="rule")])
def mastery(max_attempts: int) -> Scorer:
    """Score the attempts before the first streak of a model's own play, at most the limit.

    A model that never gets there, or gives up, scores the limit, so that no mean is infinite and
    giving up never pays; the metadata say whether it is a lower bound.
    """

    async def score(state: TaskState, target: Target) -> Score:
        if state.metadata["condition"] != OWN:
            return Score.unscored(reason="the attempts are of another player")
        outcomes = _About.of(state).evidence().outcomes
        m_star = attempts_to_master(outcomes == ACCEPTED)
        return Score(
            value=min(m_star, float(max_attempts)),
            answer=f"{len(outcomes)} attempts",
            metadata={"mastered": math.isfinite(m_star)},
        )

    return score
