import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from gnomon import stats as stats_door
from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.scores import ScoreTable
from gnomon.stats import (
    Resamples,
    Strata,
    average_score_profile,
    performance_profiles,
    resampled_profiles,
    run_score_profile,
    simultaneous_band,
    thresholds,
)
from strategies_scores import ragged_runs

TAU = np.array([-2.0, -1.0, 0.0, 0.5, 2.0])


@given(ragged_runs())
def test_profiles_by_counting(runs):
    strata = Strata.from_runs(runs)
    for t, share in zip(TAU, run_score_profile(strata, TAU), strict=True):
        assert share == pytest.approx(np.mean([(x > t).mean() for x in runs]))
    means = strata.task_means
    for t, share in zip(TAU, average_score_profile(strata, TAU), strict=True):
        assert share == pytest.approx((means > t).mean())


def test_lower_is_better_mirrors():
    x = np.random.default_rng(0).normal(size=(5, 4))
    for profile in (run_score_profile, average_score_profile):
        np.testing.assert_allclose(
            profile(x, TAU, higher_is_better=False), profile(-x, -TAU[::-1])[::-1]
        )


@settings(max_examples=30, deadline=None)
@given(ragged_runs(max_runs=4))
def test_resampled_profiles_are_the_profiles_of_the_resamples(runs):
    strata = Strata.from_runs(runs)
    options = {"n_resamples": 6, "key": np.uint64(4)}
    drawn = list(Resamples(strata, **options).drawn())
    for kind, profile in (
        ("run_score", run_score_profile),
        ("average_score", average_score_profile),
    ):
        for higher in (True, False):
            found = resampled_profiles(strata, TAU, kind=kind, higher_is_better=higher, **options)
            expected = [profile(one, TAU, higher_is_better=higher) for one in drawn]
            np.testing.assert_allclose(found, expected, atol=1e-12)


def test_a_simultaneous_band_holds_the_curve():
    rng = np.random.default_rng(0)
    tau = np.linspace(-1.5, 1.5, 31)
    truth = 1 - stats.norm.cdf(tau)
    hits = 0
    for b in range(200):
        x = rng.normal(size=(40, 1))
        drawn = resampled_profiles(x, tau, n_resamples=400, key=np.uint64(b))
        low, high = simultaneous_band(drawn, run_score_profile(x, tau), 0.9)
        hits += bool(((low <= truth) & (truth <= high)).all())
    assert stats.binomtest(hits, 200, 0.9, alternative="less").pvalue > 0.001


@pytest.mark.parametrize("kind", ["run_score", "average_score"])
@pytest.mark.parametrize("band", ["pointwise", "simultaneous", "none"])
def test_profiles_of_a_table(kind, band):
    rng = np.random.default_rng(0)
    table = ScoreTable.from_arrays({"a": rng.normal(size=(5, 6)), "b": rng.normal(size=(4, 6))})
    profiles = performance_profiles(table, kind=kind, band=band, rng=rng)
    assert [p.algorithm for p in profiles] == ["a", "b"]
    for profile in profiles:
        assert profile.tau.shape == profile.value.shape == (81,)
        assert (np.diff(profile.value) <= 0).all()
        if band == "none":
            assert np.isnan(profile.low).all()
            assert profile.as_records()[0]["low"] is None
        else:
            assert (profile.low <= profile.value + 1e-12).all()
            assert (profile.value <= profile.high + 1e-12).all()


def test_numbers_read_off_a_profile():
    table = ScoreTable.from_arrays({"a": [[1.0], [2.0], [3.0], [4.0]]})
    (profile,) = performance_profiles(table, np.linspace(0, 5, 5001), rng=np.random.default_rng(0))
    assert profile.quantile(0.5) == pytest.approx(3.0, abs=2e-3)
    assert profile.area() == pytest.approx(2.5, abs=1e-3)
    assert np.isnan(profile.quantile(1.1))


