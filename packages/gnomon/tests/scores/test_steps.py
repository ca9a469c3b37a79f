"""Common steps: one score of each run, grids, runs that end early, unequal lengths."""

import numpy as np
import pytest

import gnomon as gn
from gnomon.errors import ScoreDataError
from gnomon.scores import ScoreTable, at_common_step, on_grid, read_scores
from score_tables import with_notes


def table_of(**curves):
    """Return a table of runs, each named ALGORITHM_RUN, as {step: score}, on one task."""
    rows = []
    for name, points in curves.items():
        algorithm, run = name.split("_")
        key = {"algorithm": algorithm, "task": "t", "run": run}
        rows += [key | {"step": step, "score": score} for step, score in points.items()]
    return ScoreTable(rows)


LONG = {0: 0.0, 10: 1.0, 20: 2.0}


def test_runs_of_one_length_are_taken_at_their_end_without_a_word():
    found, said = with_notes(at_common_step, table_of(a_0=LONG, a_1=LONG, b_0=LONG))
    assert (found.runs("a", "t").tolist(), said) == ([2.0, 2.0], [])
    assert "step" not in found.to_polars().columns


def test_runs_that_fell_short_are_named_and_all_are_taken_where_they_end():
    table = table_of(a_0=LONG, a_1={0: 5.0, 5: 6.0}, b_0=LONG)
    found, said = with_notes(at_common_step, table)
    assert found.runs("a", "t").tolist() == [0.5, 6.0]
    assert found.runs("b", "t").tolist() == [0.5]
    assert said == [
        "1 run ended earlier than the others on the same task (a run 1 on t): all are taken at the "
        "last step that all reach, 5 of 20 on t; read_scores('SOURCE', at='end') takes the end of "
        "each run; a number takes that step"
    ]


@pytest.mark.parametrize("verb", [gn.estimate, gn.compare, gn.rank, gn.audit])
def test_a_verb_takes_curves_where_all_runs_are(verb):
    short = {0: 0.5, 10: 3.0}
    table = table_of(a_0=LONG, a_1={0: 1.0, 10: 1.5, 20: 9.0}, b_0=short, b_1={0: 1.0, 10: 2.0})
    found, said = with_notes(verb, table)
    assert "2 runs ended earlier than the others" in said[0]
    assert str(found) == str(with_notes(verb, with_notes(at_common_step, table)[0])[0])


def test_each_run_may_be_taken_at_its_own_end():
    rows = table_of(a_0=LONG, a_1={0: 5.0, 5: 6.0}).to_records()
    assert read_scores(rows, at="end").runs("a", "t").tolist() == [2.0, 6.0]
    found, said = with_notes(read_scores, rows, at="end", window=3)
    assert found.runs("a", "t").tolist() == [1.0, 5.5]
    assert said == [
        "the score of a run is the mean of the last 3 scores of each run, or of all where there "
        "are fewer (1 run; the shortest has 2)"
    ]


def test_a_step_that_is_named_leaves_short_runs_missing():
    table = table_of(a_0=LONG, a_1={0: 5.0, 5: 6.0})
    found, said = with_notes(at_common_step, table, 20)
    assert found.runs("a", "t").tolist() == [2.0]
    assert len(found) == 2
    assert said == ["1 run without a score at step 20, kept as missing: a run 1 on t"]
    with pytest.raises(
        ScoreDataError, match="expected runs that reach step 30; the longest ends a"
    ):
        at_common_step(table, 30)
    with pytest.raises(ScoreDataError, match="expected a column 'step' for curves; found none"):
        at_common_step(table.last_step(), 3)
    assert at_common_step(table.last_step()) is not None


def test_all_runs_of_an_algorithm_have_one_name():
    _, said = with_notes(
        at_common_step, table_of(a_0=LONG, b_0={0: 1.0, 5: 1.0}, b_1={0: 1, 5: 2.0})
    )
    assert "(all of b on t)" in said[0]


