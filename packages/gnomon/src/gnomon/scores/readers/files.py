"""The contents of files of scores: columns of CSV or Parquet, JSON; errors name the line.

Separated files are read in pieces: texts become codes, numbers arrays. After an error, a file is
read again to find the line.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import numpy.typing as npt

from gnomon.errors import GnomonError, ScoreDataError, counted, shortened
from gnomon.scores.columns import Column, Rows, Texts, heading, rows_of_frame, several_headings
from gnomon.scores.tidy import MISSING_TEXTS, TRUTHS, Origin, refuse_decimal_commas, role_of

PARQUET = (".parquet", ".pq")
#: Endings of files with a JSON object in each line.
JSON_LINES = (".jsonl", ".ndjson")
#: Longer lines are not read as headings.
_LONGEST_HEADER = 1_000_000
#: Largest number of empty lines before the headings.
_MOST_LINES_BEFORE = 100
#: Rows that determine which columns are numeric; most fields that are read at a time.
_GLANCE, _MOST_FIELDS = 100, 1_000
#: Texts of items may be long; the module has a limit for all of the process.
csv.field_size_limit(2**31 - 1)
#: A number that is no label such as 007.
_NUMBER = re.compile(r"[+-]?(?:(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?|inf|nan)", re.I)

_PLAIN = r"[+-]?(?:[1-9]\d{0,2}(?:,\d{3})+|\d+)?(?:\.\d*)?(?:[eE][+-]?\d+)?"
_SPREAD = r"(?:(?:±|\+/-|\\pm)\s*[\d.,]+\s*%?|\([\d.,]+\s*%?\))"
#: Emphasis of Markdown, or the star of a footnote.
_EMPHASIS = "*_"
_REPORTED = re.compile(rf"({_PLAIN})\s*%?[{_EMPHASIS}]*\s*({_SPREAD})?\s*%?")


def is_table(path: Path) -> bool:
    """Return whether a path is a separated file, by its name."""
    return path.suffix.lower() in (".csv", ".tsv", ".txt", ".tab") and path.is_file()


def read_columns(path: Path) -> tuple[Rows, Origin]:
    """Return the columns of a Parquet or a separated file, and where its rows come from."""
    if path.suffix.lower() not in PARQUET:
        return read_csv(path)
    data = io.BytesIO(content_of(path))
    reader = _parquet_reader(path)
    try:
        frame = reader(data)
    except Exception as error:  # each library has its own errors
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ScoreDataError(f"{path}: expected a Parquet file; {reason}") from None
    try:
        return rows_of_frame(frame), Origin(str(path))
    except ScoreDataError as error:
        raise ScoreDataError(f"{path}: {error}") from None


def _parquet_reader(path: Path) -> Callable[[IO[bytes]], Any]:
    """Return the function of an installed package that reads Parquet."""
    for package, name in (("polars", "read_parquet"), ("pyarrow.parquet", "read_table")):
        with suppress(ImportError):
            return cast(Callable[[IO[bytes]], Any], getattr(import_module(package), name))
    message = f"{path}: Parquet needs a package: pip install polars (or pyarrow), or write CSV"
    raise GnomonError(message)


def read_csv(path: Path) -> tuple[Rows, Origin]:
    """Return the columns of a separated file, and where its rows come from.

    Empty rows are ignored, and so are columns without a heading, except a first column of texts,
    whose name is "". A column of numbers is numeric, unless it names algorithms, tasks or runs.
    """
    _refuse_other_files(path)
    records = _Records(path)
    names = records.header()
    texts = _columns_of_texts(names, [record for _, record in islice(records, 1, _GLANCE + 1)])
    columns = None
    while columns is None:
        columns = _columns(records, names, texts)
    is_index = not names[0] and isinstance(columns[0], Texts) and bool(columns[0].names)
    rows = Rows({
        name: _whole(column)
        for at, (name, column) in enumerate(zip(names, columns, strict=True))
        if name or (at == 0 and is_index)
    })  # fmt: skip
    return rows, Origin(str(path), lines=records.lines, separator=records.separator)


def _columns_of_texts(names: Sequence[str], glance: Sequence[Sequence[str]]) -> set[int]:
    """Return the columns that hold labels, or other texts in the first rows."""
    found = set()
    for at, name in enumerate(names):
        cells = {record[at].strip() for record in glance if at < len(record)}
        known = {text for text in cells if text.lower() not in MISSING_TEXTS}
        is_label = role_of(name) in ("algorithm", "task", "run")
        if is_label or not known or not all(map(_NUMBER.fullmatch, known)):
            found.add(at)
    return found


def _columns(records: _Records, names: Sequence[str], texts: set[int]) -> list[Column] | None:
    """Return the columns below the header; None if one more has texts, which is added to them."""
    codes = [_Codes({"": -1}) for _ in names]
    columns: list[array[Any]] = [array("i" if at in texts else "d") for at in range(len(names))]
    for chunk in records.chunks(names):
        for at, cells in enumerate(zip(*chunk, strict=True)):
            if at in texts:
                columns[at].extend(map(codes[at].__getitem__, cells))
                continue
            try:
                columns[at].extend(_numbers(cells))
            except ValueError:
                texts.add(at)
                return None
    return [
        Texts(np.asarray(column), tuple(codes[at])[1:]) if at in texts else np.asarray(column)
        for at, column in enumerate(columns)
    ]


class _Codes(dict[str, int]):
    """The code of each text in the order of first sight, -1 for no text."""

    def __missing__(self, text: str) -> int:
        self[text] = code = len(self) - 1
        return code


def _numbers(cells: Sequence[str]) -> list[float]:
    """Return texts as numbers, NaN for missing ones."""
    try:
        return list(map(float, cells))
    except ValueError:
        return [math.nan if x.strip().lower() in MISSING_TEXTS else float(x) for x in cells]


def _whole(column: Column) -> Column:
    """Return a column of numbers as whole ones where all are."""
    if isinstance(column, Texts):
        return column
    for part in (column[:_GLANCE], column):  # usually the first rows suffice
        if not (np.all(np.abs(part) < 2**53) and np.all(part == np.floor(part))):
            return column
    return column.astype(np.int64)


def header_names(path: Path) -> list[str]:
    """Return the names of the columns by the first lines of a file alone, for it may be large.

    Malformed files raise no error.
    """
    _, header, separator = _beginning(path)
    names = next(csv.reader([header], delimiter=separator), [])
    return [heading(name.strip().strip('"')) for name in names]


def _beginning(path: Path) -> tuple[int, str, str]:
    """Return the number of empty lines before the headings, their line, and the separator."""
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        lines = [file.readline(_LONGEST_HEADER) for _ in range(_MOST_LINES_BEFORE)]
    # A first line such as sep=; names the separator to Excel.
    whole = (at for at, x in enumerate(lines) if x.strip(',;\t\r\n "') and x[:4].lower() != "sep=")
    n = next(whole, 0)
    return n, lines[n], max(",;\t", key=lines[n].count)


#: Names of a column of standard errors, and of one of the numbers of items behind the scores.
ERRORS = ("stderr", "std_err", "standard_error", "se", "sem")
N_ITEMS = ("n_items", "n_samples", "n", "count")


def reported_number(text: object) -> float | None:
    """Return the number that a cell reports, NaN for an empty one, None if there is none in it.

    Commas may separate thousands. A per cent sign, a deviation after ± or in brackets, and emphasis
    by asterisks or underscores are ignored.
    """
    if isinstance(text, bool):
        return None
    if isinstance(text, int | float):
        return None if math.isinf(text) else float(text)
    plain = _bare(text)
    if plain.lower() in MISSING_TEXTS:
        return math.nan
    found = _REPORTED.fullmatch(plain)
    try:
        return float(found[1].replace(",", "")) if found else None
    except ValueError:
        return None


def reported_numbers(
    raw: Rows, column: str, origin: Origin, least: float | None = None
) -> npt.NDArray[np.float64]:
    """Return the numbers that the cells of a column report; refuse the first with none in it.

    With `least`, a number that is missing or smaller is refused, too.
    """
    refuse_decimal_commas(raw, [column], origin)
    cells = raw.tolist(column)
    found = [reported_number(cell) for cell in cells]
    if None in found:
        at = found.index(None)
        raise origin.error_at([at], column, f"expected a number, found {cells[at]!r}")
    signed = ["%" in str(cell) for cell, x in zip(cells, found, strict=True) if x == x]
    if any(signed) and not all(signed):
        rows = [row for row, x in enumerate(found) if x == x]
        one, other = (rows[signed.index(sign)] for sign in (True, False))
        texts = f"found {cells[one]!r} and {cells[other]!r}"
        raise origin.error_at(
            [one, other], column, f"expected a per cent sign on all scores or on none, {texts}"
        )
    numbers = np.array(found, np.float64)
    if least is not None and not (numbers >= least).all():
        at = int(np.argmin(numbers >= least))
        expected = "a number" if least == -math.inf else f"a number from {least:g}"
        shown = "nothing" if np.isnan(numbers[at]) else f"{numbers[at]:g}"
        raise origin.error_at([at], column, f"expected {expected}, found {shown}")
    return numbers


def _is_value(cell: str) -> bool:
    """Return whether a cell holds a number, true or false, and not a heading."""
    is_number = cell != "" and reported_number(cell) is not None
    return is_number or cell.lower() in TRUTHS or _NUMBER.fullmatch(cell) is not None


def has_deviation(text: object) -> bool:
    """Return whether a cell reports a number and, behind ± or in brackets, its deviation."""
    found = _REPORTED.fullmatch(_bare(text))
    return bool(found and found[1] and found[2])


def _bare(text: object) -> str:
    """Return a cell as text, without what only changes its look."""
    plain = "" if text is None else str(text).strip().replace("\N{MINUS SIGN}", "-")
    # A star alone refers to a footnote; it is not an empty cell.
    return plain.strip(_EMPHASIS).strip() or plain


def _refuse_other_files(path: Path) -> None:
    if path.exists() and not path.is_file():
        raise ScoreDataError(f"{path}: expected a file of scores; this is not one")
    try:
        with path.open("rb") as file:
            file.read(1)
    except FileNotFoundError:
        raise ScoreDataError(f"{path}: expected a file of scores; there is none") from None
    except OSError as error:
        raise ScoreDataError(f"{path}: cannot read this file of scores: {error.strerror}") from None


def content_of(path: Path) -> bytes:
    """Return what a file holds."""
    _refuse_other_files(path)
    return path.read_bytes()


class _Records:
    """The records of a separated file that have any value, each with the line it begins on."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._before, _, self.separator = _beginning(path)

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        line = 1 + self._before
        with self._path.open(encoding="utf-8-sig") as text:
            reader = self._reader(text)
            try:
                for record in reader:
                    if any(record):
                        yield line, record
                    line = 1 + self._before + reader.line_num
            except UnicodeDecodeError:
                raise self._not_utf8() from None
            except csv.Error as error:
                raise self.error(line, _in_words(error)) from None

    def _reader(self, text: IO[str]) -> Any:
        return csv.reader(islice(text, self._before, None), delimiter=self.separator, strict=True)

    def chunks(self, names: Sequence[str]) -> Iterator[list[list[str]]]:
        """Yield the records below the header, many at a time; refuse one of another length."""
        with self._path.open(encoding="utf-8-sig") as text:
            reader = self._reader(text)
            try:
                next(record for record in reader if any(record))  # the header
                while chunk := list(islice(reader, max(1, _MOST_FIELDS // len(names)))):
                    chunk = chunk if all(map(any, chunk)) else [x for x in chunk if any(x)]
                    if not set(map(len, chunk)) <= {len(names)}:
                        raise csv.Error
                    yield chunk
            except (UnicodeDecodeError, csv.Error):
                for line, record in self:  # which is slower, and names the line
                    if len(record) != len(names):
                        found = f"expected {counted(len(names), 'field')}, found {len(record)}"
                        raise self.error(line, found) from None
                raise

    def header(self) -> list[str]:
        """Return the names of the columns."""
        records = iter(self)
        line, names = next(records, (0, []))
        if not names:
            raise ScoreDataError(f"{self._path}: expected a table with a header line, found none")
        names = [heading(name) for name in names]
        twice = [name for name, n in Counter(filter(None, names)).items() if n > 1]
        below = [cell.strip() for cell in next(records, (0, []))[1]]
        # Below a heading that spans several columns, other headings follow, not one note.
        unnamed = [x for name, x in zip(names[1:], below[1:], strict=False) if x and not name]
        is_repeated = max(Counter(filter(None, below)).values(), default=0) > 1
        spanned = len(unnamed) > 1 or (bool(unnamed) and is_repeated)
        if (twice or spanned) and not any(map(_is_value, below)):
            frame = "read_csv(FILE, header=[0, 1], index_col=0)" if twice else ""
            message = several_headings(2, frame)
            raise ScoreDataError(f"{self._path}, line {line}: {message}")
        if twice:
            raise self.error(line, f"expected columns of different names, found {twice[0]!r} twice")
        return names

    def lines(self) -> list[int]:
        """Return the line of each record below the header; nothing if the file has gone."""
        try:
            return [line for line, _ in self][1:]
        except (ScoreDataError, OSError):
            return []

    def error(self, line: int, message: str) -> ScoreDataError:
        """Return the error about a line."""
        return ScoreDataError(f"{self._path}, line {line}: {shortened(message, 200)}")

    def _not_utf8(self) -> ScoreDataError:
        data = content_of(self._path)
        try:
            data.decode()
        except UnicodeDecodeError as error:
            line = len((data[: error.start] + b"?").splitlines())
            found = f"found the byte 0x{data[error.start]:02x}: save the file as CSV UTF-8"
            return self.error(line, f"expected UTF-8 text, {found}")
        return ScoreDataError(f"{self._path}: expected UTF-8 text, found another encoding")


def _in_words(error: csv.Error) -> str:
    """Return the message of an error of the ``csv`` module, reworded."""
    text = str(error)
    if "unexpected end of data" in text:
        return "expected a closing '\"', found none"
    return f"expected fields that are quoted whole or not at all; {text}"


def json_of(data: bytes, name: str) -> Any:
    """Return what JSON text holds; `name` is what a message calls it."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _no_json(error, name) from None


def _no_json(error: ValueError | RecursionError, name: str) -> ScoreDataError:
    """Return the error about JSON that is invalid or cut off."""
    reason = str(error)
    if isinstance(error, json.JSONDecodeError):
        is_cut = error.pos >= len(error.doc) or error.msg.startswith("Unterminated")
        reason = f"it is cut off ({error})" if is_cut else reason
    return ScoreDataError(f"{name}: expected JSON; {reason}")


def json_content(path: Path) -> Any:
    """Return what a JSON file holds; of JSON lines the list of their objects."""
    if path.suffix.lower() in JSON_LINES:
        return list(json_lines(path))
    try:
        return json.loads(content_of(path))
    except (ValueError, RecursionError) as error:
        where = (error.msg, error.lineno) if isinstance(error, json.JSONDecodeError) else None
        if where == ("Extra data", 2):
            return list(json_lines(path))  # lines in spite of the name
        raise _no_json(error, str(path)) from None


def json_object(path: Path) -> dict[str, Any]:
    """Return the object that a JSON file holds."""
    content = json_content(path)
    if not isinstance(content, dict):
        raise ScoreDataError(f"{path}: expected a JSON object, found {type(content).__name__}")
    return content


def json_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the object of each line of a file, empty lines left out."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                found = json_of(line, f"{path}, line {number}")
                if isinstance(found, str):  # some loggers write each object as a text
                    found = json_of(found.encode(), f"{path}, line {number}")
                if not isinstance(found, dict):
                    kind = type(found).__name__
                    message = f"{path}, line {number}: expected a JSON object, found {kind}"
                    raise ScoreDataError(message)
                yield found
    except OSError as error:
        raise ScoreDataError(f"{path}: cannot read this file: {error.strerror}") from None


def mapping_at(content: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return what stands under a name of JSON, or nothing if that is no object."""
    value = content.get(name)
    return value if isinstance(value, Mapping) else {}
