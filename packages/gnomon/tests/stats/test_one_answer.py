"""One question, one answer: the verbs and their JSON give one number, whatever the table."""

import json
import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import gnomon as gn
from gnomon.cli import app
from gnomon.errors import GnomonError
from gnomon.printing import value_in_brackets
from gnomon.reports import scores_report
from gnomon.scores import ScoreTable, at_common_step, write_scores

IMPROVEMENT = "probability_of_improvement"


@st.composite
def tables(draw):
    """Ragged, tied, single runs, two algorithms, missing cells, unlike scales."""
    n, n_tasks = draw(st.integers(2, 4)), draw(st.integers(1, 4))
    most, digits = draw(st.sampled_from([1, 2, 5])), draw(st.sampled_from([0, 3]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scale = 10.0 ** rng.integers(0, 5, n_tasks) if draw(st.booleans()) else np.ones(n_tasks)
    missing = draw(st.booleans())
    rows = [
        {
            "algorithm": f"a{i}",
            "task": f"t{t}",
            "run": r,
            "score": round(float(scale[t] * (1 + rng.normal(i / 4, 1))), digits),
        }
        for t in range(n_tasks)
        for i in range(n)
        if not (missing and n_tasks > 2 and i == 0 and t == 0)
        for r in range(rng.integers(1, most + 1))
    ]
    return ScoreTable(rows, higher_is_better=draw(st.booleans()))


def quiet(verb, *arguments, **options):
    """The results of a verb, or the kind of error that it raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return verb(*arguments, **options)
        except GnomonError as error:
            return type(error)


def same(x, y):
    return (math.isnan(x) and math.isnan(y)) or x == pytest.approx(y, rel=1e-9, abs=1e-12)


@given(tables())
@settings(max_examples=40, deadline=None)
def test_verbs_agree(table):
    ranking, pairs = quiet(gn.rank, table), quiet(gn.compare, table, metrics=IMPROVEMENT)
    found = quiet(gn.audit, table)
    if isinstance(ranking, type):
        assert found is pairs is ranking
        return
    assert found.ranking.as_records() == ranking.as_records()
    estimates = quiet(gn.estimate, table, ["mean", "median", "iqm"])
    if found.estimates:
        assert [one.as_record() for one in found.estimates] == estimates.as_records()
    for one in () if isinstance(pairs, type) else pairs:
        check_alone(table, one)
    if len(table.algorithms) == 2:
        [pair] = pairs
        mean = next(row for row in ranking if row.name == pair.a)
        assert same(mean.low, pair.low)
        assert same(mean.high, pair.high)


def check_alone(table, one):
    """Check that a pair among all has the numbers of the pair alone."""
    (alone,) = quiet(gn.compare, table, one.a, one.b, metrics=one.metric, n_resamples=200)
    assert same(alone.p_adjusted, alone.p_value)
    for field in ("value", "low", "high", "p_value", "better"):
        pair = getattr(alone, field), getattr(one, field)
        assert same(*pair) if field != "better" else pair[0] == pair[1], field


@given(tables())
@settings(max_examples=30, deadline=None)
def test_differences_are_those_of_the_estimates(table):
    table = table.select(tasks=table.shared_tasks())
    metrics = ["mean", "median", "iqm"]
    pairs = quiet(gn.compare, table, metrics=metrics, n_resamples=200)
    estimates = quiet(gn.estimate, table, metrics, n_resamples=200)
    if isinstance(estimates, type):
        assert pairs is estimates
        return
    value = {(one.algorithm, one.metric): one.value for one in estimates}
    for one in pairs:
        assert same(one.value, value[one.a, one.metric] - value[one.b, one.metric])
        check_alone(table, one)


@given(tables())
@settings(max_examples=20, deadline=None)
def test_a_report_prints_the_numbers_of_the_verbs(table):
    page = quiet(scores_report, table, "scores", n_resamples=200)
    shown = {one.name: one.numbers for one in page.tables}
    drawn = {figure.name: figure.rows for figure in page.figures}
    estimates = quiet(gn.estimate, table, n_resamples=200)
    means = quiet(gn.estimate, table, "mean", per_task=True, n_resamples=200)
    ranking, pairs = quiet(gn.rank, table), quiet(gn.compare, table, metrics=IMPROVEMENT)
    found = quiet(gn.audit, table, n_resamples=200)
    for name, results in (("estimates", estimates), ("tasks", means), ("ranks", ranking)):
        assert (name in shown) == (not isinstance(results, type)), name
        for printed, own in zip(shown.get(name, ()), results if name in shown else (), strict=True):
            assert "value" in printed
            for field in {"value", "low", "high", "rank_low", "rank_high"} & printed.keys():
                number = math.nan if printed[field] is None else printed[field]
                assert same(number, getattr(own, field)), (name, field)
    for row in drawn.get("improvement", ()):
        (own,) = pairs.where(a=row["a"], b=row["b"])
        for field in ("value", "low", "high", "p_value", "p_adjusted"):
            number = math.nan if row[field] is None else row[field]
            assert same(number, getattr(own, field)), field
    texts = {text for section in page.sections for text in section.text}
    for one in () if isinstance(found, type) else found:
        if one.section in {section.name for section in page.sections} - {"estimates", "ranks"}:
            assert one.finding.rstrip(".") + "." in texts
    if isinstance(ranking, type):
        return
    a, b = ranking.names[:2]
    lead = quiet(gn.compare, table, a, b, ["mean"], n_resamples=200)
    card = " ".join(page.answers[1].sentences)
    for one in () if isinstance(lead, type) else lead:
        # In one pair of brackets with the test, where there is no interval.
        assert f"by {value_in_brackets(*ordered(one)).removesuffix(')')}" in card


def test_a_report_of_items_prints_the_findings_of_audit_in_any_order():
    rng = np.random.default_rng(0)
    chance = rng.normal(np.arange(6)[:, None] / 3, 1.0) - rng.normal(size=40)
    scores = {f"m{i}": row[None] for i, row in enumerate((chance + rng.normal(size=(6, 40))) > 0)}
    table = ScoreTable.from_arrays(scores, units="items")
    found = [one for one in quiet(gn.audit, table) if one.section != "table"]
    assert any("random tables" in one.finding for one in found)
    page = quiet(scores_report, table, "items")
    texts = {text for section in page.sections for text in section.text}
    assert {one.finding.rstrip(".") + "." for one in found} <= texts
    rows = table.to_records()
    turned = ScoreTable([rows[i] for i in rng.permutation(len(rows))], units="items")
    values = {one.name: one.value for one in quiet(gn.audit, turned) if one.section != "table"}
    assert values == {one.name: one.value for one in found}


def ordered(one):
    """The size of a difference with its interval."""
    return (one.value, one.low, one.high) if one.value >= 0 else (-one.value, -one.high, -one.low)


@given(tables())
@settings(max_examples=10, deadline=None)
def test_the_last_step_of_curves_has_the_numbers_of_estimate(table):
    # Of other tasks estimate takes what they show of the noise, which curves leave out.
    table = table.select(tasks=table.shared_tasks())
    rows = [row | {"step": step, "score": row["score"] * step}
            for row in table.to_records() for step in (1, 2)]  # fmt: skip
    steps = ScoreTable(rows, higher_is_better=table.higher_is_better)
    metrics = ["mean", "median", "iqm"]
    along = quiet(gn.curves, steps, metrics, n_resamples=200)
    last = quiet(gn.estimate, at_common_step(steps), metrics, n_resamples=200)
    if isinstance(last, type):
        assert along is last
        return
    for curve, own in zip(along, last, strict=True):
        assert (curve.algorithm, curve.metric) == (own.algorithm, own.metric)
        for field in ("value", "low", "high"):
            assert same(getattr(curve, field)[-1], getattr(own, field)), (own.metric, field)


@given(tables())
@settings(max_examples=8, deadline=None)
def test_json_has_the_numbers_of_python(tmp_path_factory, table):
    path = tmp_path_factory.mktemp("scores") / "scores.csv"
    write_scores(table, path)
    options = [] if table.higher_is_better else ["--lower-is-better"]
    for arguments, results in (
        (["rank"], quiet(gn.rank, table)),
        (["compare", "--metric", IMPROVEMENT], quiet(gn.compare, table, metrics=IMPROVEMENT)),
        (["estimate", "--metric", "iqm"], quiet(gn.estimate, table, "iqm")),
        (["audit"], quiet(gn.audit, table)),
    ):
        verb, *rest = arguments
        said = CliRunner().invoke(app, [verb, str(path), *rest, *options, "--json"])
        if isinstance(results, type):
            assert said.exit_code != 0
            continue
        records = json.loads(said.stdout)["results"]
        for record, own in zip(records, results.as_records(), strict=True):
            for field in ("value", "low", "high", "p_value", "p_adjusted", "rank_low", "rank_high"):
                if own.get(field) is not None:
                    assert record[field] == pytest.approx(own[field], rel=1e-9), (verb, field)
                else:
                    assert record.get(field) is None
