"""m*: against a count by hand, attempt after attempt."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gohr.people import attempts_to_master, mastery_ecdf


def by_hand(accepted: list[bool], target: int) -> float:
    """The reference's own way: attempts so far, less the streak, when that is long enough."""
    streak = 0
    for attempts, good in enumerate(accepted, start=1):
        streak = streak + 1 if good else 0
        if streak == target:
            return float(attempts - streak)
    return math.inf


@given(st.lists(st.booleans(), max_size=60), st.integers(1, 8))
def test_as_counted_by_hand(accepted, target):
    assert attempts_to_master(accepted, target=target) == by_hand(accepted, target)


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([1.0, 2.0, 4.0]))), st.integers(1, 8))
def test_by_likelihood_as_counted_by_hand(attempts, target):
    accepted, ratios = [good for good, _ in attempts], [ratio for _, ratio in attempts]
    expected, streak, product = math.inf, 0, 1.0
    for made, (good, ratio) in enumerate(attempts, start=1):
        streak, product = (streak + 1, product * ratio) if good else (0, 1.0)
        if good and (streak >= target or product >= 32) and expected == math.inf:
            expected = float(made - streak)
    assert attempts_to_master(accepted, target=target, ratios=ratios, target_r=32) == expected
    alone = attempts_to_master(accepted, target=None, ratios=ratios, target_r=32)
    assert alone >= expected


@settings(max_examples=20)
@given(st.lists(st.integers(0, 20) | st.just(math.inf), min_size=1, max_size=30))
def test_the_distribution_counts_all_players(values):
    d = mastery_ecdf(values, [99] * len(values)).cdf
    for m, share in zip(d.quantiles, d.probabilities, strict=True):
        assert share == pytest.approx(np.mean(np.array(values) <= m))


def test_who_stops_early_counts_as_long_as_played():
    d = mastery_ecdf([5, math.inf, 20, 30], [9, 10, 99, 99]).cdf
    assert d.evaluate([5, 10, 20, 30]).tolist() == pytest.approx([1 / 4, 1 / 4, 5 / 8, 1])


def test_what_is_refused():
    with pytest.raises(ValueError, match="target: expected at least 1, found 0"):
        attempts_to_master([1], target=0)
    with pytest.raises(ValueError, match="ratios: expected 1 numbers, found 2"):
        attempts_to_master([1], ratios=[1, 1], target_r=9)
    for wrong in ([], [math.nan], [[1.0]]):
        with pytest.raises(ValueError, match="expected at least one m"):
            mastery_ecdf(wrong, wrong)
    with pytest.raises(ValueError, match="n_attempts: expected 1 numbers, found 2"):
        mastery_ecdf([1], [2, 3])
