"""The numbers handed to the artists of learning curves, not their pixels."""

import numpy as np
import pytest
from matplotlib.figure import Figure as Drawing

from gnomon.plot import (
    MedianCurve,
    cumulated_error_curves,
    cumulated_error_rows,
    median_curves,
    median_rows,
    sample_efficiency_curves,
    series_style,
)
from gnomon.scores import ScoreTable
from gnomon.stats import curves as curves_of

ERRORS = np.array([[3.0, 5.0, 5.0], [2.0, 9.0, 40.0], [7.0, 8.0, 8.0]])


def test_every_trial_and_their_median_are_drawn():
    main, _ = cumulated_error_curves(ERRORS).axes
    (trials,) = main.collections
    for trial, drawn in zip(ERRORS, trials.get_segments(), strict=True):
        np.testing.assert_array_equal(drawn, np.column_stack([[1, 2, 3], trial]))
    np.testing.assert_array_equal(main.lines[-1].get_ydata(), np.median(ERRORS, axis=0))


def test_the_margin_shows_the_end_of_every_trial_on_the_same_scale():
    main, margin = cumulated_error_curves(ERRORS).axes
    ticks = margin.lines[-1]
    assert sorted(ticks.get_ydata()[::3]) == [5, 8, 40]
    assert np.isnan(ticks.get_xdata()[2::3]).all()
    assert margin.get_ylim() == main.get_ylim()
    assert margin.get_xlabel() == "TCE density"


@pytest.mark.parametrize("errors", [np.zeros((4, 6)), [[1.0, 2.0]], np.full((3, 2), 7.0)])
def test_degenerate_trials_get_ticks_and_no_density(errors):
    fig = cumulated_error_curves(errors)
    fig.draw_without_rendering()
    assert fig.axes[1].get_xlabel() == "TCE"
    (ticks,) = fig.axes[1].lines
    assert len(ticks.get_ydata()) == 3 * len(errors)


def test_of_many_trials_some_are_drawn_and_all_are_counted():
    errors = np.random.default_rng(0).random((100, 5)).cumsum(axis=1)
    fig = cumulated_error_curves(errors)
    ends = [segment[-1][1] for segment in fig.axes[0].collections[0].get_segments()]
    assert len(ends) == 40
    assert (min(ends), max(ends)) == (errors[:, -1].min(), errors[:, -1].max())
    assert len(fig.axes[1].lines[-1].get_ydata()) == 300
    np.testing.assert_array_equal(fig.axes[0].lines[-1].get_ydata(), np.median(errors, axis=0))


def test_zeros_make_the_scale_say_so():
    assert "1 + errors" in cumulated_error_curves(np.zeros((2, 3))).axes[0].get_ylabel()
    assert "1 + errors" not in cumulated_error_curves(ERRORS).axes[0].get_ylabel()


def test_it_draws_on_a_given_figure():
    fig = Drawing()
    assert cumulated_error_curves(ERRORS, fig=fig) is fig


def curve(label, values):
    values = np.array(values, dtype=float)
    return MedianCurve(label, values, values - 1, values + 2, 5)


def test_median_curves_have_their_bands_and_names():
    curves = [curve("a", [2, 4, 6]), curve("b", [3, 30, 300])]
    ax = median_curves(curves)
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), [3, 30, 300])
    assert [text.get_text() for text in ax.texts] == ["a  6", "b  300"]
    low_and_high = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert low_and_high.min() == 1
    assert low_and_high.max() == 8


def test_a_label_keeps_its_style_in_every_figure():
    ax = median_curves([curve("b", [1, 2])], series={"a": 0, "b": 3})
    assert ax.lines[0].get_color() == series_style(3).color
    dashes = {str(series_style(i).dash) + series_style(i).color for i in range(12)}
    assert len(dashes) == 12


def test_names_of_curves_that_end_alike_do_not_overlap():
    ax = median_curves([curve(name, [5, 50]) for name in "abcd"])
    places = sorted(text.xy[1] for text in ax.texts)
    assert np.diff(places).min() > 0.07


def test_a_curve_without_a_band_is_drawn_without_one():
    nan = np.full(3, np.nan)
    ax = median_curves([MedianCurve("one", np.array([1.0, 2, 3]), nan, nan, 1)])
    ax.figure.draw_without_rendering()
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), [1, 2, 3])


def test_rows_are_the_numbers_of_the_figure():
    assert len(cumulated_error_rows(ERRORS)) == ERRORS.size
    assert cumulated_error_rows(ERRORS).row(-1, named=True) == {
        "trial": 2,
        "episode": 3,
        "cumulated_errors": 8.0,
    }
    assert median_rows([curve("a", [2, 4])])[1] == {
        "label": "a",
        "episode": 2,
        "median": 4.0,
        "low": 3.0,
        "high": 6.0,
        "n_trials": 5,
    }


def test_curves_and_bands_are_the_estimates():
    x = np.random.default_rng(0).normal(size=(2, 4, 3, 5)).cumsum(axis=-1)
    table = ScoreTable.from_arrays({"a": x[0], "b": x[1]})
    curves = curves_of(table, ["mean"], rng=np.random.default_rng(0))
    ax = sample_efficiency_curves(curves, xlabel="frames")
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), curves[1].value)
    assert len(ax.collections) == 2
    assert ax.get_xlim() == (0.0, 4.0)
    assert (ax.get_xlabel(), ax.get_title(loc="left")) == ("frames", "mean")
    assert len(curves.figure().rows) == 10
    assert sample_efficiency_curves(curves[:1], ax=ax) is ax
