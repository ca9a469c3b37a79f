"""A log as a file on one's own disk: what a board gives to be downloaded, or what one will send."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.errors import LeaderboardError
from gnomon.leaderboard.verification.untrusted_log import read_frame, unpacked

if TYPE_CHECKING:
    import polars as pl

__all__ = ["read_log_file"]

_KINDS = ("parquet", "csv", "jsonl")
#: It is our own disk; a board has narrower bounds.
_MOST_BYTES = 16 << 30
_CAPS = {"max_rows": 2_000_000_000, "max_columns": 64}


def read_log_file(path: str | Path) -> pl.DataFrame:
    """Return the rows of a log: ``.parquet``, ``.csv`` or ``.jsonl``, the latter two also ``.gz``.

    Raises
    ------
    LeaderboardError
        It cannot be read; one line that begins with the name of the file.
    """
    path = Path(path)
    kind = path.name.removesuffix(".gz").rpartition(".")[2]
    if kind not in _KINDS:
        raise LeaderboardError(f"{path}: expected a name that ends in .{', .'.join(_KINDS)}")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise LeaderboardError(f"{path}: cannot read this log: {error.strerror}") from None
    try:
        if path.suffix == ".gz":
            data = unpacked(data, _MOST_BYTES, 1e6)
        return read_frame(data, kind, _CAPS)
    except LeaderboardError as error:
        raise LeaderboardError(f"{path}: {error}") from None
