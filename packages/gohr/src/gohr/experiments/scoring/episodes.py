"""Data of each episode for scoring: the number of errors, and how it ended.

Most scores need only these data. So the row of each trial that is done has it, some two bytes an
episode, and no attempt need be read for them.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from gohr.experiments.scoring.trial_scores import Errors, Finish, episode_errors

if TYPE_CHECKING:
    from gohr.experiments.attempts import TrialOutcomes
    from gohr.playing import TrialLog

_STORED = np.dtype("<i4")


class Episodes(NamedTuple):
    """The errors in each episode of a trial, and how each ended; both of shape (episodes,)."""

    errors: Errors
    finish: Finish


def episode_bytes(trial: TrialLog | TrialOutcomes) -> bytes:
    """Return the episodes of a trial as its row has them.

    Compressed rows of ``episodes`` numbers each: all errors, those on pieces alone, how it ended.
    """
    # To search for longer repetitions takes three times as long, and saves nothing here.
    return zlib.compress(_rows(trial), level=1)


def are_episodes_of(trial: TrialLog | TrialOutcomes, data: bytes | None) -> bool:
    """Return whether these are the episodes of a trial, as its row has them."""
    try:
        return data is not None and zlib.decompress(data) == _rows(trial)
    except zlib.error:
        return False


def _rows(trial: TrialLog | TrialOutcomes) -> bytes:
    rows = (episode_errors(trial), episode_errors(trial, count_empty=False), trial.finish)
    return np.array(rows, dtype=_STORED).tobytes()


def stored_episodes(data: bytes, *, count_empty: bool = True) -> Episodes:
    """Return the episodes of a trial from the result of :func:`episode_bytes`."""
    rows: npt.NDArray[np.int32] = np.frombuffer(zlib.decompress(data), dtype=_STORED)
    errors, errors_on_pieces, finish = rows.reshape(3, -1)
    counted = errors if count_empty else errors_on_pieces
    return Episodes(counted.astype(np.int64), finish.astype(np.int8))
