"""Numbers and pages in the addresses of requests, within what a database can count."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query

from gnomon.leaderboard.accounts.names import MAX_NAME

__all__ = ["After", "Limit", "RowId", "Slug"]

_MOST = 2**31 - 1

RowId = Annotated[int, Path(ge=1, le=_MOST)]
Slug = Annotated[str, Path(min_length=1, max_length=MAX_NAME, pattern=r"^[a-z0-9][a-z0-9._-]*$")]
Limit = Annotated[int, Query(ge=1, le=500, description="Most records of the answer.")]
After = Annotated[int, Query(ge=0, le=_MOST, description="Only records with a greater id.")]
