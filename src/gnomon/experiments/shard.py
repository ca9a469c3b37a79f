"""The file of one trial: every attempt, and the board of every episode, as Parquet.

One row an attempt. ``episode`` counts from 0, ``attempt`` from 1 within its episode, ``cell`` is 1
to 36, ``bucket`` 0 to 3, ``outcome`` the game's code, ``finish`` the state of the episode after the
attempt (0 going on, 1 cleared, 2 stalemate). ``board`` holds the 36 codes of the episode's board,
on its first row only. ``p0`` is the chance of success there of a player who attempts any bucket for
any piece; the column is not there where the rule is hidden, since it tells what the rule permits.
An episode without attempts, stuck from the start, has one row without attempt, cell, bucket and p0,
with outcome -4. Where somebody else played at the same boards there is a column ``own``: 1 for the
attempts of whose trial it is.
"""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from gnomon.experiments.parquet_writer import Column, is_sealed, parquet_bytes
from gnomon.game.board import N_BUCKETS, N_CELLS
from gnomon.game.outcomes import ACCEPTED, DENIED, EMPTY_CELL, EPISODE_OVER, IMMOVABLE

if TYPE_CHECKING:
    import polars as pl

    from gnomon.learners.base import TrialLog
    from gnomon.learners.chance import AttemptCounts

#: Codes of outcomes and of ends of episodes, in order.
_OUTCOMES = np.array([EPISODE_OVER, ACCEPTED, EMPTY_CELL, DENIED, IMMOVABLE])
_OUTCOME_CODES = np.zeros(256, dtype=np.uint8)  # -4 counts from the end
_OUTCOME_CODES[_OUTCOMES] = np.arange(_OUTCOMES.size)
_FINISHES = np.arange(3)


def shard_bytes(
    log: TrialLog, counts: AttemptCounts | None = None, *, key: str | None = None
) -> bytes:
    """Return a trial as the bytes of a Parquet file: the same trial, the same bytes.

    Without ``counts``, what the rule permitted at each attempt, there is no column p0. With the
    ``key`` of the trial the file is sealed: :func:`is_whole` knows it again.
    """
    from gnomon.experiments.shard_kernels import code_chances, code_rows

    n_attempts, n_played = log.n_attempts, log.actions.size
    n_rows = n_played + int((n_attempts == 0).sum())
    episode, attempt = np.empty(n_rows, dtype=np.int32), np.empty(n_played, dtype=np.int32)
    begins, played = np.zeros(n_rows, dtype=np.bool_), np.zeros(n_rows, dtype=np.bool_)
    outcome, finish = np.empty(n_rows, dtype=np.int8), np.empty(n_rows, dtype=np.uint8)
    cell, bucket = np.empty(n_played, dtype=np.uint8), np.empty(n_played, dtype=np.uint8)
    rows = (episode, begins, played, outcome, finish, attempt, cell, bucket)
    code_rows(n_attempts, log.actions, log.outcomes, log.finish, *rows)
    present = None if n_rows == n_played else played
    numbers = np.arange(1, n_attempts.max(initial=1) + 1)
    columns = [
        Column("episode", "int32", np.arange(n_attempts.size), episode, compressed=True),
        Column("attempt", "int32", numbers, attempt, present, compressed=True),
        Column("cell", "uint8", np.arange(1, N_CELLS + 1), cell, present),
        Column("bucket", "uint8", np.arange(N_BUCKETS), bucket, present),
        Column("outcome", "int8", _OUTCOMES, _OUTCOME_CODES[outcome]),
        Column("finish", "int8", _FINISHES, finish),
        Column("board", "bytes", log.boards, present=begins, compressed=True),
    ]
    if log.own is not None:
        columns.append(Column("own", "uint8", np.arange(2), log.own.astype(np.uint8), present))
    if counts is not None:
        codes = np.empty(n_played, dtype=np.uint16)
        chances = code_chances(counts.n_possible, counts.n_permitted, codes)
        columns.append(Column("p0", "float64", chances, codes, present))
    return parquet_bytes(columns, n_rows, sealed_as=key)


