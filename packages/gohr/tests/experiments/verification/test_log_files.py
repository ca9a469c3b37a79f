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
from gohr.experiments import read_log

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


def rows_of(data: bytes, log_format: str) -> pl.DataFrame:
    """Return the rows of a log as a board reads it."""
    return read_log(data, log_format, max_rows=1000, max_bytes=1 << 20)


@pytest.mark.parametrize("log_format", ["parquet", "csv", "csv.gz", "jsonl", "jsonl.gz"])
def test_every_format_comes_to_the_same_rows(log_format):
    kind, _, packed = log_format.partition(".")
    data = as_bytes(kind)
    read = rows_of(gzip.compress(data) if packed else data, log_format)
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
def test_what_is_not_a_log_is_refused_and_never_run(kind, data, expected):
    with pytest.raises(ConfigError, match=expected):
        rows_of(data, kind)
    assert not Path("/tmp/gnomon-was-here").exists()


@pytest.mark.parametrize(
    "name", ["learner", "rule", "trial", "episode", "attempt", "cell", "bucket", "board"]
)
def test_a_missing_column_is_named(name):
    data = frame().drop(name).with_columns(cs.binary().bin.encode("hex")).write_csv().encode()
    with pytest.raises(ConfigError, match=f"missing column '{name}'"):
        rows_of(data, "csv")


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_rows_bytes_and_columns_are_limited(kind):
    data = as_bytes(kind)
    assert read_log(data, kind, max_rows=3).height == 3
    with pytest.raises(ConfigError, match="expected at most 2 rows, found 3"):
        read_log(data, kind, max_rows=2)
    with pytest.raises(ConfigError, match=f"expected at most 200 bytes, found {len(data)}"):
        read_log(data, kind, max_bytes=200)
    wide = pl.DataFrame({f"c{k}": [0] for k in range(500)})
    out = io.BytesIO()
    {"csv": wide.write_csv, "parquet": wide.write_parquet, "jsonl": wide.write_ndjson}[kind](out)
    with pytest.raises(ConfigError, match="expected at most 64 columns, found 500"):
        rows_of(out.getvalue(), kind)


def test_few_bytes_that_stand_for_many_rows():
    """A Parquet file may say "the same, a hundred million times"."""
    out = io.BytesIO()
    pl.DataFrame({"a": pl.repeat(0, 20_000_000, dtype=pl.Int64, eager=True)}).write_parquet(out)
    assert out.tell() < 2_000_000
    with pytest.raises(ConfigError, match="expected at most 1000 rows, found 20000000"):
        read_log(out.getvalue(), "parquet", max_rows=1000)


def test_few_bytes_that_stand_for_long_texts():
    out = io.BytesIO()
    long = frame().with_columns(board=pl.lit("x" * 4_000_000))
    long.write_parquet(out)
    with pytest.raises(ConfigError, match="expected texts of at most 1048576 bytes, found 120000"):
        rows_of(out.getvalue(), "parquet")


def test_a_gzip_bomb_goes_off_nowhere():
    bomb = gzip.compress(bytes(50_000_000))
    assert len(bomb) < 60_000
    # Many small members are one file.
    for packed in (bomb, gzip.compress(bytes(1 << 20)) * 300):
        with pytest.raises(ConfigError, match="expected at most 1048576 bytes when unpacked"):
            rows_of(packed, "csv.gz")


def test_a_file_of_empty_gzip_members_takes_no_time():
    """Each leaves the rest of the file over: copied whole, 60 MB of them would take hours."""
    empty, most = gzip.compress(b""), 100_000
    seconds = []
    for n in (most // 4, most // 2, most):
        began = time.process_time()
        with pytest.raises(ConfigError, match="expected a csv file"):
            rows_of(empty * n, "csv.gz")
        seconds.append(time.process_time() - began)
    # Four times as many take four times as long; were the rest copied, sixteen times.
    assert seconds[2] < 8 * seconds[0] + 0.1, seconds
    began = time.process_time()
    with pytest.raises(ConfigError, match=f"expected at most {most} gzip members, found more"):
        rows_of(empty * 3_000_000, "csv.gz")
    assert time.process_time() - began < 5


def test_many_small_members_are_one_text():
    data = as_bytes("csv")
    members = [gzip.compress(part) for part in (data[:1], b"", data[1:70], data[70:])]
    assert rows_of(b"".join(members), "csv.gz").equals(rows_of(data, "csv"))


def test_a_bomb_in_a_bomb_is_one_layer():
    inner = gzip.compress(bytes(1000))
    with pytest.raises(ConfigError, match="expected a csv file, found a gzip file"):
        rows_of(gzip.compress(inner), "csv.gz")
    for data in (inner, zlib.compress(bytes(1000)), zlib.compress(bytes(1000), 9)):
        for kind in ("csv", "jsonl", "parquet"):
            with pytest.raises(ConfigError, match=r"found a (gzip|zlib) file"):
                rows_of(data, kind)


@pytest.mark.parametrize("cut", [1, 10, 15])
def test_a_damaged_gzip_file_is_refused(cut):
    data = gzip.compress(b"some text that is long enough to be cut")
    for damaged in (data[:-cut], b"plain text", zlib.compress(b"x")):
        with pytest.raises(ConfigError, match="damaged or other bytes"):
            rows_of(damaged, "csv.gz")
