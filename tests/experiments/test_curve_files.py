"""Curves for other dashboards: the CSV, and event files read back by a reader of our own.

TensorBoard's own reader was found to agree; it is too large to be needed by the tests.
"""

from __future__ import annotations

import csv
import struct
from pathlib import Path

import pytest

from gnomon.errors import GnomonError
from gnomon.experiments import (
    ExperimentConfig,
    RunFolder,
    run,
    score_table,
    score_trial,
    write_curves,
)
from gnomon.experiments.curve_files import _masked_crc
from gnomon.scores import read_scores


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> RunFolder:
    config = ExperimentConfig("x", ["clockwise"], ["uniform"], trials=2, episodes=150)
    return run(config, tmp_path_factory.mktemp("run")).folder


def test_the_csv(folder, tmp_path):
    (path,) = write_curves(folder, tmp_path / "curves.csv")
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert len(rows) == 300
    for record in folder.trials():
        mine = [r for r in rows if r["run"] == str(record.trial)]
        log = folder.log(record)
        assert [int(r["step"]) for r in mine] == list(range(1, 151))
        assert [int(r["errors"]) for r in mine] == score_trial(log, "errors_per_episode").tolist()
        assert int(mine[-1]["score"]) == score_trial(log, "tce")


def test_the_csv_is_a_score_file(folder, tmp_path):
    (path,) = write_curves(folder, tmp_path / "curves.csv")
    ours = score_table(folder, "cumulated_errors")
    read = read_scores(path)
    facts = [(t.metric, t.unit, t.higher_is_better, t.n_steps) for t in (ours, read)]
    assert facts[0] == facts[1] == ("cumulated_errors", "errors", False, 150)
    for mine, other in zip(ours.curves("uniform", "clockwise"),
                           read.curves("uniform", "clockwise"), strict=True):  # fmt: skip
        assert mine.tolist() == other.tolist()


def fields(data: bytes) -> list[tuple[int, object]]:
    """Read a protocol buffer: the number and value of each field."""
    found: list[tuple[int, object]] = []
    i = 0

    def varint() -> int:
        nonlocal i
        value = shift = 0
        while True:
            byte = data[i]
            i += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while i < len(data):
        number, kind = divmod(varint(), 8)
        if kind == 0:
            found.append((number, varint()))
        else:
            size = {1: 8, 5: 4}.get(kind) or varint()
            found.append((number, data[i : i + size]))
            i += size
    return found


def scalars(path: Path) -> dict[str, list[tuple[int, float]]]:
    data, i, read = path.read_bytes(), 0, {}
    while i < len(data):
        (size,) = struct.unpack_from("<Q", data, i)
        assert data[i + 8 : i + 12] == _masked_crc(data[i : i + 8])
        event = data[i + 12 : i + 12 + size]
        assert data[i + 12 + size : i + 16 + size] == _masked_crc(event)
        i += 16 + size
        told = dict(fields(event))
        for _, value in fields(told.get(5, b"")):
            one = dict(fields(value))
            (number,) = struct.unpack("<f", one[2])
            read.setdefault(one[1].decode(), []).append((told[2], number))
    return read


def test_event_files(folder, tmp_path):
    paths = write_curves(folder, tmp_path / "events")
    assert [p.parent.relative_to(tmp_path).as_posix() for p in paths] == [
        "events/uniform/clockwise/0",
        "events/uniform/clockwise/1",
    ]
    for path, record in zip(paths, folder.trials(), strict=True):
        read, log = scalars(path), folder.log(record)
        assert set(read) == {"errors_per_episode", "cumulated_errors", "finished"}
        for name in ("errors_per_episode", "cumulated_errors"):
            assert read[name] == list(enumerate(score_trial(log, name).tolist(), start=1))
    before = paths[0].read_bytes()
    write_curves(folder, tmp_path / "events")
    assert paths[0].read_bytes() == before


def test_the_check_sum():
    """CRC-32C of "123456789" is 0xE3069283 (RFC 3720 and others); then rotated and shifted."""
    crc = 0xE3069283
    masked = ((crc >> 15 | crc << 17 & 0xFFFFFFFF) + 0xA282EAD8) & 0xFFFFFFFF
    assert _masked_crc(b"123456789") == struct.pack("<I", masked)


def test_what_is_refused(folder, tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(GnomonError, match=r"expected a .csv file or a folder, found a file$"):
        write_curves(folder, tmp_path / "file")
    with pytest.raises(GnomonError, match=r"expected a folder to write to; there is none$"):
        write_curves(folder, tmp_path / "none" / "x.csv")
