"""Runs of HELM: models, subtasks, texts, costs, and what is left out."""

import pytest

from evaluation_logs import write_helm
from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.scores import read_scores

TEXTS = {"id1": "What is law?", "id2": "Who says so?"}


def test_runs_of_two_models_are_pairs(tmp_path):
    for model, scores in (("lab/a", {"id1": 1.0, "id2": 0.0}), ("lab/b", {"id2": 1.0})):
        write_helm(tmp_path / model.replace("/", "_"), model, scores, texts=TEXTS)
    table = read_scores(tmp_path)
    assert (table.algorithms, table.metric) == (("lab/a", "lab/b"), "exact_match")
    assert table.tasks == ("quiz:subject=law/id1", "quiz:subject=law/id2")
    assert table.to_polars()["input_tokens"].to_list() == [7.0] * 3
    assert table.to_polars()["input"].to_list()[0] == "What is law?"
    assert set(table.to_polars()["split"]) == {"test"}
    assert "no score in 1 of 4 cells (lab/b on quiz" in str(table)


def test_texts_may_be_absent_and_the_file_may_be_named(tmp_path):
    folder = write_helm(tmp_path / "run", "lab/a", {"id1": 1.0})
    table = read_scores(folder / "per_instance_stats.json")
    assert table.to_polars().equals(read_scores(folder).to_polars())


def test_perturbed_instances_are_left_out(tmp_path):
    other = {"instance_id": "id1", "perturbation": {"name": "typos"}, "stats": []}
    write_helm(tmp_path / "run", "lab/a", {"id1": 1.0}, perturbed=[other])
    with pytest.warns(DegenerateScoresWarning, match="1 perturbed instance left out"):
        assert len(read_scores(tmp_path)) == 1


def test_splits_are_told_apart_as_the_harness_reports_them(tmp_path):
    scores = {"id1": 1.0, "id2": 0.0, "id3": 0.0, "id4": 0.0}
    of_valid = {"id4": "valid"}
    write_helm(
        tmp_path / "run", "lab/a", scores, splits=of_valid, means={"test": 1 / 3, "valid": 0.0}
    )
    with pytest.warns(DegenerateScoresWarning, match="splits test and valid are read together"):
        assert len(read_scores(tmp_path)) == 4
    table = read_scores(tmp_path, where={"split": "test"})
    assert table.to_polars()["score"].mean() == 1 / 3


def test_means_beside_the_instances_must_agree_with_them(tmp_path):
    write_helm(tmp_path / "run", "lab/a", {"id1": 1.0, "id2": 0.0}, means={"test": 0.6})
    with pytest.warns(DegenerateScoresWarning, match=r"of test is 0.6 there, and .* 0.5"):
        assert len(read_scores(tmp_path)) == 2


def test_wrong_runs_are_told(tmp_path):
    folder = write_helm(tmp_path / "run", "lab/a", {"id1": 1.0})
    path = folder / "per_instance_stats.json"
    path.write_text(path.read_text()[:-20])
    with pytest.raises(ScoreDataError, match="it is cut off"):
        read_scores(path)
    path.write_text('[{"stats": []}]')
    with pytest.raises(ScoreDataError, match="expected objects with an instance_id"):
        read_scores(tmp_path)
    (folder / "run_spec.json").write_text("{}")
    with pytest.raises(ScoreDataError, match=r"expected name and adapter_spec\.model of a run"):
        read_scores(tmp_path)
    (folder / "run_spec.json").unlink()
    with pytest.raises(ScoreDataError, match=r"run_spec\.json: expected a file of scores; there"):
        read_scores(tmp_path)
