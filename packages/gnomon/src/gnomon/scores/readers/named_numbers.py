"""Numbers by name in a CSV file: costs, weights, years of tasks or algorithms."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from pathlib import Path

from gnomon.errors import ScoreDataError


def named_numbers(path: Path, key: str, columns: Sequence[str]) -> dict[str, tuple[float, ...]]:
    """Return the numbers in some columns of a CSV file, by the name in another.

    Raises
    ------
    ScoreDataError
        The file is no such table; the error names the line and the expected columns.
    """
    wanted = ", ".join((key, *columns))
    found: dict[str, tuple[float, ...]] = {}
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            for line, row in enumerate(csv.DictReader(file), start=2):
                name, numbers = _entry(row, key, columns)
                if name is None or numbers is None:
                    raise ScoreDataError(
                        f"{path}, line {line}: expected the columns {wanted}, with finite numbers "
                        f"after the first"
                    )
                if name in found:
                    raise ScoreDataError(f"{path}, line {line}: {name!r} is there twice")
                found[name] = numbers
    except (UnicodeDecodeError, csv.Error):
        raise ScoreDataError(f"{path}: expected CSV in UTF-8 with the columns {wanted}") from None
    if not found:
        raise ScoreDataError(f"{path}: expected rows with the columns {wanted}; there are none")
    return found


def _entry(
    row: dict[str, str], key: str, columns: Sequence[str]
) -> tuple[str | None, tuple[float, ...] | None]:
    """Return the name and the numbers of a row, None for what is not as it should be."""
    try:
        numbers = tuple(float(row[column]) for column in columns)
    except (KeyError, TypeError, ValueError):
        return row.get(key), None
    return row.get(key) or None, numbers if all(map(math.isfinite, numbers)) else None
