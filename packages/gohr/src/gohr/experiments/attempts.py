"""The attempts of a trial as compressed columns, and as a table of one row an attempt.

A serialised trial is a header of four numbers, then raw little-endian columns one after another;
the database of a run stores them compressed by zlib. The table has these columns: ``episode`` from
0, ``attempt`` from 1 within its episode, ``cell`` 1 to 36, ``bucket`` 0 to 3, ``outcome`` the
game's code, ``finish`` the state of the episode after the attempt (0 going on, 1 cleared, 2
stalemate). ``board`` holds the 36 codes of the episode's board, on its first row only. ``p0`` is
the chance of success of a player who attempts any bucket for any piece; a hidden rule has no such
column, since it shows what the rule permits. An episode without attempts has one row without
attempt, cell, bucket and p0, with outcome -4. Where another player moved on the same boards,
``own`` is 1 for the attempts that are scored.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from gohr.game.board import N_BUCKETS
from gohr.game.outcomes import EPISODE_OVER, IN_PROGRESS

if TYPE_CHECKING:
    import polars as pl

    from gohr.playing import Replay, TrialLog

#: Numbers of episodes, of attempts and of codes a board; flags: 1 with ``own``, 2 with chances.
_HEAD = struct.Struct("<IIHB")
_OWN, _CHANCES = 1, 2

_Bytes = npt.NDArray[np.uint8]


class Attempts(NamedTuple):
    """A trial and, unless its rule is hidden, the chance p0 of each attempt, shape (n_rows,)."""

    log: TrialLog
    p0: npt.NDArray[np.float64] | None


def attempt_bytes(log: TrialLog, counts: Replay | None = None) -> bytes:
    """Return a trial as raw columns: equal trials give equal bytes on every machine.

    Examples
    --------
    >>> from gohr.experiments import ExperimentConfig, trials_of
    >>> config = ExperimentConfig("first", ["clockwise"], ["uniform"], trials=1, episodes=3)
    >>> [trial] = trials_of(config)
    >>> attempt_bytes(trial.play()) == attempt_bytes(trial.play())
    True
    """
    flags = _OWN * (log.own is not None) | _CHANCES * (counts is not None)
    parts = [
        _HEAD.pack(log.n_attempts.size, log.actions.size, log.boards.shape[1], flags),
        log.n_attempts.astype("<i4").tobytes(),
        log.finish.astype(np.int8).tobytes(),
        log.boards.astype(np.uint8).tobytes(),
        log.actions.astype(np.uint8).tobytes(),
        log.outcomes.astype(np.int8).tobytes(),
    ]
    if log.own is not None:
        parts.append(log.own.astype(np.uint8).tobytes())
    if counts is not None:
        # At most 36 pieces, and four attempts for each.
        parts.append(counts.n_pieces.astype(np.uint8).tobytes())
        parts.append(counts.n_permitted.astype(np.uint8).tobytes())
    return b"".join(parts)


def attempts_of(raw: bytes) -> Attempts:
    """Return the trial that :func:`attempt_bytes` gave these bytes for.

    Raises ValueError: the bytes are not a serialised trial.

    Examples
    --------
    >>> from gohr.experiments import ExperimentConfig, trials_of
    >>> config = ExperimentConfig("first", ["clockwise"], ["uniform"], trials=1, episodes=3)
    >>> [log] = [trial.play() for trial in trials_of(config)]
    >>> again, chances = attempts_of(attempt_bytes(log))
    >>> bool((again.actions == log.actions).all()), chances
    (True, None)
    """
    from gohr.playing import TrialLog

    try:
        n_episodes, n_rows, width, flags = _HEAD.unpack_from(raw)
    except struct.error as error:
        raise ValueError(str(error)) from None
    place = _HEAD.size

    def column(n: int, dtype: str = "u1") -> npt.NDArray[np.integer]:
        nonlocal place
        values: npt.NDArray[np.integer] = np.frombuffer(raw, dtype, n, place)
        place += values.nbytes
        return values

    n_attempts = column(n_episodes, "<i4").astype(np.int64)
    finish = column(n_episodes, "i1").astype(np.int8)
    boards = column(n_episodes * width).astype(np.uint8).reshape(n_episodes, width)
    actions, outcomes = column(n_rows).astype(np.uint8), column(n_rows, "i1").astype(np.int8)
    own = column(n_rows).astype(np.bool_) if flags & _OWN else None
    p0 = None
    if flags & _CHANCES:
        n_pieces = column(n_rows).astype(np.int64)
        p0 = column(n_rows) / np.maximum(N_BUCKETS * n_pieces, 1)
    if place != len(raw) or n_attempts.sum() != n_rows:
        raise ValueError(f"expected {place} bytes of columns, found {len(raw)}")
    return Attempts(TrialLog(boards, n_attempts, actions, outcomes, finish, own), p0)


def frame_of(log: TrialLog, p0: npt.NDArray[np.float64] | None = None) -> pl.DataFrame:
    """Return a trial as a table of one row an attempt.

    Examples
    --------
    >>> from gohr.experiments import ExperimentConfig, trials_of
    >>> config = ExperimentConfig("first", ["clockwise"], ["uniform"], trials=1, episodes=3)
    >>> [log] = [trial.play() for trial in trials_of(config)]
    >>> frame_of(log).columns
    ['episode', 'attempt', 'cell', 'bucket', 'outcome', 'finish', 'board']
    """
    import polars as pl

    n_rows = np.maximum(log.n_attempts, 1)
    first = np.cumsum(n_rows) - n_rows  # row of the first attempt of each episode
    episode = np.repeat(np.arange(n_rows.size, dtype=np.int32), n_rows)
    played = np.repeat(log.n_attempts > 0, n_rows)
    outcome = np.full(episode.size, EPISODE_OVER, dtype=np.int8)
    outcome[played] = log.outcomes
    # An episode has ended with its last attempt that counts; a learner that plays on adds rows.
    row = np.arange(episode.size)
    last = np.maximum.accumulate(np.where(outcome != EPISODE_OVER, row, -1))
    ended = row >= np.maximum(last[first + n_rows - 1], first)[episode]
    finish = np.where(ended, log.finish[episode], IN_PROGRESS).astype(np.int8)
    board: list[bytes | None] = [None] * episode.size
    for at, codes in zip(first.tolist(), log.boards, strict=True):
        board[at] = codes.tobytes()

    def of_attempts(name: str, values: npt.NDArray[np.generic], dtype: type[pl.DataType]) -> None:
        full = np.zeros(episode.size, dtype=values.dtype)
        full[played] = values
        series = pl.Series(name, full, dtype=dtype)
        found[name] = series if played.all() else series.set(pl.Series(~played), None)

    found: dict[str, pl.Series] = {"episode": pl.Series("episode", episode, dtype=pl.Int32)}
    of_attempts("attempt", (row - first[episode] + 1)[played], pl.Int32)
    of_attempts("cell", log.actions // N_BUCKETS + 1, pl.UInt8)
    of_attempts("bucket", log.actions % N_BUCKETS, pl.UInt8)
    found["outcome"] = pl.Series("outcome", outcome, dtype=pl.Int8)
    found["finish"] = pl.Series("finish", finish, dtype=pl.Int8)
    found["board"] = pl.Series("board", board, dtype=pl.Binary)
    if log.own is not None:
        of_attempts("own", log.own.astype(np.uint8), pl.UInt8)
    if p0 is not None:
        of_attempts("p0", p0, pl.Float64)
    return pl.DataFrame(list(found.values()))
