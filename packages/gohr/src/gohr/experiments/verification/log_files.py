"""Reading of attempt logs (CSV, JSON lines, Parquet, gzip) with limits on rows and bytes.

Limits hold before anything is parsed, and nothing in a log is ever run.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.errors import check_word
from gohr.errors import ConfigError
from gohr.experiments.verification.attempt_rows import COLUMNS, TRIAL_COLUMNS, check_columns

if TYPE_CHECKING:
    import polars as pl

#: The formats of a log.
FORMATS = ("parquet", "csv", "csv.gz", "jsonl", "jsonl.gz")
_MAX_COLUMNS = 64


def read_log_file(path: str | Path) -> pl.DataFrame:
    """Return the rows of a log: ``.parquet``, ``.csv`` or ``.jsonl``, the latter two also ``.gz``.

    Raises ConfigError: it cannot be read; one line that begins with the name of the file.
    """
    path = Path(path)
    log_format = next((each for each in FORMATS if path.name.endswith(f".{each}")), None)
    if log_format is None:
        raise ConfigError(f"{path}: expected a name that ends in .{', .'.join(FORMATS)}")
    try:
        return read_log(path.read_bytes(), log_format)
    except OSError as error:
        raise ConfigError(f"{path}: cannot read this log: {error.strerror}") from None
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None


def read_log(
    data: bytes, log_format: str, *, max_rows: int = 2_000_000_000, max_bytes: int = 16 << 30
) -> pl.DataFrame:
    r"""Return the rows of a log, within limits that hold before anything is parsed.

    Parameters
    ----------
    data : bytes
        The log as stored on disk or as sent.
    log_format : {"parquet", "csv", "csv.gz", "jsonl", "jsonl.gz"}
    max_rows : int
        Most rows.
    max_bytes : int
        Most bytes, once unpacked. Names and boards of a Parquet file have the same limit.

    Returns
    -------
    polars.DataFrame
        The columns of a log: names as text, whole numbers as Int64, boards as bytes. Numbers that
        do not fit are null.

    Raises
    ------
    ConfigError
        It is not of this format, is damaged, lacks a column, or is above a limit.

    Examples
    --------
    >>> read_log(b"learner,rule,trial\n" + 4 * b"dqn,clockwise,0\n", "csv", max_rows=3)
    Traceback (most recent call last):
    gohr.errors.ConfigError: expected at most 3 rows, found 4
    """
    import polars as pl

    check_word("log_format", log_format, FORMATS)
    kind, _, packing = log_format.partition(".")
    if packing:
        data = unpacked(data, max_bytes)
    elif len(data) > max_bytes:
        raise ConfigError(f"expected at most {max_bytes} bytes, found {len(data)}")
    for first, name in _NOT_TAKEN.items():
        if data.startswith(first):
            raise ConfigError(f"expected a {kind} file, found {name}")
    try:
        if kind == "parquet":
            frame = _parquet(data, max_rows, max_bytes)
        else:
            frame = _csv(data, max_rows) if kind == "csv" else _jsonl(data, max_rows)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError) as error:
        first_line = (str(error).splitlines() or [type(error).__name__])[0]
        raise ConfigError(f"expected a {kind} file: {first_line[:160]}") from None
    return check_columns(frame, of_trials=True)


_CHUNK = 1 << 20
#: Compressed bytes that are decompressed at a time, and maximum number of members of a gzip file:
#: bgzip writes one for every 64 KiB, so that this allows a log of 6 GB.
_PIECE, _MOST_MEMBERS = 1 << 14, 100_000
#: First bytes of the formats that are rejected, with their names. Compression must be declared by
#: the format: the readers below would decompress implicitly, and without a limit.
_NOT_TAKEN = {
    b"\x1f\x8b": "a gzip file",
    b"\x78\x01": "a zlib file",
    b"\x78\x5e": "a zlib file",
    b"\x78\x9c": "a zlib file",
    b"\x78\xda": "a zlib file",
    b"PK": "a zip archive",
    b"7z": "a 7z archive",
    b"\xfd7zXZ": "an xz archive",
    b"BZh": "a bzip2 archive",
    b"Rar!": "a rar archive",
    b"\x28\xb5\x2f\xfd": "a zstd file",
    b"\x80\x04": "a pickle",
    b"\x80\x05": "a pickle",
    b"\x7fELF": "a program",
}


def unpacked(packed: bytes, max_bytes: int) -> bytes:
    """Return the contents of a gzip file, read no further than its limit; errors as read_log."""
    out = io.BytesIO()
    try:
        for part in _inflated(packed):
            out.write(part)
            if out.tell() > max_bytes:
                raise ConfigError(
                    f"expected at most {max_bytes} bytes when unpacked, found more (a gzip bomb?)"
                )
    except zlib.error:
        raise ConfigError("expected a gzip file, found damaged or other bytes") from None
    return out.getvalue()


def _inflated(packed: bytes) -> Iterator[bytes]:
    """Yield the decompressed data in parts, from one gzip member or more.

    It is fed in pieces: the rest after a member is copied, and copying a whole file for each of
    many small members would take too long.
    """
    view, at = memoryview(packed), 0
    for _ in range(_MOST_MEMBERS):
        inflater = zlib.decompressobj(wbits=31)
        while not inflater.eof:
            if at == len(view):
                raise zlib.error("cut off")
            piece: bytes | memoryview = view[at : at + _PIECE]
            at += len(piece)
            part = b""
            while not inflater.eof and (len(piece) or len(part) == _CHUNK):
                part = inflater.decompress(piece, _CHUNK)
                piece = inflater.unconsumed_tail
                yield part
        at -= len(inflater.unused_data)
        if at == len(view):
            return
    raise ConfigError(f"expected at most {_MOST_MEMBERS} gzip members, found more")


def _check_size(rows: int, columns: int, max_rows: int) -> None:
    for what, found, most in (("rows", rows, max_rows), ("columns", columns, _MAX_COLUMNS)):
        if found > most:
            raise ConfigError(f"expected at most {most} {what}, found {found}")


def _parquet(data: bytes, max_rows: int, max_bytes: int) -> pl.DataFrame:
    import polars as pl

    # The metadata of the file are checked first: a few bytes can encode many rows.
    lazy = pl.scan_parquet(io.BytesIO(data))
    columns = lazy.collect_schema().names()
    _check_size(int(lazy.select(pl.len()).collect().item()), len(columns), max_rows)
    wanted = [name for name in (*TRIAL_COLUMNS, *COLUMNS) if name in columns]
    frame = pl.read_parquet(io.BytesIO(data), columns=wanted)
    # One long text, stored once in the file, may occur in every row.
    n_bytes = sum(
        int((each.str.len_bytes() if each.dtype == pl.String else each.bin.size()).sum())
        for each in frame
        if each.dtype in (pl.String, pl.Binary)
    )
    if n_bytes > max_bytes:
        raise ConfigError(f"expected texts of at most {max_bytes} bytes, found {n_bytes}")
    return frame


def _csv(data: bytes, max_rows: int) -> pl.DataFrame:
    import polars as pl

    head = data[:100_000].split(b"\n", 1)[0]
    _check_size(data.rstrip().count(b"\n"), head.count(b",") + 1, max_rows)
    return _typed(pl.read_csv(io.BytesIO(data), infer_schema=False, encoding="utf8"))


def _typed(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame of text with its numbers converted; names and boards stay text."""
    import polars as pl

    names = [name for name in frame.columns if name not in ("learner", "rule", "board")]
    return frame.with_columns(_numbers(frame[name]) for name in names).with_columns(
        pl.col(name).replace("", None) for name in frame.columns if name == "board"
    )


def _numbers(column: pl.Series) -> pl.Series:
    """Return a column as integers, or as floats if it holds those."""
    import polars as pl

    column = column.str.strip_chars().replace("", None)
    whole = column.cast(pl.Int64, strict=False)
    if whole.null_count() == column.null_count():
        return whole
    return column.cast(pl.Float64, strict=False)


def _jsonl(data: bytes, max_rows: int) -> pl.DataFrame:
    import polars as pl

    _check_size(data.rstrip().count(b"\n") + 1, 0, max_rows)
    frame = pl.read_ndjson(io.BytesIO(data), infer_schema_length=10_000)
    _check_size(0, frame.width, max_rows)
    return frame
