"""Who gets which list: the fewest players that count, and no list runs away from another."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gnomon_board.studies.participants import ACTIVE_S, PlayerCount, next_list

RNG = np.random.default_rng(0)


def test_those_who_left_take_no_place():
    finished = PlayerCount("a", True, 50, 10 * ACTIVE_S)
    active = PlayerCount("b", False, 0, 1.0)
    left = PlayerCount("c", False, 40, 2 * ACTIVE_S)
    looked = PlayerCount("c", True, 0, 2 * ACTIVE_S)
    excluded = PlayerCount("c", True, 50, 1.0, excluded=True)
    players = [finished, active, left, looked, excluded]
    assert next_list(["a", "b", "c"], players, rng=RNG) == "c"


def test_of_equal_lists_each_is_as_likely():
    dealt = Counter(next_list("abc", [], rng=RNG) for _ in range(3000))
    assert all(abs(dealt[name] - 1000) < 110 for name in "abc")


@given(st.lists(st.booleans(), max_size=60), st.integers(1, 5))
def test_lists_are_never_more_than_one_apart_among_those_who_stay(stays, n_lists):
    names = [f"list-{i}" for i in range(n_lists)]
    players: list[PlayerCount] = []
    for stay in stays:
        chosen = next_list(names, players, rng=RNG)
        players.append(PlayerCount(chosen, stay, 10 if stay else 0, 2 * ACTIVE_S))
    counts = Counter(player.rule_list for player in players if player.counts)
    sizes = [counts[name] for name in names]
    assert max(sizes) - min(sizes) <= 1


def test_a_list_that_the_plan_no_longer_has_is_passed_over():
    assert next_list(["a"], [PlayerCount("gone", True, 5, 0.0)], rng=RNG) == "a"
