"""The statistics verbs on items of an evaluation: tables, records, refusals."""

from __future__ import annotations

import json
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
    path = tmp_path / "answers.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


def records(said):
    assert said.status == 0, said.err
    return json.loads(said.out)["results"]


def test_verbs_know_items(command, answers):
    (one,) = records(command("gnomon", "compare", answers, "large", "small", "--json"))
    assert one["method"] == "paired_t"
    assert one["n_items"] == 40
    whole, *topics = records(
        command("gnomon", "compare", answers, "large", "small", "--by", "topic", "--json")
    )
    assert [topic["task"] for topic in topics] == ["t0", "t1", "t2", "t3"]
    assert sum(topic["contribution"] for topic in topics) == pytest.approx(whole["value"])
    looks = records(
        command("gnomon", "compare", answers, "large", "small", "--sequential", "e", "--json")
    )
    assert [look["n_items"] for look in looks] == [5, 10, 20, 40]
    clustered = answers.replace("answers", "clustered")
    read = command("gnomon", "read", answers, "--cluster", "topic", "--out", clustered)
    assert read.status == 0
    of = ("--metric", "pass@2", "--metric", "pass^2", "--metric", "mean")
    found = records(command("gnomon", "estimate", clustered, *of, "--json"))
    assert [one["metric"] for one in found[:3]] == ["pass@2", "pass^2", "mean"]
    assert found[2]["n_clusters"] == 4
    ranks = records(command("gnomon", "rank", answers, "--json"))
    assert [one["name"] for one in ranks] == ["large", "small"]
    plans = records(
        command(
            "gnomon",
            "plan",
            answers,
            "large",
            "small",
            "--items",
            "80",
            "--runs",
            "4",
            "--json",
        )
    )
    assert [(one["items"], one["runs"]) for one in plans] == [(80, 4)]


def test_tables_and_figures_of_items_are_shown(command, answers, tmp_path):
    figure = tmp_path / "items.svg"
    said = command(
        "gnomon",
        *("compare", answers, "large", "small", "--by", "topic"),
        *("--figure", str(figure)),
    )
    assert said.status == 0, said.err
    assert "detectable: the smallest difference" in said.out
    assert "part of the difference" in figure.read_text("utf-8")


def test_the_only_two_models_need_no_names(command, answers):
    for option in (("--by", "topic"), ("--sequential", "e")):
        found = [
            records(command("gnomon", "compare", answers, *names, *option, "--json"))
            for names in ((), ("large", "small"))
        ]
        assert found[0] == found[1]


def test_what_does_not_go_together_is_told(command, answers):
    three = answers.replace("answers", "three")
    Path(three).write_text(f"{Path(answers).read_text('utf-8')}\nother,q0,0,t0,1\n", "utf-8")
    for arguments, told in (
        (("compare", three, "--by", "topic"), "--by topic: expected two algorithms"),
        (("compare", three, "--sequential", "e"), "--sequential e: expected two algorithms"),
        (("compare", answers, "large", "small", "--by", "topik"), "did you mean 'topic'?"),
        (("read", answers, "--cluster", "x"), "no column 'x' of clus"),
        (("compare", answers, "large", "small", "--per-task"), "--per-task applies to tasks"),
        (("estimate", answers, "--metric", "iqm"), "unknown metric of items 'iqm'"),
        (("estimate", answers, "--metric", "pass@3"), "expected an item with 3 epochs"),
        (("estimate", answers, "--method", "percentile"), "--method applies to tasks"),
        (("plan", answers, "--gamma", "1"), "--gamma applies to tasks"),
    ):
        said = command("gnomon", *arguments)
        assert said.status == 2, arguments
        assert told in said.err, (arguments, said.err)
        assert not said.out
