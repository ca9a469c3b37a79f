"""The task of Inspect: the same trial natively and through it, to the digit."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import pytest

import gnomon as gn
import gohr
from gohr import BoardSpec
from gohr.experiments import score_trial, trials_of

pytest.importorskip("inspect_ai", reason="inspect_ai is not installed")

from inspect_ai import eval as evaluate
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from gohr.integrations.inspect_ai import hidden_rules
from word_player import WordPlayer

# What Inspect and its own dependencies warn of is not ours.
pytestmark = pytest.mark.filterwarnings("default")

ROOT = Path(__file__).parents[4]
RULES, BOARDS, SEED = ["color-match", "clockwise"], 12, 3


@pytest.fixture(scope="module")
def trials():
    config = gohr.ExperimentConfig("native", RULES, ["ideal"], trials=1, episodes=BOARDS, seed=SEED)
    return {f"{trial.rule.name}/{trial.number}": trial for trial in trials_of(config)}


def played(model, folder, rules=RULES, **arguments):
    arguments = {"boards": BOARDS, "seed": SEED, "suite": ",".join(rules)} | arguments
    [log] = evaluate(
        hidden_rules(**arguments),
        model=model,
        log_dir=str(folder),
        log_format="json",
        display="none",
        max_samples=1,
    )
    assert log.status == "success", log.error
    return log


def mock(answer):
    """Return a mock model; usage that is told keeps Inspect from counting them itself."""

    def output(messages, tools, tool_choice, config):
        found = ModelOutput.from_content("mockllm/model", answer(messages))
        found.usage = ModelUsage(input_tokens=100, output_tokens=10, total_tokens=110)
        return found

    return get_model("mockllm/model", custom_outputs=output)


def ideal(trials):
    """Answer as the ideal learner of each trial, one after another, then with the rule."""
    left = iter(trials.values())
    state = {}

    def answer(messages):
        said = messages[-1].text
        if "What is the rule?" in said:
            return f"```\n{state.pop('trial').rule.text}\n```"
        if "trial" not in state:
            state["trial"] = trial = next(left)
            learner = trial.learner.make(trial.board, rng=trial.learner_rng())
            state["player"] = WordPlayer(learner, trial.board)
        return state["player"].answer(said)

    return answer


def test_a_model_that_plays_as_the_ideal_learner_has_its_score(trials, tmp_path):
    log = played(mock(ideal(trials)), tmp_path)
    assert log.eval.task.endswith("hidden_rules")
    for sample in log.samples:
        native = trials[sample.id].play()
        scores = {name: score.value for name, score in sample.scores.items()}
        assert scores == {
            "tce": score_trial(native, "tce"),
            "errors_to_learn": score_trial(native, "errors_to_learn"),
            "states_rule": 1.0,
        }
        assert sample.store["gnomon_attempts"] == native.actions.tolist()
    [file] = tmp_path.glob("*.json")
    table = gn.read_scores(file, metric="tce")
    for name, trial in trials.items():
        [found] = table.runs("mockllm/model", f"gohr/hidden_rules/{name}")
        assert found == score_trial(trial.play(), "tce")


def test_a_trial_that_is_not_complete_has_no_score(tmp_path):
    log = played(mock(lambda messages: "I cannot say."), tmp_path, ["clockwise"], boards=1)
    [sample] = log.samples
    assert all(math.isnan(score.value) for score in sample.scores.values())
    assert sample.metadata["n_unreadable"] == 5


def test_a_constant_wrong_move_takes_the_horizon(tmp_path):
    def answer(messages):
        if "What is the rule?" in messages[-1].text:
            return "no idea"
        player = WordPlayer(None, BoardSpec())
        cell = int(player.observation(messages[-1].text).board.argmax())
        return f"MOVE {cell % 6 + 1} {cell // 6 + 1} 2"

    rule = tmp_path / "three.txt"
    rule.write_text("(*,*,*,*,3)")
    log = played(mock(answer), tmp_path, [str(rule)], boards=1, horizon=30)
    [sample] = log.samples
    assert sample.scores["tce"].value == 30
    assert sample.scores["errors_to_learn"].value == math.inf
    assert sample.scores["states_rule"].value == 0.0
    [file] = tmp_path.glob("*.json")
    assert gn.read_scores(file, metric="tce").runs(
        "mockllm/model", "gohr/hidden_rules/three/0"
    ) == [30]
    table = gn.read_scores(file, metric="errors_to_learn")
    assert table.runs("mockllm/model", "gohr/hidden_rules/three/0") == [math.inf]
    assert not table.higher_is_better


def test_a_process_that_imports_nothing_of_it_finds_the_task_by_its_name(tmp_path):
    """As the command does, which makes a list of names between commas."""
    code = (
        "from inspect_ai._eval.loader import load_tasks\n"
        "from inspect_ai._util.entrypoints import ensure_entry_points\n"
        "ensure_entry_points()\n"
        "[task] = load_tasks(['gohr/hidden_rules'], {'suite': ['clockwise', 'color-match']})\n"
        "print(*(sample.id for sample in task.dataset))"
    )
    words = [sys.executable, "-c", code]
    ran = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, check=True)
    assert ran.stdout == "clockwise/0 color-match/0\n"
