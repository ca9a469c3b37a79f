"""The tidy frame: from raw columns to checked ones, with errors that name the row.

Rows come from records, data frames, arrays and files; every reader ends here. The checks are done
on whole columns and a row is looked at only when something is wrong with it, so a table of ten
million rows costs seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from gnomon.errors import ScoreDataError, UnknownNameError, listed, shortened

REQUIRED = ("algorithm", "task", "run", "score")
#: No two rows agree in all of these.
KEY = ("algorithm", "task", "run", "step")
#: Columns with a meaning; any other is an attribute.
SPECIAL = (*REQUIRED, "step", "censored")

#: Larger numbers cannot be summed and squared, and nothing that was measured is as large.
LARGEST = 1e100
#: Longer names fit into no table and no figure.
LONGEST_NAME = 1000

#: Texts that say "no score here", compared in lower case.
MISSING_TEXTS = ("", "na", "nan", "null", "none")
TRUE_TEXTS = ("true", "1", "yes")
FALSE_TEXTS = ("false", "0", "no")


class Origin:
    """Where rows come from, so that a message can point there: a file's lines, or plain rows."""

    def __init__(
        self,
        file: str | None = None,
        *,
        first: int = 1,
        noun: str = "row",
        lines: Callable[[], list[int]] | None = None,
    ) -> None:
        #: Asked only once something is wrong: the line of each row.
        self._lines = lines
        self.prefix = f"{file}, " if file else ""
        self.file = file
        self.first = first
        self.noun = noun

    def of_rows(self, kept: Sequence[int]) -> Origin:
        """Return the origin of some of the rows, by their places among all."""
        lines = self._lines

        def of_kept() -> list[int]:
            every = lines() if lines is not None else []
            return [every[row] if row < len(every) else row + 2 for row in kept]

        return Origin(self.file, first=self.first, noun=self.noun, lines=of_kept)

    def error(self, message: str) -> ScoreDataError:
        """Return the error about the whole table."""
        return ScoreDataError(f"{self.file}: {message}" if self.file else message)

    def error_at(self, rows: list[int], column: str, message: str) -> ScoreDataError:
        """Return the error about some rows (numbered as in the source) of one column."""
        if self._lines is not None:
            lines = self._lines()
            rows = [lines[row] if row < len(lines) else row + 2 for row in rows]
        numbers = " and ".join(str(row) for row in rows)
        noun = self.noun if len(rows) == 1 else self.noun + "s"
        return ScoreDataError(f"{self.prefix}{noun} {numbers}, column {column!r}: {message}")


def tidy_frame(raw: pl.DataFrame, origin: Origin, where: Mapping[str, Any]) -> pl.DataFrame:
    """Return the rows of `raw` that `where` selects, with checked columns in a fixed order.

    Parameters
    ----------
    raw : polars.DataFrame
        Columns as read; texts are converted here.
    origin : Origin
        Where the rows come from.
    where : mapping
        Attribute values that a row must have to stay.

    Raises
    ------
    ScoreDataError
        A column is missing, a value is not of its column's kind, a key comes twice, or a score is
        infinite without being censored.
    """
    if not set(REQUIRED) <= set(raw.columns):
        raise missing_columns(raw, origin)
    for name, dtype in raw.schema.items():
        if dtype.is_nested() or dtype in (pl.Binary, pl.Object):
            raise origin.error(f"column {name!r}: expected texts or numbers, found {dtype}")
    raw = raw.with_row_index("_row", offset=origin.first)
    if where:
        raw = raw.filter(matching_rows(raw.drop("_row"), where, origin))
    rows = raw["_row"]
    columns = [
        _names(raw["algorithm"], rows, origin),
        _names(raw["task"], rows, origin),
        _labels(raw["run"], rows, origin),
    ]
    if "step" in raw.columns:
        step = _numbers(raw["step"], rows, origin)
        _refuse(step.is_nan(), rows, "step", "expected a number, found nothing", origin)
        columns.append(_integers_if_whole(step))
    score = _numbers(raw["score"], rows, origin)
    message = f"expected a number from -{LARGEST:g} to {LARGEST:g}, found a larger one"
    _refuse(score.is_finite() & (score.abs() > LARGEST), rows, "score", message, origin)
    columns.append(score)
    if "censored" in raw.columns:
        columns.append(_flags(raw["censored"], rows, origin))
    columns += [raw[name] for name in raw.columns if name not in (*SPECIAL, "_row")]
    frame = pl.DataFrame(columns)
    _check_infinite(frame, rows, origin)
    _check_duplicates(frame, rows, origin)
    return frame


