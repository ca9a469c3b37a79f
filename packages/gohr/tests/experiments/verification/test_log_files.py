"""What strangers send as a log: every format that is taken, and everything that is not."""

from __future__ import annotations

import gzip
import io
import pickle
import time
import zipfile
import zlib
from pathlib import Path
from typing import Any

import polars as pl
import polars.selectors as cs
import pytest

from gohr.errors import ConfigError
from gohr.experiments.verification import log_files

CAPS = {"max_rows": 1000, "max_columns": 16, "max_bytes": 1 << 20, "max_ratio": 200.0}
BOARD = bytes(range(36))


def frame() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "learner": ["a"] * 3,
            "rule": ["clockwise"] * 3,
            "trial": [0, 0, 0],
            "episode": [0, 0, 1],
            "attempt": [1, 2, None],
            "cell": [36, 1, None],
            "bucket": [0, 3, None],
            "outcome": [4, 0, -4],
            "finish": [0, 1, 2],
            "board": [BOARD, None, BOARD],
        },
        schema_overrides={"trial": pl.Int32, "cell": pl.UInt8},
    )


def as_bytes(kind: str) -> bytes:
    if kind == "parquet":
        out = io.BytesIO()
        frame().write_parquet(out)
        return out.getvalue()
    text = frame().with_columns(pl.col("board").bin.encode("hex"))
    return (text.write_csv() if kind == "csv" else text.write_ndjson()).encode()


def rows_of(data: bytes, log_format: str, folder: Path) -> pl.DataFrame:
    """Return the rows of a log that was sent, as they are kept."""
    (folder / "log").write_bytes(data)
    out = folder / "out.parquet"
    request = {"log": str(folder / "log"), "format": log_format, "out": str(out)}
    told = log_files.answer(CAPS | request)
    read = pl.read_parquet(out)
    assert told == {"n_rows": read.height}
    return read


@pytest.mark.parametrize("log_format", ["parquet", "csv", "csv.gz", "jsonl", "jsonl.gz"])
def test_every_format_comes_to_the_same_rows(log_format, tmp_path):
    kind, _, packed = log_format.partition(".")
    data = as_bytes(kind)
    read = rows_of(gzip.compress(data) if packed else data, log_format, tmp_path)
    assert read["board"].to_list() == [BOARD, None, BOARD]
    assert read["attempt"].to_list() == [1, 2, None]
    assert read["outcome"].to_list() == [4, 0, -4]
    assert read["rule"].to_list() == ["clockwise"] * 3


def archive() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packed:
        packed.writestr("../../etc/passwd", "x")
    return out.getvalue()


