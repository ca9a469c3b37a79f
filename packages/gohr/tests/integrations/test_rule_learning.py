"""The task gohr/rule_learning in Inspect: mock models, whose answers are known."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("inspect_ai", reason="inspect_ai is not installed")

from inspect_ai import eval as evaluate
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from gnomon.errors import GnomonError
from gohr import Board, BoardSpec, Piece, make_learner, play
from gohr.experiments import RuleEntry, load_suite
from gohr.induction import RuleTrial, evidence, ideal_conclusion, read_outcomes
from gohr.integrations.inspect_ai import rule_learning
from gohr.people import Game, PlayedGame, PlaySession, transcript_text

# What Inspect and its own dependencies warn of is not ours.
pytestmark = pytest.mark.filterwarnings("default")


def answered(words="", rule="", plans=()):
    moves = [[[a // 4 % 6 + 1, a // 24 + 1, a % 4] for a in plan] for plan in plans]
    return json.dumps(
        {"words": words, "rule": rule, "plans": dict(zip("ABCDE", moves, strict=False))}
    )


def plan_of(rule, board):
    perfect = make_learner("rule_player", BoardSpec())
    return play(board[None], perfect, rule.rule_set).actions.tolist()


def knows(sample, _):
    """Answer with the hidden rule and plans that follow it."""
    rule = hidden(sample)
    plans = [plan_of(rule, board) for board in boards_of(sample)]
    return answered("I know.", rule.text, plans)


def infers(sample, _):
    """Answer as an ideal observer of the evidence."""
    about = sample.metadata
    log = evidence(trial_of(sample), about["condition"], about["boards"])
    found = ideal_conclusion(log, boards_of(sample))
    return answered("", found.statement, found.plans)


def plans_too_long(sample, _):
    rule = hidden(sample)
    plans = [plan_of(rule, board) for board in boards_of(sample)]
    return answered("", "(*,*,*,*,0)", [[*plan, plan[-1]] for plan in plans[:4]])


def chats(sample, _):
    return "I think that it is about colors."


def plays(sample, messages):
    if "Your move?" not in messages[-1].text:
        return knows(sample, messages)
    shown = messages[-1].text.rpartition("now holds:")[2]
    column, row = re.search(r"column (\d), row (\d)", shown).groups()
    return f"MOVE {column} {row} 3"


def masters(sample, messages):
    """Follow the hidden rule, as if each move were the first; right for rules without memory."""
    if "Your move?" not in messages[-1].text:
        return knows(sample, messages)
    shown = messages[-1].text.rpartition("now holds:")[2]
    pieces = [
        Piece(i, 6 * int(row) - 6 + int(column), shape.upper(), color.upper())
        for i, (column, row, color, shape) in enumerate(
            re.findall(r"column (\d), row (\d): (\w+) (\w+)", shown)
        )
    ]
    codes = np.array(Board(tuple(pieces)).codes(BoardSpec()), dtype=np.uint8)
    action = plan_of(hidden(sample), codes)[0]
    return f"MOVE {action // 4 % 6 + 1} {action // 24 + 1} {action % 4}"


def hidden(sample):
    return RuleEntry(sample.metadata["rule"], sample.target)


def trial_of(sample):
    return RuleTrial(hidden(sample), sample.metadata["trial"])


def boards_of(sample):
    return trial_of(sample).boards("test", 5)


def scores(answer, folder, *arguments, token_limit=None, **options):
    """Return the means of the scores of a mock model, and its outcomes."""
    task = rule_learning(*arguments, **options)
    left, state = list(task.dataset), {}

    def output(messages, tools, tool_choice, config):
        if "could not read" not in messages[-1].text and "Your move?" not in messages[-1].text:
            state["sample"] = left.pop(0)
        sample = state.get("sample") or left[0]
        found = ModelOutput.from_content("mockllm/model", answer(sample, messages))
        found.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return found

    model = get_model("mockllm/model", custom_outputs=output)
    [log] = evaluate(
        task, model=model, log_dir=str(folder), display="none", max_samples=1,
        token_limit=token_limit,
    )  # fmt: skip
    assert log.status == "success", log.error.message
    assert {one.metrics["stderr"].params["cluster"] for one in log.results.scores} == {"rule"}
    means = {one.name: one.metrics["mean"].value for one in log.results.scores}
    return means, read_outcomes(folder)


def test_a_model_that_knows_the_rule_gets_everything_right(tmp_path):
    means, found = scores(knows, tmp_path, "gohr-paper", "random,positive", boards=1, trials=1)
    for name in ("solved", "prefix", "states_rule", "foretells", "self_consistent"):
        assert means[name] == 1.0, name
    assert len(found) == 8
    assert {one.player for one in found} == {"mockllm/model"}


def test_a_model_that_infers_ideally_equals_the_observer(tmp_path):
    means, found = scores(infers, tmp_path, "gohr-paper", "random", boards=1, trials=2)
    assert means["solved"] == means["ideal"]
    assert {loss.value for loss in found.losses() if loss.cause == "poor inference"} == {0.0}


@pytest.mark.parametrize("answer", [plans_too_long, chats], ids=["too long", "prose"])
def test_a_bad_answer_fails_and_is_not_missing(answer, tmp_path):
    means, found = scores(answer, tmp_path, "gohr-paper", "random", boards=1, trials=1)
    assert means["solved"] == means["states_rule"] == 0.0
    assert len(found) == 4
    assert all(one.n_tests == 5 for one in found)


def test_an_unfinished_sample_fails_and_is_not_missing(tmp_path):
    options = {"boards": 1, "trials": 1, "token_limit": 1}
    means, found = scores(knows, tmp_path, "gohr-paper", "random", **options)
    assert means["solved"] == means["states_rule"] == 0.0
    assert [one.n_tests for one in found] == [5] * 4


def test_play_of_its_own_ends_at_mastery_or_at_the_limit(tmp_path):
    suite = "gohr-paper"
    means, found = scores(plays, tmp_path, suite, "own", trials=1, max_attempts=12)
    assert found  # every rule has an outcome, mastered or not
    assert {(one.tester, one.n_boards) for one in found} == {("own", 0)}
    assert means["mastery"] <= 12.0
    assert all(one.n_attempts <= 12 for one in found)

    _, found = scores(masters, tmp_path / "masters", suite, "own", trials=1, max_attempts=30)
    [perfect] = found.where(rule="color-match")
    assert (perfect.n_attempts, perfect.m_star, perfect.solved) == (10, 0.0, 1.0)
    assert {one.m_star for one in found} > {0.0}


def test_attempts_of_another_player_are_shown_and_checked(tmp_path):
    _, made = scores(plays, tmp_path / "own", "gohr-paper", "own", trials=1, max_attempts=12)
    [source] = (tmp_path / "own").iterdir()
    options = {"boards": 9, "trials": 2, "source": str(source)}
    means, found = scores(knows, tmp_path / "yoked", "gohr-paper", "yoked", **options)
    assert means["solved"] == 1.0
    assert {one.tester for one in found} == {"yoked"}
    assert [(x.rule, x.n_attempts) for x in found] == [(x.rule, x.n_attempts) for x in made]

    session = PlaySession(Game("any", "(*,*,*,*,*)", seed=0, episodes=1))
    for piece in session.view().pieces:
        session.attempt(piece["cell"], 0)
    played = transcript_text([PlayedGame("p1", "a", 0, "clockwise", session)])
    for name, text in zip(("transcript", "boards"), played, strict=True):
        (tmp_path / f"{name}.csv").write_text(text)
    with pytest.raises(ValueError, match="found other outcomes"):
        rule_learning("gohr-paper", "yoked", source=str(tmp_path))
    with pytest.raises(GnomonError, match="source: expected attempts"):
        rule_learning("gohr-paper", "yoked")


@pytest.mark.parametrize(("language", "n_unknown"), [("full", 0), ("short", 16)])
def test_the_rule_language_is_described_in_full_or_in_short(language, n_unknown, tmp_path):
    asked = []

    def listens(sample, messages):
        asked.append(messages[-1].text)
        return knows(sample, messages)

    scores(listens, tmp_path, "gohr-paper", "positive", boards=1, trials=1, language=language)
    own = {"red", "blue", "black", "yellow", "circle", "star", "square", "triangle", "revofl1"}
    known = set(re.findall(r"\w+", asked[0].lower())) | own
    texts = [
        str(replace(rule.rule_set, description=())).lower()
        for suite in ("gohr-basic", "gohr-induction")
        for rule in load_suite(suite).entries
    ]
    assert sum(not set(re.findall(r"[a-z]\w*", text)) <= known for text in texts) == n_unknown


def test_boards_are_those_of_measured_learners():
    [first] = rule_learning("gohr-paper", "random", boards=1, trials=1).dataset[:1]
    log = evidence(trial_of(first), "random", 1)
    assert np.array_equal(log.boards, trial_of(first).boards("evidence", 1))
    assert not math.isnan(log.actions.sum())
