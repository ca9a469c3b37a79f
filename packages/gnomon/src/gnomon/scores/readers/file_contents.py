"""The contents of a file of scores: columns of text, Parquet or JSON, with faults told by line.

Of comma- and tab-separated files Polars reads the columns; where it stumbles, or a row may be too
short, the slower ``csv`` of the standard library goes over the file once more, for it knows lines.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from gnomon.errors import ScoreDataError, shortened
from gnomon.scores import tidy
from gnomon.scores.columns import Rows
from gnomon.scores.tidy import Origin

#: A longer first line is that of no table.
_LONGEST_HEADER = 1_000_000
#: As many lines are looked at for a header.
_MOST_BLANK_LINES = 100

_OTHER_SEPARATORS = (",", ";", "\t", "|")


def read_columns(path: Path) -> tuple[pl.DataFrame, Origin]:
    """Return the columns of a Parquet or a separated file, and where its rows come from."""
    if path.suffix.lower() not in (".parquet", ".pq"):
        return read_csv(path)
    data = _bytes(path)
    try:
        raw = pl.read_parquet(io.BytesIO(data), use_pyarrow=False)
        tidy.rows_of_frame(raw[:1])
        return raw, Origin(str(path))
    except ScoreDataError as error:
        raise ScoreDataError(f"{path}: {error}") from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        reason = str(error).splitlines()[0]
        raise ScoreDataError(f"{path}: expected a Parquet file; {reason}") from None


def read_csv(path: Path, *, unnamed: str | None = None) -> tuple[pl.DataFrame, Origin]:
    """Return the columns of a comma- or tab-separated file as texts, and where its rows come from.

    Rows and lines without any value are passed over, and so are columns without a name.

    Parameters
    ----------
    path : path
        A file in UTF-8 with a header line; its fields are separated by commas, in a ``.tsv`` by
        tabs.
    unnamed : str, optional
        The name to give to a first column that has none and holds a text that is no number.

    Raises
    ------
    ScoreDataError
        The file is absent, empty or not UTF-8, two columns have one name, or a row has more or
        fewer fields than the header; the message names the line.
    """
    file, separator = str(path), _separator(path)
    data = _bytes(path)
    records = _Records(path, separator)
    line, names = records.header()
    data = data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    try:
        raw = pl.read_csv(data, separator=separator, infer_schema=False, skip_lines=line - 1)
    except pl.exceptions.PolarsError as error:
        records.check(names)
        reason = str(error).splitlines()[0]
        raise ScoreDataError(f"{file}: expected a table with a header line; {reason}") from None
    # A row that is too short ends in nothing, as does one whose last field is empty.
    if raw.width != len(names) or raw.to_series(-1).null_count():
        records.check(names)
    if raw.width != len(names):
        raise records.error(line, f"expected {raw.width} columns, found {len(names)}")
    raw.columns = [name or f"\0{at}" for at, name in enumerate(names)]
    if unnamed is not None and not names[0] and _has_text(raw.to_series(0)):
        raw = raw.rename({raw.columns[0]: unnamed})
    empty = pl.all_horizontal(pl.all().fill_null("") == "")
    raw = raw.filter(~empty).select(name for name in raw.columns if name[0] != "\0")
    return raw, Origin(file, lines=records.lines)


def header_names(path: Path) -> list[str]:
    """Return the names of the columns by the first lines of a file alone, for it may be large.

    It is a guess from the look of a file, and complains of nothing.

    Raises
    ------
    OSError
        The file cannot be read.
    """
    header = header_line(path)
    try:
        names = next(csv.reader([header], delimiter=_separator(path)), [])
    except csv.Error:
        names = header.split(_separator(path))
    return [name.strip().strip('"') for name in names]


def header_line(path: Path) -> str:
    """Return the first line of a file with anything in it, empty if there is none.

    Raises
    ------
    OSError
        The file cannot be read.
    """
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        first = (file.readline(_LONGEST_HEADER) for _ in range(_MOST_BLANK_LINES))
        return next((line for line in first if line.strip(", \t\r\n")), "")


def json_object(path: Path) -> dict[str, Any]:
    """Return the object that a JSON file holds.

    Raises
    ------
    ScoreDataError
        The file is absent, no JSON, or holds no object.
    """
    try:
        content = json.loads(_bytes(path))
    except (ValueError, RecursionError) as error:
        raise ScoreDataError(f"{path}: expected JSON; {error}") from None
    if not isinstance(content, dict):
        raise ScoreDataError(f"{path}: expected a JSON object, found {type(content).__name__}")
    return content


def mapping_at(content: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return what stands under a name of JSON, or nothing if that is no object.

    Examples
    --------
    >>> mapping_at({"eval": {"model": "a"}}, "eval"), mapping_at({"eval": None}, "eval")
    ({'model': 'a'}, {})
    """
    value = content.get(name)
    return value if isinstance(value, Mapping) else {}


def _has_text(column: pl.Series) -> bool:
    """Return whether a column holds what is no number."""
    return column.cast(pl.Float64, strict=False).null_count() > column.null_count()


def _separator(path: Path) -> str:
    return "\t" if path.suffix.lower() == ".tsv" else ","


