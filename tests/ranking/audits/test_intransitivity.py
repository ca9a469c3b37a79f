"""Intransitivity beside its null band: the noise floors, and a real cycle."""

import numpy as np
import pytest

from gnomon.ranking import Contest, measure_intransitivity


def identical(rng, n_rules, n_runs, n=6):
    samples = tuple(tuple(rng.normal(size=(n, n_runs))) for _ in range(n_rules))
    return Contest(tuple("abcdef"[:n]), tuple(f"{g}" for g in range(n_rules)), samples)


@pytest.mark.parametrize(
    ("n_rules", "n_runs", "floor", "band"),
    [(1, 100, 0.06, (0.035, 0.09)), (15, 20, 0.13, (0.08, 0.29))],
)
def test_identical_learners_show_the_known_noise_floor(n_rules, n_runs, floor, band):
    """The floors that ranking.md measured: 0.06 on one rule, 0.13 pooled over 15."""
    rng = np.random.default_rng(0)
    found = [
        measure_intransitivity(identical(rng, n_rules, n_runs), n_resamples=200, rng=rng)
        for _ in range(15)
    ]
    assert np.median([x.value for x in found]) == pytest.approx(floor, abs=0.045)
    assert np.median([x.null_low for x in found]) == pytest.approx(band[0], abs=0.02)
    assert np.median([x.null_high for x in found]) == pytest.approx(band[1], abs=0.07)
    inside = [x.null_low <= x.value <= x.null_high for x in found]
    assert np.mean(inside) >= 0.6
    assert np.mean([x.p_value for x in found]) == pytest.approx(0.5, abs=0.2)


def test_a_real_cycle_is_named_and_beyond_the_band():
    """On each rule another of three is best, so that each beats the next on two rules of three."""
    rng = np.random.default_rng(1)
    means = [(2, 1, 0), (0, 2, 1), (1, 0, 2)]
    samples = tuple(tuple(rng.normal(m, 0.6, 30) for m in row) for row in means)
    found = measure_intransitivity(
        Contest(("rock", "scissors", "paper"), ("x", "y", "z"), samples), n_resamples=300, rng=rng
    )
    assert found.low > 0.1
    assert len(found.cycles) == 1
    assert found.cycles[0].sign_frequency > 0.95
    assert {*found.cycles[0].names} == {"rock", "scissors", "paper"}
    assert found.decomposition.shares[1] > 0.5


def test_the_same_rng_gives_the_same_answer():
    contest = identical(np.random.default_rng(0), 2, 10)
    first = measure_intransitivity(contest, n_resamples=50, rng=np.random.default_rng(3))
    np.random.default_rng(9).random()
    again = measure_intransitivity(contest, n_resamples=50, rng=np.random.default_rng(3))
    assert (first.low, first.high, first.null_low, first.p_value) == (
        again.low, again.high, again.null_low, again.p_value,
    )  # fmt: skip


def test_no_differences_are_nan():
    contest = Contest(("a", "b"), ("r",), ((np.ones(5), np.ones(5)),))
    found = measure_intransitivity(contest, n_resamples=20, rng=np.random.default_rng(0))
    assert np.isnan(found.value)
    assert np.isnan(found.p_value)


def test_single_runs_vary_by_their_tasks():
    rng = np.random.default_rng(0)
    contest = identical(rng, 20, 1, n=4)
    still = measure_intransitivity(contest, n_resamples=50, rng=rng)
    assert still.low == pytest.approx(still.high)
    drawn = measure_intransitivity(contest, n_resamples=50, draw_grounds=True, rng=rng)
    assert drawn.low < drawn.value < drawn.high


def test_two_cannot_run_in_a_circle_and_the_band_exists():
    rng = np.random.default_rng(0)
    contest = Contest(("a", "b"), ("r",), ((rng.normal(0, 1, 6), rng.normal(3, 1, 6)),))
    found = measure_intransitivity(contest, n_resamples=200, rng=rng)
    assert found.value == pytest.approx(0.0, abs=1e-9)
    assert found.null_high == pytest.approx(0.0, abs=1e-9)
    assert found.p_value == 1.0
    assert found.decomposition.cycle_dimension == 0
