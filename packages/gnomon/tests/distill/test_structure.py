"""Structure of a suite, against the published figures and against plain programs."""

import csv
from dataclasses import replace

import numpy as np
import pytest

from gnomon.distillation import correlation_matrix, correlations, explained, single
from gnomon.distillation.atari import GENRES, published_models


def test_correlations_are_of_pairwise_complete_rows(make_scores):
    data = make_scores(gaps=0.2)
    r, n = correlation_matrix(data)
    for i in range(4):
        for j in range(4):
            both = ~np.isnan(data.x[:, i]) & ~np.isnan(data.x[:, j])
            assert n[i, j] == both.sum()
            assert r[i, j] == pytest.approx(np.corrcoef(data.x[both][:, [i, j]].T)[0, 1])


def test_the_strongest_pairs(paper):
    strongest = correlations(paper, tasks=paper.candidates)
    assert len(strongest) == 24
    assert (strongest[0].a, strongest[0].b) == ("alien", "mspacman")
    assert strongest[0].correlation == pytest.approx(0.9417, abs=5e-5)
    assert sum(edge.correlation > 0.9 for edge in strongest) == 4
    weakest = correlations(paper, strongest=1, negative=1)[-1]
    assert weakest.correlation < -0.5


def test_every_game_has_a_genre(paper):
    assert sorted(sum(GENRES.values(), ())) == sorted(paper.tasks)


def test_single_games(paper, atari_folder):
    expected = {
        row["game"]: row
        for row in csv.DictReader((atari_folder / "single_game_r2.csv").read_text().splitlines())
    }
    found = single(paper)
    assert found[0].task == "zaxxon"
    assert found[-1].task == "surround"
    for one in found:
        row = expected[one.task]
        assert one.r2 == pytest.approx(float(row["r2"]), abs=1e-6)
        assert one.intercept == pytest.approx(float(row["intercept"]), abs=1e-6)
        assert one.slope == pytest.approx(float(row["slope"]), abs=1e-6)
        assert one.n_rows == int(row["n"])


@pytest.mark.parametrize(
    ("name", "all_", "others"), [("Atari-5", 71.48, 68.8), ("Atari-10", 80.05, 76.3)]
)
def test_every_game_from_a_subset(paper, atari_folder, name, all_, others):
    models = explained(paper, published_models()[name].tasks)
    assert 100 * models.explained == pytest.approx(all_, abs=0.006)
    assert 100 * models.explained_others == pytest.approx(others, abs=0.06)
    for row in csv.DictReader((atari_folder / f"per_game_r2_{name}.csv").read_text().splitlines()):
        assert models.r2[row["game"]] == pytest.approx(float(row["r2"]), abs=1e-6)


def test_a_task_on_which_all_score_the_same_is_like_no_other(make_scores):
    data = make_scores(gaps=0.0)
    x = data.x.copy()
    x[:, :2] = np.log10([48.3, 7.1])  # sums of their squares do not cancel to 0
    flat = replace(data, x=x)
    r, _ = correlation_matrix(flat)
    assert np.isnan(r[:2]).all()
    assert np.isfinite(r[2:, 2:]).all()
    assert {one.task for one in single(flat)} == set(data.tasks[2:])
    alike = replace(data, target=np.full(len(data.target), 0.1))
    assert len(single(alike)) == 0


def test_correlations_stand_large_numbers(make_scores):
    data = make_scores(gaps=0.2)
    r, _ = correlation_matrix(data)
    moved, _ = correlation_matrix(replace(data, x=1e9 * (data.x + 1e3)))
    np.testing.assert_allclose(moved, r, atol=1e-9)


def test_figures_of_structure(make_scores):
    data = make_scores()
    colours = {"t00": "maze"}
    assert correlations(data, strongest=3, negative=2, categories=colours).figure().rows[0]["a"]
    assert len(correlations(data, strongest=3, negative=2).figure().rows) == 3
    assert len(single(data, categories=colours).figure().rows) == 8
