"""The audit: what it says of good, thin and broken tables."""

from pathlib import Path

import numpy as np
import pytest

from gnomon.errors import ScoreDataError, on_command_line
from gnomon.ranking import audit, rank
from gnomon.scores import ScoreTable, normalize, read_scores
from gnomon.stats import compare, estimate, metric_named, plan
from score_tables import censored

SCORES = Path(__file__).parents[4] / ".." / "shared" / "data" / "scores"


def audited(scores, **options):
    table = scores if isinstance(scores, ScoreTable) else ScoreTable.from_arrays(scores, **options)
    return audit(table, n_resamples=200, rng=np.random.default_rng(0))


def said(found, section):
    return [f.finding for f in found if f.section == section]


@pytest.mark.parametrize("scale", [1.0, 1e-12, 1e40])
def test_equal_summaries_are_said_to_be_equal_and_printed_as_in_tables(scale):
    x = np.random.default_rng(0).normal(0, scale, (5, 4))
    found = audited({"a": x, "copy": x, "better": x + 3 * scale})
    best = next(one for one in estimate(found.table, "mean") if one.algorithm == "better")
    shown = f"Mean of better: {best.value:.4g} [{best.low:.4g}, {best.high:.4g}]"
    assert said(found, "estimates")[1] == shown
    assert [line.split(";")[0] for line in said(found, "metrics")] == [
        f"{name}: better > a = copy" for name in ("Mean", "Median", "IQM")
    ]


def test_a_clear_table_is_settled():
    rng = np.random.default_rng(0)
    found = audited({name: rng.normal(m, 1, (10, 6)) for name, m in (("a", 0), ("b", 3), ("c", 6))})
    assert "Ranks\n-----" in str(found)
    assert said(found, "table")[0].startswith("180 scores (score, higher is better): 3 algorithms")
    how, first, *_ = said(found, "ranks")
    assert how.startswith("Mean win probability, 95 % intervals. Ranks are based on pairwise wins")
    assert first.startswith("c: rank 1, win probability 0.9")
    assert said(found, "ranks")[4].startswith("c and b: significantly different, c wins 0.9")
    assert said(found, "runs") == [
        "c and b: significantly different with the present 10 runs per task"
    ]
    assert all(f.value == 0.0 for f in found if f.section == "metrics")


def test_a_papers_table_of_single_numbers_is_audited_by_tasks():
    rng = np.random.default_rng(0)
    found = audited({name: rng.normal(m, 1, (1, 25)) for name, m in (("a", 0), ("b", 2))})
    assert any("the tasks are treated as a sample" in note for note in found.warnings)
    assert found.ranking.separated[0, 1]
    assert said(found, "table")[-1].endswith("have fewer than 5 runs")


def test_a_wild_score_is_listed():
    x = np.random.default_rng(0).normal(10, 1, (3, 4))
    x[1, 3] = 1e12
    found = audited({"a": x, "b": np.random.default_rng(1).normal(10, 1, (3, 4))})
    (wild,) = [one for one in found if one.name == "wild score"]
    assert (wild.section, wild.value) == ("table", 1e12)
    assert wild.finding.startswith("a on task_3: the score 1e+12 of run 1 is ")


def test_errors_with_unlearned_runs_are_audited():
    rng = np.random.default_rng(0)
    means = {"dqn": 50, "uniform": 90}
    drawn = {a: [np.where(rng.random(8) < 0.3, np.inf, rng.poisson(m, 8)) for _ in "xy"]
             for a, m in means.items()}  # fmt: skip
    found = audited(censored({name: np.transpose(x) for name, x in drawn.items()}))
    assert found.ranking.names == ("dqn", "uniform")
    assert "Mean of dqn: not estimable, some runs are censored" in said(found, "estimates")
    assert any(text.startswith("IQM of dqn: 5") for text in said(found, "estimates"))
    assert said(found, "metrics")[0] == "Mean: not estimable, some runs are censored"
    assert said(found, "metrics")[2].startswith("IQM: dqn > uniform")


def test_a_mean_of_some_is_compared_among_these():
    rng = np.random.default_rng(0)
    scores = {
        a: rng.poisson(m, (8, 2)).astype(float) for a, m in zip("abc", (10, 50, 90), strict=True)
    }
    scores["c"][7] = np.inf
    found = audited(censored(scores))
    mean, *_ = said(found, "metrics")
    assert mean.startswith("Mean: a > b; same order as the ranks; not estimable for c (cens")
    last = [f.name for f in found if f.section == "estimates"][3]
    assert last == "mean of c"


