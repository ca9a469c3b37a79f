"""What strangers send as a log lies under our names, and is read within limits."""

from __future__ import annotations

import io

import polars as pl
import pytest

from gnomon_board import Settings
from gnomon_board.errors import Refusal
from gnomon_board.leaderboard.submissions.uploaded_logs import evidence_path, read_log, receiving


def test_names_of_files_are_ours(tmp_path):
    settings = Settings(tmp_path)
    for name in ("../../etc/passwd", "/etc/passwd", "x" * 64, "A" * 64, "", "a" * 63 + "/"):
        with pytest.raises(ValueError, match="expected a SHA-256"):
            evidence_path(settings, name)
    assert evidence_path(settings, "ab" * 32) == tmp_path / "evidence" / "ab" / ("ab" * 32)


@pytest.mark.full  # limits of a child, with two gigabytes
def test_reading_is_limited(tmp_path):
    settings = Settings(tmp_path, intake_memory_mb=1024, max_upload_bytes=1 << 30)
    with receiving(settings) as incoming:
        # A column whose one value is repeated: two gigabytes once it is read.
        out = io.BytesIO()
        long = pl.DataFrame({"board": pl.repeat(b"x" * 4000, 500_000, eager=True)})
        long.write_parquet(out)
        incoming.file.write(out.getvalue())
        incoming.file.flush()
        assert out.tell() < 5_000_000
        with pytest.raises(Refusal, match=r"log: reading it was given up: it|log: missing column"):
            read_log(settings, incoming, "parquet")
    assert not list(settings.incoming.iterdir())
