"""A model finds hidden rules by attempts: ``inspect eval gohr/hidden_rules``.

A sample is a trial of an experiment, on the same boards as every learner in that trial, and the
engine scores it by replaying its attempts: a log can be compared with a run of the same suite,
boards and seed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import anyio.to_thread
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageSystem, ChatMessageUser
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver

from gohr.board import BoardSpec
from gohr.equivalence import equivalent
from gohr.experiments.config import ExperimentConfig
from gohr.experiments.entries import LearnerEntry, RuleEntry
from gohr.experiments.metrics import score_trial
from gohr.experiments.trial import Trial, trials_of
from gohr.induction.statements import read_statement
from gohr.integrations.words import PROMPT_VERSION, TrialInWords, Turn
from gohr.playing import TrialInPlay, TrialLog
from gohr.rules.catalogue import available_rules, rule_info

#: Why a model stopped, where that makes its answer none.
_NO_ANSWER = ("max_tokens", "model_length", "content_filter")
#: Keys of a sample's store.
_ATTEMPTS, _STATEMENT = "gnomon_attempts", "gnomon_statement"

# -- a dialogue with a model -----------------------------------------------------------------------


def names_in(listed: str | list[str]) -> list[str]:
    """Return names between commas, of which Inspect's command makes a list."""
    return [name.strip() for name in (listed.split(",") if isinstance(listed, str) else listed)]


_MESSAGES: Mapping[str, Callable[..., ChatMessage]] = {
    "system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant
}  # fmt: skip


async def ask(
    state: TaskState, generate: Generate, turns: Iterable[Turn], **options: Any
) -> TaskState:
    """Put a request to the model, and return the state with its answer."""
    state.messages = [_MESSAGES[turn.role](content=turn.text) for turn in turns]
    return await generate(state, **options)


def is_answer(state: TaskState) -> bool:
    """Return whether a model gave an answer that was neither cut off nor refused."""
    return bool(state.output.choices) and state.output.stop_reason not in _NO_ANSWER


# -- the task --------------------------------------------------------------------------------------


@task
def hidden_rules(
    suite: str | list[str] = "gohr-induction",
    boards: int = 20,
    seed: int = 0,
    trials: int = 1,
    horizon: int = 100,
) -> Task:
    """Return the task: find hidden rules by attempts, and state them.

    Parameters
    ----------
    suite : str or list of str
        A suite, a rule, or several of them between commas.
    boards, trials, horizon, seed : int
        Boards per trial (``episodes`` of an experiment), trials per rule, maximum number of
        attempts on a board, and the specification of the boards.

    Examples
    --------
    >>> task = hidden_rules("clockwise,color-match", boards=2, trials=2)
    >>> [sample.id for sample in task.dataset]
    ['clockwise/0', 'color-match/0', 'clockwise/1', 'color-match/1']
    """
    rules = names_in(suite)
    name = ",".join(rules)
    # The boards of a trial do not depend on the learner: any learner can represent the model.
    config = ExperimentConfig(
        name, rules, ["uniform"], trials=trials, episodes=boards, horizon=horizon, seed=seed
    )
    return Task(
        dataset=MemoryDataset([_trial_sample(trial) for trial in trials_of(config)], name=name),
        solver=play(),
        scorer=[errors_to_learn(), tce(), states_rule()],
        version=PROMPT_VERSION,
        # Inspect does not record the direction of scores; readers of the log need it.
        metadata={"lower_is_better": ["errors_to_learn", "tce"]},
    )


def _trial_sample(trial: Trial) -> Sample:
    """Return the sample of a trial, with all that is needed to play it again."""
    rule = trial.rule
    return Sample(
        id=f"{rule.name}/{trial.number}",
        input=f"{trial.episodes} boards under one hidden rule.",
        target=rule.text,
        metadata={
            "rule": rule.name,
            "family": rule_info(rule.name).family if rule.name in available_rules() else "other",
            "trial": trial.number,
            "boards": trial.episodes,
            "horizon": trial.horizon,
            "seed": trial.seed,
            "board": json.dumps(trial.board.record()),
        },
    )


def _trial(state: TaskState) -> Trial:
    """Return the trial of a sample."""
    about = state.metadata
    return Trial(
        LearnerEntry("uniform", "model"),
        RuleEntry(about["rule"], state.target.text),
        about["trial"],
        about["boards"],
        about["horizon"],
        about["seed"],
        BoardSpec(**json.loads(about["board"])),
    )


@solver
def play() -> Solver:
    """Let the model play a trial, then ask it for the rule; its attempts are kept in the store."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        trial = _trial(state)
        game = TrialInWords(_in_play(trial), trial.board)
        actions: list[int] = []
        while not game.over:
            state = await ask(state, generate, game.turns())
            made = game.take(state.output.completion, answered=is_answer(state))
            actions += [] if made is None else [made.action]
            state.store.set(_ATTEMPTS, actions)
            state.metadata["n_unreadable"] = game.n_unreadable
        if not game.given_up:
            state = await ask(state, generate, game.statement_turns())
            state.store.set(_STATEMENT, state.output.completion)
        state.completed = True
        return state

    return solve


def _in_play(trial: Trial) -> TrialInPlay:
    rule = trial.rule.rule_set
    return TrialInPlay(trial.boards(), rule, horizon=trial.horizon, board_spec=trial.board)


def _complete_log(trial: Trial, state: TaskState) -> TrialLog | None:
    """Make the attempts of a sample again; None if boards are left, as after a limit."""
    game = _in_play(trial)
    for action in state.store.get(_ATTEMPTS, []):
        game.attempt(action)
    return game.log() if game.over else None


def _scored(metric: str) -> Scorer:
    """Return a scorer of complete trials; others have no score, with the reason in the log."""

    async def score(state: TaskState, target: Target) -> Score:
        log = _complete_log(_trial(state), state)
        if log is None:
            return Score(value=math.nan, explanation="the trial is not complete")
        value = score_trial(log, metric)
        return Score(value=float(value), answer=f"{int(log.n_attempts.sum())} attempts")

    return score


@scorer(metrics=[mean(), stderr()])
def tce() -> Scorer:
    """Score the terminal cumulated errors of a trial, as `gohr score` does."""
    return _scored("tce")


@scorer(metrics=[mean(), stderr()])
def errors_to_learn() -> Scorer:
    """Score the errors before ten boards without one; infinite if that never came."""
    return _scored("errors_to_learn")


@scorer(metrics=[mean(), stderr()])
def states_rule() -> Scorer:
    """Score 1 if the rule that the model stated is equivalent to the hidden one, else 0."""

    async def score(state: TaskState, target: Target) -> Score:
        said: Any = state.store.get(_STATEMENT)
        if said is None:
            return Score(value=math.nan, explanation="the model was not asked for the rule")
        stated, error = read_statement(said)
        if stated is None:
            return Score(value=0.0, answer=said, explanation=f"not a rule: {error}")
        trial = _trial(state)
        # A search may take seconds, during which other samples should continue.
        same = await anyio.to_thread.run_sync(equivalent, trial.rule.rule_set, stated, trial.board)
        return Score(value=float(same.equivalent), answer=str(stated), explanation=str(same))

    return score
