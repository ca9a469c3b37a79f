"""Validation of untrusted log rows: arrays of attempts, or the first row that is wrong.

The columns are those of :mod:`gohr.experiments.attempts`, with ``learner``, ``rule`` and
``trial`` before them in a log of several trials. Nothing is trusted: neither that a column has
numbers, nor that numbers are in range, nor that episodes and attempts are in order. A board is 36
bytes or, in a text file, 72 hexadecimal digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gohr.errors import ConfigError
from gohr.game.board import N_BUCKETS, N_CELLS
from gohr.playing import TrialLog

if TYPE_CHECKING:
    import polars as pl

#: Columns of the rows of one trial, and the columns before them in a log of several trials.
COLUMNS = ("episode", "attempt", "cell", "bucket", "outcome", "finish", "board")
TRIAL_COLUMNS = ("learner", "rule", "trial")

_NUMBERS = ("episode", "attempt", "cell", "bucket", "outcome", "finish")
#: Value of an empty field, and of a number that does not fit into a machine word.
_NOTHING = -(1 << 62)

Int = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Fault:
    """First place at which a trial is wrong, with the reason.

    The episode counts from 0 and the attempt from 1 within it; None for what concerns the trial, or
    the episode, as a whole.
    """

    episode: int | None
    attempt: int | None
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class AttemptRows:
    """The rows of one trial up to the first that is out of order, as arrays.

    Parameters
    ----------
    n_rows : numpy.ndarray of int64, shape (n_episodes,)
        Number of rows of each episode.
    stuck : numpy.ndarray of bool, shape (n_episodes,)
        Whether the episode is one row without an attempt: a board stuck from the start.
    actions, outcomes, finish : numpy.ndarray of int64, shape (n,)
        Values of each row; an action is ``4 * cell + bucket``, and 0 where there is none.
    boards : numpy.ndarray of uint8, shape (n_episodes, 36)
        The board on the first row of each episode.
    fault : Fault or None
        The error in the row after these.
    """

    n_rows: Int
    stuck: npt.NDArray[np.bool_]
    actions: Int
    outcomes: Int
    finish: Int
    boards: npt.NDArray[np.uint8]
    fault: Fault | None

    def place(self, row: int) -> tuple[int, int]:
        """Return episode, from 0, and attempt, from 1, of a row."""
        ends = np.cumsum(self.n_rows)
        episode = int(np.searchsorted(ends, row, side="right"))
        return episode, row - int(ends[episode] - self.n_rows[episode]) + 1

    def log(self) -> TrialLog:
        """Return the attempts of a trial without a fault, as a learner's trial leaves them."""
        played = np.repeat(~self.stuck, self.n_rows)
        return TrialLog(
            self.boards,
            np.where(self.stuck, 0, self.n_rows),
            self.actions[played].astype(np.uint8),
            self.outcomes[played].astype(np.int8),
            self.finish[np.cumsum(self.n_rows) - 1].astype(np.int8),
        )


def check_columns(frame: pl.DataFrame, *, of_trials: bool = False) -> pl.DataFrame:
    """Return the columns of a log with their types: whole numbers as Int64, boards as bytes.

    Raises ConfigError if a column is missing or has invalid values; the message names the column.
    """
    import polars as pl

    wanted = (*TRIAL_COLUMNS, *COLUMNS) if of_trials else COLUMNS
    for name in wanted:
        if name not in frame.columns:
            shown = ", ".join(COLUMNS[:3])
            raise ConfigError(f"missing column {name!r}; expected {shown}, ...")
    columns = []
    for name in wanted:
        if name in ("learner", "rule"):
            columns.append(_text(frame[name]))
        elif name == "board":
            columns.append(_board_bytes(frame[name]))
        else:
            columns.append(_whole_numbers(frame[name]))
    return pl.DataFrame(columns)


def _text(column: pl.Series) -> pl.Series:
    import polars as pl

    if not isinstance(column.dtype, pl.String | pl.Categorical | pl.Enum):
        raise ConfigError(f"column {column.name!r}: expected names, found {column.dtype}")
    return column.cast(pl.String)


def _whole_numbers(column: pl.Series) -> pl.Series:
    import polars as pl

    if not (column.dtype.is_integer() or column.dtype == pl.Null):
        raise ConfigError(f"column {column.name!r}: expected whole numbers, found {column.dtype}")
    # A value that does not fit becomes empty, so that it is not taken for a number in range.
    return column.cast(pl.Int64, strict=False)


def _board_bytes(column: pl.Series) -> pl.Series:
    import polars as pl

    if isinstance(column.dtype, pl.String):
        return column.str.decode("hex", strict=False)
    if column.dtype not in (pl.Binary, pl.Null):
        raise ConfigError(f"column 'board': expected 36 bytes, found {column.dtype}")
    return column.cast(pl.Binary)


def attempt_rows(frame: pl.DataFrame, n_episodes: int) -> AttemptRows:
    """Read the rows of one trial, whose boards are rows of a given number of values.

    Comes back: the whole episodes, and the rows of the one that is out of order, up to there.
    """
    number = {name: _filled(frame[name]) for name in _NUMBERS}
    n = _first(_out_of_sequence(number, n_episodes))
    is_first = _starts(number["episode"][:n])
    boards, bad_board = _boards_of(frame["board"][:n], is_first)
    cut = min(n, bad_board)
    fault = _fault(number, frame["board"], cut, n_episodes)
    # An episode without a board was never begun.
    is_first = is_first[:cut]
    n_rows = np.diff(np.flatnonzero(np.append(is_first, True)))
    stuck = number["attempt"][:cut][is_first] == _NOTHING
    actions = N_BUCKETS * (number["cell"][:cut] - 1) + number["bucket"][:cut]
    actions[np.flatnonzero(is_first)[stuck]] = 0
    outcomes, finish = number["outcome"][:cut], number["finish"][:cut]
    return AttemptRows(n_rows, stuck, actions, outcomes, finish, boards[: n_rows.size], fault)


