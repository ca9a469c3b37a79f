"""What is read: a file, a folder, or a table in memory; each part of it is looked at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from gnomon.errors import ScoreDataError
from gnomon.scores.columns import Rows
from gnomon.scores.frames import rows_of_frame, rows_of_records
from gnomon.scores.readers.files import PARQUET, ending, header_names, is_table, read_columns
from gnomon.scores.readers.json_files import JSON_LINES, json_content, json_lines
from gnomon.scores.tidy import Origin, role_of


class Source:
    """A file or folder, or what a caller has in memory, as readers look at it.

    Parameters
    ----------
    path : path or None
        Where scores lie; None for scores in memory. There may be nothing.
    content : object
        Without a path: a data frame of pandas, Polars or PyArrow, a mapping of columns or of
        arrays, records, or other contents of a JSON file.

    Raises
    ------
    TypeError
        `content` is none of these.

    Examples
    --------
    >>> Source(None, [{"agent": "dqn", "env": "pong", "return": 1.0}]).names
    ['agent', 'env', 'return']
    """

    def __init__(self, path: Path | None, content: Any = None) -> None:
        self.path = path
        self._rows: Rows | None = None
        if path is None:
            if _is_json(content):
                self.json = content
            else:
                self._rows, self.json = rows_of_frame(content), None

    def __str__(self) -> str:
        return "the table" if self.path is None else str(self.path)

    @property
    def place(self) -> Path:
        """The path, of a source that has one."""
        if self.path is None:
            raise TypeError("expected a path, found a table in memory")
        return self.path

    @property
    def stem(self) -> str:
        """The name of the file without its endings, for what no column names."""
        return "scores" if self.path is None else Path(self.path.name.removesuffix(".gz")).stem

    @property
    def is_file(self) -> bool:
        """Whether there is a file."""
        return self.path is not None and self.path.is_file()

    @property
    def is_folder(self) -> bool:
        """Whether there is a folder."""
        return self.path is not None and self.path.is_dir()

    @property
    def ending(self) -> str:
        """The ending of the file in small letters, without that of gzip; "" in memory."""
        return "" if self.path is None else ending(self.path)

    @cached_property
    def json(self) -> Any:
        """What a JSON file holds, of lines a list with the first alone; None if it is none."""
        if self.path is None or not self.path.is_file():
            return None
        try:
            if self.ending in JSON_LINES:
                return list(islice(json_lines(self.path), 1))
            return json_content(self.path) if self.ending == ".json" else None
        except ScoreDataError:
            return None

    @cached_property
    def names(self) -> list[str]:
        """The headings of a table; none of what is no table."""
        if self._rows is not None:
            return list(self._rows.names)
        try:
            if self.path is not None and is_table(self.path):
                return header_names(self.path)
            if self.ending in PARQUET and self.is_file:
                return list(self.table()[0].names)
        except (OSError, ScoreDataError):
            return []  # reading it gives the error
        records = records_in(self.json)
        return list(flat(records[0])) if records else []

    def content(self) -> Any:
        """Return what a JSON file holds, all lines of JSON lines."""
        if self.path is None or (self.ending == ".json" and self.json is not None):
            return self.json
        return json_content(self.path)

    def table(self, *, with_index: bool = False) -> tuple[Rows, Origin]:
        """Return the columns of a table, and where its rows come from.

        With its index, a first column of texts without a heading is called "".
        """
        rows, origin = self._table
        return rows if with_index else rows.but(""), origin

    @cached_property
    def _table(self) -> tuple[Rows, Origin]:
        if self._rows is not None:
            return self._rows, Origin()
        if self.path is not None and self.ending not in (".json", *JSON_LINES):
            return read_columns(self.path)
        is_lines = self.ending in JSON_LINES
        records: Iterable[Mapping[str, Any]] = (
            json_lines(self.path)
            if is_lines and self.path is not None
            else records_in(self.content()) or []
        )
        rows = rows_of_records(map(flat, records))
        lines = (lambda: range(1, 1 + len(rows))) if is_lines else None
        return rows, Origin(None if self.path is None else str(self.path), lines=lines)


def _is_json(content: Any) -> bool:
    """Return whether Python objects are records, or nested as in JSON."""
    if isinstance(content, list | tuple):
        return bool(content) and all(isinstance(x, Mapping) for x in content)
    return isinstance(content, Mapping) and any(
        isinstance(x, Mapping) or (isinstance(x, list) and any(isinstance(y, Mapping) for y in x))
        for x in content.values()
    )


def flat(record: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return the plain values of a record by their keys, nested ones joined by dots."""
    found: dict[str, Any] = {}
    for name, value in record.items():
        if isinstance(value, Mapping):
            found |= flat(value, f"{prefix}{name}.")
        elif not isinstance(value, list):
            found[f"{prefix}{name}"] = value
    return found


def records_in(content: Any, depth: int = 0) -> list[Mapping[str, Any]] | None:
    """Return the records in JSON: a list of objects in any wrapping, or columns; None if none."""
    if isinstance(content, list | tuple):
        are_objects = bool(content) and all(isinstance(x, Mapping) for x in content)
        return list(content) if are_objects else None
    if not isinstance(content, Mapping) or not content or depth > 3:
        return None
    columns = _columns_in(content)
    if columns is not None:
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    if all(isinstance(x, Mapping) and _holds_scores(x) for x in content.values()):
        return list(content.values())  # rows by the index of a data frame
    found = {name: records_in(value, depth + 1) for name, value in content.items()}
    known = {name: records for name, records in found.items() if records}
    of_scores = {name: x for name, x in known.items() if _holds_scores(x[0])}
    if len(of_scores or known) == 1:
        return next(iter((of_scores or known).values()))
    if known and all(
        "task" in roles and "algorithm" not in roles
        for roles in (set(map(role_of, flat(x[0]))) for x in known.values())
    ):  # records by the name of their algorithm
        return [{"algorithm": name, **one} for name, records in known.items() for one in records]
    return None


def _holds_scores(record: Mapping[str, Any]) -> bool:
    return {"algorithm", "score"} <= set(map(role_of, flat(record)))


def _columns_in(content: Mapping[str, Any]) -> Mapping[str, Iterable[Any]] | None:
    """Return the columns of a table in JSON, as pandas writes it too; None if it is none."""
    values = list(content.values())
    if all(isinstance(x, list) for x in values):
        if {"columns", "data"} <= content.keys():
            names, data = content["columns"], content["data"]
            is_even = all(isinstance(x, list) and len(x) == len(names) for x in data)
            return dict(zip(names, zip(*data, strict=True), strict=False)) if is_even else None
        is_even = len({len(x) for x in values}) == 1
        return content if is_even and _holds_scores(dict.fromkeys(content)) else None
    if not all(isinstance(x, Mapping) for x in values):
        return None
    places = [str(i) for i in range(len(values[0]))]
    is_text = any(isinstance(y, str) for x in values for y in x.values())
    if is_text and all(list(x) == places for x in values):
        return {name: x.values() for name, x in content.items()}
    return None
