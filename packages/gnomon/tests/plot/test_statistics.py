"""The figures of the statistics verbs: panels, words, and files."""

import numpy as np
import pytest

from gnomon.errors import ScoreDataError
from gnomon.scores import ScoreTable
from gnomon.stats import compare, compare_all, equivalence, estimate
from gnomon.stats import curves as curves_of

X = np.random.default_rng(0).normal(3.0, 1.0, (3, 8, 8))
TABLE = ScoreTable.from_arrays(dict(zip("abc", X, strict=True)))


def rng():
    return np.random.default_rng(0)


def test_a_pair_has_differences_above_its_probability():
    figure = compare(TABLE, "a", "b", rng=rng()).figure()
    assert figure.caption.endswith("p-values: not corrected, one test for each metric.")
    above, below = figure.drawing.axes
    assert above.get_xlabel() == "a minus b (score)\na better →"
    assert below.get_xlabel() == "probability that a run of a is better"
    assert len(figure.rows) == 4


def test_all_pairs_have_a_map():
    found = compare_all(TABLE, "probability_of_improvement", rng=rng())
    (ax,) = found.figure().drawing.axes
    assert ax.get_xlabel() == "probability that the row is better than the column"


def test_metrics_of_curves_stand_side_by_side_with_one_legend():
    steps = X[..., None] * [1.0, 2.0, 4.0]
    table = ScoreTable.from_arrays({"a": steps[0], "b": steps[1]})
    curves = curves_of(table, ["median", "iqm"], rng=rng())
    left, right = curves.figure().drawing.axes
    assert left.get_ylabel() == "score (better →)"
    assert left.get_legend() is None
    assert right.get_legend() is not None


@pytest.mark.parametrize(
    ("name", "head"), [("a.svg", b"<?xml"), ("a.png", b"\x89PNG"), ("a.pdf", b"%PDF")]
)
def test_a_figure_is_written_as_its_name_says(tmp_path, name, head):
    figure = estimate(TABLE, ["mean", "iqm"], rng=rng()).figure()
    figure.write(tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(head)


def test_a_name_without_a_known_ending_or_folder_is_refused(tmp_path):
    figure = estimate(TABLE, ["mean", "iqm"], rng=rng()).figure()
    with pytest.raises(ScoreDataError, match=r"expected a name that ends in \.svg, \.png or \.pdf"):
        figure.write(tmp_path / "a.jpg")
    with pytest.raises(ScoreDataError, match="expected a folder to write to; there is none"):
        figure.write(tmp_path / "nowhere" / "a.svg")


def test_the_last_panel_has_the_names():
    names = [f"agent {i}" for i in range(8)]
    runs = np.random.default_rng(0).normal(size=(8, 5, 3, 4))
    many = ScoreTable.from_arrays(dict(zip(names, runs, strict=True)))
    for table, legends in (
        (many, [False, True]),
        (many.select(algorithms=names[:2]), [False, True]),
    ):
        found = curves_of(table, ["mean", "iqm"], n_resamples=20)
        axes = found.figure().drawing.axes
        assert [ax.get_legend() is not None for ax in axes] == legends


def test_estimates_of_each_task_draw_themselves():
    found = estimate(TABLE, "mean", per_task=True)
    figure = found.figure()
    assert len(figure.drawing.axes) == 8
    assert "one panel a task." in figure.caption
    assert len(figure.rows) == 24
    with pytest.raises(ValueError, match=r"one task for given axes, found 8; where\(task=...\)"):
        found.plot(ax=figure.drawing.axes[0])


@pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")
def test_equivalence_is_drawn_as_comparisons():
    found = equivalence(TABLE, margin=1.0)
    assert len(found.figure().rows) == len(found)
    assert found.plot().axes[0].get_xlabel().endswith("better →")