def _filled(column: pl.Series) -> Int:
    """Return whole numbers, with `_NOTHING` where there is none."""
    # Checked first, since an expression of Polars takes as long as the replay of a thousand
    # attempts.
    full = column.fill_null(_NOTHING) if column.null_count() else column
    numbers: Int = full.to_numpy()
    return numbers


def _starts(episode: Int) -> npt.NDArray[np.bool_]:
    """Return whether each row is the first of its episode."""
    starts: npt.NDArray[np.bool_] = np.diff(episode, prepend=-1) != 0
    return starts


def _first(wrong: npt.NDArray[np.bool_]) -> int:
    """Return the first place that is set, or the length."""
    return int(np.argmax(wrong)) if wrong.any() else wrong.size


def _out_of_sequence(number: dict[str, Int], n_episodes: int) -> npt.NDArray[np.bool_]:
    """Return for each row whether it cannot follow the one before, or names what there is not."""
    episode, attempt, cell, bucket = (number[name] for name in _NUMBERS[:4])
    if not episode.size:
        return np.zeros(0, dtype=np.bool_)
    step = np.diff(episode, prepend=-1)
    wrong: npt.NDArray[np.bool_] = (
        (step != 0) & (step != 1) | (episode < 0) | (episode >= n_episodes)
    )
    is_first = step != 0
    started = np.maximum.accumulate(np.where(is_first, np.arange(episode.size), 0))
    counted = attempt == np.arange(episode.size) - started + 1
    on_board = (cell >= 1) & (cell <= N_CELLS) & (bucket >= 0) & (bucket < N_BUCKETS)
    # A board that is stuck from the start has one row, without an attempt.
    empty = (attempt == _NOTHING) & (cell == _NOTHING) & (bucket == _NOTHING)
    alone = is_first & np.append(is_first[1:], True)
    wrong |= ~(counted & on_board | empty & alone)
    return wrong


def _boards_of(
    column: pl.Series, is_first: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.uint8], int]:
    """Return the boards of the episodes, and the first row whose board is missing or too much."""
    starts = np.flatnonzero(is_first)
    listed = column.gather(starts).to_list()
    whole = all(board is not None and len(board) == N_CELLS for board in listed)
    if whole and column.len() - column.null_count() == starts.size:
        bad = column.len()
    else:
        sizes = column.bin.size().fill_null(0).to_numpy().astype(np.int64)
        bad = _first(sizes != np.where(is_first, N_CELLS, 0))
    codes = b"".join(listed[: int(np.searchsorted(starts, bad))])
    return np.frombuffer(codes, dtype=np.uint8).reshape(-1, N_CELLS), bad


def _fault(number: dict[str, Int], board: pl.Series, row: int, n_episodes: int) -> Fault | None:
    """Describe the error in a row; None if it is the end of a trial with all its episodes."""
    episode = number["episode"]
    last = int(episode[row - 1]) if row else -1
    if row == episode.size:
        if last + 1 == n_episodes:
            return None
        return Fault(last + 1, None, f"expected {n_episodes} episodes, found {last + 1}")
    here = int(episode[row])
    if here == 0 and number["attempt"][row] == 1 and last == n_episodes - 1 > 0:
        return Fault(None, None, "the trial is told twice")
    if here >= n_episodes > 0 and here == last + 1:
        return Fault(here, None, f"expected {n_episodes} episodes, found more")
    if here not in (last, last + 1) or here < 0:
        played = int(np.count_nonzero(episode[:row] == last))
        reason = f"expected episode {max(last, 0)} or the next, {_found(here)}"
        return Fault(last, played + 1, reason) if row else Fault(0, None, reason)
    before = int(np.count_nonzero(episode[:row] == here))
    here_now = {name: int(column[row]) for name, column in number.items()}
    return _fault_of_attempt(here_now, before) or _fault_of_board(here, before, board[row])


def _fault_of_attempt(number: dict[str, int], before: int) -> Fault | None:
    """Describe the error in an attempt that is not the first of its episode."""
    here, attempt = number["episode"], number["attempt"]
    for name, low, high in (("cell", 1, N_CELLS), ("bucket", 0, N_BUCKETS - 1)):
        value = number[name]
        if attempt != _NOTHING and not low <= value <= high:
            reason = f"column {name!r}: expected {low} to {high}, {_found(value)}"
            return Fault(here, before + 1, reason)
    if attempt != before + 1 and not (attempt == _NOTHING and before == 0):
        return Fault(here, before + 1, f"expected attempt {before + 1}, {_found(attempt)}")
    return None


def _fault_of_board(here: int, before: int, board: bytes | None) -> Fault:
    """Describe the error in the board of a row whose numbers are valid."""
    size = len(board or b"")
    if size == (0 if before else N_CELLS):
        return Fault(here, before + 1, "expected an attempt, found a row without one")
    if before:
        return Fault(here, before + 1, "expected a board on the first row of an episode alone")
    return Fault(here, None, f"expected a board of {N_CELLS} bytes, found {size}")


def _found(value: int) -> str:
    return "found nothing" if value == _NOTHING else f"found {value}"