def test_thresholds():
    strata = [Strata.from_runs([[1.0, 100.0]])]
    assert thresholds(strata, n=3).tolist() == [0.0, 50.0, 100.0]
    np.testing.assert_allclose(thresholds(strata, spacing="log", n=3), [1, 10, 100])
    assert thresholds(strata, spacing="data", n=3).tolist() == [1.0, 50.5, 100.0]
    assert thresholds([Strata.from_runs([[-1.0]])], spacing="log", n=3).tolist() == [-1.1, -1, -0.9]
    with pytest.raises(ScoreDataError, match="expected at least one finite score"):
        thresholds([Strata.from_runs([[np.inf]])])


def test_thresholds_hold_ninety_nine_runs_of_a_hundred():
    scores = np.concatenate([np.linspace(1.0, 2.0, 998), [1000.0, -500.0]])
    tau = thresholds([Strata.from_runs([scores])], n=5)
    assert (tau[0], tau[-1]) == (0.0, pytest.approx(2.0, abs=0.01))
    table = ScoreTable.from_arrays({"a": scores[:, None]})
    found = stats_door.profile(table, band="none")
    assert found[0].spacing == "linear"
    assert found[0].beyond[0] == pytest.approx(0.001)
    assert 0.001 <= found[0].beyond[1] <= 0.006
    below, above = found.notes
    assert below == "Runs below the first threshold, 0: 0.1% of a."
    assert above.startswith("Runs above the last threshold, 2: ")
    assert not stats_door.profile(table, tau=[1.0, 1.5], band="none").notes


def test_shares_beyond_thresholds_where_lower_is_better():
    (one,) = performance_profiles(
        ScoreTable.from_arrays({"a": [[1.0], [2.0], [3.0], [9.0]]}, higher_is_better=False),
        [2.0, 3.0],
        band="none",
        rng=np.random.default_rng(0),
    )
    assert one.beyond == (0.25, 0.25)


def test_crowded_scores_have_logarithmic_thresholds():
    few = np.concatenate([np.linspace(-1.0, 3.0, 90), np.linspace(3.0, 60.0, 10)])
    tau = thresholds([Strata.from_runs([few])])
    width = np.quantile(np.abs(few), 0.25)
    steps = np.diff(np.arcsinh(tau / width))
    np.testing.assert_allclose(steps, steps[0])
    assert (tau[0], tau[-1]) == (-1.0, 60.0)
    (one,) = stats_door.profile(ScoreTable.from_arrays({"a": few[:, None]}), band="none")
    assert one.spacing == "log"


@given(
    st.lists(st.floats(-1e12, 1e12, allow_subnormal=False), min_size=1, max_size=30),
    st.sampled_from(["auto", "linear", "log"]),
)
def test_thresholds_ascend_whatever_the_scores(scores, spacing):
    tau = thresholds([Strata.from_runs([scores])], spacing=spacing, n=9)
    assert tau.size == 9
    assert (np.diff(tau) >= 0).all()
    assert tau[0] <= min(scores)
    assert tau[-1] >= max(scores)


def test_thresholds_where_the_band_of_task_means_has_no_width_are_counted():
    table = ScoreTable.from_arrays({"a": np.arange(10.0).reshape(5, 2)})
    tau = [-1.0, 4.0, 5.0, 9.5]
    (found,) = performance_profiles(table, tau, kind="average_score", rng=np.random.default_rng(0))
    assert found.n_flat() == 2
    assert found.low[[0, -1]].tolist() == found.high[[0, -1]].tolist() == [1.0, 0.0]
    (of_runs,) = performance_profiles(table, tau, rng=np.random.default_rng(0))
    assert of_runs.n_flat() == 0


@pytest.mark.parametrize("band", ["pointwise", "simultaneous"])
@pytest.mark.parametrize("kind", ["run_score", "average_score"])
def test_bands_that_cannot_be_are_said(kind, band):
    """One run shows no spread; runs that are all equal show none of the task means."""
    cases = [(np.ones((1, 6)), "one run")]
    cases += [(np.ones((5, 6)), "no threshold parts the")] if kind == "average_score" else []
    for x, reason in cases:
        table = ScoreTable.from_arrays({"a": x})
        with pytest.warns(
            DegenerateScoresWarning, match=f"{kind} profile of a: band not .*{reason}"
        ):
            (found,) = performance_profiles(
                table, kind=kind, band=band, rng=np.random.default_rng(0)
            )
        assert np.isnan(found.low).all()