def test_a_run_that_begins_after_another_has_ended_is_refused():
    with pytest.raises(ScoreDataError, match="a run 0 on t ends at 20, b run 0 on t begins at 30"):
        at_common_step(table_of(a_0=LONG, b_0={30: 1.0, 40: 2.0}))


def test_ends_that_hardly_differ_are_said_without_names():
    found, said = with_notes(
        at_common_step, table_of(a_0={0: 0.0, 1000: 1.0}, a_1={0: 0.0, 995: 1.0})
    )
    assert found.runs("a", "t").tolist() == [0.995, 1.0]
    assert said[0].startswith("runs end at slightly different steps (995 to 1,000 on t): taken at")


def test_single_scores_are_taken_as_they_are():
    found, said = with_notes(at_common_step, table_of(a_0={10: 1.0}, a_1={12: 2.0}))
    assert found.runs("a", "t").tolist() == [1.0, 2.0]
    assert said[0].startswith("each run has one score, and runs of a task were measured at differ")


def test_empty_scores_end_a_run():
    table = table_of(a_0=LONG, a_1={0: 1.0, 10: 3.0, 20: float("nan")}, a_2={0: float("nan")})
    found, said = with_notes(at_common_step, table)
    assert found.runs("a", "t").tolist() == [1.0, 3.0]
    assert len(found) == 3  # the run without any score is a missing run
    assert len(said) == 1


def test_shared_steps_need_no_grid():
    table = table_of(a_0=LONG, a_1={0: 5.0, 10: 6.0})
    found, said = with_notes(on_grid, table)
    assert (found, said) == (table, [])


def test_few_steps_of_their_own_are_joined():
    found, said = with_notes(on_grid, table_of(a_0=LONG, a_1={0: 0.0, 5: 5.0, 10: 0.0}))
    steps, curves = found.curves("a", "t")
    assert steps.tolist() == [0, 5, 10, 20]
    np.testing.assert_array_equal(curves, [[0, 0.5, 1, 2], [0, 5, 0, np.nan]])
    assert "gaps between a run's scores interpolated; grid=100" in said[0]


def test_nothing_is_stretched_on_an_even_grid():
    table = table_of(a_0={0: 0.0, 100: 1.0}, a_1={0: 1.0, 40: 1.0})
    found, said = with_notes(on_grid, table, 6)
    steps, curves = found.curves("a", "t")
    assert steps.tolist() == [0, 20, 40, 60, 80, 100]
    np.testing.assert_allclose(curves[0], [0, 0.2, 0.4, 0.6, 0.8, 1.0])
    np.testing.assert_allclose(curves[1], [1, 1, 1, np.nan, np.nan, np.nan])
    assert said == ["curves on a grid of 6 steps from 0 to 100, by linear interpolation"]


def test_many_scores_are_averaged():
    rng = np.random.default_rng(0)
    runs = {}
    for name in ("a_0", "a_1"):
        steps = np.sort(rng.choice(np.arange(1, 100_000), 1000, replace=False))
        runs[name] = {int(s): float(s) + rng.normal() for s in steps}
    found, said = with_notes(on_grid, table_of(**runs))
    steps, curves = found.curves("a", "t")
    assert steps.size == 100
    assert "means of the scores in each interval; grid=100 sets the number" in said[0]
    # The mean of an even slope over an interval is its height in the middle.
    np.testing.assert_allclose(curves, np.tile(steps - 500, (2, 1)), atol=300)


def test_a_grid_of_one_step_is_none():
    with pytest.raises(ScoreDataError, match="expected a grid of 2 to 10,000 steps, found 1"):
        on_grid(table_of(a_0=LONG), 1)
    with pytest.raises(ScoreDataError, match="expected a grid of 2 to 10,000 steps, found 20,000"):
        on_grid(table_of(a_0=LONG), 20_000)
