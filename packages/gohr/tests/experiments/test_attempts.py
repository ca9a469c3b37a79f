"""The columns of a trial give back the trial, and equal trials give equal bytes."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gohr import TrialLog
from gohr.experiments import attempt_bytes, attempts_of, frame_of

OVER = -4


@st.composite
def episodes(draw: st.DrawFn) -> tuple[list[int], int]:
    """Outcomes of an episode and how it ended; now and then the learner plays on."""
    outcomes = draw(st.lists(st.sampled_from([0, 3, 4, 7]), max_size=6))
    # An episode without an attempt was stuck, or without a piece, from the start.
    finish = draw(st.sampled_from([0, 1, 2] if outcomes else [1, 2]))
    if finish:
        if outcomes:
            outcomes[-1] = 0
        outcomes += [OVER] * draw(st.integers(0, 3))
    return outcomes, finish


@st.composite
def trial_logs(draw: st.DrawFn, two: bool = False) -> TrialLog:
    """A trial, or one of two at the same boards."""
    played = draw(st.lists(episodes(), min_size=1, max_size=6))
    rows = [outcome for outcomes, _ in played for outcome in outcomes]
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return TrialLog(
        boards=rng.integers(0, 17, (len(played), 36), dtype=np.uint8),
        n_attempts=np.array([len(outcomes) for outcomes, _ in played], dtype=np.int64),
        actions=rng.integers(0, 144, len(rows), dtype=np.uint8),
        outcomes=np.array(rows, dtype=np.int8),
        finish=np.array([finish for _, finish in played], dtype=np.int8),
        own=rng.random(len(rows)) < 0.5 if two else None,
    )


@given(st.booleans().flatmap(trial_logs))
def test_columns_give_the_trial_back(log):
    back, p0 = attempts_of(attempt_bytes(log))
    assert p0 is None
    for name in TrialLog.__slots__:
        expected, found = (np.asarray(getattr(each, name)) for each in (log, back))
        assert found.dtype == expected.dtype, name
        np.testing.assert_array_equal(found, expected, err_msg=name)


@given(trial_logs(), st.data())
def test_other_bytes_are_refused(log, data):
    raw = attempt_bytes(log)
    n_bytes = data.draw(st.integers(0, len(raw) - 1))
    with pytest.raises(ValueError, match=r"expected|buffer|unpack"):
        attempts_of(raw[:n_bytes])
    with pytest.raises(ValueError, match="expected"):
        attempts_of(raw + b"x")


def rows_slowly(log: TrialLog, p0: list[float]) -> list[tuple[object, ...]]:
    """The rows of a trial, as its description has them, one after another."""
    rows: list[tuple[object, ...]] = []
    n = 0
    for e, (board, n_attempts) in enumerate(zip(log.boards, log.n_attempts.tolist(), strict=True)):
        codes, finish = board.tobytes(), int(log.finish[e])
        outcomes = log.outcomes[n : n + n_attempts].tolist()
        n_live = sum(outcome != OVER for outcome in outcomes)
        if not outcomes:
            rows.append((e, None, None, None, OVER, finish, codes, None))
        for k, outcome in enumerate(outcomes):
            cell, bucket = divmod(int(log.actions[n]), 4)
            state = finish if k + 1 >= n_live else 0
            first = None if k else codes
            rows.append((e, 1 + k, 1 + cell, bucket, outcome, state, first, p0[n]))
            n += 1
    return rows


@given(trial_logs())
def test_the_rows_are_those_of_a_loop(log):
    p0 = np.linspace(0, 1, len(log.actions))
    assert frame_of(log, p0).rows() == rows_slowly(log, p0.tolist())


@given(trial_logs())
def test_the_same_trial_gives_the_same_bytes(log):
    assert attempt_bytes(log) == attempt_bytes(deepcopy(log))


def test_the_rows_of_a_small_trial():
    """An episode cleared at the second attempt, one stuck from the start, one cut off."""
    log = TrialLog(
        boards=np.arange(108, dtype=np.uint8).reshape(3, 36),
        n_attempts=np.array([2, 0, 1]),
        actions=np.array([4, 143, 2], dtype=np.uint8),
        outcomes=np.array([4, 0, 3], dtype=np.int8),
        finish=np.array([1, 2, 0], dtype=np.int8),
    )
    frame = frame_of(log)
    assert frame.schema == {
        "episode": pl.Int32,
        "attempt": pl.Int32,
        "cell": pl.UInt8,
        "bucket": pl.UInt8,
        "outcome": pl.Int8,
        "finish": pl.Int8,
        "board": pl.Binary,
    }
    assert frame.drop("board").rows() == [
        (0, 1, 2, 0, 4, 0),
        (0, 2, 36, 3, 0, 1),
        (1, None, None, None, OVER, 2),
        (2, 1, 1, 2, 3, 0),
    ]
    boards = [log.boards[0].tobytes(), None, log.boards[1].tobytes(), log.boards[2].tobytes()]
    assert frame["board"].to_list() == boards


def test_attempts_after_the_end_come_after_the_finish():
    log = TrialLog(
        boards=np.zeros((1, 36), dtype=np.uint8),
        n_attempts=np.array([4]),
        actions=np.zeros(4, dtype=np.uint8),
        outcomes=np.array([3, 0, OVER, OVER], dtype=np.int8),
        finish=np.array([1], dtype=np.int8),
    )
    assert frame_of(log)["finish"].to_list() == [0, 1, 1, 1]