def with_censored(frame: pl.DataFrame, worst: float) -> pl.DataFrame:
    """Return tidy rows with the worst score in the place of censored ones."""
    if "censored" not in frame.columns:
        return frame
    score = pl.col("score")
    # An infinite score keeps the sign that it was given.
    replaced = pl.when(pl.col("censored") & ~score.is_infinite()).then(worst).otherwise(score)
    return frame.with_columns(replaced.alias("score"))


def missing_columns(raw: pl.DataFrame, origin: Origin, named: Iterable[str] = ()) -> ScoreDataError:
    """Return the error that names the required columns which are not there, nor `named`."""
    known = (*raw.columns, *named)
    missing = [name for name in REQUIRED if name not in known]
    found = shortened(", ".join(raw.columns), 200) or "none"
    plural = len(missing) > 1
    message = f"missing column{'s' * plural} {', '.join(map(repr, missing))}; found {found}"
    if origin.file:
        options = " ".join(f"--column {name}=NAME" for name in missing)
        said = "say how they are called" if plural else "says how it is called"
        message += f" (columns={{'{missing[0]}': NAME}} or {options} {said})"
    return origin.error(message)


def renamed_columns(raw: pl.DataFrame, columns: Mapping[str, str], origin: Origin) -> pl.DataFrame:
    """Return the columns under the names of a tidy frame.

    Parameters
    ----------
    raw : polars.DataFrame
        Columns as read.
    columns : mapping
        The name that a column has here, for some of :data:`SPECIAL`: ``{"algorithm": "Name"}``.
    origin : Origin
        Where the rows come from.

    Raises
    ------
    UnknownNameError
        A tidy frame has no such column.
    ScoreDataError
        There is no column of that name to read.
    """
    for name, theirs in columns.items():
        if name not in SPECIAL:
            raise UnknownNameError("column of scores to read one as", name, SPECIAL)
        if theirs not in raw.columns:
            found = shortened(", ".join(raw.columns), 200) or "none"
            raise origin.error(f"no column {theirs!r} to read as the {name}; found {found}")
    taken = {*columns, *columns.values()}
    rest = [raw[name] for name in raw.columns if name not in taken]
    return pl.DataFrame([*(raw[theirs].alias(n) for n, theirs in columns.items()), *rest])


def matching_rows(raw: pl.DataFrame, where: Mapping[str, Any], origin: Origin) -> pl.Series:
    """Return which rows have all the attribute values of `where`, compared as texts."""
    keep = pl.repeat(True, raw.height, dtype=pl.Boolean, eager=True)
    for name, value in where.items():
        if name not in raw.columns:
            known = ", ".join(raw.columns)
            raise origin.error(f"no column {name!r} to select by; found {known}")
        found = raw[name].cast(pl.String)
        keep &= (found == str(value)).fill_null(False)
        if not keep.any():
            seen = listed(sorted({str(text) for text in found.unique().to_list()}))
            raise origin.error(f"no row has {name} = {value!s}; found {seen}")
    return keep


def _refuse(wrong: pl.Series, rows: pl.Series, column: str, message: str, origin: Origin) -> None:
    """Raise for the first row that is `wrong`."""
    at = wrong.arg_max() if wrong.any() else None
    if at is not None:
        raise origin.error_at([rows[at]], column, message)


def _names(raw: pl.Series, rows: pl.Series, origin: Origin) -> pl.Series:
    """Return a column of non-empty texts."""
    texts = raw.cast(pl.String)
    if _are_plain(texts.unique()):
        return texts  # as nearly always, and then nothing is copied
    texts = texts.str.strip_chars()
    empty = texts.is_null() | (texts == "").fill_null(False)
    _refuse(empty, rows, raw.name, "expected a name, found nothing", origin)
    message = f"expected a name of at most {LONGEST_NAME:,} characters, found a longer one"
    _refuse(texts.str.len_chars() > LONGEST_NAME, rows, raw.name, message, origin)
    return texts


def _are_plain(names: pl.Series) -> bool:
    """Return whether there is nothing to strip from any name, and nothing to complain of."""
    plain = (names.str.strip_chars() == names) & names.str.len_chars().is_between(1, LONGEST_NAME)
    return bool(plain.fill_null(False).all())


def _labels(raw: pl.Series, rows: pl.Series, origin: Origin) -> pl.Series:
    """Return run labels: whole numbers if all are, and none is spelt in two ways, else texts."""
    if raw.dtype.is_integer() and not raw.null_count():
        numbers = raw.cast(pl.Int64, strict=False)
        if not numbers.null_count():
            return numbers
    texts = _names(raw, rows, origin)
    numbers = texts.cast(pl.Int64, strict=False)
    is_one_to_one = not numbers.null_count() and numbers.n_unique() == texts.n_unique()
    return numbers if is_one_to_one else texts


