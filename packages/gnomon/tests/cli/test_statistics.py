"""The statistics verbs as the command line calls them: records, files, bad input."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest

from gnomon.cli import main
from gnomon.distillation import SubsetModel
from gnomon.scores import ScoreTable, write_scores

DATA = Path(__file__).parents[4] / ".." / "shared" / "data" / "scores"
published = pytest.mark.skipif(not DATA.is_dir(), reason="the shared score files are not here")


@pytest.fixture
def gnomon(monkeypatch, capsys, tmp_path):
    """Call the command line in this process, in a folder with small files of scores."""
    monkeypatch.chdir(tmp_path)
    draws = np.random.default_rng(0)
    x = draws.gamma(4.0, 0.25, (3, 6, 5))
    names = ("dqn", "sac", "ppo")
    write_scores(ScoreTable.from_arrays(dict(zip(names, x, strict=True))), "scores.csv")
    curves = {n: x[i, :, :, None] * np.arange(1.0, 5.0) for i, n in enumerate(names[:2])}
    write_scores(ScoreTable.from_arrays(curves), "curves.csv")

    def call(command: str, status: int = 0):
        monkeypatch.setattr(sys, "argv", ["gnomon", *shlex.split(command)])
        with pytest.raises(SystemExit) as exit_:
            main()
        said = capsys.readouterr()
        assert int(exit_.value.code or 0) == status, said.err
        return said

    return call


def records(said):
    return json.loads(said.out)["results"]


def test_logarithmic_thresholds_take_scores_on_both_sides_of_zero(gnomon):
    scores = np.random.default_rng(1).standard_t(1.0, (300, 2))
    write_scores(ScoreTable.from_arrays({"a": scores}), "far.csv")
    said = gnomon("profile far.csv --figure far.svg")
    assert "Runs above the last threshold, " in said.out
    assert "symmetric log scale" in Path("far.svg").read_text()
    found = records(gnomon("profile far.csv --json"))
    assert found[0]["tau"] < 0 < found[-1]["tau"]
    assert found[-1]["tau"] < scores.max()


def test_columns_and_formats_are_named(gnomon):
    Path("theirs.csv").write_text("Name,Env,seed,Return\na,pong,0,1\na,pong,1,2\n")
    names = "--column algorithm=Name --column task=Env --column run=seed --column score=Return"
    gnomon(f"read theirs.csv {names} --out ours.csv")
    (found,) = records(gnomon("estimate ours.csv --metric mean --json"))
    assert (found["algorithm"], found["value"]) == ("a", 1.5)
    assert (
        "no column 'name' to read as the algorithm; found Name, Env"
        in gnomon("read theirs.csv --column algorithm=name", status=2).err
    )
    assert (
        "expected NAME=COLUMN, found 'Name'"
        in gnomon("read theirs.csv --column Name", status=2).err
    )
    assert (
        "gnomon read theirs.csv --column algorithm=NAME names it"
        in gnomon("estimate theirs.csv", status=2).err
    )
    Path("wide.txt").write_text("model,pong,chess\na,1,2\nb,3,4\n")
    assert len(records(gnomon("read wide.txt --format wide --json"))) == 4
    assert (
        "unknown format of scores 'wyde'; did you mean 'wide'?"
        in gnomon("read wide.txt --format wyde", status=2).err
    )


def test_what_holds_no_scores_is_told_in_one_line(gnomon):
    Path("empty.csv").touch()
    Path("binary.csv").write_bytes(b"\x89PNG\r\n\x1a\n\x00\xff")
    Path("folder").mkdir()
    for source in ("empty.csv", "binary.csv", "folder", "nowhere.csv"):
        said = gnomon(f"estimate {source}", status=2)
        assert said.out == ""
        assert said.err.startswith(f"gnomon: {source}"), said.err
        assert said.err.count("\n") == 1, said.err


ESTIMATE = "algorithm metric task value low high level method n_runs n_tasks"
COMPARISON = "a b metric task value low high p_value p_adjusted level method better"
CASES = {
    "estimate scores.csv": ESTIMATE,
    "compare scores.csv dqn sac": COMPARISON,
    "compare scores.csv": COMPARISON,
    "profile scores.csv": "algorithm kind tau value low high",
    "profile scores.csv --kind ratio": "algorithm kind tau value low high",
    "profile scores.csv --kind likelihood": "algorithm kind tau value low high",
    "curves curves.csv": "algorithm metric task step value low high",
    "curves curves.csv --summary area": ESTIMATE,
    "plan scores.csv dqn sac": "a b metric runs power low high needed needed_low needed_high",
}  # fmt: skip


#: Of verbs whose records hold more: what they hold at least.
LEAST = {
    "rank scores.csv": "name value low high rank_low rank_high tiers",
    "audit scores.csv": "section name finding value",
    "distill suite.csv --size 2": "tasks weights relative_error nested_relative_error n_rows",
    "predict model.json suite.csv": "algorithm value low high level extrapolation",
}


@pytest.mark.parametrize("command", LEAST)
def test_records_have_the_fields_of_the_contract(gnomon, command):
    rng = np.random.default_rng(0)
    suite = {f"a{i:02}": [rng.normal(i, 0.3, 6)] for i in range(12)}
    write_scores(ScoreTable.from_arrays(suite), "suite.csv")
    SubsetModel(("task_0",), (1.0,), transform="identity", residuals=(-1.0, 1.0)).save("model.json")
    answer = json.loads(gnomon(f"{command} --json").out)
    assert list(answer) == ["gnomon", "command", "results", "warnings"]
    assert answer["command"] == command.split()[0]
    assert set(LEAST[command].split()) <= set(answer["results"][0])


@pytest.mark.parametrize("command", CASES)
def test_records_words_latex_and_figure_of_every_verb(gnomon, command, tmp_path):
    found = records(gnomon(f"{command} --json"))
    assert list(found[0]) == CASES[command].split()
    for_people = gnomon(f"{command} --figure out.svg").out
    assert for_people.endswith("written to out.svg\n")
    assert (tmp_path / "out.svg").read_text().startswith("<?xml")
    latex = gnomon(f"{command} --latex").out
    assert r"\begin{tabular}" in latex
    assert latex.endswith("\\end{tabular}\n")


@pytest.mark.parametrize(
    "command",
    [
        "estimate scores.csv --method percentile",
        "compare scores.csv dqn ppo --method percentile",
    ],
)
def test_one_seed_gives_the_same_answer(gnomon, command):
    first = gnomon(f"{command} --json --seed 7").out
    np.random.default_rng().normal()
    assert gnomon(f"{command} --json --seed 7").out == first
    if "estimate" in command:
        assert gnomon(f"{command} --json --seed 8").out != first


def test_options_reach_the_statistics(gnomon):
    (one,) = records(gnomon("compare scores.csv dqn sac --metric iqm --level 0.8 --json"))
    assert (one["metric"], one["level"], one["task"]) == ("iqm", 0.8, None)
    tasks = records(gnomon("compare scores.csv dqn sac --metric mean --per-task --json"))
    assert [r["task"] for r in tasks] == [None, *(f"task_{i}" for i in range(5))]
    scaled = records(gnomon("estimate scores.csv --normalize min-max --metric mean --json"))
    assert all(0.0 <= r["value"] <= 1.0 for r in scaled)
    own = records(gnomon("estimate scores.csv --normalize reference:sac --metric mean --json"))
    assert own[1]["value"] == pytest.approx(1.0)
    drawn = records(gnomon("estimate scores.csv --method percentile --metric mean --json"))
    assert drawn[0]["method"] == "percentile"


def test_a_band_without_width_has_a_word(gnomon):
    said = gnomon("profile scores.csv --kind average_score")
    assert "the band has no width where all resamples agree (" in said.err
    for kind in ("run_score", "ratio"):
        assert gnomon(f"profile scores.csv --kind {kind}").err == ""
    ratios = json.loads(gnomon("profile scores.csv --kind ratio --json").out)
    assert ratios["warnings"] == ["profiles of kind ratio have no bands: low and high are empty"]


def test_options_that_say_nothing_are_refused(gnomon):
    for command, message in (
        ("curves scores.csv --threshold 3", "--summary time_to_threshold only"),
        (
            "curves scores.csv --summary area --threshold 3",
            "--summary time_to_threshold only",
        ),
    ):
        assert message in gnomon(command, status=2).err


def test_profiles_at_thresholds(gnomon):
    found = records(gnomon("profile scores.csv --tau 1 --tau 0.5 --json"))
    assert [r["tau"] for r in found] == [0.5, 1.0] * 3


@published
def test_the_essays_numbers_by_the_command_line(gnomon):
    path = shlex.quote(str(DATA / "machado2018_mean_std.csv"))
    command = f"profile {path} --kind likelihood --where frames=200000000 --tau 2 --json"
    found = records(gnomon(command))
    assert [r["value"] for r in found] == pytest.approx((0.650, 0.650), abs=5e-4)


@published
def test_summaries_have_means_and_medians(gnomon):
    path = shlex.quote(str(DATA / "machado2018_mean_std.csv"))
    late = f"{path} --where frames=200000000"
    found = records(gnomon(f"estimate {late} --normalize none --json"))
    assert [(r["metric"], r["n_tasks"]) for r in found] == [("mean", 60), ("median", 60)] * 2
    assert all(r["low"] < r["value"] < r["high"] for r in found)
    (mean, median) = records(gnomon(f"compare {late} --normalize random-human --json"))
    assert mean["value"] < 0 < median["value"]
    for command, message in {
        f"estimate {path}": "expected one row for each algorithm and task, found a second",
        f"estimate {late} --metric iqm": "iqm: expected a metric that means and standard",
        f"estimate {late} --method percentile": "--method percentile needs runs",
        f"estimate {late} --normalize min-max": "min-max needs runs",
        f"compare {late} --paired": "--paired needs runs",
    }.items():
        said = gnomon(command, status=2)
        assert message in said.err
        assert len(said.err.splitlines()) == 1


HEAD = "algorithm,task,run,score\n"
BAD = {
    "a,t,0,high\n": ("estimate", "expected a number, found 'high'"),
    "a,t,0,inf\na,t,1,2\n": ("estimate", "infinite score needs a true 'censored'"),
    "a,t,0,1\na,t,0,2\n": ("estimate", "expected one row for each algorithm, task, run; found"),
    "a,t,0,1\nb,u,0,2\n": ("estimate", "expected tasks that all algorithms have"),
    "a,t,0,1\na,t,1,2\nb,t,0,2\n": ("compare x.csv a c", "unknown algorithm 'c'"),
    "a,t,0,1\na,t,1,1\n": ("estimate x.csv --normalize min-max", "two different finite scores"),
    "a,t,0,1\na,t,1,2\n": ("estimate x.csv --metric best", "unknown metric 'best'"),
    "a,t,0,1\na,t,1,4\n": ("compare x.csv a", "expected two algorithms after the sources"),
    "a,t,0,-1\na,t,1,-4\n": ("profile x.csv --kind ratio", "a, task t: expected a positive mean"),
    "a,t,0,1\n": ("profile x.csv --kind likelihood", "a, task t: expected at least 2 runs"),
    "a,t,0,1\na,t,1,5\n": ("curves x.csv", "expected a table with several steps"),
    "a,t,0,1\na,t,1,6\n": ("estimate x.csv --normalize zscore", "unknown normalization 'zscore'"),
    "a,t,0,\na,t,1,\n": ("estimate x.csv", "all 2 scores are empty"),
    "a,t,0,yes\na,t,1,maybe\n": ("read x.csv", "line 3, column 'score': expected a number, found"),
    "a,t,0,1\nb,t,1,5\n": ("profile x.csv --tau nan", "thresholds up to 1e+100, found nan"),
    "a,t,0,1\na,t,1,5\nb,t,0,2\nb,t,1,3\n": ("plan x.csv --runs 1", "at least 2 runs of each"),
    "a,t,0,1\na,t,1,9\n": ("plan x.csv", "expected two algorithms or more, found a alone"),
    "a,t,0,1\na,t,1,8\n": ("compare x.csv", "expected two algorithms or more, found a alone"),
    "a,t,0,1\na,t,1,7\n": (
        "estimate x.csv --metric optimality_gap --gamma 1e308", "expected a target gamma from -1e+1"
    ),
}  # fmt: skip


@pytest.mark.parametrize("rows", BAD)
def test_bad_input_is_one_line_and_status_2(gnomon, rows, tmp_path):
    (tmp_path / "x.csv").write_text(HEAD + rows)
    command, message = BAD[rows]
    said = gnomon(command if " " in command else f"{command} x.csv", status=2)
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert said.err.startswith("gnomon: ")
    assert message in said.err


ODD = {
    "a,t,0,1\n": ("estimate x.csv --metric mean", "interval not estimable from one run per task"),
    "a,t,0,1\na,t,1,1\n": ("estimate x.csv --metric mean", "do not vary"),
    "a,t,0,1\na,t,1,2\n": (
        "estimate x.csv --metric optimality_gap --gamma 9", "the target 9 lies outside the scores",
    ),
    "a,t,0,1\na,t,1,2\na,u,0,1\na,u,1,2\nb,t,0,3\nb,t,1,5\n": (
        "compare x.csv a b --metric mean", "1 of 2 tasks left out",
    ),
    "a,t,0,1\na,t,1,1\nb,t,0,3\nb,t,1,3\n": ("compare x.csv a b --metric mean", "do not vary"),
    "a,t,0,1\nb,t,0,3\n": ("compare x.csv a b --metric mean", "one run per task"),
    "a,t,0,.1\na,t,1,.1\na,t,2,.1\n": (
        "estimate x.csv --metric median --per-task", "median of a on t: interval not estimable",
    ),
    "a,t,0,2\n": ("estimate x.csv --metric median --per-task", "not estimable from one run"),
    "a,Pong,0,1\na,Pong,1,2\na,Pooyan,0,1\na,Pooyan,1,2\n": (
        "estimate x.csv --normalize random-human --metric mean", "without baselines: Pooyan",
    ),
}  # fmt: skip


@pytest.mark.parametrize("rows", ODD)
def test_odd_scores_give_a_warning_and_no_interval_of_width_zero(gnomon, rows, tmp_path):
    (tmp_path / "x.csv").write_text(HEAD + rows)
    command, message = ODD[rows]
    answer = json.loads(gnomon(f"{command} --json").out)
    assert any(message in warning for warning in answer["warnings"])
    for record in answer["results"]:
        assert record["low"] is None or record["low"] < record["high"]
    said = gnomon(command)
    assert message in said.err
    assert message not in said.out