def _bytes(path: Path) -> bytes:
    """Return what a file holds."""
    if path.exists() and not path.is_file():
        raise ScoreDataError(f"{path}: expected a file of scores; this is none")
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise ScoreDataError(f"{path}: expected a file of scores; there is none") from None
    except OSError as error:
        raise ScoreDataError(f"{path}: cannot read this file of scores: {error.strerror}") from None


class _Records:
    """The records of a separated file, each with the line on which it begins.

    They are read from the file whenever they are asked for: its bytes are not kept, beside columns
    that may take half of the memory there is.
    """

    def __init__(self, path: Path, separator: str) -> None:
        self._path = path
        self._separator = separator

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the records with any value in them."""
        line = 1
        with self._path.open(encoding="utf-8-sig") as text:  # all ends of lines as one
            reader = csv.reader(text, delimiter=self._separator, strict=True)
            try:
                for record in reader:
                    if any(record):
                        yield line, record
                    line = reader.line_num + 1
            except UnicodeDecodeError:
                raise self._not_utf8() from None
            except csv.Error as error:
                raise self.error(line, _in_words(error)) from None

    def header(self) -> tuple[int, list[str]]:
        """Return the line of the header, and the names of the columns."""
        line, names = next(iter(self), (0, []))
        if not names:
            raise ScoreDataError(f"{self._path}: expected a table with a header line, found none")
        if any("\0" in name for name in names):
            raise self.error(line, "expected text, found a null byte")
        names = [name.strip() for name in names]
        twice = [name for at, name in enumerate(names) if name and name in names[:at]]
        if twice:
            raise self.error(line, f"expected columns of different names, found {twice[0]!r} twice")
        if len(names) == 1:
            for other in _OTHER_SEPARATORS:
                if other in names[0]:
                    found = f"expected fields separated by {self._separator!r}, found {other!r}"
                    raise self.error(line, found)
        return line, names

    def check(self, names: list[str]) -> None:
        """Refuse the first record that has not one field for each column."""
        for line, record in self:
            if len(record) != len(names):
                raise self.error(line, f"expected {len(names)} fields, found {len(record)}")

    def lines(self) -> list[int]:
        """Return the line of each record below the header."""
        try:
            return [line for line, _ in self][1:]
        except (ScoreDataError, OSError):  # Polars is less strict with quotes; the file has gone.
            return []

    def error(self, line: int, message: str) -> ScoreDataError:
        """Return the error about a line."""
        return ScoreDataError(f"{self._path}, line {line}: {shortened(message, 200)}")

    def _not_utf8(self) -> ScoreDataError:
        data = self._path.read_bytes()
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            return ScoreDataError(f"{self._path}: expected UTF-8 text, found UTF-16")
        try:
            data.decode()
        except UnicodeDecodeError as error:
            line = len((data[: error.start] + b"?").splitlines())
            found = f"expected UTF-8 text, found the byte 0x{data[error.start]:02x}"
            return self.error(line, found)
        raise AssertionError("decoded in one piece, but not in several")


def _in_words(error: csv.Error) -> str:
    """Return what the ``csv`` module complains of, in our words where they are known."""
    text = str(error)
    if "unexpected end of data" in text:
        return "expected a closing '\"', found none"
    if "field larger" in text:
        return f"expected fields of at most {csv.field_size_limit():,} characters"
    return f"expected fields that are quoted whole or not at all; {text}"


def tidy_frame(raw: pl.DataFrame, origin: Origin, where: Mapping[str, Any]) -> Rows:
    """Return checked rows of columns as read."""
    return tidy.tidy_rows(tidy.rows_of_frame(raw), origin, where)


def missing_columns(raw: pl.DataFrame, origin: Origin, named: Any = ()) -> ScoreDataError:
    """Return the error that names the columns which are not there."""
    return tidy.missing_columns(tidy.rows_of_frame(raw), origin, named)


def matching_rows(raw: pl.DataFrame, where: Mapping[str, Any], origin: Origin) -> pl.Series:
    """Return which rows have all the attribute values of `where`."""
    return pl.Series(tidy.matching_rows(tidy.rows_of_frame(raw), where, origin))


def renamed_columns(raw: pl.DataFrame, columns: Mapping[str, str], origin: Origin) -> pl.DataFrame:
    """Return the columns under the names of a tidy frame."""
    empty = tidy.rows_of_frame(raw[:0])
    tidy.renamed_columns(empty, columns, origin)
    taken = {*columns, *columns.values()}
    rest = [raw[name] for name in raw.columns if name not in taken]
    return pl.DataFrame([*(raw[theirs].alias(n) for n, theirs in columns.items()), *rest])


def series_of(name: str, values: list[Any]) -> pl.Series:
    """Return a column of Python values; a mixed one becomes text."""
    try:
        return pl.Series(name, values, strict=True)
    except (TypeError, pl.exceptions.PolarsError):
        if all(value is None or isinstance(value, int | float) for value in values):
            return pl.Series(name, values, dtype=pl.Float64, strict=False)
        return pl.Series(name, [None if v is None else str(v) for v in values], dtype=pl.String)