def _numbers(raw: pl.Series, rows: pl.Series, origin: Origin) -> pl.Series:
    """Return a column of floats, NaN where there is nothing."""
    if raw.dtype.is_numeric() or raw.dtype == pl.Null:
        return raw.cast(pl.Float64).fill_null(float("nan"))
    texts = raw.cast(pl.String).str.strip_chars()
    numbers = texts.cast(pl.Float64, strict=False)
    missing = texts.is_null() | texts.str.to_lowercase().is_in(MISSING_TEXTS).fill_null(True)
    wrong = numbers.is_null() & ~missing
    if wrong.any():
        at = wrong.arg_max()
        assert at is not None
        message = f"expected a number, found {shortened(str(texts[at]))!r}"
        raise origin.error_at([rows[at]], raw.name, message)
    return numbers.fill_null(float("nan"))


def _integers_if_whole(numbers: pl.Series) -> pl.Series:
    """Return steps as whole numbers where all are."""
    whole = numbers.cast(pl.Int64, strict=False)
    return whole if bool((whole.cast(pl.Float64) == numbers).fill_null(False).all()) else numbers


def _flags(raw: pl.Series, rows: pl.Series, origin: Origin) -> pl.Series:
    """Return a column of true and false; nothing means false."""
    if raw.dtype == pl.Boolean:
        return raw.fill_null(False)
    texts = raw.cast(pl.String).str.strip_chars().str.to_lowercase().fill_null("")
    known = texts.is_in((*TRUE_TEXTS, *FALSE_TEXTS, *MISSING_TEXTS))
    _refuse(~known, rows, raw.name, "expected true or false, found another text", origin)
    return texts.is_in(TRUE_TEXTS)


def _check_infinite(frame: pl.DataFrame, rows: pl.Series, origin: Origin) -> None:
    """Refuse an infinite score that is not marked as censored."""
    infinite = frame["score"].is_infinite()
    if "censored" in frame.columns:
        infinite &= ~frame["censored"]
    message = "an infinite score needs a true 'censored' (a run that never got there)"
    _refuse(infinite, rows, "score", message, origin)


def _check_duplicates(frame: pl.DataFrame, rows: pl.Series, origin: Origin) -> None:
    """Refuse two rows with the same key."""
    key = [name for name in KEY if name in frame.columns]
    numbers = _numbered(frame.select(key))
    numbers.sort()
    if not (numbers[1:] == numbers[:-1]).any():
        return
    first = frame.select(pl.struct(key).is_first_distinct()).to_series()
    keys = frame.select(key).rows()
    at = first.to_list().index(False)
    earlier = keys.index(keys[at])
    repeated = dict(zip(key, keys[at], strict=True))
    shown = ", ".join(f"{name} {repeated[name]}" for name in key)
    message = f"expected one row for each {', '.join(key)}; found {shown} twice"
    remedy = _apart(frame, key, earlier) if origin.file else ""
    raise origin.error_at([rows[earlier], rows[at]], "run", message + remedy)


def _apart(frame: pl.DataFrame, key: Sequence[str], row: int) -> str:
    """Return which other column tells rows with one key apart, and the option for it."""
    for name in (x for x in frame.columns if x not in SPECIAL):
        if frame.select(*key, name).is_duplicated().any():
            continue
        numbers = frame[name].cast(pl.Float64, strict=False)
        if "step" not in key and numbers.null_count() == 0:
            return f"; column {name!r} tells them apart: --step-column {name} for curves"
        return f"; column {name!r} tells them apart: --where {name}={frame[name][row]} takes some"
    return ""


def _numbered(keys: pl.DataFrame) -> npt.NDArray[Any]:
    """Return a whole number for each row, the same for equal rows alone.

    It costs eight bytes a row, where comparing the rows themselves takes a hundred.
    """
    number = np.zeros(keys.height, dtype=np.uint64)
    n_numbers = 1
    for column in keys:
        code = _coded(column)
        n_codes = int(code.max()) + 1 if code.size else 1
        n_numbers *= n_codes
        if n_numbers >= 2**63:
            number = np.unique(number, return_inverse=True)[1].astype(np.uint64)
            n_numbers = (int(number.max()) + 1) * n_codes
        number *= np.uint64(n_codes)
        number += code
    return number


def _coded(column: pl.Series) -> npt.NDArray[np.uint64]:
    """Return a small whole number for each value, the same for equal ones alone."""
    if column.dtype == pl.String:
        return column.cast(pl.Categorical).to_physical().cast(pl.UInt64).to_numpy()
    values = column.to_numpy()
    if column.dtype.is_integer() and values.size:
        least, most = int(values.min()), int(values.max())
        if most - least < max(values.size, 1000):
            return (values - least).astype(np.uint64)
    return np.unique(values, return_inverse=True)[1].astype(np.uint64)


