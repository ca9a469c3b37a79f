"""Profiles of scores: counting, thresholds, bands, degenerate tables."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.errors import DegenerateScoresWarning, ScoreDataError, UnknownWordError
from gnomon.scores import ScoreTable
from gnomon.stats import Strata, average_score_profile, profile, run_score_profile
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
    for shares in (run_score_profile, average_score_profile):
        np.testing.assert_allclose(
            shares(x, TAU, higher_is_better=False), shares(-x, -TAU[::-1])[::-1]
        )
    table, low = (ScoreTable.from_arrays({"a": s * x}, higher_is_better=s > 0) for s in (1.0, -1.0))
    for kind in ("run_score", "average_score"):
        (one,), (other,) = profile(table, kind, TAU), profile(low, kind, -TAU)
        np.testing.assert_allclose(one.value, other.value[::-1])
        np.testing.assert_allclose(one.low, other.low[::-1], atol=0.03)


@pytest.mark.parametrize("kind", ["run_score", "average_score"])
@pytest.mark.parametrize("band", ["pointwise", "simultaneous", "none"])
def test_profiles_of_a_table(kind, band):
    rng = np.random.default_rng(0)
    table = ScoreTable.from_arrays({"a": rng.normal(size=(5, 6)), "b": rng.normal(size=(4, 6))})
    profiles = profile(table, kind, band=band)
    assert [p.algorithm for p in profiles] == ["a", "b"]
    for one in profiles:
        assert one.tau.shape == one.value.shape == (81,)
        assert (np.diff(one.value) <= 0).all()
        if band == "none":
            assert np.isnan(one.low).all()
            assert one.as_records()[0]["low"] is None
        else:
            assert (one.low <= one.value + 1e-12).all()
            assert (one.value <= one.high + 1e-12).all()


def test_the_band_of_task_means_is_that_of_a_binomial():
    """Many tasks with the same distribution: the share above its mean has half of them."""
    x = np.random.default_rng(0).normal(size=(9, 400))
    (one,) = profile(ScoreTable.from_arrays({"a": x}), "average_score", [0.0], n_resamples=4000)
    # Of each task the resampled mean is above 0 with probability Phi(mean / sd * 3).
    from scipy.stats import norm

    p = norm.cdf(3 * x.mean(axis=0) / x.std(axis=0))
    expected = 2 * 1.96 * np.sqrt((p * (1 - p)).sum()) / 400
    assert one.high[0] - one.low[0] == pytest.approx(expected, rel=0.1)


def test_numbers_read_off_a_profile():
    table = ScoreTable.from_arrays({"a": [[1.0], [2.0], [3.0], [4.0]]})
    (one,) = profile(table, tau=np.linspace(0, 5, 5001))
    assert one.reached(0.5) == pytest.approx(3.0, abs=2e-3)
    assert one.area() == pytest.approx(2.5, abs=1e-3)
    assert np.isnan(one.reached(1.1))


def thresholds(scores, spacing="auto"):
    table = ScoreTable.from_arrays({"a": np.asarray(scores, float)[:, None]})
    return profile(table, spacing=spacing, band="none")[0]


def test_thresholds():
    even = thresholds([1.0, 100.0])
    assert (even.tau[0], even.tau[40], even.tau[-1]) == (0.0, 50.0, 100.0)
    np.testing.assert_allclose(thresholds([1.0, 100.0], "log").tau[::40], [1, 10, 100])
    assert thresholds([1.0, 100.0], "data").tau[::40].tolist() == [1.0, 50.5, 100.0]
    assert thresholds([-1.0], "log").tau[::40].tolist() == [-1.1, -1, -0.9]
    never = ScoreTable.from_records(
        [{"algorithm": "a", "task": "t", "run": 0, "score": np.inf, "censored": True}],
        higher_is_better=False,
    )
    with pytest.raises(ScoreDataError, match="expected at least one finite score"):
        profile(never)


def test_thresholds_hold_ninety_nine_runs_of_a_hundred():
    scores = np.concatenate([np.linspace(1.0, 2.0, 998), [1000.0, -500.0]])
    found = profile(ScoreTable.from_arrays({"a": scores[:, None]}), band="none")
    (one,) = found
    assert (one.tau[0], one.tau[-1]) == (0.0, pytest.approx(2.0, abs=0.01))
    assert one.spacing == "linear"
    assert one.beyond[0] == pytest.approx(0.001)
    assert 0.001 <= one.beyond[1] <= 0.006
    below, above = found.notes
    assert below == "Runs below the first threshold, 0: 0.1% of a."
    assert above.startswith("Runs above the last threshold, 2: ")
    table = ScoreTable.from_arrays({"a": [[1.0], [2.0], [3.0], [9.0]]}, higher_is_better=False)
    assert profile(table, tau=[2.0, 3.0], band="none")[0].beyond == (0.25, 0.25)


def test_crowded_scores_have_logarithmic_thresholds():
    few = np.concatenate([np.linspace(-1.0, 3.0, 90), np.linspace(3.0, 60.0, 10)])
    one = thresholds(few)
    steps = np.diff(np.arcsinh(one.tau / np.quantile(np.abs(few), 0.25)))
    np.testing.assert_allclose(steps, steps[0])
    assert (one.tau[0], one.tau[-1], one.spacing) == (-1.0, 60.0, "log")


@settings(deadline=None)
@given(
    st.lists(st.floats(-1e12, 1e12, allow_subnormal=False), min_size=1, max_size=30),
    st.sampled_from(["auto", "linear", "log"]),
)
def test_thresholds_ascend_whatever_the_scores(scores, spacing):
    tau = thresholds(scores, spacing).tau
    assert tau.size == 81
    assert (np.diff(tau) >= 0).all()
    assert tau[0] <= min(scores)
    assert tau[-1] >= max(scores)


def test_a_band_of_task_means_without_width_is_reported():
    table = ScoreTable.from_arrays({"a": np.arange(10.0).reshape(5, 2)})
    tau = [-1.0, 4.0, 5.0, 9.5]
    results = profile(table, "average_score", tau)
    assert "no width" in results.warnings[0]
    assert "(2 of a, of 4 thresholds)" in results.warnings[0]
    (found,) = results
    assert found.low[[0, -1]].tolist() == found.high[[0, -1]].tolist() == [1.0, 0.0]
    (of_runs,) = profile(table, tau=tau)
    assert (of_runs.low < of_runs.high).all()


@pytest.mark.parametrize("band", ["pointwise", "simultaneous"])
@pytest.mark.parametrize("kind", ["run_score", "average_score"])
def test_bands_that_cannot_be_are_reported(kind, band):
    """One run shows no spread; runs that are all equal show none of the task means."""
    cases = [(np.ones((1, 6)), "one run")]
    cases += [(np.ones((5, 6)), "no threshold parts the")] if kind == "average_score" else []
    for x, reason in cases:
        table = ScoreTable.from_arrays({"a": x})
        with pytest.warns(
            DegenerateScoresWarning, match=f"{kind} profile of a: band not .*{reason}"
        ):
            (found,) = profile(table, kind, band=band)
        assert np.isnan(found.low).all()


@pytest.mark.parametrize(
    "options", [{"kind": "run"}, {"spacing": "even"}, {"band": "whole"}, {"df": "student"}]
)
def test_wrong_words_are_refused(options):
    with pytest.raises(UnknownWordError):
        profile(ScoreTable.from_arrays({"a": [[1.0, 2.0]]}), **options)