class Evil:
    """What runs a program when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (Path("/tmp/gnomon-was-here"),))


@pytest.mark.parametrize("kind", ["parquet", "csv", "jsonl"])
@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (archive(), "found a zip archive"),
        (pickle.dumps(Evil()), "found a pickle"),
        (pickle.dumps(Evil(), protocol=5), "found a pickle"),
        (b"\x7fELF" + bytes(100), "found a program"),
        (b"", "expected a"),
        (b"\xff\xfe\x00nonsense\n\x00\x00", "expected"),
        (
            b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY y SYSTEM "file:///etc/passwd">]>',
            "expected",
        ),
        (b"!!python/object/apply:os.system ['id']\n", "expected"),
        (b"PAR1" + bytes(50) + b"PAR1", "expected"),
    ],
    ids=["zip", "pickle", "pickle5", "program", "empty", "bytes", "xml", "yaml", "half parquet"],
)
def test_what_is_not_a_log_is_refused_and_never_run(kind, data, expected, tmp_path):
    with pytest.raises(ConfigError, match=expected):
        rows_of(data, kind, tmp_path)
    assert not Path("/tmp/gnomon-was-here").exists()


@pytest.mark.parametrize(
    "name", ["learner", "rule", "trial", "episode", "attempt", "cell", "bucket", "board"]
)
def test_a_missing_column_is_named(name, tmp_path):
    data = frame().drop(name).with_columns(cs.binary().bin.encode("hex")).write_csv().encode()
    with pytest.raises(ConfigError, match=f"missing column '{name}'"):
        rows_of(data, "csv", tmp_path)


def test_rows_and_columns_are_capped():
    data = as_bytes("csv")
    with pytest.raises(ConfigError, match="expected at most 2 rows, found 3"):
        log_files.read_frame(data, "csv", CAPS | {"max_rows": 2})
    with pytest.raises(ConfigError, match="expected at most 2 rows, found 3"):
        log_files.read_frame(as_bytes("parquet"), "parquet", CAPS | {"max_rows": 2})
    with pytest.raises(ConfigError, match="expected at most 2 rows"):
        log_files.read_frame(as_bytes("jsonl"), "jsonl", CAPS | {"max_rows": 2})
    for kind in ("csv", "parquet", "jsonl"):
        with pytest.raises(ConfigError, match="expected at most 9 columns, found 10"):
            log_files.read_frame(as_bytes(kind), kind, CAPS | {"max_columns": 9})
    wide = ",".join(f"c{k}" for k in range(5_000)).encode()
    with pytest.raises(ConfigError, match="expected at most 16 columns, found 5000"):
        log_files.read_frame(wide, "csv", CAPS)


def test_few_bytes_that_stand_for_many_rows():
    """A Parquet file may say "the same, a hundred million times"."""
    out = io.BytesIO()
    pl.DataFrame({"a": pl.repeat(0, 20_000_000, dtype=pl.Int64, eager=True)}).write_parquet(out)
    assert out.tell() < 2_000_000
    with pytest.raises(ConfigError, match="expected at most 1000 rows, found 20000000"):
        log_files.read_frame(out.getvalue(), "parquet", CAPS)


def test_a_gzip_bomb_goes_off_nowhere():
    bomb = gzip.compress(bytes(50_000_000))
    assert len(bomb) < 60_000
    with pytest.raises(ConfigError, match=r"expected at most \d+ bytes when unpacked"):
        log_files.unpacked(bomb, 1 << 30, 200.0)
    with pytest.raises(ConfigError, match="expected at most 1000 bytes when unpacked"):
        log_files.unpacked(gzip.compress(bytes(1001)), 1000, 200.0)
    # Many small members are one file.
    members = gzip.compress(bytes(1 << 20)) * 300
    with pytest.raises(ConfigError, match=r"expected at most \d+ bytes when unpacked"):
        log_files.unpacked(members, 1 << 30, 200.0)


def test_a_file_of_empty_gzip_members_takes_no_time():
    """Each leaves the rest of the file over: copied whole, 60 MB of them would take hours."""
    empty = gzip.compress(b"")
    most = log_files._MOST_MEMBERS
    seconds = []
    for n in (most // 4, most // 2, most):
        began = time.process_time()
        assert log_files.unpacked(empty * n, 1000, 200.0) == b""
        seconds.append(time.process_time() - began)
    # Four times as many take four times as long; were the rest copied, sixteen times.
    assert seconds[2] < 8 * seconds[0] + 0.1, seconds
    began = time.process_time()
    with pytest.raises(ConfigError, match=f"expected at most {most} gzip members, found more"):
        log_files.unpacked(empty * 3_000_000, 1000, 200.0)
    assert time.process_time() - began < 5


def test_many_small_members_are_one_text():
    parts = [b"a" * n for n in (0, 1, 5_000_000, 16_384, 0, 70_000)]
    packed = b"".join(map(gzip.compress, parts))
    assert log_files.unpacked(packed, 1 << 30, 1e6) == b"".join(parts)


def test_a_bomb_in_a_bomb_is_one_layer():
    inner = gzip.compress(bytes(1000))
    assert log_files.unpacked(gzip.compress(inner), 10_000, 200.0) == inner
    for data in (inner, zlib.compress(bytes(1000)), zlib.compress(bytes(1000), 9)):
        for kind in ("csv", "jsonl", "parquet"):
            with pytest.raises(ConfigError, match=r"found a (gzip|zlib) file"):
                log_files.read_frame(data, kind, CAPS)


@pytest.mark.parametrize("cut", [1, 10, 15])
def test_a_damaged_gzip_file_is_refused(cut):
    data = gzip.compress(b"some text that is long enough to be cut")
    with pytest.raises(ConfigError, match="damaged or other bytes"):
        log_files.unpacked(data[:-cut], 1000, 200.0)
    with pytest.raises(ConfigError, match="damaged or other bytes"):
        log_files.unpacked(b"plain text", 1000, 200.0)
    with pytest.raises(ConfigError, match="damaged or other bytes"):
        log_files.unpacked(zlib.compress(b"x"), 1000, 200.0)