def rows_of_records(records: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """Return one row for each mapping; a name that one lacks is empty there."""
    rows = list(records)
    names = list(dict.fromkeys(name for row in rows for name in row))
    return pl.DataFrame([series_of(name, [row.get(name) for row in rows]) for name in names])


def rows_of_frame(frame: Any) -> pl.DataFrame:
    """Return the rows of a data frame of any library, a mapping of columns, or one of arrays."""
    if isinstance(frame, pl.DataFrame):
        return frame
    if isinstance(frame, pl.LazyFrame):
        return frame.collect()
    if isinstance(frame, Mapping):
        if frame and all(map(_is_array, frame.values())):
            return rows_of_arrays(frame)
        return _of_columns({name: list(values) for name, values in frame.items()})
    return _of_other_frame(frame)


def series_of(name: str, values: list[Any]) -> pl.Series:
    """Return a column of Python values; a mixed one becomes text, which the checks then judge."""
    try:
        return pl.Series(name, values, strict=True)
    except (TypeError, pl.exceptions.PolarsError):
        if all(value is None or isinstance(value, int | float) for value in values):
            return pl.Series(name, values, dtype=pl.Float64, strict=False)
        return pl.Series(name, [None if v is None else str(v) for v in values], dtype=pl.String)


def _of_columns(columns: Mapping[str, list[Any]]) -> pl.DataFrame:
    sizes = {name: len(values) for name, values in columns.items()}
    if len(set(sizes.values())) > 1:
        found = ", ".join(f"{name} {size}" for name, size in sizes.items())
        raise ScoreDataError(f"expected columns of one length, found {shortened(found, 200)}")
    return pl.DataFrame([series_of(name, values) for name, values in columns.items()])


def _of_other_frame(frame: Any) -> pl.DataFrame:
    """Return a data frame of another library, column by column, so that PyArrow is not needed."""
    import narwhals as nw

    try:
        columns = nw.from_native(frame, eager_only=True)
    except TypeError:
        found = type(frame).__name__
        raise TypeError(
            "expected a data frame (Polars, pandas, PyArrow, ...), a mapping of columns, or one "
            f"array (runs, tasks) for each algorithm; found {found}"
        ) from None
    return _of_columns({name: columns[name].to_list() for name in columns.columns})


def _is_array(values: Any) -> bool:
    """Return whether values have two dimensions or more, as an algorithm's runs on tasks do."""
    if hasattr(values, "ndim"):
        return bool(values.ndim > 1)
    return isinstance(values, list | tuple) and bool(values) and np.ndim(values[0]) > 0


def rows_of_arrays(
    scores: Mapping[str, npt.ArrayLike],
    tasks: Sequence[str] | None = None,
    steps: Sequence[float] | None = None,
) -> pl.DataFrame:
    """Return the rows of one array for each algorithm, (runs, tasks) or (runs, tasks, steps)."""
    if not scores:
        raise ScoreDataError("expected an array for each algorithm, found none")
    return pl.concat([_rows_of_array(name, x, tasks, steps) for name, x in scores.items()])


def _rows_of_array(
    algorithm: str,
    scores: npt.ArrayLike,
    tasks: Sequence[str] | None,
    steps: Sequence[float] | None,
) -> pl.DataFrame:
    try:
        x = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError):
        raise ScoreDataError(f"{algorithm}: expected an array of numbers (runs, tasks)") from None
    if x.ndim not in (2, 3):
        raise ScoreDataError(f"{algorithm}: expected shape (runs, tasks), found {x.shape}")
    n_runs, n_tasks = x.shape[:2]
    names = [f"task_{i}" for i in range(n_tasks)] if tasks is None else list(tasks)
    if len(names) != n_tasks:
        raise ScoreDataError(f"{algorithm}: expected {len(names)} tasks, found {n_tasks} columns")
    run, task = np.meshgrid(np.arange(n_runs), np.arange(n_tasks), indexing="ij")
    repeat = x.shape[2] if x.ndim == 3 else 1
    columns: dict[str, Any] = {
        "algorithm": pl.repeat(algorithm, x.size, eager=True),
        "task": pl.Series(names, dtype=pl.String).gather(np.repeat(task.ravel(), repeat)),
        "run": np.repeat(run.ravel(), repeat),
    }
    if x.ndim == 3:
        values = np.arange(repeat) if steps is None else np.asarray(steps, dtype=np.float64)
        if values.size != repeat:
            raise ScoreDataError(f"{algorithm}: expected {values.size} steps, found {repeat}")
        columns["step"] = np.tile(values, n_runs * n_tasks)
    return pl.DataFrame(columns | {"score": x.ravel()})
