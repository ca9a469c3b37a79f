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


def test_a_suite_is_distilled(command, suite, tmp_path):
    words = "gnomon distill suite.csv --size 3 --transform identity"
    said = command(f"{words} --model m.json --figure f.png")
    assert said.status == 0
    assert "written to f.png\nwritten to m.json" in said.out
    assert (tmp_path / "f.png").read_bytes().startswith(b"\x89PNG")
    (record,) = command(f"{words} --json").results
    assert record["nested_relative_error"] > 0
    assert list(SubsetModel.load(tmp_path / "m.json").tasks) == record["tasks"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("--size 9", "expected a size from 1 to 8, found 9"),
        ("--normalize min-max", "two fixed scores of each task to a CSV file of task, low, "),
        ("--have t1 --exclude t1", "t1 is excluded"),
        ("--model no/where.json", "no: expected a folder to write to"),
        ("--model .", "expected the name of a file to write"),
        ("--figure plot.gif", "expected a name that ends in .svg, .png or .pdf"),
    ],
)
def test_bad_input_is_one_line(command, suite, arguments, said):
    command(f"gnomon distill suite.csv {arguments}").assert_refused(said)


def test_the_whole_suite_and_the_base_of_the_logarithm(command, suite):
    status, out, err = command("gnomon distill suite.csv --size 8")
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
    # Not while Python imports, however long that takes.
    code = "from gnomon.cli import main; import gnomon.plot.dots, gnomon.distillation.distilled"
    program = [sys.executable, "-c", f"{code}; print('ready', flush=True); main()", *words]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(program, cwd=tmp_path, **pipes) as search:
        assert search.stdout.readline() == "ready\n"
        time.sleep(1.0)
        search.send_signal(signal.SIGINT)
        out, err = search.communicate(timeout=120)
    assert search.returncode == 130
    assert (out, err) == ("", "gnomon: stopped\n")
    assert [path.name for path in tmp_path.iterdir()] == ["suite.csv"]


@pytest.mark.full
def test_a_suite_of_the_game(command, tmp_path):
    """From attempts to a smaller suite: run, then distill the run folder."""
    rules = ["color-match", "clockwise", "stars-first"]
    fast = [f'{{kind = "tabular_q", name = "q{i}", learning_rate = 0.{i}}}' for i in (1, 2, 4)]
    learners = ", ".join(['"uniform"', '"frugal"', *fast])
    lines = ['name = "small"', f"rules = {json.dumps(rules)}", f"learners = [{learners}]"]
    (tmp_path / "small.toml").write_text("\n".join([*lines, "trials = 1", "episodes = 4"]))
    assert command("gohr run small.toml --out run").status == 0
    (record,) = command("gnomon distill run --size 2 --json").results
    assert set(record["tasks"]) <= set(rules)
    assert record["n_rows"] == 5
    assert record["nested_relative_error"] > 0


def test_the_data_set_by_name(command, atari_folder):
    (record,) = command("gnomon distill atari5 --json").results
    assert record["tasks"] == ["bankheist", "battlezone", "berzerk", "namethisgame", "zaxxon"]
    assert record["nested_relative_error"] < 0.135
    assert record["n_rows"] == 57
