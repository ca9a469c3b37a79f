"""The file of one trial: every attempt, and the board of every episode, as Parquet.

One row an attempt. ``episode`` counts from 0, ``attempt`` from 1 within its episode, ``cell`` is 1
to 36, ``bucket`` 0 to 3, ``outcome`` the game's code, ``finish`` the state of the episode after the
attempt (0 going on, 1 cleared, 2 stalemate). ``board`` holds the 36 codes of the episode's board,
on its first row only. ``p0`` is the chance of success there of a player who attempts any bucket for
any piece; the column is not there where the rule is hidden, since it tells what the rule permits.
An episode without attempts, stuck from the start, has one row without attempt, cell, bucket and p0,
with outcome -4.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gnomon.experiments.parquet_writer import Column, parquet_bytes
from gnomon.game.board import N_BUCKETS, N_CELLS
from gnomon.game.outcomes import ACCEPTED, DENIED, EMPTY_CELL, EPISODE_OVER, IMMOVABLE

if TYPE_CHECKING:
    import polars as pl

    from gnomon.learners.base import TrialLog
    from gnomon.learners.chance import AttemptCounts

__all__ = ["frame_of", "log_of", "shard_bytes", "shard_frame"]

#: Codes of outcomes and of ends of episodes, in order.
_OUTCOMES = np.array([EPISODE_OVER, ACCEPTED, EMPTY_CELL, DENIED, IMMOVABLE])
_OUTCOME_CODES = np.zeros(256, dtype=np.uint8)  # -4 counts from the end
_OUTCOME_CODES[_OUTCOMES] = np.arange(_OUTCOMES.size)
_FINISHES = np.arange(3)
_MOST_POSSIBLE = N_CELLS * N_BUCKETS


def shard_bytes(log: TrialLog, counts: AttemptCounts | None = None) -> bytes:
    """Return a trial as the bytes of a Parquet file: the same trial, the same bytes.

    Parameters
    ----------
    log : TrialLog
    counts : AttemptCounts, optional
        What the rule permitted at each attempt; without it there is no column p0.
    """
    n_rows = np.maximum(log.n_attempts, 1)
    episode = np.repeat(np.arange(n_rows.size, dtype=np.int32), n_rows)
    stop = np.cumsum(n_rows)
    first = stop - n_rows
    attempt = np.arange(episode.size) - np.repeat(first, n_rows)
    played, outcomes = None, log.outcomes
    if not log.n_attempts.all():
        played = np.repeat(log.n_attempts > 0, n_rows)
        attempt = attempt[played]
        outcomes = np.full(episode.size, EPISODE_OVER, dtype=np.int8)
        outcomes[played] = log.outcomes
    begins = np.zeros(episode.size, dtype=np.bool_)
    begins[first] = True
    finish = _finish_of_rows(outcomes, episode, stop, log.finish)
    numbers = np.arange(1, n_rows.max(initial=1) + 1)
    columns = [
        Column("episode", "int32", np.arange(n_rows.size), episode, compressed=True),
        Column("attempt", "int32", numbers, attempt, played, compressed=True),
        Column("cell", "uint8", np.arange(1, N_CELLS + 1), log.actions // N_BUCKETS, played),
        Column("bucket", "uint8", np.arange(N_BUCKETS), log.actions % N_BUCKETS, played),
        Column("outcome", "int8", _OUTCOMES, _OUTCOME_CODES[outcomes]),
        Column("finish", "int8", _FINISHES, finish),
        Column("board", "bytes", log.boards, present=begins, compressed=True),
    ]
    if counts is not None:
        columns.append(Column("p0", "float64", *_coded_chances(counts), played))
    return parquet_bytes(columns, episode.size)


def frame_of(log: TrialLog, counts: AttemptCounts | None = None) -> pl.DataFrame:
    """Return the rows of a trial's shard; parameters as :func:`shard_bytes`."""
    return shard_frame(shard_bytes(log, counts))


def _coded_chances(counts: AttemptCounts) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.intp]]:
    """Return the different chances of a random player, and which of them each attempt had."""
    pair = counts.n_possible // N_BUCKETS * (_MOST_POSSIBLE + 1) + counts.n_permitted
    there = np.bincount(pair, minlength=1) > 0
    n_pieces, n_permitted = np.divmod(np.flatnonzero(there), _MOST_POSSIBLE + 1)
    return n_permitted / np.maximum(N_BUCKETS * n_pieces, 1), (np.cumsum(there) - 1)[pair]


def _finish_of_rows(
    outcomes: npt.NDArray[np.int8],
    episode: npt.NDArray[np.int32],
    stop: npt.NDArray[np.int64],
    finish: npt.NDArray[np.int8],
) -> npt.NDArray[np.int8]:
    """Return the state of the episode after each row: it ends with its last row that is not over.

    A learner that plays on after the end adds rows that say so; the end is where they begin.
    """
    over = outcomes == EPISODE_OVER
    if not over.any():  # nearly always, and this takes a tenth of the time
        state = np.zeros(outcomes.size, dtype=np.int8)
        state[stop - 1] = finish
        return state
    live = np.flatnonzero(~over)
    end = np.full(finish.size, -1, dtype=np.int64)
    end[episode[live]] = live  # the last of several is what stays
    ended = np.arange(outcomes.size) >= end[episode]
    return np.where(ended, finish[episode], 0).astype(np.int8)


def log_of(frame: pl.DataFrame) -> TrialLog:
    """Return the trial that the rows of a shard tell."""
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


def shard_frame(data: bytes) -> pl.DataFrame:
    """Return the rows in the bytes of a shard."""
    import polars as pl

    return pl.read_parquet(io.BytesIO(data))
