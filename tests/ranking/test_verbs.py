"""``gnomon rank`` and ``gnomon audit``: records, tables, LaTeX, and bad input."""

import json
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from gnomon.cli import app, main
from gnomon.scores.formats import write_scores
from gnomon.scores.table import ScoreTable


@pytest.fixture(scope="module")
def scores(tmp_path_factory):
    rng = np.random.default_rng(0)
    means = {"dqn_fast": 20, "tabular": 21, "uniform": 90}
    table = ScoreTable.from_arrays(
        {name: rng.poisson([m, 3 * m, 3.1 * m], (12, 3)) for name, m in means.items()},
        tasks=["clockwise", "b3", "b23"], metric="tce", higher_is_better=False,
    )  # fmt: skip
    path = tmp_path_factory.mktemp("ranking") / "scores.csv"
    write_scores(table, path)
    return path


def run(*arguments):
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def records(*arguments):
    return json.loads(run(*arguments, "--json"))["results"]


def test_rank_records_have_the_promised_fields(scores):
    found = records("rank", scores, "--resamples", 200)
    fields = ["name", "method", "rating", "low", "high", "rank_low", "rank_high", "groups"]
    assert [*found[0]] == fields
    assert [r["name"] for r in found][2] == "uniform"
    assert found[2]["rank_low"] == found[2]["rank_high"] == 3
    assert found[0]["groups"] == found[1]["groups"] == [1]


def test_rank_prints_ranks_and_tie_groups(scores):
    text = run("rank", scores, "--resamples", 200)
    assert "1 to 2   a" in text
    assert "tie group" in text


def test_rank_by_task_puts_the_hardest_first(scores):
    found = records("rank", scores, "--by", "task", "--resamples", 200)
    assert {r["name"] for r in found[:2]} == {"b3", "b23"}
    assert found[2]["name"] == "clockwise"


def test_rank_by_another_method(scores):
    assert {r["method"] for r in records("rank", scores, "--method", "borda")} == {"borda"}


def test_pairs_methods_and_classes(scores):
    pairs = records("rank", scores, "--pairs")
    assert [*pairs[0]] == [
        "a", "b", "probability", "ease_ratio", "n_grounds", "p_value", "p_adjusted", "exact",
    ]  # fmt: skip
    assert len(pairs) == 3
    methods = records("rank", scores, "--methods")
    assert [*methods[0]] == ["method", "place", "name", "rating"]
    assert {m["name"] for m in methods if m["place"] == 3} == {"uniform"}
    assert "hodge: by default" in run("rank", scores, "--methods")
    classes = records("rank", scores, "--classes")
    assert {*classes[0]["tasks"]} == {"b3", "b23"}
    assert classes[-1]["algorithm"] == "uniform"


def test_latex_escapes_names(scores):
    text = run("rank", scores, "--latex", "--resamples", 100)
    assert text.startswith(r"\begin{tabular}{lrrl}")
    assert r"dqn\_fast$^{a}$ & " in text
    assert r"& 1--2 \\" in text


def test_the_same_seed_gives_the_same_records(scores):
    assert records("rank", scores, "--seed", 3) == records("rank", scores, "--seed", 3)


def test_marginal_intervals_are_not_wider(scores):
    wide, narrow = records("rank", scores), records("rank", scores, "--marginal")
    for a, b in zip(wide, narrow, strict=True):
        assert a["rank_low"] <= b["rank_low"] <= b["rank_high"] <= a["rank_high"]


def test_audit_records_text_and_page(scores, tmp_path):
    found = records("audit", scores, "--resamples", 100)
    assert [*found[0]] == ["section", "name", "finding", "value"]
    text = run("audit", scores, "--resamples", 100, "--out", tmp_path / "page")
    assert "What would settle the top" in text
    page = (tmp_path / "page" / "report.html").read_text(encoding="utf-8")
    assert "Who is on top?" in page
    assert "dqn_fast or tabular: the data do not say which." in page
    assert (tmp_path / "page" / "audit.txt").read_text(encoding="utf-8") in text
    assert len(list((tmp_path / "page" / "figures").glob("*.csv"))) == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--method", "hogde"], "gnomon: unknown ranking method 'hogde'; did you mean 'hodge'?"),
        (["--where", "algorithm=dqn_fast"], "gnomon: "),
    ],
)
def test_bad_input_is_one_line_and_status_2(scores, arguments, message, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["gnomon", "rank", str(scores), *arguments])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    printed = capsys.readouterr().err.strip()
    assert printed.startswith(message)
    assert "\n" not in printed


def test_a_level_out_of_range_is_misuse(scores):
    result = CliRunner().invoke(app, ["rank", str(scores), "--level", "95"])
    assert result.exit_code == 2
