"""What leaderboards leave behind, known by its look: the door for dumps of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gnomon.scores.readers.leaderboard_export import read_board_export
from gnomon.scores.readers.papers_with_code import read_papers_with_code
from gnomon.scores.readers.wide_table import read_wide_table
from gnomon.scores.table import ScoreTable

__all__ = ["read_leaderboard_dump"]


def read_leaderboard_dump(
    path: Path,
    *,
    metric: str | None = None,
    higher_is_better: bool = True,
    where: Mapping[str, Any] | None = None,
) -> ScoreTable | None:
    """Read a dump of a leaderboard, if a place looks like one.

    Parameters
    ----------
    path : path
        A table with a row an algorithm and a column a task (``.csv``, ``.tsv``); evaluation tables
        of Papers with Code (``.json``, ``.json.gz``); or a folder that ``gnomon leaderboard
        export`` wrote.
    metric : str, optional
        Which one, where a dump holds several.
    higher_is_better : bool
        Direction of the scores of a table or of Papers with Code; our own exports know theirs.
    where : mapping, optional
        What attributes must be: ``area`` of Papers with Code, ``season`` of our own.

    Returns
    -------
    ScoreTable or None
        None if the place looks like none of them.

    Raises
    ------
    ScoreDataError
        It looks like one of them and cannot be read as such.
    """
    if path.is_dir():
        return read_board_export(path, metric=metric, where=where)
    name = path.name.lower()
    if name.endswith((".json", ".json.gz")):
        return read_papers_with_code(
            path, metric=metric, higher_is_better=higher_is_better, where=where
        )
    if name.endswith((".csv", ".tsv")) and not where:
        return read_wide_table(path, metric=metric, higher_is_better=higher_is_better)
    return None
