"""Log files: the attempts of one learner on its trials, as a leaderboard takes and gives them.

A log is a ZIP archive with one member for each trial, named ``RULE/NUMBER``, whose bytes are those
of :func:`gohr.experiments.attempt_bytes`. Logs come from strangers: limits hold before a member is
unpacked, and nothing in a log is ever run.
"""

from __future__ import annotations

import io
import os
import zipfile
import zlib
from collections.abc import Mapping
from typing import SupportsIndex

from gnomon.errors import shortened
from gohr.errors import ConfigError
from gohr.experiments.attempts import attempt_bytes, attempts_of
from gohr.playing import TrialLog

#: The trials of one learner, by rule and number.
Trials = Mapping[tuple[str, int], TrialLog]
#: Errors of zipfile and zlib for a damaged archive: NotImplementedError for an unknown compression,
#: RuntimeError for an encrypted member.
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)

#: The argument of :func:`write_log`, in the words of its errors.
_TRIALS = "{(rule, trial): TrialLog}"


def write_log(trials: Trials) -> bytes:
    """Return the log of one learner's trials; equal trials give equal bytes.

    Parameters
    ----------
    trials : mapping of (str, int) to TrialLog
        By rule and number of the trial. Their ``p0`` are not written: :func:`read_log` returns None
        for them.

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
    if not isinstance(trials, Mapping):
        raise TypeError(f"trials: expected {_TRIALS}, found a {type(trials).__name__}")
    for key, log in trials.items():
        if not (isinstance(key, tuple) and len(key) == 2 and isinstance(key[1], SupportsIndex)):
            raise TypeError(f"trials: expected {_TRIALS}, found the key {shortened(repr(key))}")
        if not isinstance(log, TrialLog):
            raise TypeError(f"trials: expected {_TRIALS}, found a {type(log).__name__} for {key}")
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
    max_rows: int = 2_000_000_000,
    max_bytes: int = 16 << 30,
    max_trials: int = 1_000_000,
) -> dict[tuple[str, int], TrialLog]:
    """Return the trials of a log by rule and number, within limits.

    Parameters
    ----------
    data : bytes
        The log, as :func:`write_log` returns it: the content of the file, not its path.
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
    given: object = data
    if isinstance(given, str | os.PathLike):
        path = shortened(repr(os.fspath(given)))
        raise TypeError(
            f"data: expected the bytes of a log, found the path {path}; read it with "
            "Path.read_bytes()"
        )
    if not isinstance(given, bytes | bytearray | memoryview):
        raise TypeError(f"data: expected the bytes of a log, found a {type(given).__name__}")
    trials: dict[tuple[str, int], TrialLog] = {}
    n_rows, name = 0, ""
    # Counted before the archive is opened, which takes seconds for many members; some signatures
    # may occur by chance in packed data.
    if bytes(data).count(_MEMBER) > max_trials + 100:
        raise ConfigError(f"expected at most {max_trials} trials, found more")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
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
                if log.own is not None or log.p0 is not None:
                    raise ValueError("expected attempts alone, found further columns")
                n_rows += log.actions.size
                if n_rows > max_rows:
                    raise ConfigError(f"expected at most {max_rows} attempts, found more")
    except _DAMAGED as error:
        where = f"trial {name[:64]!r}" if name else "a ZIP archive of trials"
        raise ConfigError(f"expected a log, {where}: {str(error)[:160]}") from None
    return trials
