"""The whole: any suite in, a subset and two errors out; baselines."""

from dataclasses import replace

import numpy as np
import pytest

from gnomon.distillation import baselines, distill, prepare
from gnomon.errors import DegenerateScoresWarning, ScoreDataError, UnknownNameError
from gnomon.scores import ScoreTable

PLAIN = {"transform": "identity"}


def table_of(n=40, n_tasks=8, *, gaps=0.0, extra=()):
    rng = np.random.default_rng(0)
    x = rng.normal(2, 0.7, (n, 1)) + rng.normal(0, 0.3, (n, n_tasks))
    x[rng.random(x.shape) < gaps] = np.nan
    rows = {f"a{i:02}": [row] for i, row in enumerate(x)} | dict(extra)
    return ScoreTable.from_arrays(rows, tasks=[f"t{j}" for j in range(n_tasks)])


def test_a_record_has_the_promised_fields(make_scores):
    best = distill(make_scores(), size=3)[0]
    record = best.as_record()
    promised = "tasks weights cv_mse r2 relative_error nested_relative_error n_rows"
    assert set(record) >= set(promised.split())
    assert len(record["tasks"]) == len(record["weights"]) == 3
    assert len(best.model.residuals) == 40
    assert 0.8 < record["concordance"] <= 1


def test_the_seed_is_zero_unless_one_is_given(make_scores):
    data = make_scores()
    found = distill(data, size=2)
    assert found.settings["seed"] == 0
    for same in (0, np.random.default_rng(0)):
        assert distill(data, size=2, rng=same).as_records() == found.as_records()
    other = distill(data, size=2, rng=1)
    assert other[0].nested_relative_error != found[0].nested_relative_error


def test_it_shows_itself(make_scores):
    found = distill(make_scores(), size=2)
    assert "with tasks chosen without the predicted algorithms (40 of 40)" in str(found)
    assert str(found).endswith(f"  {found.model.formula}")
    assert found.plot().axes[0].get_xlabel() == "true summary"


@pytest.mark.parametrize("procedure", ["factor", "paper"])
def test_the_figure_shows_the_intervals_whose_coverage_is_printed(make_scores, procedure):
    found = distill(make_scores(), size=2, procedure=procedure)
    figure = found.figure()
    missed = sum(not row["low"] <= row["true"] <= row["high"] for row in figure.rows)
    assert missed > 0
    assert f"those of {missed} of 40 algorithms (diamonds) miss the diagonal" in figure.caption
    if procedure == "factor":
        assert f"cover {100 * (40 - missed) / 40:.0f} % of the algorithms" in str(found)
    entries = [text.get_text() for text in found.plot().axes[0].get_legend().get_texts()]
    assert entries == ["90 % interval holds the true summary", "90 % interval misses it"]


def test_what_does_not_fit_is_refused(make_scores):
    with pytest.raises(TypeError, match="expected a ScoreTable for transform; this is prepared"):
        distill(make_scores(), transform="log")
    with pytest.raises(UnknownNameError, match="unknown procedure 'papre'; did you mean 'paper'"):
        distill(make_scores(), procedure="papre")
    with pytest.raises(ScoreDataError, match="expected a suite of tasks, found items"):
        distill(replace(table_of(), units="items"))
    for name in ("factor", "paper"):
        with pytest.raises(ScoreDataError, match="3 to 6 folds for 6 algorithms, found 10"):
            distill(table_of(6), procedure=name, folds=10, **PLAIN)
    with pytest.raises(ScoreDataError, match="at least 5 algorithms, found 4"):
        distill(table_of(4), size=2, **PLAIN)
    few = distill(table_of(6), size=2, **PLAIN)
    assert few.settings["folds"] == 6
    assert any("6 algorithms are few to choose tasks by: the error" in w for w in few.warnings)


def test_large_families_widen_the_intervals():
    """Checkpoints of five agents: the others of its family predict each, but not a new agent."""
    rng = np.random.default_rng(0)
    agents = np.repeat(rng.normal(0, 0.5, (5, 12)), 6, axis=0)
    x = 2 + rng.normal(0, 0.5, (30, 1)) + agents + rng.normal(0, 0.1, (30, 12))
    scores = ScoreTable.from_arrays({f"a{i:02}": [row] for i, row in enumerate(x)})
    data = replace(prepare(scores, **PLAIN), groups=tuple(f"agent{i // 6}" for i in range(30)))
    best = distill(data, size=2)
    held = best[0].families
    assert best.model.scale == pytest.approx(max(best[0].nested.scale, held.scale))
    assert best.model.scale > best[0].nested.scale
    assert best[0].as_record()["family_coverage"] == held.coverage(scale=best.model.scale)
    assert "5 families are too few to estimate the error for another family" in str(best)


def test_the_order_of_the_rows_does_not_matter():
    rows = table_of().to_records()
    shuffled = [rows[i] for i in np.random.default_rng(3).permutation(len(rows))]
    found, again = (distill(ScoreTable(r), size=3, **PLAIN) for r in (rows, shuffled))
    assert found.as_records() == again.as_records()


def test_tasks_already_run():
    found = distill(table_of(), have=["t4", "t1"], **PLAIN)
    assert found.model.tasks == ("t4", "t1")
    assert set(found[0].nested.chosen) == {("t4", "t1")}
    more = distill(table_of(), have=["t4"], size=3, **PLAIN)
    assert more.model.tasks[0] == "t4"
    assert len(more.model.tasks) == 3


def test_an_error_that_needs_complete_rows_blocks_nothing():
    with pytest.warns(DegenerateScoresWarning) as said:
        found = distill(table_of(40, 12, gaps=0.55), size=5, **PLAIN)
    assert any("no plain error, which needs complete rows" in str(w.message) for w in said)
    assert np.isnan(found[0].relative_error)
    assert found[0].nested.n_predicted >= 35


def test_random_greedy_and_fixed_sets_are_judged_on_the_same_folds(make_scores):
    data = make_scores(gaps=0.05)
    found = baselines(data, size=2, folds=3, sets={"mine": ["t01", "t02", "t03"]})
    by_name = {one.method: one for one in found}
    assert [*by_name] == sorted(by_name, key=lambda name: by_name[name].error)
    assert set(by_name) == {"factor", "best single tasks", "random", "mine"}
    assert (by_name["mine"].hindsight, by_name["mine"].n_tasks) == (True, 3)
    with pytest.raises(UnknownNameError, match="unknown task 't99'"):
        baselines(data, sets={"mine": ["t99"]})
