"""The page of an evaluation: who is better and where; HTML, Markdown."""

import csv
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from evaluation_logs import sample, write_json
from gnomon.errors import ScoreDataError, UnknownNameError
from gnomon.reports import report, scores_report
from gnomon.scores import ScoreTable, read_scores
from score_tables import votes_of

HOSTILE = "<script>alert('&')</script> | @all `x` [y](z)"


def table_of(gains, n=60, *, epochs=1, cluster=None, **about):
    """Return models that solve a share of items, of three topics."""
    rng = np.random.default_rng(5)
    ease = rng.random(n)
    rows = [
        {
            "algorithm": model,
            "task": f"q{i}",
            "run": run,
            "score": float(rng.random() < ease[i] + gain),
            "topic": f"{HOSTILE} {i % 3}",
        }
        for model, gain in gains.items()
        for i in range(n)
        for run in range(epochs)
    ]
    return ScoreTable(rows, units="items", cluster=cluster, **about)


def section_of(page, name):
    (found,) = [section for section in page.sections if section.name == name]
    return found


def test_two_models_are_told_apart_by_how_much_and_where():
    page = scores_report(table_of({"small": 0.0, "large": 0.5}), "logs", by=["topic"])
    better, where, top, _ = page.answers
    assert top.sentences == ("large and small: significantly different with the present 60 items.",)
    assert re.match(r"large is better than small by 0\.\d+\s\[0\.\d+.*60 items", *better.sentences)
    assert "p < 0.0001" in better.sentences[0]
    assert "only large solves" in where.sentences[0]
    assert "contributes" in where.sentences[1]
    assert [row[0] for row in section_of(page, "ranks").tables[0].rows] == ["large", "small"]
    groups = section_of(page, "groups-1").tables[0]
    shares = [int(row[-1].rstrip("%")) for row in groups.rows]
    assert sum(shares) == pytest.approx(100, abs=2)
    assert shares == sorted(shares, reverse=True)
    assert {one.name for one in page.figures} == {"rank-intervals", "groups-1-differences"}


def test_models_that_are_alike_are_not_told_apart():
    page = scores_report(table_of({"a": 0.0, "b": 0.0}), "logs", by=["topic"])
    assert "a and b are not significantly different" in page.answers[0].sentences[0]
    assert "with power 0.8" in page.answers[0].sentences[0]
    assert {row[-1] for row in section_of(page, "groups-1").tables[0].rows} == {"-"}


def test_of_many_groups_the_first_are_shown():
    table = table_of({"small": 0.0, "large": 0.3}, 300)
    place = pl.col("task").str.slice(1).cast(pl.Int64)
    many = replace(
        table, rows=table.to_polars().with_columns(topic="t" + (place % 30).cast(pl.String))
    )
    found = section_of(scores_report(many, "logs", by=["topic"]), "groups-1").tables[0]
    parts = sorted((row["contribution"] for row in found.numbers[1:]), reverse=True)
    assert [float(row[4]) for row in found.rows] == pytest.approx(parts[:20], abs=1e-3)
    assert found.caption.endswith("The first 20 of 30 are shown.")


def test_low_scores_may_be_good():
    table = table_of({"poor": 0.5, "good": 0.0}, higher_is_better=False)
    page = scores_report(table, "errors")
    assert re.match(r"good is better than poor by 0\.\d+\s\[0\.", page.answers[0].sentences[0])
    assert section_of(page, "ranks").tables[0].rows[0][0] == "good"


def test_twenty_models_are_ranked_and_the_first_compared_with_each():
    gains = {f"m{i:02}": 0.03 * i for i in range(20)}
    page = scores_report(table_of(gains, 200), "logs")
    top, pair = page.answers[0].sentences
    assert re.search("of all 190 pairs .* are not significantly", *page.answers[2].sentences)
    assert re.search("[0-9,]+ would separate them", *page.answers[3].sentences)
    assert re.search("of 20 models", top)
    assert "after correction over 190 pairs" in pair
    assert len(section_of(page, "ranks").tables[0].rows) == 20
    pairs = section_of(page, "pairs").tables[0]
    assert len(pairs.rows) == 19
    assert len(pairs.numbers) == 190
    assert all(row["value"] >= 0.0 for row in pairs.numbers)
    one = scores_report(table_of(gains, 200), "logs", pair=("m00", "m19"))
    assert "correction" not in one.answers[0].sentences[1]
    assert "m19 is better than m00" in one.answers[0].sentences[1]


