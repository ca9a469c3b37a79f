"""The file of one trial: every attempt, and the board of every episode, as Parquet.

One row an attempt. ``episode`` counts from 0, ``attempt`` from 1 within its episode, ``cell`` is 1
to 36, ``bucket`` 0 to 3, ``outcome`` the game's code, ``finish`` the state of the episode after the
attempt (0 going on, 1 cleared, 2 stalemate). ``board`` holds the 36 codes of the episode's board,
on its first row only. An episode without attempts, stuck from the start, has one row without
attempt, cell and bucket, with outcome -4.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gnomon.game.board import N_BUCKETS, N_CELLS

if TYPE_CHECKING:
    import polars as pl

    from gnomon.learners.base import TrialLog

__all__ = ["frame_of", "log_of", "shard_bytes", "shard_frame"]

_OVER = -4


def frame_of(log: TrialLog) -> pl.DataFrame:
    """Return the rows of a trial's shard."""
    import polars as pl

    n_rows = np.maximum(log.n_attempts, 1)
    episode = np.repeat(np.arange(n_rows.size, dtype=np.int32), n_rows)
    first = np.cumsum(n_rows) - n_rows
    attempt = (np.arange(episode.size) - first[episode] + 1).astype(np.int32)
    played = np.repeat(log.n_attempts > 0, n_rows)

    actions = np.zeros(episode.size, dtype=np.uint8)
    actions[played] = log.actions
    outcomes = np.full(episode.size, _OVER, dtype=np.int8)
    outcomes[played] = log.outcomes

    boards: list[bytes | None] = [None] * episode.size
    for row, board in zip(first.tolist(), log.boards, strict=True):
        boards[row] = board.tobytes()
    absent = pl.lit(None)
    frame = pl.DataFrame(
        {
            "episode": episode,
            "attempt": attempt,
            "cell": actions // N_BUCKETS + np.uint8(1),
            "bucket": actions % N_BUCKETS,
            "outcome": outcomes,
            "finish": _finish_of_rows(outcomes, episode, log.finish),
            "board": pl.Series(boards, dtype=pl.Binary),
        }
    )
    if played.all():
        return frame
    there = pl.Series(played)
    nullable = [
        pl.when(there).then(pl.col(name)).otherwise(absent).alias(name)
        for name in ("attempt", "cell", "bucket")
    ]
    return frame.with_columns(nullable)


def _finish_of_rows(
    outcomes: npt.NDArray[np.int8], episode: npt.NDArray[np.int32], finish: npt.NDArray[np.int8]
) -> npt.NDArray[np.int8]:
    """Return the state of the episode after each row: it ends with its last row that is not over.

    A learner that plays on after the end adds rows that say so; the end is where they begin.
    """
    live = np.flatnonzero(outcomes != _OVER)
    end = np.full(finish.size, -1, dtype=np.int64)
    np.maximum.at(end, episode[live], live)
    ended = np.arange(outcomes.size) >= end[episode]
    return np.where(ended, finish[episode], 0).astype(np.int8)


def log_of(frame: pl.DataFrame) -> TrialLog:
    """Return the trial that a shard's rows tell; the inverse of :func:`frame_of`."""
    from gnomon.learners.base import TrialLog

    episode = frame["episode"].to_numpy()
    played = frame["attempt"].is_not_null().to_numpy()
    n_episodes = int(episode[-1]) + 1 if episode.size else 0
    last = np.searchsorted(episode, np.arange(n_episodes), side="right") - 1
    rows = frame.filter(frame["attempt"].is_not_null())
    cell, bucket = rows["cell"].to_numpy(), rows["bucket"].to_numpy()
    codes = b"".join(frame["board"].drop_nulls().to_list())
    return TrialLog(
        np.frombuffer(codes, dtype=np.uint8).reshape(n_episodes, N_CELLS),
        np.bincount(episode[played], minlength=n_episodes).astype(np.int64),
        ((cell - 1) * N_BUCKETS + bucket).astype(np.uint8),
        rows["outcome"].to_numpy().astype(np.int8),
        frame["finish"].to_numpy()[last].astype(np.int8),
    )


def shard_bytes(log: TrialLog) -> bytes:
    """Return a trial as the bytes of a Parquet file: the same trial, the same bytes."""
    buffer = io.BytesIO()
    # Every choice is written out, so that a new default of the library changes no byte.
    frame_of(log).write_parquet(
        buffer,
        compression="zstd",
        compression_level=1,
        statistics=False,
        row_group_size=1 << 20,
        data_page_size=1 << 20,
    )
    return buffer.getvalue()


def shard_frame(data: bytes) -> pl.DataFrame:
    """Return the rows in the bytes of a shard."""
    import polars as pl

    return pl.read_parquet(io.BytesIO(data))
