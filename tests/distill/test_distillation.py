"""The whole: any suite in, subsets and two errors out."""

from pathlib import Path

import numpy as np
import pytest

from gnomon.distill.distillation import distill, error_by_size
from gnomon.distill.preparation import Preparation
from gnomon.distill.procedures.registry import procedure_of
from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.scores import ScoreTable, read_scores
from language_models import language_models

DOPAMINE = Path(__file__).parents[2] / ".." / "shared" / "data" / "scores"
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
    best = distill(make_scores(), 3, procedure_of("factor"), rng=np.random.default_rng(0))[0]
    record = best.as_record()
    assert set(record) >= FIELDS
    assert record["rank"] == 1
    assert len(record["tasks"]) == len(record["weights"]) == 3
    assert best.nested_relative_error == record["nested_relative_error"]
    assert len(best.model.residuals) == 40
    assert 0.8 < record["tau"] < record["concordance"] <= record["clear_concordance"] <= 1
    alone = distill(
        make_scores(), 3, procedure_of("factor"), outer=None, rng=np.random.default_rng(0)
    )
    assert alone[0].as_record()["tau"] is None


def test_the_paper_is_told_honestly(paper):
    best = distill(paper, 5, procedure_of("paper"), outer="groups", rng=np.random.default_rng(0))[0]
    assert best.relative_error == pytest.approx(0.104, abs=5e-4)
    assert best.nested_relative_error == pytest.approx(0.189, abs=5e-4)


def test_language_models():
    data = Preparation(transform="logit", summary="mean").apply(language_models())
    errors = {}
    for name in ("factor", "irt-1", "irt-2"):
        found = distill(data, 5, procedure_of(name), rng=np.random.default_rng(0))[0]
        assert found.nested.n_predicted == 200
        errors[name] = found.nested_relative_error
    assert errors["factor"] < 0.12
    assert errors["factor"] < errors["irt-1"]
    assert errors["factor"] < errors["irt-2"]


def test_six_agents_are_too_few():
    path = DOPAMINE / "dopamine_atari_legacy_last10.csv"
    if not path.is_file():
        pytest.skip("the Dopamine scores are not beside the repository")
    with pytest.warns(DegenerateScoresWarning, match="4 tasks left out"):
        data = Preparation().apply(read_scores(path))
    for name in ("factor", "paper"):
        with pytest.raises(ScoreDataError, match=r"at least 10 algorithms .*, found 6"):
            distill(data, 5, procedure_of(name), rng=np.random.default_rng(0))


def test_error_by_size(make_scores):
    found = error_by_size(
        make_scores(), [1, 2, 4], procedure_of("factor"), rng=np.random.default_rng(0)
    )
    assert [len(d.model.tasks) for d in found] == [1, 2, 4]
    assert found[2].nested_relative_error < found[0].nested_relative_error


def test_order_of_the_rows_does_not_matter():
    table = language_models(40, 10)
    shuffled = ScoreTable.from_frame(table.frame.sample(fraction=1.0, shuffle=True, seed=3))
    preparation = Preparation(transform="identity")
    results = [
        distill(preparation.apply(t), 3, procedure_of("factor"), rng=np.random.default_rng(0))[0]
        for t in (table, shuffled)
    ]
    assert results[0].as_record() == results[1].as_record()
