"""The attempts of trials as bytes, as columns, and as the log of a submission.

A serialised trial is a header of four numbers, then raw little-endian columns one after another;
the database of a run stores them compressed by zlib. A log is a ZIP archive with one member for
each trial of one learner, named ``RULE/NUMBER``. Logs come from strangers: limits hold before a
member is unpacked, and nothing in a log is ever run.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from gnomon.errors import check_type, shortened
from gohr.board import N_BUCKETS, N_CELLS
from gohr.errors import ConfigError
from gohr.outcomes import EPISODE_OVER, IN_PROGRESS
from gohr.playing import TrialLog

#: Numbers of episodes, of attempts and of codes a board; 1 if only movable pieces could be tried.
_HEAD = struct.Struct("<IIHB")


def attempt_bytes(log: TrialLog) -> bytes:
    """Return a trial as raw columns: equal trials give equal bytes on every machine.

    Examples
    --------
    >>> from gohr.experiments import ExperimentConfig, trials_of
    >>> config = ExperimentConfig("first", ["clockwise"], ["uniform"], trials=1, episodes=3)
    >>> [trial] = trials_of(config)
    >>> attempt_bytes(trial.play()) == attempt_bytes(trial.play())
    True
    """
    parts = [
        _HEAD.pack(log.n_attempts.size, log.actions.size, log.boards.shape[1], log.only_movable),
        log.n_attempts.astype("<i4").tobytes(),
        log.finish.astype(np.int8).tobytes(),
        log.boards.astype(np.uint8).tobytes(),
        log.actions.astype(np.uint8).tobytes(),
        log.outcomes.astype(np.int8).tobytes(),
    ]
    return b"".join(parts)


def attempts_of(raw: bytes) -> TrialLog:
    """Return the trial of the bytes of :func:`attempt_bytes`; ValueError if they are not that."""
    try:
        n_episodes, n_rows, width, only_movable = _HEAD.unpack_from(raw)
    except struct.error as error:
        raise ValueError(str(error)) from None
    if width != N_CELLS or only_movable > 1:
        raise ValueError(f"expected boards of {N_CELLS} cells and a last number of 0 or 1")
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
    if place != len(raw) or n_attempts.min(initial=0) < 0 or n_attempts.sum() != n_rows:
        raise ValueError(f"expected {place} bytes of {n_rows} attempts, found {len(raw)} bytes")
    columns = boards, n_attempts, actions, outcomes, finish
    return TrialLog(*columns, only_movable=bool(only_movable))


def attempt_columns(
    trials: Mapping[tuple[str, str, int], TrialLog],
    chances: Mapping[tuple[str, str, int], npt.NDArray[np.float64]] = MappingProxyType({}),
) -> dict[str, npt.NDArray[Any]]:
    """Return the attempts of trials as :meth:`gohr.experiments.Run.attempts` has them.

    ``chances`` has the chance of success at each attempt, which is NaN where it is not known.
    """
    codes, states = np.zeros(0, np.uint8), np.zeros(0, np.int8)
    nothing = TrialLog(codes.reshape(0, N_CELLS), np.zeros(0, np.int64), codes, states, states)
    some = trials or {("", "", 0): nothing}
    parts = [_columns(key, log, chances.get(key, np.nan)) for key, log in some.items()]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _columns(
    key: tuple[str, str, int], log: TrialLog, p0: npt.NDArray[np.float64] | float
) -> dict[str, npt.NDArray[Any]]:
    n_rows = np.maximum(log.n_attempts, 1)
    first = np.cumsum(n_rows) - n_rows  # row of the first attempt of each episode
    episode = np.repeat(np.arange(n_rows.size, dtype=np.int32), n_rows)
    row = np.arange(episode.size)
    played = np.repeat(log.n_attempts > 0, n_rows)

    def of_attempts(
        values: npt.NDArray[Any] | float, nothing: float, dtype: type[np.generic]
    ) -> npt.NDArray[Any]:
        column = np.full(episode.size, nothing, dtype=dtype)
        column[played] = values
        return column

    outcome = of_attempts(log.outcomes, EPISODE_OVER, np.int8)
    # An episode has ended with its last attempt that counts; a learner that plays on adds rows.
    last = np.maximum.accumulate(np.where(outcome != EPISODE_OVER, row, -1))
    ended = row >= np.maximum(last[first + n_rows - 1], first)[episode]
    board = np.full(episode.size, None, dtype=object)
    for at, codes in zip(first.tolist(), log.boards, strict=True):
        board[at] = codes.tobytes()
    learner, rule, number = key
    return {
        "learner": np.full(episode.size, learner, dtype=object),
        "rule": np.full(episode.size, rule, dtype=object),
        "trial": np.full(episode.size, number, dtype=np.int32),
        "episode": episode,
        "attempt": np.where(played, row - first[episode] + 1, 0).astype(np.int32),
        "cell": of_attempts(log.actions // N_BUCKETS + 1, 0, np.uint8),
        "bucket": of_attempts(log.actions % N_BUCKETS, -1, np.int8),
        "outcome": outcome,
        "finish": np.where(ended, log.finish[episode], IN_PROGRESS).astype(np.int8),
        "board": board,
        "p0": of_attempts(p0, np.nan, np.float64),
    }


#: Errors of zipfile and zlib for a damaged archive: NotImplementedError for an unknown compression,
#: RuntimeError for an encrypted member.
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)

#: The argument of :func:`write_log`, in the words of its errors.
_TRIALS = "{(rule, trial): TrialLog}"


def write_log(trials: Mapping[tuple[str, int], TrialLog]) -> bytes:
    """Return the log of one learner's trials; equal trials give equal bytes.

    Parameters
    ----------
    trials : mapping of (str, int) to TrialLog
        By rule and number of the trial.

    Returns
    -------
    bytes
        The log, as the content of a file.

    Raises
    ------
    TypeError
        If `trials` is something else.

    Examples
    --------
    >>> from gohr.experiments import ExperimentConfig, trials_of
    >>> config = ExperimentConfig("first", ["clockwise"], ["uniform"], trials=1, episodes=3)
    >>> [trial] = trials_of(config)
    >>> list(read_log(write_log({("clockwise", 0): trial.play()})))
    [('clockwise', 0)]
    """
    check_type("trials", trials, Mapping, _TRIALS)
    for key, log in trials.items():
        if not (isinstance(key, tuple) and len(key) == 2 and isinstance(key[1], SupportsIndex)):
            raise TypeError(f"trials: expected {_TRIALS}, found the key {shortened(repr(key))}")
        check_type(f"trials[{key}]", log, TrialLog, "a TrialLog")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for (rule, number), log in trials.items():
            member = zipfile.ZipInfo(f"{rule}/{number}")  # without a date
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, attempt_bytes(log), compresslevel=1)
    return out.getvalue()


#: The signature of a member in the directory of a ZIP archive.
_MEMBER = b"PK\1\2"


def read_log(
    data: bytes,
    *,
    only: tuple[str, int] | None = None,
    max_rows: int = 2_000_000_000,
    max_bytes: int = 16 << 30,
    max_trials: int = 1_000_000,
) -> dict[tuple[str, int], TrialLog]:
    """Return the trials of a log by rule and number, within limits.

    Parameters
    ----------
    data : bytes
        The log, as :func:`write_log` returns it: the content of the file, not its path.
    only : (str, int), optional
        The rule and number of the only trial to unpack; without it, all are.
    max_rows : int
        Most attempts in all trials.
    max_bytes : int
        Most bytes of all trials, once unpacked.
    max_trials : int
        Most trials.

    Raises
    ------
    ConfigError
        It is not a log, is damaged, or is above a limit.
    TypeError
        `data` is not bytes.

    Examples
    --------
    >>> read_log(b"learner,rule,trial")
    Traceback (most recent call last):
    gohr.errors.ConfigError: expected a log, a ZIP archive of trials: File is not a zip file
    """
    expected = "the bytes of a log, as Path.read_bytes() returns them"
    check_type("data", data, (bytes, bytearray, memoryview), expected)
    trials: dict[tuple[str, int], TrialLog] = {}
    n_rows, name = 0, ""
    # Counted before the archive is opened, which takes seconds for many members; some signatures
    # may occur by chance in packed data.
    if bytes(data).count(_MEMBER) > max_trials + 100:
        raise ConfigError(f"expected at most {max_trials} trials, found more")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            if only is not None:
                members = [x for x in members if x.filename == f"{only[0]}/{only[1]}"]
            if (n_bytes := sum(member.file_size for member in members)) > max_bytes:
                raise ConfigError(f"expected at most {max_bytes} bytes unpacked, found {n_bytes}")
            for member in members:
                name = member.filename
                if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    raise ValueError("expected a member packed by deflate or not at all")
                rule, _, number = name.rpartition("/")
                key = rule, int(number)
                if key in trials:
                    raise ValueError("found twice")
                log = trials[key] = attempts_of(archive.read(member))
                n_rows += log.actions.size
                if n_rows > max_rows:
                    raise ConfigError(f"expected at most {max_rows} attempts, found more")
    except _DAMAGED as error:
        where = f"trial {name[:64]!r}" if name else "a ZIP archive of trials"
        raise ConfigError(f"expected a log, {where}: {str(error)[:160]}") from None
    return trials
