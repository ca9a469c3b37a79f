"""Several sources on the command line, their names, and two algorithms behind them."""

from __future__ import annotations

import json

import numpy as np
import pytest

from evaluation_logs import sample, write_json


@pytest.fixture(autouse=True)
def logs(tmp_path, monkeypatch):
    """Write two logs of forty items, of which the second model loses a third; and go there."""
    monkeypatch.chdir(tmp_path)
    for model, every in (("base", 10), ("new", 3)):
        samples = [
            sample(i + 1, score="I" if i % every == 0 else "C", uuid=f"{model}{i}")
            for i in range(40)
        ]
        write_json(tmp_path / f"{model}.json", samples, model=model, n=40)
    return tmp_path


def records(said):
    assert said.status == 0, said.err
    return json.loads(said.out)["results"]


def test_verbs_take_several_logs(command):
    both = ("base.json", "new.json", "--json")
    assert {one["algorithm"] for one in records(command("gnomon", "estimate", *both))} == {
        "base",
        "new",
    }
    (pair,) = records(command("gnomon", "compare", *both))
    assert (pair["a"], pair["b"], pair["n_items"]) == ("base", "new", 40)
    assert [one["name"] for one in records(command("gnomon", "rank", *both))] == ["base", "new"]
    assert any(
        "2 models x 40 items" in one["finding"]
        for one in records(command("gnomon", "audit", *both))
    )
    plans = records(
        command("gnomon", "plan", "base.json", "new.json", "new", "base", "--items", "80", "--json")
    )
    assert [(one["a"], one["b"], one["items"]) for one in plans] == [("new", "base", 80)]
    (path,) = records(command("gnomon", "report", *both, "--out", "page.html"))
    assert path == {"path": "page.html"}


def test_two_words_behind_the_sources_are_algorithms(command):
    (pair,) = records(
        command("gnomon", "compare", "base.json", "new.json", "new", "base", "--json")
    )
    assert (pair["a"], pair["b"]) == ("new", "base")
    (pair,) = records(
        command("gnomon", "compare", "base.json", "new.json", "--pair", "new", "base", "--json")
    )
    assert (pair["a"], pair["b"]) == ("new", "base")


def test_sources_may_have_the_names_of_their_algorithms(command, logs):
    (pair,) = records(command("gnomon", "compare", "old=base.json", "ours=new.json", "--json"))
    assert (pair["a"], pair["b"]) == ("old", "ours")
    (logs / "x=y.json").write_bytes((logs / "new.json").read_bytes())
    (pair,) = records(command("gnomon", "compare", "base.json", "x=y.json", "--json"))
    assert (pair["a"], pair["b"]) == ("base", "new")


def test_what_can_be_read_both_ways_is_refused_with_both_readings(command, logs):
    (logs / "both").mkdir()
    for name in ("base", "new"):
        (logs / f"{name}.json").rename(logs / "both" / f"{name}.json")
        (logs / name).mkdir()
        other = [sample(i + 41, uuid=f"{name}{i}") for i in range(40)]
        write_json(logs / name / "log.json", other, model=f"other {name}", n=40)
    said = command("gnomon", "compare", "both", "base", "new")
    assert said.status == 2
    assert "./base ./new for the sources, or --pair base new for the algorithms" in said.err
    assert len(records(command("gnomon", "compare", "both", "./base", "./new", "--json"))) == 6
    (pair,) = records(command("gnomon", "compare", "both", "--pair", "base", "new", "--json"))
    assert pair["n_items"] == 40


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("compare base.json nwe.json", "nwe.json: expected a file of scores; there is none"),
        ("compare base.json new.json base", "expected two algorithms after the sources"),
        ("compare base.json a b c", "found a, b, c, not a file or folder of scores"),
        ("compare base.json new.json nwe base", "unknown algorithm 'nwe'"),
        ("estimate old=base.json new.json", "expected a name for each source, as in old=base.json"),
        ("estimate a=base.json a=new.json", "expected different names of sources, found two 'a'"),
        ("estimate base.json nwe.json", "nwe.json: expected a file of scores; there is none"),
        ("report base.json new.json --pair base nwe", "unknown algorithm 'nwe'"),
        ("report base.json new.json --markdown --out x.html", "expected a name that ends in .md"),
        ("report base.json new.json --by topik", "unknown column 'topik'"),
        ("compare base.json new.json --fail-if new", "expected a claim such as 'B worse than A'"),
        (
            "compare base.json new.json base new --fail-if X --by topic",
            "--by cannot be combined with --fail-if",
        ),
    ],
)
def test_what_is_wrong_is_one_line_and_status_2(command, arguments, told):
    said = command("gnomon", *arguments.split())
    assert said.status == 2
    assert told in said.err
    assert said.err.count("\n") == 1 or "Usage" in said.err
    assert not said.out


def test_the_gate_fails_where_the_claim_is_established(command):
    both = ("compare", "base.json", "new.json", "--fail-if")
    said = command("gnomon", *both, "B worse than A")
    assert said.status == 1
    assert "Established: new is worse than base." in said.out
    assert "Error rate at most 2.5 %" in said.out
    for claim in ("A worse than B", "new worse than base by 0.1"):
        said = command("gnomon", *both, claim)
        assert said.status == 0, said.err
        assert "Not established" in said.out
    said = command("gnomon", *both, "B worse than A", "--json")
    assert said.status == 1
    (found,) = json.loads(said.out)["results"]
    assert (found["a"], found["b"], found["established"]) == ("new", "base", True)
    assert (found["error_rate"], found["n_items"], found["margin"]) == (0.025, 40, 0.0)
    said = command("gnomon", *both, "B worse than A", "--level", "0.99999")
    assert said.status == 0


def test_the_gate_takes_tables_of_tasks(command, logs):
    rng = np.random.default_rng(0)
    lines = ["algorithm,task,run,score"]
    for name, mean in (("old", 1.0), ("new", 0.0)):
        lines += [f"{name},t{t},{r},{rng.normal(mean)}" for t in range(6) for r in range(8)]
    (logs / "scores.csv").write_text("\n".join(lines))
    said = command(
        "gnomon", "compare", "scores.csv", "--metric", "iqm", "--fail-if", "new worse than old"
    )
    assert (said.status, "Established: new is worse" in said.out) == (1, True)
    said = command("gnomon", "compare", "scores.csv", "--fail-if", "new worse than old")
    assert said.status == 2
    assert "a claim is about one metric: expected one of mean, median, iqm" in said.err
    assert "--metric" in said.err
    two = ("--metric", "iqm", "--metric", "mean")
    said = command("gnomon", "compare", "scores.csv", *two, "--fail-if", "new worse than old")
    assert said.status == 2


def test_markdown_goes_to_standard_output_or_a_file(command, logs):
    said = command("gnomon", "report", "base.json", "new.json", "--markdown")
    assert said.status == 0, said.err
    assert said.out.startswith(
        "### base.json, new.json\n\n**Which model is better?** base is better"
    )
    assert [path.suffix for path in logs.iterdir()] == [".json", ".json"]
    (found,) = records(command("gnomon", "report", "base.json", "new.json", "--markdown", "--json"))
    assert found["markdown"].strip() == said.out.strip()
    command("gnomon", "report", "base.json", "new.json", "--out", "page.md")
    assert (logs / "page.md").read_text("utf-8").strip() == said.out.strip()
    few = command(
        "gnomon", "report", "base.json", "new.json", "new", "base", "--by", "topic", "--markdown"
    )
    assert "#### By topic" in few.out
