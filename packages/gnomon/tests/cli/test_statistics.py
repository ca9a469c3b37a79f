"""The statistics verbs as the command line calls them: options, warnings, bad input."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pytest

from gnomon.scores import ScoreTable, write_scores

DATA = Path(__file__).parents[4] / ".." / "shared" / "data" / "scores"
published = pytest.mark.skipif(
    not DATA.is_dir(), reason="the published scores are not in the repository"
)


def test_logarithmic_thresholds_take_scores_on_both_sides_of_zero(command):
    scores = np.random.default_rng(1).standard_t(1.0, (300, 2))
    write_scores(ScoreTable.from_arrays({"a": scores}), "far.csv")
    said = command("gnomon profile far.csv --figure far.svg")
    assert "Read off at 81 thresholds over the range of 99 % of the scores." in said.out
    assert "symmetric log scale" in Path("far.svg").read_text()
    found = command("gnomon profile far.csv --json").results
    assert found[0]["tau"] < 0 < found[-1]["tau"] < scores.max()


def test_columns_and_formats_are_named(command):
    Path("theirs.csv").write_text("Name,Env,seed,Return\na,pong,0,1\na,pong,1,2\n")
    names = "--column algorithm=Name --column task=Env --column run=seed --column score=Return"
    command(f"gnomon read theirs.csv {names} --out ours.csv")
    (found,) = command("gnomon estimate ours.csv --metric mean --json").results
    assert (found["algorithm"], found["value"]) == ("a", 1.5)
    Path("wide.txt").write_text("model,pong,chess\na,1,2\nb,3,4\n")
    assert len(command("gnomon read wide.txt --format wide --json").results) == 4
    for words, message in (
        ("read theirs.csv --column Name", "expected NAME=COLUMN, found 'Name'"),
        ("estimate theirs.csv", "name it by gnomon read theirs.csv --column algorithm=NAME"),
    ):
        command(f"gnomon {words}").assert_refused(message)


@pytest.mark.parametrize("verb", ["estimate scores.csv", "compare scores.csv dqn ppo"])
def test_one_seed_gives_the_same_answer(command, scores, verb):
    first, again, other = (
        command(f"gnomon {verb} --method percentile --json --seed {seed}").out for seed in (7, 7, 8)
    )
    assert first == again != other


def test_options_reach_the_statistics(command, scores):
    def found(words):
        return command(f"gnomon {words} --json").results

    (one,) = found("compare scores.csv dqn sac --metric iqm --level 0.8")
    assert (one["metric"], one["level"], one["task"]) == ("iqm", 0.8, None)
    tasks = found("compare scores.csv dqn sac --metric mean --per-task")
    assert [r["task"] for r in tasks] == [None, *(f"task_{i}" for i in range(5))]
    scaled = found("estimate scores.csv --normalize min-max --metric mean")
    assert all(0.0 <= r["value"] <= 1.0 for r in scaled)
    own = found("estimate scores.csv --normalize reference:sac --metric mean")
    assert own[1]["value"] == pytest.approx(1.0)
    assert found("estimate scores.csv --method percentile")[0]["method"] == "percentile"
    assert [r["tau"] for r in found("profile scores.csv --tau 1 --tau 0.5")] == [0.5, 1.0] * 3


def test_warnings_are_printed_beside_the_results_and_are_part_of_the_json(command, scores):
    Path("one.csv").write_text("algorithm,task,run,score\na,t,0,1\n")
    for words, message in (
        ("estimate one.csv --metric mean", "interval not estimable from one run per task"),
        ("profile scores.csv --kind average_score", "the band has no width where all resamples"),
        ("profile scores.csv --kind ratio", "profiles of kind ratio have no bands: low and high"),
    ):
        answer = json.loads(command(f"gnomon {words} --json").out)
        assert any(message in warning for warning in answer["warnings"])
        said = command(f"gnomon {words}")
        assert message not in said.out
        # What the records show by themselves, people are not told.
        assert (message in said.err) == ("ratio" not in words)


@published
def test_the_essays_numbers_by_the_command_line(command):
    path = shlex.quote(str(DATA / "machado2018_mean_std.csv"))
    words = f"profile {path} --kind likelihood --where frames=200000000 --tau 2 --json"
    found = command(f"gnomon {words}").results
    assert [r["value"] for r in found] == pytest.approx((0.650, 0.650), abs=5e-4)


@published
def test_summaries_have_means_and_medians(command):
    path = shlex.quote(str(DATA / "machado2018_mean_std.csv"))
    late = f"{path} --where frames=200000000"
    found = command(f"gnomon estimate {late} --normalize none --json").results
    assert [(r["metric"], r["n_tasks"]) for r in found] == [("mean", 60), ("median", 60)] * 2
    assert all(r["low"] < r["value"] < r["high"] for r in found)
    mean, median = command(f"gnomon compare {late} --normalize random-human --json").results
    assert mean["value"] < 0 < median["value"]
    for words, message in {
        f"estimate {path}": "expected one row for each algorithm and task, found a second",
        f"estimate {late} --method percentile": "--method percentile needs runs",
        f"estimate {late} --normalize min-max": "min-max needs runs",
    }.items():
        command(f"gnomon {words}").assert_refused(message)


#: What a verb is called with, on two runs of one algorithm where no file is named, and the message.
REFUSED = {
    "estimate x.csv --metric best": "unknown metric 'best'",
    "estimate x.csv --normalize zscore": "unknown normalization 'zscore'",
    "estimate x.csv --metric optimality_gap --gamma 1e308": "expected a target gamma from -1e+1",
    "estimate x.csv --gamma nan": "'--gamma': expected a finite number, found nan",
    "estimate x.csv --level 1.5": "expected a number between 0 and 1, found 1.5",
    "estimate x.csv --resamples 0": "0 is not in the range 25<=x<=1000000",
    f"plan x.csv --runs {10**20}": "is not in the range 1<=x<=1000000",
    f"audit x.csv --simulate {10**20}": "is not in the range x<=1000",
    "estimate x.csv --where suite": "expected COLUMN=VALUE, found 'suite'",
    "read x.csv --out x.doc": "x.doc: expected a name that ends in .csv",
    "read x.csv --out none/x.csv": "none: expected a folder to write to;",
    "compare x.csv": "expected two algorithms or more, found a alone",
    "compare scores.csv dqn c": "unknown algorithm 'c'",
    "profile x.csv --tau nan": "thresholds up to 1e+100, found nan",
    "curves x.csv": "expected a table with several steps",
    "curves scores.csv --threshold 3": "--summary time_to_threshold only",
    "curves scores.csv --summary area --threshold 3": "--summary time_to_threshold only",
    "plan scores.csv dqn sac --runs 1": "at least 2 runs of each",
    "plan x.csv": "expected two algorithms or more, found a alone",
    "rank x.csv": "expected at least two algorithms",
    "rank scores.csv --score skill": "expected no name of a score, found skill",
    "rank scores.csv --level 1e-300": "expected a number between 0 and 1, not within 1e-06 of",
    "rank scores.csv --method kemeni": "unknown method 'kemeni'; did you mean 'kemeny'?",
    "audit x.csv": "expected at least two algorithms",
}


@pytest.mark.parametrize("words", REFUSED)
def test_bad_input_is_one_line_and_status_2(command, scores, words):
    Path("x.csv").write_text("algorithm,task,run,score\na,t,0,1\na,t,1,2\n")
    said = command(f"gnomon {words}")
    assert said.err.startswith("gnomon: ")
    said.assert_refused(REFUSED[words])
