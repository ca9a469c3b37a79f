"""Several sources on the command line, their names, and two algorithms behind them."""

from __future__ import annotations

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


def test_verbs_take_several_logs(command):
    def found(words):
        return command(f"gnomon {words} --json").results

    both = "base.json new.json"
    assert {one["algorithm"] for one in found(f"estimate {both}")} == {"base", "new"}
    (pair,) = found(f"compare {both}")
    assert (pair["a"], pair["b"], pair["n_items"]) == ("base", "new", 40)
    assert [one["name"] for one in found(f"rank {both}")] == ["base", "new"]
    assert any("2 models x 40 items" in one["finding"] for one in found(f"audit {both}"))
    assert found(f"report {both} --out page.html") == [{"path": "page.html"}]


def test_sources_may_have_names_and_two_words_behind_them_are_algorithms(command, logs):
    (logs / "x=y.json").write_bytes((logs / "new.json").read_bytes())
    for words, pair in (
        ("base.json new.json new base", ("new", "base")),
        ("old=base.json ours=new.json", ("old", "ours")),
        ("base.json x=y.json", ("base", "new")),
    ):
        (found,) = command(f"gnomon compare {words} --json").results
        assert (found["a"], found["b"]) == pair, words


def test_folders_that_are_named_like_algorithms_are_sources_only_as_paths(command, logs):
    (logs / "both").mkdir()
    for name in ("base", "new"):
        (logs / f"{name}.json").rename(logs / "both" / f"{name}.json")
        (logs / name).mkdir()
        other = [sample(i + 41, uuid=f"{name}{i}") for i in range(40)]
        write_json(logs / name / "log.json", other, model=f"other {name}", n=40)
    (pair,) = command("gnomon compare both base new --json").results
    assert (pair["a"], pair["n_items"]) == ("base", 40)
    assert len(command("gnomon compare both ./base ./new --json").results) == 6
    (logs / "new" / "log.json").unlink()
    assert len(command("gnomon compare both base new --json").results) == 1


def test_algorithms_may_be_named_like_files(command, logs):
    lines = [f"{model},{item},1" for model in ("a.json", "b.json") for item in range(9)]
    (logs / "items.csv").write_text("\n".join(["model,item,correct", *lines]))
    (pair,) = command("gnomon compare items.csv b.json a.json --json").results
    assert (pair["a"], pair["b"]) == ("b.json", "a.json")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("compare base.json nwe.json", "nwe.json: expected a file of scores; there is none"),
        ("compare base.json new.json base", "expected two algorithms after the sources"),
        ("compare '' base.json", "expected the name of a source of scores, found an empty word"),
        ("compare base.json a b c", "found a, b, c, not a file or folder of scores"),
        ("compare base.json new.json nwe base", "unknown algorithm 'nwe'"),
        ("estimate old=base.json new.json", "expected a name for each source, as in old=base.json"),
        ("estimate a=base.json a=new.json", "expected different names of sources, found two 'a'"),
        ("report base.json new.json base nwe", "unknown algorithm 'nwe'"),
        ("report base.json new.json --by topik", "unknown column 'topik'"),
        ("gate base.json --regression", "expected NEW and BASE, found base.json"),
        ("gate new.json base.json", "expected a claim to decide, such as --non-inferior"),
    ],
)
def test_what_is_wrong_is_one_line_and_status_2(command, arguments, told):
    command(f"gnomon {arguments}").assert_refused(told)


@pytest.mark.parametrize(
    "words",
    [
        "new.json base.json",
        "ours=new.json old=base.json",
        "base.json new.json new base",
    ],
)
def test_the_gate_takes_two_sources_or_two_names(command, words):
    (found,) = command(f"gnomon gate {words} --regression --json").results_with(status=1)
    assert (found["claim"], found["holds"], found["value"]) == ("regression", False, -0.25)


def test_the_gate_takes_tables_of_tasks(command, logs):
    rng = np.random.default_rng(0)
    lines = ["algorithm,task,run,score"]
    for name, mean in (("old", 1.0), ("new", 0.0)):
        lines += [f"{name},t{t},{r},{rng.normal(mean)}" for t in range(6) for r in range(8)]
    (logs / "scores.csv").write_text("\n".join(lines))
    both = "scores.csv new old --regression"
    said = command(f"gnomon gate {both} --metric iqm --normalize min-max")
    assert (said.status, "Fail: all: NEW is significantly worse" in said.out) == (1, True)
    refused = command(f"gnomon gate {both}")
    refused.assert_refused("claims are about one metric: expected one of mean, median, iqm")
    assert "--metric" in refused.err
    said = command("gnomon gate new.json base.json --normalize min-max --regression")
    said.assert_refused("needs one table of both")


def test_a_short_page_is_written_as_markdown(command, logs):
    said = command("gnomon report base.json new.json new base --by topic --out page.md")
    assert said.status == 0, said.err
    page = (logs / "page.md").read_text("utf-8")
    assert page.startswith("### base.json, new.json\n\n**Which model is better?** base is better")
    assert "#### By topic" in page
