"""Ranks of contestants that are the best of several."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from gnomon.errors import ScoreDataError
from gnomon.ranking import rank
from gnomon.scores import ScoreTable


def three(seed: int = 0) -> ScoreTable:
    rng = np.random.default_rng(seed)
    means = {"a": 1.0, "b": 0.45, "c": 0.0}
    return ScoreTable.from_arrays({n: rng.normal(m, 1, (12, 4)) for n, m in means.items()})


def test_of_one_candidate_each_nothing_changes():
    table = three()
    plain, corrected = rank(table), rank(table, best_of={"a": 1})
    assert plain.as_records() == corrected.as_records()
    assert plain.groups == corrected.groups


def test_a_pair_is_separated_at_the_level_of_whose_candidates_were_more():
    table = three()
    plain = rank(table)
    wider = rank(table, level=1 - 0.05 / 200)
    found = rank(table, best_of={"b": 200})
    at = {name: i for i, name in enumerate(plain.names)}
    for x in "abc":
        for y in "abc":
            source = wider if "b" in (x, y) else plain
            assert found.separated[at[x], at[y]] == source.separated[at[x], at[y]], (x, y)
    assert (plain.separated & ~found.separated).any()
    by_name = {one.name: one for one in found}
    assert by_name["b"].low == {one.name: one for one in wider}["b"].low
    assert by_name["a"].low == {one.name: one for one in plain}["a"].low
    assert found.settings["best_of"] == {"b": 200}


def test_the_numbers_come_from_a_column(tmp_path):
    frame = three().frame
    counted = frame.with_columns(
        pl.when(pl.col("algorithm") == "b").then(200).otherwise(1).alias("tried")
    )
    table = ScoreTable.from_frame(counted)
    assert rank(table, best_of="tried").as_records() == (
        rank(three(), best_of={"b": 200}).as_records()
    )
    for column, message in (
        ("trie", "found no 'trie'; columns: tried"),
        ("tried", "tried of 'a': expected one whole number from 1 up in all its rows, found"),
    ):
        broken = ScoreTable.from_frame(
            counted.with_columns(pl.lit("x").alias("tried")) if column == "tried" else counted
        )
        with pytest.raises(ScoreDataError, match=message):
            rank(broken, best_of=column)


def test_it_goes_with_ranks_that_hold_together():
    with pytest.raises(ScoreDataError, match="hold together with best_of"):
        rank(three(), best_of={"a": 2}, marginal=True)