def is_whole(data: bytes, key: str) -> bool:
    """Return whether some bytes are, bit for bit, the sealed shard of the trial with this key."""
    return is_sealed(data, key)


def frame_of(log: TrialLog, counts: AttemptCounts | None = None) -> pl.DataFrame:
    """Return the rows of a trial's shard; parameters as :func:`shard_bytes`."""
    return shard_frame(shard_bytes(log, counts))


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
        np.frombuffer(codes, dtype=np.uint8).reshape(n_episodes, -1),
        np.bincount(episode[played], minlength=n_episodes).astype(np.int64),
        ((cell - 1) * N_BUCKETS + bucket).astype(np.uint8),
        rows["outcome"].to_numpy().astype(np.int8),
        frame["finish"].to_numpy()[last].astype(np.int8),
        rows["own"].to_numpy().astype(np.bool_) if "own" in rows.columns else None,
    )


def shard_frame(data: bytes) -> pl.DataFrame:
    """Return the rows in the bytes of a shard."""
    import polars as pl

    return pl.read_parquet(io.BytesIO(data))


@dataclass(frozen=True, slots=True, eq=False)
class TrialOutcomes:
    """How the attempts of a trial ended: all that most scores need of its log.

    Only the player's own, where somebody else played at the same boards.

    Parameters
    ----------
    n_attempts : numpy.ndarray of int64, shape (episodes,)
        Rows of each episode: its attempts, or one that is over where there are none.
    outcomes : numpy.ndarray of int8, shape (n_rows,)
        The game's code of each row.
    finish : numpy.ndarray of int8, shape (episodes,)
        How each episode ended.
    p0 : numpy.ndarray of float64, shape (n_rows,)
        Chance of success of a random player at each row, NaN where there was no attempt; empty if
        the chances were not asked for.
    """

    n_attempts: npt.NDArray[np.int64]
    outcomes: npt.NDArray[np.int8]
    finish: npt.NDArray[np.int8]
    p0: npt.NDArray[np.float64]
    #: As of a log that has nobody else's attempts, so that scores take either.
    own: ClassVar[None] = None


def trial_outcomes(shards: Sequence[bytes], *, chances: bool = False) -> Iterator[TrialOutcomes]:
    """Yield the outcomes of trials whose shards are read together, which takes a tenth of the time.

    The rows of all stand in memory together. If ``chances`` are read, all of them must have p0; and
    all have the column ``own``, or none.

    Raises ValueError: the episodes of a shard do not begin with the first.
    """
    import polars as pl

    lazy = pl.scan_parquet(list(shards))
    own = pl.col("own") != 0 if "own" in lazy.collect_schema() else pl.lit(value=True)
    own = own.fill_null(value=True).alias("own")
    columns = ("episode", "outcome", "finish", pl.col("board").is_not_null(), own)
    rows = lazy.select(*columns, *(["p0"] if chances else [])).collect()
    outcomes, finish, mine = (rows[name].to_numpy() for name in ("outcome", "finish", "own"))
    p0 = rows["p0"].to_numpy() if chances else np.empty(0)
    # A board stands on the first row of an episode, and of a trial on that of its episode 0.
    begins = np.flatnonzero(rows["board"].to_numpy())
    trials = np.flatnonzero(rows["episode"].to_numpy()[begins] == 0)
    if trials.size != len(shards):
        raise ValueError(f"expected {len(shards)} trials, found {trials.size}")
    ends = np.append(begins[1:], rows.height)
    for first, last in itertools.pairwise([*trials.tolist(), begins.size]):
        of_trial = slice(begins[first], ends[last - 1])
        episodes = slice(first, last)
        ended = finish[ends[episodes] - 1]
        kept = mine[of_trial]
        n_rows = np.add.reduceat(kept, begins[episodes] - begins[first], dtype=np.int64)
        chance = p0[of_trial][kept] if chances else p0
        yield TrialOutcomes(n_rows, outcomes[of_trial][kept], ended, chance)