def test_summaries_of_normalised_scores_are_on_that_scale():
    rng = np.random.default_rng(0)
    scores = {"a": [[30.0, 5.0]], "b": [[10.0, 6.0]], "ref": [[1.0, 5.0]]}
    raw = ScoreTable.from_arrays({n: x + rng.normal(0, 0.1, (6, 2)) for n, x in scores.items()})
    plain, scaled = audited(raw), audited(normalize(raw, "reference:ref"))
    assert said(plain, "estimates")[0] == "Raw scores over 2 tasks"
    assert said(plain, "estimates")[1].startswith("Mean of a: 17.")
    assert said(scaled, "estimates")[0] == "Scores normalised by reference ref over 2 tasks"
    assert said(scaled, "estimates")[1].startswith("Mean of a: 15.")


@pytest.mark.filterwarnings("ignore:intervals come from the standard errors")
def test_scores_with_standard_errors_have_the_intervals_of_estimate():
    table = ScoreTable(
        [
            {"algorithm": name, "task": task, "run": 0, "score": score + lead, "stderr": 0.01}
            | {"n_items": 2000}
            for name, lead in (("small", 0.0), ("large", 0.2))
            for task, score in (("arc", 0.3), ("piqa", 0.5), ("quiz", 0.6))
        ],
        metric="acc",
    )
    found, estimates = audited(table), estimate(table)
    assert [one.as_record() for one in found.estimates] == estimates.as_records()
    assert "not estimable" not in str(found)
    assert estimates.title == "acc, higher is better"


def test_raw_scores_on_unlike_scales_have_no_summaries():
    rng = np.random.default_rng(0)
    table = ScoreTable.from_arrays(
        {name: np.array([20.0, 60_000.0]) * rng.uniform(0.9, 1.1, (5, 2)) for name in "ab"}
    )
    found = audit(table, n_resamples=50)
    (text,) = said(found, "estimates")
    assert "expected scores on one scale, found medians of 20.7 on task_0" in text
    assert said(found, "metrics") == ["Not reported: see the summary scores"]
    assert found.ranking == rank(table)
    assert not found.estimates
    for verb in (estimate, compare, plan):
        with pytest.raises(ScoreDataError, match="expected scores on one scale"):
            verb(table, metrics=metric_named("mean"))


def test_summaries_say_how_few_tasks_they_rest_on():
    rng = np.random.default_rng(0)
    scores = {name: rng.normal(size=(5, 4)) for name in "abc"}
    scores["c"][:, 2:] = np.nan
    assert said(audited(scores), "estimates")[0] == (
        "Raw scores over the 2 of 4 tasks that all algorithms have"
    )


@pytest.mark.parametrize("scale", [lambda table: table, lambda table: normalize(table, "min-max")])
def test_who_has_no_score_at_all_leaves_the_others_their_summaries(scale):
    rng = np.random.default_rng(0)
    scores = {name: rng.normal(size=(5, 2)) for name in "abc"}
    scores["c"][:] = np.nan
    found = audited(scale(ScoreTable.from_arrays(scores)))
    assert {e.algorithm for e in found.estimates} == {"a", "b"}
    assert said(found, "estimates")[0].endswith(" over 2 tasks")


def test_notes_are_the_end_of_the_text():
    rng = np.random.default_rng(0)
    found = audited({name: rng.normal(size=(1, 8)) for name in "ab"})
    assert found.warnings
    assert str(found).endswith("\n".join(["", "Notes", "-----", *found.warnings]))
    assert "Notes" not in audited({name: rng.normal(size=(5, 8)) for name in "ab"}).to_text()


def test_the_number_of_runs_is_that_of_the_plan():
    rng = np.random.default_rng(5)
    means = {"a": 9.55, "b": 9.0, "c": 0.0}
    table = ScoreTable.from_arrays({n: rng.normal(m, 1, (5, 6)) for n, m in means.items()})
    (runs,) = [f for f in audited(table) if f.section == "runs"]
    planned = plan(table, "a", "b")
    assert runs.finding == (
        "a and b: not significantly different. In a test of this pair alone, "
        + planned.notes[0].removeprefix("a and b (probability_of_improvement): ").removesuffix(".")
    )
    assert runs.value == planned[0].needed - 5


def test_unequal_numbers_of_runs_are_printed_as_a_range():
    rng = np.random.default_rng(0)
    scores = {name: rng.normal(m, 1, (10, 6)) for name, m in (("a", 0), ("b", 9))}
    scores["a"][:2, 0] = np.nan
    (text,) = said(audited(scores), "runs")
    assert text == "b and a: significantly different with the present 8 to 10 runs per task"


