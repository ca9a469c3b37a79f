"""``gnomon distill``, as the command line calls it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from gnomon.distillation import SubsetModel
from gnomon.scores import ScoreTable, write_scores
from language_models import language_models, write_harness_results


@pytest.fixture
def suite(tmp_path):
    rng = np.random.default_rng(0)
    scores = rng.normal(2, 1, (30, 1)) + rng.normal(0, 0.4, (30, 8))
    rows = {f"a{i:02}": [row] for i, row in enumerate(scores)}
    tasks = [f"t{j}" for j in range(8)]
    write_scores(ScoreTable.from_arrays(rows, tasks=tasks), tmp_path / "suite.csv")
    return "suite.csv"


def results(said):
    status, out, err = said
    assert status == 0, err
    answer = json.loads(out)
    assert list(answer) == ["gnomon", "command", "results", "warnings"]
    return answer


def test_a_suite_is_distilled(command, suite, tmp_path):
    words = ("gnomon", "distill", suite, "--size", "3", "--transform", "identity", "--json")
    said = command(*words, "--model", "m.json")
    (record,) = results(said)["results"]
    assert record["nested_relative_error"] > 0
    model = SubsetModel.from_json((tmp_path / "m.json").read_text())
    assert list(model.tasks) == record["tasks"]
    assert results(command(*words))["results"] == results(said)["results"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--size", "9"), "expected a size from 1 to 8, found 9"),
        (("--normalize", "nowhere.csv"), "nowhere.csv"),
        (("--normalize", "min-max"), "two fixed scores of each task to a CSV file of task, low, "),
        (("--have", "t1", "--exclude", "t1"), "t1 is excluded"),
        (("--model", "no/where.json"), "no: expected a folder to write to"),
        (("--model", "."), "expected the name of a file to write"),
        (("--figure", "plot.gif"), "expected a name that ends in .svg, .png or .pdf"),
    ],
)
def test_bad_input_is_one_line(command, suite, arguments, said):
    status, out, err = command("gnomon", "distill", suite, *arguments)
    assert status == 2
    assert out == ""
    assert err.startswith("gnomon: ")
    assert err.count("\n") == 1
    assert said in err


def test_four_algorithms_are_refused(command):
    rows = np.random.default_rng(0).normal(3, 1, (4, 8))
    write_scores(ScoreTable.from_arrays({f"a{i}": [r] for i, r in enumerate(rows)}), "four.csv")
    status, out, err = command("gnomon", "distill", "four.csv", "--size", "2")
    assert (status, out) == (2, "")
    assert err == (
        "gnomon: expected at least 5 algorithms, found 4: too few to choose tasks by, with any "
        "number of folds\n"
    )


def test_the_whole_suite_and_the_base_of_the_logarithm(command, suite):
    status, out, err = command("gnomon", "distill", suite, "--size", "8")
    assert status == 0
    assert "log10(1 + summary) = " in out
    assert "the subset is the whole suite, whose summary needs no prediction" in err


@pytest.mark.full
def test_ctrl_c_leaves_nothing_behind(tmp_path):
    rng = np.random.default_rng(0)
    scores = rng.normal(2, 1, (60, 1)) + rng.normal(0, 0.4, (60, 40))
    rows = {f"a{i:02}": [row] for i, row in enumerate(scores)}
    write_scores(ScoreTable.from_arrays(rows), tmp_path / "suite.csv")
    words = ["distill", "suite.csv", "--size", "9", "--procedure", "paper"]
    words += ["--transform", "identity", "--model", "m.json", "--figure", "f.svg"]
    program = [sys.executable, "-m", "gnomon", *words]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(program, cwd=tmp_path, **pipes) as search:
        time.sleep(3.0)
        search.send_signal(signal.SIGINT)
        out, err = search.communicate(timeout=120)
    assert search.returncode == 130
    assert (out, err) == ("", "gnomon: stopped\n")
    assert [path.name for path in tmp_path.iterdir()] == ["suite.csv"]


def test_a_model_and_a_figure_are_written(command, suite, tmp_path):
    options = ("--transform", "identity", "--model", "m.json", "--figure", "f.png")
    status, out, _ = command("gnomon", "distill", suite, "--size", "2", *options)
    assert status == 0
    assert "written to f.png\nwritten to m.json" in out
    assert (tmp_path / "f.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.full
def test_the_harness_of_language_models(command, tmp_path):
    """200 models on 57 tasks, as lm-evaluation-harness leaves them in a folder."""
    write_harness_results(language_models(), tmp_path / "out")
    words = ("distill", "out", "--transform", "identity", "--summary", "mean", "--json")
    (record,) = results(command("gnomon", *words))["results"]
    assert record["n_predicted"] == 200
    assert record["nested_relative_error"] < 0.035


@pytest.mark.full
def test_a_suite_of_the_game(command, tmp_path):
    """From attempts to a smaller suite: run, then distill the run folder."""
    rules = ["color-match", "clockwise", "stars-first"]
    fast = [f'{{kind = "tabular_q", name = "q{i}", learning_rate = 0.{i}}}' for i in (1, 2, 4)]
    learners = ", ".join(['"uniform"', '"frugal"', *fast])
    lines = ['name = "small"', f"rules = {json.dumps(rules)}", f"learners = [{learners}]"]
    (tmp_path / "small.toml").write_text("\n".join([*lines, "trials = 1", "episodes = 4"]))
    assert command("gohr", "run", "small.toml", "--out", "run")[0] == 0
    (record,) = results(command("gnomon", "distill", "run", "--size", "2", "--json"))["results"]
    assert set(record["tasks"]) <= set(rules)
    assert record["n_rows"] == 5
    assert record["nested_relative_error"] > 0


def test_references_are_read(command, suite, tmp_path):
    lines = ["task,random,human", *(f"t{j},0,10" for j in range(8))]
    (tmp_path / "ends.csv").write_text("\n".join(lines) + "\n")
    answer = results(
        command("gnomon", "distill", suite, "--size", "2", "--normalize", "ends.csv", "--json")
    )
    assert answer["results"]
    (tmp_path / "ends.csv").write_text("task,random,human\nt0,0,x\n")
    status, _, err = command("gnomon", "distill", suite, "--normalize", "ends.csv")
    assert status == 2
    assert "ends.csv, line 2, column 'human': expected a number, found 'x'" in err


def test_the_data_set_by_name(command, atari_folder):
    record = results(command("gnomon", "distill", "atari5", "--json"))["results"][0]
    assert record["tasks"] == ["bankheist", "battlezone", "berzerk", "namethisgame", "zaxxon"]
    assert record["nested_relative_error"] < 0.135
    assert record["n_rows"] == 57
