"""Learning curves as files that other dashboards read: CSV, and TensorBoard's event files.

One curve a trial: after each episode, all errors so far, the errors in it, and whether it was
finished. The step is the number of episodes played, from 1. The CSV is a tidy score file.

An event file is a series of records, each ``length, CRC of length, event, CRC of event``; an event
is a protocol buffer of a few fields (TensorFlow's ``event.proto`` and ``tfrecord`` format), which
is little enough to write without TensorFlow.
"""

from __future__ import annotations

import csv
import io
import struct
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import numpy as np

from gnomon._io.atomic_file import write_atomically
from gnomon.errors import GnomonError
from gnomon.experiments.folder.journal import TrialRecord
from gnomon.experiments.folder.run_folder import RunFolder
from gnomon.experiments.scoring.run_episodes import run_episodes
from gnomon.game.outcomes import IN_PROGRESS

#: Those of a tidy score file: the score is the number of all errors so far.
_COLUMNS = ("algorithm", "task", "run", "step", "score", "errors", "finished")
_ABOUT = {"metric": "cumulated_errors", "unit": "errors", "direction": "lower"}
#: Names under which TensorBoard shows the three.
_TAGS = ("errors_per_episode", "cumulated_errors", "finished")


def write_curves(folder: RunFolder, out: Path) -> list[Path]:
    """Write a CSV file if ``out`` is named like one, else event files into the folder ``out``.

    Raises
    ------
    GnomonError
        The place is a file, or has no folder around it; or a trial cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> import gnomon as gn
    >>> config = gn.ExperimentConfig("tiny", ["color-match"], ["uniform"], trials=2, episodes=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path] = write_curves(gn.run(config, folder).folder, Path(folder, "curves.csv"))
    ...     path.name
    'curves.csv'
    """
    if out.suffix == ".csv":
        return [write_csv(folder, out)]
    if out.is_file():
        raise GnomonError(f"{out}: expected a .csv file or a folder, found a file")
    return write_event_files(folder, out)


def write_csv(folder: RunFolder, path: Path) -> Path:
    """Write the curves of all trials that are done into one file, a row an episode."""
    if not path.parent.is_dir():
        raise GnomonError(f"{path.parent}: expected a folder to write to; there is none")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*_COLUMNS, *_ABOUT])
    for record, curves in _trials(folder):
        key = (record.learner, record.rule, record.trial)
        for step, (errors, cumulated, finished) in enumerate(curves, start=1):
            writer.writerow([*key, step, cumulated, errors, finished, *_ABOUT.values()])
    write_atomically(path, text.getvalue().encode())
    return path


def write_event_files(folder: RunFolder, out: Path) -> list[Path]:
    """Write one event file a trial, ``OUT/LEARNER/RULE/TRIAL/events.out.tfevents.0.gnomon``.

    TensorBoard takes each folder for a run. The time of an event is its step, in seconds: what was
    played when is not kept. The same trials give the same bytes.
    """
    paths = []
    for record, curves in _trials(folder):
        place = out / _folder_name(record.learner) / _folder_name(record.rule) / str(record.trial)
        place.mkdir(parents=True, exist_ok=True)
        path = place / "events.out.tfevents.0.gnomon"
        write_atomically(path, b"".join(map(_framed, _events(curves))))
        paths.append(path)
    return paths


def _trials(folder: RunFolder) -> Iterator[tuple[TrialRecord, Iterable[tuple[int, ...]]]]:
    """Yield each trial that is done, with errors, errors so far, and 1 for finished, by episode."""
    for record, (errors, finish) in run_episodes(folder).items():
        columns = (errors, np.cumsum(errors), (finish != IN_PROGRESS).astype(int))
        yield record, zip(*(column.tolist() for column in columns), strict=True)


def _folder_name(name: str) -> str:
    """Return a name as one part of a path."""
    plain = "".join(c if c.isalnum() or c in " =,.+-_" else "_" for c in name).strip(". ")
    return plain or "_"


def _events(rows: Iterable[tuple[int, ...]]) -> Iterator[bytes]:
    """Yield the events of a file: its version, then the values of each step."""
    yield _event(0, _field(3, b"brain.Event:2"))
    for step, values in enumerate(rows, start=1):
        pairs = zip(_TAGS, values, strict=True)
        told = (_field(1, tag.encode()) + b"\x15" + struct.pack("<f", v) for tag, v in pairs)
        yield _event(step, _field(5, b"".join(_field(1, value) for value in told)))


def _event(step: int, content: bytes) -> bytes:
    """Return an event: its time (field 1, a double), its step (field 2), and what it tells."""
    return b"\x09" + struct.pack("<d", step) + b"\x10" + _varint(step) + content


def _field(number: int, content: bytes) -> bytes:
    """Return a field of a protocol buffer that holds bytes."""
    return bytes([number << 3 | 2]) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    """Return a number, seven bits to the byte, the lowest first."""
    parts = []
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])


def _framed(event: bytes) -> bytes:
    length = struct.pack("<Q", len(event))
    return length + _masked_crc(length) + event + _masked_crc(event)


def _masked_crc(data: bytes) -> bytes:
    """Return CRC-32C, rotated by 15 bits and shifted, as the format wants it."""
    crc, table = 0xFFFFFFFF, _crc_table()
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


@cache
def _crc_table() -> tuple[int, ...]:
    """Return the CRC-32C (Castagnoli) of each byte."""
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return tuple(table)
