"""The statistics verbs on items of an evaluation: tables, records, refusals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest


@pytest.fixture
def answers(tmp_path):
    """Write two models' answers to forty questions of four topics, two epochs each."""
    rng = np.random.default_rng(0)
    ease = rng.random(40)
    lines = ["model,item,epoch,topic,correct"]
    for model, by in (("large", 0.2), ("small", -0.1)):
        for i in range(40):
            for run in range(2):
                lines.append(f"{model},q{i},{run},t{i % 4},{int(rng.random() < ease[i] + by)}")
    (tmp_path / "answers.csv").write_text("\n".join(lines), encoding="utf-8")


def test_verbs_know_items(command, answers):
    def found(words):
        return command(f"gnomon {words} --json").results

    (one,) = found("compare answers.csv large small")
    assert (one["method"], one["n_items"]) == ("paired_t", 40)
    whole, *topics = found("compare answers.csv large small --by topic")
    assert [topic["task"] for topic in topics] == ["t0", "t1", "t2", "t3"]
    looks = found("compare answers.csv large small --sequential e")
    assert [look["n_items"] for look in looks] == [5, 10, 20, 40]
    assert found("compare answers.csv --by topic") == [whole, *topics]
    assert found("compare answers.csv --sequential e") == looks
    command("gnomon read answers.csv --cluster topic --out clustered.csv")
    of = found("estimate clustered.csv --metric pass@2 --metric pass^2 --metric mean")
    assert [one["metric"] for one in of[:3]] == ["pass@2", "pass^2", "mean"]
    assert of[2]["n_clusters"] == 4
    assert [one["name"] for one in found("rank answers.csv")] == ["large", "small"]
    usual = Path("answers.csv").read_text("utf-8").replace("topic", "cluster", 1)
    Path("usual.csv").write_text(usual, "utf-8")
    told = "gnomon read FILE --cluster cluster --out CLUSTERED.csv makes them clusters"
    assert told in command("gnomon estimate usual.csv").err
    assert told not in command("gnomon read usual.csv --cluster cluster").err


def test_tables_and_figures_of_items_are_shown(command, answers):
    said = command("gnomon compare answers.csv large small --by topic --figure items.svg")
    assert "detectable: the smallest difference" in said.out
    assert "part of the difference" in Path("items.svg").read_text("utf-8")


def test_what_does_not_go_together_is_told(command, answers):
    text = Path("answers.csv").read_text("utf-8")
    Path("three.csv").write_text(f"{text}\nother,q0,0,t0,1\n", "utf-8")
    for words, told in (
        ("compare three.csv --by topic", "--by topic: expected two algorithms"),
        ("compare three.csv --sequential e", "--sequential e: expected two algorithms"),
        ("read answers.csv --cluster x", "no column 'x' of clus"),
        ("compare answers.csv large small --per-task", "--per-task applies to tasks"),
        ("rank answers.csv --resampling runs", "--resampling applies to tasks"),
        ("plan answers.csv", "plan applies to runs on tasks, not to items"),
    ):
        command(f"gnomon {words}").assert_refused(told)
