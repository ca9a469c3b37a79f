"""Reading of attempt logs (CSV, JSON lines, Parquet, gzip) with limits on rows and size.

``python -m gohr.experiments.verification.log_files`` is the program of a limited process, which
a server starts for a log that was sent. It writes the
rows as Parquet with our own choices. Nothing in a log is ever run.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gohr.child_process import answer_one_request
from gohr.errors import ConfigError
from gohr.experiments.verification.attempt_rows import check_columns

if TYPE_CHECKING:
    import polars as pl

_KINDS = ("parquet", "csv", "jsonl")
#: It is our own disk; a board has narrower bounds.
_MOST_BYTES = 16 << 30
_CAPS = {"max_rows": 2_000_000_000, "max_columns": 64}


def read_log_file(path: str | Path) -> pl.DataFrame:
    """Return the rows of a log: ``.parquet``, ``.csv`` or ``.jsonl``, the latter two also ``.gz``.

    Raises ConfigError: it cannot be read; one line that begins with the name of the file.
    """
    path = Path(path)
    kind = path.name.removesuffix(".gz").rpartition(".")[2]
    if kind not in _KINDS:
        raise ConfigError(f"{path}: expected a name that ends in .{', .'.join(_KINDS)}")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path}: cannot read this log: {error.strerror}") from None
    try:
        if path.suffix == ".gz":
            data = unpacked(data, _MOST_BYTES, 1e6)
        return read_frame(data, kind, _CAPS)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None


_CHUNK = 1 << 20
#: Packed bytes that are unpacked at a time, and most members of a gzip file: bgzip makes one of
#: every 64 KiB, so that this is a log of 6 GB.
_PIECE, _MOST_MEMBERS = 1 << 14, 100_000
#: The first bytes of what is not taken, with its name. What is packed must say so in its format:
#: the readers below would unpack it unasked, and without a cap.
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


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Read the log of a request, write its rows, and say how many there are."""
    packed = Path(request["log"]).read_bytes()
    data = packed
    if request["format"].endswith(".gz"):
        data = unpacked(packed, request["max_bytes"], request["max_ratio"])
    frame = read_frame(data, request["format"].removesuffix(".gz"), request)
    # The columns have their types now; whether the rows are in order is for the verdict to say.
    frame = check_columns(frame, of_trials=True)
    frame.write_parquet(request["out"], compression="zstd", statistics=False)
    return {"n_rows": frame.height}


def unpacked(packed: bytes, max_bytes: int, max_ratio: float) -> bytes:
    """Unpack a gzip file, as long as it stays within bounds.

    At most ``max_bytes`` may come out, and ``max_ratio`` bytes of one beyond the first mebibyte.

    Raises ConfigError: it grows too much, or is damaged, or is something else.
    """
    most = min(max_bytes, int(max(_CHUNK, max_ratio * len(packed))))
    out = io.BytesIO()
    try:
        for part in _inflated(packed):
            out.write(part)
            if out.tell() > most:
                raise ConfigError(
                    f"expected at most {most} bytes when unpacked, found more (a gzip bomb?)"
                )
    except zlib.error:
        raise ConfigError("expected a gzip file, found damaged or other bytes") from None
    return out.getvalue()


def _inflated(packed: bytes) -> Iterator[bytes]:
    """Yield what is packed, part by part, of one gzip member or more.

    It is fed in pieces: what a member leaves over is copied, and that of a whole file, for each of
    many small members, would take for ever.
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


def read_frame(data: bytes, kind: str, caps: dict[str, Any]) -> pl.DataFrame:
    """Return the rows of a log.

    ``data`` is not packed; ``kind`` is parquet, csv or jsonl; ``caps`` has ``max_rows`` and
    ``max_columns``.

    Raises ConfigError: it is not of this kind, or too large, or lacks a column.
    """
    import polars as pl

    for first, name in _NOT_TAKEN.items():
        if data.startswith(first):
            raise ConfigError(f"expected a {kind} file, found {name}")
    try:
        frame = {"parquet": _parquet, "csv": _csv, "jsonl": _jsonl}[kind](data, caps)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError) as error:
        first_line = (str(error).splitlines() or [type(error).__name__])[0]
        raise ConfigError(f"expected a {kind} file: {first_line[:160]}") from None
    _check_size(frame.height, frame.width, caps)
    return frame


def _check_size(rows: int, columns: int, caps: dict[str, Any]) -> None:
    for what, found, most in (
        ("rows", rows, caps["max_rows"]),
        ("columns", columns, caps["max_columns"]),
    ):
        if found > most:
            raise ConfigError(f"expected at most {most} {what}, found {found}")


def _parquet(data: bytes, caps: dict[str, Any]) -> pl.DataFrame:
    import polars as pl

    # What the file says of itself is looked at first: few bytes can stand for many rows.
    lazy = pl.scan_parquet(io.BytesIO(data))
    columns = lazy.collect_schema().names()
    rows = int(lazy.select(pl.len()).collect().item())
    _check_size(rows, len(columns), caps)
    return pl.read_parquet(io.BytesIO(data))


def _csv(data: bytes, caps: dict[str, Any]) -> pl.DataFrame:
    import polars as pl

    _check_head(data, caps)
    frame = pl.read_csv(
        io.BytesIO(data), infer_schema=False, n_rows=caps["max_rows"] + 1, encoding="utf8"
    )
    return _typed(frame)


def _check_head(data: bytes, caps: dict[str, Any]) -> None:
    """Refuse a first line with too many columns before anything is made of it."""
    head = data[:100_000].split(b"\n", 1)[0]
    if head.count(b",") >= caps["max_columns"]:
        _check_size(0, head.count(b",") + 1, caps)


def _typed(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame of text with its numbers as such; names and boards stay text."""
    import polars as pl

    names = [name for name in frame.columns if name not in ("learner", "rule", "board")]
    return frame.with_columns(_numbers(frame[name]) for name in names).with_columns(
        pl.col(name).replace("", None) for name in frame.columns if name == "board"
    )


def _numbers(column: pl.Series) -> pl.Series:
    """Return a column as whole numbers, or as numbers if that is what it holds."""
    import polars as pl

    column = column.str.strip_chars().replace("", None)
    whole = column.cast(pl.Int64, strict=False)
    if whole.null_count() == column.null_count():
        return whole
    return column.cast(pl.Float64, strict=False)


def _jsonl(data: bytes, caps: dict[str, Any]) -> pl.DataFrame:
    import polars as pl

    _check_size(data.count(b"\n"), 0, caps)
    return pl.read_ndjson(io.BytesIO(data), infer_schema_length=10_000)


if __name__ == "__main__":
    answer_one_request(answer)
