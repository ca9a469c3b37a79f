"""The columns of a trial give back the trial, and equal trials give equal bytes."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gohr import TrialLog
from gohr.experiments import attempt_bytes
from gohr.experiments.attempts import attempt_columns, attempts_of

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
def trial_logs(draw: st.DrawFn) -> TrialLog:
    played = draw(st.lists(episodes(), min_size=1, max_size=6))
    rows = [outcome for outcomes, _ in played for outcome in outcomes]
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return TrialLog(
        boards=rng.integers(0, 17, (len(played), 36), dtype=np.uint8),
        n_attempts=np.array([len(outcomes) for outcomes, _ in played], dtype=np.int64),
        actions=rng.integers(0, 144, len(rows), dtype=np.uint8),
        outcomes=np.array(rows, dtype=np.int8),
        finish=np.array([finish for _, finish in played], dtype=np.int8),
    )


@given(trial_logs())
def test_equal_trials_give_equal_bytes_and_the_bytes_the_trial(log):
    assert attempt_bytes(log) == attempt_bytes(deepcopy(log))
    back = attempts_of(attempt_bytes(log))
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


def rows_slowly(log: TrialLog, chances: np.ndarray | None = None) -> list[tuple[object, ...]]:
    """The rows of a trial, as its description has them, one after another."""
    rows: list[tuple[object, ...]] = []
    n = 0
    for e, (board, n_attempts) in enumerate(zip(log.boards, log.n_attempts.tolist(), strict=True)):
        codes, finish = board.tobytes(), int(log.finish[e])
        outcomes = log.outcomes[n : n + n_attempts].tolist()
        n_live = sum(outcome != OVER for outcome in outcomes)
        if not outcomes:
            rows.append((e, 0, 0, -1, OVER, finish, codes, None))
        for k, outcome in enumerate(outcomes):
            cell, bucket = divmod(int(log.actions[n]), 4)
            state = finish if k + 1 >= n_live else 0
            first = None if k else codes
            p0 = None if chances is None else float(chances[n])
            rows.append((e, 1 + k, 1 + cell, bucket, outcome, state, first, p0))
            n += 1
    return rows


@given(trial_logs(), trial_logs())
def test_the_columns_are_those_of_a_loop(one, two):
    chances = np.linspace(0, 1, len(one.actions))
    trials = {("a", "r", 0): one, ("a", "r", 1): two}
    columns = attempt_columns(trials, {("a", "r", 0): chances})
    names = ("episode", "attempt", "cell", "bucket", "outcome", "finish", "board")
    p0 = [None if np.isnan(x) else x for x in columns["p0"].tolist()]
    found = list(zip(*(columns[name].tolist() for name in names), p0, strict=True))
    assert found == rows_slowly(one, chances) + rows_slowly(two)


@pytest.mark.parametrize("package", ["pandas", "polars", "pyarrow"])
def test_data_frames_take_the_columns(package):
    frames = pytest.importorskip(package)
    log = TrialLog(
        boards=np.zeros((1, 36), dtype=np.uint8),
        n_attempts=np.array([4]),
        actions=np.zeros(4, dtype=np.uint8),
        outcomes=np.array([3, 0, OVER, OVER], dtype=np.int8),
        finish=np.array([1], dtype=np.int8),
    )
    make = frames.table if package == "pyarrow" else frames.DataFrame
    frame = make(attempt_columns({("a", "r", 3): log}))
    columns = {
        name: getattr(frame[name], "to_pylist" if package == "pyarrow" else "to_list")()
        for name in ("learner", "rule", "trial", "finish", "board")
    }
    assert columns == {
        "learner": ["a"] * 4,
        "rule": ["r"] * 4,
        "trial": [3] * 4,
        "finish": [0, 1, 1, 1],  # attempts after the end come after the finish
        "board": [bytes(36), None, None, None],
    }
