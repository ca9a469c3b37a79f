"""The attempts of trials as bytes and as columns.

A serialised trial is a header of four numbers, then raw little-endian columns one after another;
the database of a run stores them compressed by zlib.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gohr.game.board import N_BUCKETS, N_CELLS
from gohr.game.outcomes import EPISODE_OVER, IN_PROGRESS

if TYPE_CHECKING:
    from gohr.playing import Replay, TrialLog

#: Numbers of episodes, of attempts and of codes a board; flags: 1 with ``own``, 2 with chances.
_HEAD = struct.Struct("<IIHB")
_OWN, _CHANCES = 1, 2


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


def attempts_of(raw: bytes) -> TrialLog:
    """Return the trial that :func:`attempt_bytes` gave these bytes for.

    Raises ValueError: the bytes are not a serialised trial.

    Examples
    --------
    >>> from gohr.experiments import ExperimentConfig, trials_of
    >>> config = ExperimentConfig("first", ["clockwise"], ["uniform"], trials=1, episodes=3)
    >>> [log] = [trial.play() for trial in trials_of(config)]
    >>> bool((attempts_of(attempt_bytes(log)).actions == log.actions).all())
    True
    """
    from gohr.playing import TrialLog

    try:
        n_episodes, n_rows, width, flags = _HEAD.unpack_from(raw)
    except struct.error as error:
        raise ValueError(str(error)) from None
    if width != N_CELLS:
        raise ValueError(f"expected boards of {N_CELLS} cells, found {width}")
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
    if place != len(raw) or n_attempts.min(initial=0) < 0 or n_attempts.sum() != n_rows:
        raise ValueError(f"expected {place} bytes of {n_rows} attempts, found {len(raw)} bytes")
    return TrialLog(boards, n_attempts, actions, outcomes, finish, own, p0)


def attempt_columns(trials: Mapping[tuple[str, str, int], TrialLog]) -> dict[str, npt.NDArray[Any]]:
    """Return the attempts of trials as columns, with one row for each attempt.

    An episode without attempts, whose board was stuck or empty from the start, has one row with
    ``attempt`` and ``cell`` 0, ``bucket`` -1, ``outcome`` -4 and ``p0`` NaN.

    Parameters
    ----------
    trials : mapping of (str, str, int) to TrialLog
        By learner, rule and number of the trial.

    Returns
    -------
    dict of numpy.ndarray
        ``learner`` and ``rule`` (str), ``trial``; ``episode`` from 0, ``attempt`` from 1 within its
        episode, ``cell`` 1 to 36, ``bucket`` 0 to 3, ``outcome`` the code of the game, ``finish``
        the state of the episode after the attempt (0 going on, 1 cleared, 2 stalemate), ``board``
        the 36 codes of the board as bytes on the first row of its episode and None elsewhere,
        ``p0`` as in :class:`gohr.TrialLog`, NaN where it is not known; and ``own`` where another
        player moved on the same boards. Data frames take it: ``pandas.DataFrame(columns)``.

    Examples
    --------
    >>> from gohr.experiments import ExperimentConfig, trials_of
    >>> config = ExperimentConfig("first", ["clockwise"], ["uniform"], trials=1, episodes=3)
    >>> [trial] = trials_of(config)
    >>> columns = attempt_columns({("uniform", "clockwise", 0): trial.play()})
    >>> list(columns)[:7]
    ['learner', 'rule', 'trial', 'episode', 'attempt', 'cell', 'bucket']
    """
    from gohr.playing import TrialLog

    codes, states = np.zeros(0, np.uint8), np.zeros(0, np.int8)
    nothing = TrialLog(codes.reshape(0, N_CELLS), np.zeros(0, np.int64), codes, states, states)
    parts = [_columns(*each) for each in trials.items()] or [_columns(("", "", 0), nothing)]
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    if all(log.own is None for log in trials.values()):
        del columns["own"]
    return columns


def _columns(key: tuple[str, str, int], log: TrialLog) -> dict[str, npt.NDArray[Any]]:
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
        "own": of_attempts(True if log.own is None else log.own, False, np.bool_),
        "p0": of_attempts(np.nan if log.p0 is None else log.p0, np.nan, np.float64),
    }
