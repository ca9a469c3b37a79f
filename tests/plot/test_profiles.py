"""Profiles are drawn where they are, on the axis of their kind."""

import numpy as np

from gnomon.plot import profile_curves
from gnomon.plot.profiles import profile_rows
from gnomon.scores import ScoreTable
from gnomon.stats import distance_profiles, performance_profiles

SCORES = np.random.default_rng(3).gamma(2.0, 1.0, (2, 5, 6))
TABLE = ScoreTable.from_arrays({"a": SCORES[0], "b": 2.0 * SCORES[1]})


def rng():
    return np.random.default_rng(0)


def test_curves_and_bands_are_the_profiles():
    profiles = performance_profiles(TABLE, rng=rng())
    ax = profile_curves(profiles)
    for line, profile in zip(ax.lines, profiles, strict=False):
        np.testing.assert_array_equal(line.get_xdata(), profile.tau)
        np.testing.assert_array_equal(line.get_ydata(), profile.value)
    assert len(ax.collections) == 2
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["b", "a"]
    assert len(profile_rows(profiles)) == 2 * profiles[0].tau.size


def test_thresholds_from_the_data_stand_evenly():
    profiles = performance_profiles(TABLE, spacing="data", rng=rng())
    ax = profile_curves(profiles)
    places = ax.transData.transform([(tau, 0.0) for tau in profiles[0].tau])[:, 0]
    np.testing.assert_allclose(np.diff(places), np.diff(places)[0], rtol=1e-6)
    ticks = ax.get_xticks()
    assert 3 <= len(ticks) <= 9
    assert ticks.min() >= profiles[0].tau[0]


def test_without_a_band_there_is_a_line_alone():
    ax = profile_curves(performance_profiles(TABLE, band="none", rng=rng()))
    assert not ax.collections


def test_ratios_are_steps_on_a_logarithmic_axis():
    ax = profile_curves(distance_profiles(TABLE, "ratio", rng=rng()))
    assert ax.get_xscale() == "log"
    assert ax.get_xlim()[0] == 1.0
    assert {line.get_drawstyle() for line in ax.lines[:2]} == {"steps-post"}


def test_likelihoods_bear_p_values():
    ax = profile_curves(distance_profiles(TABLE, "likelihood", rng=rng()))
    labels = [tick.get_text() for tick in ax.get_xticklabels()]
    assert labels[:4] == ["1", "0.1", "0.05", "0.01"]


def test_given_axes_are_drawn_on():
    ax = profile_curves(performance_profiles(TABLE, rng=rng()))
    assert profile_curves(performance_profiles(TABLE, rng=rng()), xlabel="return", ax=ax) is ax
    assert ax.get_xlabel() == "return"
