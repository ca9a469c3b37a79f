"""Verbs on files of other tools: which step is taken, on which scale, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gnomon.scores import ScoreTable, write_scores


@pytest.fixture
def curves(tmp_path):
    """Write curves of two algorithms on two tasks, of which one run crashed at step 10 of 30."""
    x = np.random.default_rng(0).normal(size=(2, 5, 2, 4)).cumsum(axis=3)
    x[0, 2, 1, 2:] = np.nan
    table = ScoreTable.from_arrays(
        {"dqn": x[0], "sac": x[1]}, tasks=["pong", "chess"], steps=[0, 10, 20, 30]
    )
    write_scores(table, tmp_path / "curves.csv")
    return x


def test_options_of_steps_reach_the_readers(command, curves):
    for options, expected in {
        "--at 30": [np.nanmean(x[..., 3], axis=0).mean() for x in curves],
        "--window 2": [np.mean([x[:, 0, 2:], x[:, 1, :2]]) for x in curves],
    }.items():
        assert command(f"gnomon read curves.csv {options} --out read.csv").status == 0
        found = command("gnomon estimate read.csv --metric mean --json").results
        np.testing.assert_allclose([one["value"] for one in found], expected)
    words = "gnomon curves curves.csv --metric mean --algorithm sac --grid"
    assert len(command(f"{words} 5 --json").results) == 5
    assert command(f"{words} 1").status == 2
    for words, said in (
        ("read curves.csv --at last", "expected a step or end, found 'last'"),
        ("read curves.csv --at nan", "expected a step, found nan"),
        ("curves curves.csv --at -5", "expected scores up to step -5; the first is of step "),
    ):
        command(f"gnomon {words}").assert_refused(said)


def test_a_folder_of_monitors_has_steps_and_no_episodes(command):
    for run in range(2):
        path = Path(f"monitors/ppo/CartPole-v1/{run}/0.monitor.csv")
        path.parent.mkdir(parents=True)
        head = '#{"t_start": 1.0, "env_id": "CartPole-v1"}\nr,l,t\n'
        path.write_text(head + "".join(f"{n + run},10,{n}.5\n" for n in range(1, 6)))
    assert command("gnomon curves monitors --figure c.svg --resamples 25").status == 0
    words = Path("c.svg").read_text()
    assert (">step<" in words, ">episode<" in words) == (True, False)


def test_raw_scores_on_unlike_scales_are_refused(command, tmp_path):
    rows = "".join(f"{a},{t},{r},{x}\n" for a in "ab" for r in range(3)
                   for t, x in (("Pong", 18 + r), ("Atlantis", 60_000 + r)))  # fmt: skip
    (tmp_path / "raw.csv").write_text(f"algorithm,task,run,score\n{rows}")
    refused = (
        "expected scores on one scale, found medians of 19.0 on Pong and 60,000 on Atlantis; "
        "--normalize min-max or another scale, or none if they share a unit"
    )
    for words in ("estimate raw.csv --metric mean", "compare raw.csv --metric iqm",
                  "profile raw.csv"):  # fmt: skip
        command(f"gnomon {words}").assert_refused(refused)
    answer = json.loads(command("gnomon compare raw.csv a b --json").out)
    assert [one["metric"] for one in answer["results"]] == ["probability_of_improvement"]
    assert any(refused in text for text in answer["warnings"])
    each = command("gnomon compare raw.csv --metric mean --per-task --json").results
    assert [one["task"] for one in each] == ["Pong", "Atlantis"]
    for name in ("atari", "none"):
        assert command(f"gnomon estimate raw.csv --normalize {name} --metric mean").status == 0
    assert command("gnomon report raw.csv --out page.md").status == 0
    assert "Mean score:" not in Path("page.md").read_text("utf-8")


def test_a_target_of_much_larger_scores_is_warned_of(command, tmp_path):
    rows = "".join(f"{a},t,{r},{60_000 + r}\n" for a in "ab" for r in range(3))
    (tmp_path / "raw.csv").write_text(f"algorithm,task,run,score\n{rows}")
    said = command("gnomon estimate raw.csv").err
    assert "optimality_gap is 0: all raw scores lie above its target, 1 (the least is 6" in said
    assert "give another target (gnomon estimate --gamma)" in said
    (tmp_path / "low.csv").write_text(Path("raw.csv").read_text().replace("a,t,0,60000", "a,t,0,0"))
    said = command("gnomon compare low.csv --metric optimality_gap").err
    assert "optimality_gap holds raw scores (median 60,000) against a target of 1" in said
    assert "is 0" not in command("gnomon estimate raw.csv --gamma 60000").err


def test_options_of_foreign_files_reach_the_readers(command, tmp_path):
    (tmp_path / "pivot.csv").write_text("seed,dqn,ppo\n0,1,2\n1,3,5\n")
    remedy = "gnomon read pivot.csv --columns-are algorithms"
    refused = command("gnomon estimate pivot.csv")
    refused.assert_refused(f"{remedy} or --columns-are tasks")
    assert command(f"{remedy} --out tidy.csv").status == 0
    assert command("gnomon estimate tidy.csv --metric mean").status == 0
    (tmp_path / "chart.csv").write_text('"Step","dqn_1 - r","dqn_2 - r"\n"0","1","2"\n')
    found = command("gnomon read chart.csv --run-names {algorithm}_{run} --json").results
    assert [row["run"] for row in found] == [1, 2]
    (tmp_path / "tidy.csv").write_text("agent,env_id,seed,eval/return\na,t,0,1\na,t,1,2\n")
    said = command("gnomon read tidy.csv --score eval/return --json")
    assert [row["score"] for row in said.results] == [1, 2]
    assert "columns 'agent', 'env_id' and 'seed' are read as algorithm, task and run" in said.out