def test_pairs_unlike_the_ranking_are_named():
    rng = np.random.default_rng(0)
    # b wins on three of four tasks, by little; a on one, by far.
    level = {"a": [0.0, 0.0, 0.0, 10.0], "b": [1.0, 1.0, 1.0, 0.0], "c": [9.0, 9.0, 9.0, -2.0]}
    found = audited({n: np.array(x) + rng.normal(0, 0.1, (8, 4)) for n, x in level.items()})
    mean = next(f for f in found if f.section == "metrics" and f.name == "mean")
    assert mean.finding == (
        "Mean: c > a > b; reverses 1 pair of the ranking (a over b), 1 of them significantly "
        "different in rank"
    )


def test_a_disconnected_table_names_pairs_that_are_not_tested():
    rng = np.random.default_rng(0)
    records = [
        {"algorithm": a, "task": t, "run": i, "score": float(rng.normal())}
        for a, t in (("a", "x"), ("b", "x"), ("p", "y"), ("q", "y"))
        for i in range(6)
    ]
    found = audited(ScoreTable(records))
    assert any(text.endswith("not tested") for text in said(found, "ranks"))
    assert said(found, "estimates") == [
        "Not reported: expected tasks that all algorithms have; a, b, p, q share none"
    ]
    assert any("share no task (4 such pairs)" in note for note in found.warnings)


def test_steps_are_audited_at_the_last_one():
    rng = np.random.default_rng(0)
    found = audited({name: rng.normal(size=(5, 3, 4)) for name in "ab"})
    assert len(found.table) == 30


def test_a_table_in_which_nobody_learned_anything_is_audited():
    table = censored(dict.fromkeys("ab", np.full((3, 2), np.inf)))
    found = audit(table, n_resamples=25, rng=np.random.default_rng(0))
    assert "no differences: every run is censored" in found.warnings
    assert not any("share none" in note for note in found.warnings)
    assert found.ranking.tiers == (("a", "b"),)


GAMES = ["Pong", "Boxing", "Breakout", "AirRaid", "Carnival", "Pooyan"]


@pytest.fixture(scope="module")
def games():
    """Two agents that differ on the games without baselines, and are alike on the others."""
    rng = np.random.default_rng(1)
    means = {"a": [0.0] * 6, "b": [0.0] * 3 + [9.0] * 3}
    return ScoreTable.from_arrays(
        {name: rng.normal(mean, 1.0, (6, 6)) for name, mean in means.items()}, tasks=GAMES
    )


def test_an_audit_ranks_tasks_that_have_no_scale_and_says_so(games):
    with pytest.warns(match="left out of means"):
        scaled = normalize(games, "random-human")
    found = audit(scaled, n_resamples=100)
    text = {(one.section, one.name): one.finding for one in found}
    assert found.ranking.tiers == (("b",), ("a",))
    assert text["table", "contents"].endswith("2 algorithms, 6 tasks, 6 runs")
    assert text["estimates", "scale"] == (
        "Scores normalised by random-human over 3 tasks, without 3 tasks that have no anchors"
    )
    assert text["ranks", "unscaled"].startswith("Includes 3 tasks without anchors")
    assert found.estimates[0].n_tasks == 3


def on_the_page(found):
    page = Path(__file__).parents[4] / "docs" / "gnomon" / "audit.md"
    text = page.read_text(encoding="utf-8")
    return [line for line in str(found).splitlines() if line not in text] == []


def audited_on_command_line(table):
    with on_command_line():
        return audit(table, rng=np.random.default_rng(0))


@pytest.mark.skipif(not SCORES.is_dir(), reason="the published scores are not in the repository")
def test_dopamines_table_is_audited_as_the_page_says():
    table = read_scores(SCORES / "dopamine_atari_legacy_last10.csv")
    found = audited_on_command_line(table)
    assert found.ranking.names[:2] == ("IQN", "Rainbow")
    assert [one.rank_high for one in found.ranking[:2]] == [2, 2]
    assert not found.ranking.separated[0, 1]
    assert on_the_page(found)


@pytest.mark.skipif(not SCORES.is_dir(), reason="the published scores are not in the repository")
def test_an_algorithm_with_single_runs_has_no_interval_in_dreamers_table():
    table = read_scores(SCORES / "dreamerv3_final_runs.csv", where={"suite": "atari57"})
    found = audited_on_command_line(table)
    assert found.ranking.names[0] == "dreamerv3"
    muzero = found.ranking[found.ranking.names.index("muzero")]
    assert np.isnan(muzero.low)
    assert (muzero.rank_low, muzero.rank_high) == (1, 3)
