"""Profiles are drawn where they are, on the axis of their kind."""

import numpy as np

from gnomon.plot import profile_curves
from gnomon.scores import ScoreTable
from gnomon.stats import distance_profiles, performance_profiles
from gnomon.stats import profile as profile_of

SCORES = np.random.default_rng(3).gamma(2.0, 1.0, (2, 5, 6))
TABLE = ScoreTable.from_arrays({"a": SCORES[0], "b": 2.0 * SCORES[1]})
#: Most near zero, some far from it on either side.
BOTH_SIDES = ScoreTable.from_arrays({"a": np.random.default_rng(5).standard_t(1.0, (40, 6))})


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
    assert len(profile_of(TABLE, rng=rng()).figure().rows) == 2 * profiles[0].tau.size


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
    assert labels[:3] == ["1", "0.05", "0.01"]


def test_given_axes_are_drawn_on():
    ax = profile_curves(performance_profiles(TABLE, rng=rng()))
    assert profile_curves(performance_profiles(TABLE, rng=rng()), xlabel="return", ax=ax) is ax
    assert ax.get_xlabel() == "return"


def test_logarithmic_thresholds_stand_evenly_on_both_sides_of_zero():
    for table, note in ((TABLE, "log scale"), (BOTH_SIDES, "symmetric log scale")):
        profiles = performance_profiles(table, spacing="log", rng=rng())
        ax = profile_curves(profiles)
        tau = profiles[0].tau
        places = ax.transData.transform(np.column_stack([tau, np.zeros(tau.size)]))[:, 0]
        np.testing.assert_allclose(np.diff(places), np.diff(places)[0], rtol=1e-6)
        assert ax.get_xlabel() == f"threshold, {note}"
        digits = {f"{tick:.0e}"[-5 if tick < 0 else 0] for tick in ax.get_xticks() if tick > 0}
        assert digits <= {"1", "2", "3", "5"}
    labels = [label.get_text() for label in ax.get_xticklabels()]
    assert {"0", "10", "-10"} <= {*labels}


def test_the_axis_is_the_one_that_was_asked_for():
    tau = [0.1, 0.2, 0.4, 1.0, 2.0, 3.0, 4.0, 5.0, 8.0, 9.0, 10.0]
    assert profile_curves(performance_profiles(TABLE, tau, rng=rng())).get_xscale() == "linear"
    linear = performance_profiles(BOTH_SIDES, spacing="linear", rng=rng())
    assert profile_curves(linear).get_xscale() == "linear"
    found = performance_profiles(BOTH_SIDES, rng=rng())
    assert found[0].spacing == "log"
    assert profile_curves(found).get_xlabel() == "threshold, symmetric log scale"
