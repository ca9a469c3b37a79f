"""The whole: any suite in, subsets and two errors out."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gnomon.distillation import FactorProcedure, distill, prepare, sizes
from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.scores import ScoreTable, read_scores
from language_models import language_models

DOPAMINE = Path(__file__).parents[4] / ".." / "shared" / "data" / "scores"
FIELDS = {
    "tasks",
    "weights",
    "cv_mse",
    "r2",
    "relative_error",
    "nested_relative_error",
    "n_rows",
    "rank",
}


def test_a_record_has_the_promised_fields(make_scores):
    best = distill(make_scores(), size=3)[0]
    record = best.as_record()
    assert set(record) >= FIELDS
    assert record["rank"] == 1
    assert len(record["tasks"]) == len(record["weights"]) == 3
    assert best.nested_relative_error == record["nested_relative_error"]
    assert len(best.model.residuals) == 40
    assert 0.8 < record["tau"] < record["concordance"] <= record["clear_concordance"] <= 1
    alone = distill(make_scores(), size=3, nested="none")
    assert alone[0].as_record()["tau"] is None
    assert alone.warnings == (
        "nested_relative_error: of the first subset of a nested validation alone",
    )
    with pytest.raises(ScoreDataError, match="expected a nested validation to draw"):
        alone.plot()


@pytest.mark.full
def test_the_paper_is_told_honestly(papers_choice):
    assert papers_choice.relative_error == pytest.approx(0.104, abs=5e-4)
    assert papers_choice.nested_relative_error == pytest.approx(0.189, abs=5e-4)


@pytest.mark.full
def test_language_models():
    found = distill(language_models(), transform="logit", summary="mean")
    assert found[0].nested.n_predicted == 200
    assert found[0].nested_relative_error < 0.12


def test_six_agents_are_too_few():
    path = DOPAMINE / "dopamine_atari_legacy_last10.csv"
    if not path.is_file():
        pytest.skip("the Dopamine scores are not beside the repository")
    with pytest.warns(DegenerateScoresWarning, match="4 tasks left out"):
        data = prepare(read_scores(path))
    for name in ("factor", "paper"):
        with pytest.raises(ScoreDataError, match=r"at least 10 algorithms .*, found 6"):
            distill(data, procedure=name)


def test_error_by_size(make_scores):
    found = sizes(make_scores(), most=4)
    assert [record["size"] for record in found.as_records()] == [1, 2, 3, 4]
    assert found[3].nested_relative_error < found[0].nested_relative_error


def test_the_seed_is_zero_unless_one_is_given(make_scores):
    data = make_scores()
    found = distill(data, size=2)
    assert found.settings["seed"] == 0
    for same in (0, np.random.default_rng(0)):
        again = distill(data, size=2, rng=same)
        assert again.as_records() == found.as_records()
    other = distill(data, size=2, rng=1)
    assert other[0].nested_relative_error != found[0].nested_relative_error


def test_procedures_have_the_same_folds(make_scores):
    data = make_scores()
    both = distill(data, size=2, procedure=["factor", FactorProcedure()], rng=3)
    assert np.array_equal(both[0].nested.folds, both[1].nested.folds)


def test_it_shows_itself(make_scores):
    found = distill(make_scores(), size=2, top=2)
    assert "for algorithms that the choice of tasks had not seen: 40 of 40" in str(found)
    assert str(found).endswith(f"  {found.model.formula}")
    assert found.to_polars()["rank"].to_list() == [1, 2]
    assert found.plot().axes[0].get_xlabel() == "true summary"
    assert "<table>" in found._repr_html_()


def test_prepared_scores_take_no_options(make_scores):
    with pytest.raises(TypeError, match="expected a ScoreTable for transform; this is prepared"):
        distill(make_scores(), transform="log")


def test_groups_are_needed_to_leave_them_out(make_scores):
    with pytest.raises(ScoreDataError, match="nested group-folds needs groups: name the column"):
        distill(make_scores(), size=2, nested="group-folds")


def test_large_families_widen_the_intervals():
    """Checkpoints of five agents: the others of its family tell of each but not of a new agent."""
    rng = np.random.default_rng(0)
    agents = np.repeat(rng.normal(0, 0.5, (5, 12)), 6, axis=0)
    x = 2 + rng.normal(0, 0.5, (30, 1)) + agents + rng.normal(0, 0.1, (30, 12))
    scores = ScoreTable.from_arrays({f"a{i:02}": [row] for i, row in enumerate(x)})
    families = tuple(f"agent{i // 6}" for i in range(30))
    data = replace(prepare(scores, transform="identity"), groups=families)
    best = distill(data, size=2)
    held = best[0].families
    assert best.model.scale == pytest.approx(max(best[0].nested.scale, held.scale))
    assert best.model.scale > best[0].nested.scale
    assert best[0].as_record()["family_coverage"] == held.coverage(scale=best.model.scale)
    assert "5 families are too few to say how far another one may be off" in str(best)


def test_order_of_the_rows_does_not_matter():
    table = language_models(40, 10)
    shuffled = ScoreTable.from_frame(table.to_polars().sample(fraction=1.0, shuffle=True, seed=3))
    found, again = (distill(t, size=3, transform="identity") for t in (table, shuffled))
    assert found.as_records() == again.as_records()


def test_sizes_stand_beside_random_sets(make_scores):
    data = make_scores(40, 8)
    found = sizes(data, most=3, folds=4, others=True)
    assert [*found.others] == ["random"]
    assert len(found.others["random"]) == 3
    assert found.as_records()[2]["random_error"] == found.others["random"][2]
    assert found.notes[0].startswith("random sets: ")
    assert not sizes(data, most=1, folds=4).others


def test_items_of_an_evaluation_are_refused():
    table = replace(language_models(20, 6), units="items")
    with pytest.raises(ScoreDataError, match="expected a suite of tasks, found items"):
        distill(table)