def test_one_model_and_models_without_a_common_item_have_a_page():
    page = scores_report(table_of({"a": 0.0}, 10), "logs")
    assert "intervals were validated with 20" in page.notices[0]
    assert page.answers[0].question == "How good is it?"
    rows = [
        {"algorithm": a, "task": f"{a}{i}", "run": 1, "score": i % 2}
        for a in "ab"
        for i in range(30)
    ]
    apart = scores_report(ScoreTable(rows, units="items"), "logs")
    assert "not estimable" in " ".join(apart.answers[0].sentences)


@pytest.mark.parametrize("cluster", [None, "topic"])
def test_a_folder_has_every_number_beside_the_page(tmp_path, cluster):
    table = table_of({"small": 0.0, "large": 0.5}, cluster=cluster)
    page = report(table, tmp_path / "out", by=["topic"])
    drawn = (page.parent / "figures" / "groups-1-differences.csv").read_text().splitlines()
    assert {"n_items", "contribution"} <= set(csv.DictReader(drawn).fieldnames)
    text = page.read_text("utf-8")
    assert "<script" not in text
    assert "&lt;script&gt;alert(&#39;&amp;&#39;)&lt;/script&gt;" in text
    for name in ("models", "pairs", "groups-1"):
        assert f'href="tables/{name}.csv"' in text
        lines = (page.parent / "tables" / f"{name}.csv").read_text().splitlines()
        assert len(list(csv.DictReader(lines))) > 0
    alone = report(table_of({"small": 0.0, "large": 0.5}), tmp_path / "page.html").read_text()
    assert "tables/" not in alone
    assert 'download="pairs.csv"' in alone


def test_markdown_is_short_and_takes_no_text_for_its_own(tmp_path):
    table = table_of({"small": 0.0, "la|rge *x*": 0.5})
    path = report(table, tmp_path / "page.md", by=["topic"])
    text = path.read_text("utf-8")
    assert text.startswith("### scores\n\n**Which model is better?** la\\|rge \\*x\\* is better")
    for line in text.splitlines():
        if line.startswith("|"):
            cells = re.split(r"(?<!\\)\|", line)
            assert len(cells) in (5, 6, 7, 8, 9), line
    assert "<script" not in text
    assert "@all" not in text
    assert not re.search(r"(?<!\\)`", text)
    assert not re.search(r"(?<!\\)\[y", text)
    assert text.count("\n") < 80
    with pytest.raises(Exception, match="expected a folder to write to"):
        report(table, tmp_path / "none" / "page.md")


def test_markdown_cuts_tables_and_says_so(tmp_path):
    gains = {f"m{i:02}": 0.02 * i for i in range(25)}
    text = report(table_of(gains, 60), tmp_path / "page.md").read_text("utf-8")
    assert "5 more rows." in text


def test_logs_are_reported_with_what_failed(tmp_path):
    for model, right in (("lab/a", 3), ("lab/b", 1)):
        samples = [
            sample(i + 1, score="C" if i % 4 < right else "I", uuid=f"{model}{i}")
            for i in range(40)
        ]
        samples[7] |= {"error": {"message": "timeout"}, "scores": {}}
        write_json(tmp_path / f"{model[-1]}.json", samples, model=model, n=40)
    table = read_scores(tmp_path, cluster="topic")
    page = scores_report(table, "logs")
    assert section_of(page, "groups-1").tables[0].columns[0] == "topic"
    assert any("1 error" in text for text in page.answers[-1].sentences)


def test_what_cannot_be_asked_is_told(tmp_path):
    table = table_of({"a": 0.0, "b": 0.1})
    with pytest.raises(UnknownNameError, match=r"unknown column 'topik'.*did you mean 'topic'"):
        scores_report(table, "logs", by=["topik"])
    with pytest.raises(UnknownNameError, match="unknown algorithm 'c'"):
        scores_report(table, "logs", pair=("a", "c"))
    with pytest.raises(
        ScoreDataError, match=r"not one pair: compare\(scores, 'a', 'b'\) compares a and b"
    ):
        report(ScoreTable.from_arrays({"a": [[1.0]], "b": [[2.0]]}), tmp_path, pair=("a", "b"))


def test_a_model_without_a_finite_rating_has_no_number():
    votes = [("a", "b", 1.0)] * 9 + [("b", "c", 1.0), ("c", "b", 1.0)] * 9
    page = scores_report(votes_of(votes), "votes")
    table = section_of(page, "ranks")
    assert table.tables[0].rows[0][0] == "a"
    assert table.tables[0].rows[0][1] == "not estimable"
    assert "inf" not in " ".join(sum((one.sentences for one in page.answers), ()))
    assert "not reached" not in table.figures[0].svg
