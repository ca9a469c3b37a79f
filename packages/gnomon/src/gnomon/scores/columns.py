"""Named columns of equal length: NumPy arrays of numbers, and texts as codes and names.

They are made from data in memory: data frames, arrays, mappings of columns, records.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.errors import ScoreDataError, shortened

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]
#: A mask, places of rows, or a slice.
Which = Any
#: What pandas calls a column without a heading.
_UNNAMED = re.compile(r"Unnamed: \d+(\.\d+)?(_level_\d+)?")
#: Number of rows that are looked up at a time, since NumPy converts their index to 64 bits.
_ROWS = 1 << 16
#: Number of records that are converted to columns, or back, at a time.
_PIECE = 10_000


@dataclass(frozen=True, eq=False)
class Texts:
    """A column of texts: the code of each row is the place of its text among the names.

    Parameters
    ----------
    codes : ndarray of int32, shape (rows,)
        -1 where a text is missing.
    names : tuple of str
        The different texts, in the order of their first row.
    """

    codes: Codes
    names: tuple[str, ...]

    @classmethod
    def of(cls, values: Iterable[object]) -> Texts:
        """Return a column of Python values, None where there is none."""
        known: dict[object, int] = {None: -1}
        code = known.setdefault
        codes = np.fromiter((code(v, len(known) - 1) for v in values), np.int32)
        return cls(codes, tuple(str(name) for name in known if name is not None))

    @classmethod
    def repeated(cls, text: str, n: int) -> Texts:
        """Return a column that has one text in all rows."""
        return cls(np.zeros(n, np.int32), (text,) if n else ())

    @classmethod
    def merged(cls, codes: Codes, names: Sequence[str | None]) -> Texts:
        """Return a column from names that may repeat, be None or have no row."""
        known: dict[str | None, int] = {None: -1}
        place = np.array([known.setdefault(x, len(known) - 1) for x in names] + [-1], np.int32)
        if not np.array_equal(place[:-1], np.arange(len(names))):
            codes = looked_up(place, codes)
        return cls(codes, tuple(name for name in known if name is not None)).take(slice(None))

    def __len__(self) -> int:
        return self.codes.size

    @property
    def missing(self) -> Flags:
        """Whether the text of a row is missing, shape (rows,)."""
        return self.codes < 0

    def tolist(self) -> list[str | None]:
        """Return the texts of the rows."""
        return list(looked_up(np.array([*self.names, None], dtype=object), self.codes))

    def take(self, which: Which) -> Texts:
        """Return some of the rows, with only the names that occur in them."""
        codes = self.codes[which]
        n = codes.size
        first = np.full(len(self.names) + 1, n, np.int64)
        for part in reversed(list(parts_of(n))):
            first[codes[part][::-1]] = np.arange(part.start, part.stop)[::-1]
        kept = np.argsort(first[:-1], kind="stable")
        kept = kept[: int((first[:-1] < n).sum())]
        if np.array_equal(kept, np.arange(len(self.names))):
            return Texts(codes, self.names)
        place = np.full(len(self.names) + 1, -1, np.int32)
        place[kept] = np.arange(kept.size)
        return Texts(looked_up(place, codes), tuple(self.names[at] for at in kept))

    def mapped(self, names: Sequence[object], value: Any = np.nan) -> npt.NDArray[Any]:
        """Return one value for each row, given those of the names; `value` where missing."""
        return looked_up(np.asarray([*names, value]), self.codes)

    def isin(self, texts: Iterable[str]) -> Flags:
        """Return the rows that have one of some texts."""
        wanted = set(texts)
        flags: Flags = self.mapped([name in wanted for name in self.names], False)
        return flags

    def counts(self) -> dict[str, int]:
        """Return how many rows have each text."""
        n = np.zeros(len(self.names) + 1, np.int64)
        for part in parts_of(len(self)):
            n += np.bincount(self.codes[part] + 1, minlength=n.size)
        return dict(zip(self.names, n[1:].tolist(), strict=True))


Column = Texts | npt.NDArray[Any]


class Rows:
    """Columns of equal length, by their names.

    Examples
    --------
    >>> rows = Rows({"task": Texts.of(["pong", "ant", "pong"]), "score": np.array([1.0, 2.0, 3.0])})
    >>> rows.take(rows["score"] > 1.5).tolist("task")
    ['ant', 'pong']
    """

    def __init__(self, columns: Mapping[str, Column]) -> None:
        self._columns = dict(columns)
        sizes = {name: len(column) for name, column in self._columns.items()}
        if len(set(sizes.values())) > 1:
            found = ", ".join(f"{name} {size}" for name, size in sizes.items())
            raise ScoreDataError(f"expected columns of one length, found {shortened(found, 200)}")
        self._n = next(iter(sizes.values()), 0)

    def __len__(self) -> int:
        """Return the number of rows."""
        return self._n

    def __contains__(self, name: object) -> bool:
        """Return whether there is such a column."""
        return name in self._columns

    def __getitem__(self, name: str) -> Any:
        """Return a column: an array, or :class:`Texts`."""
        return self._columns[name]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._columns)

    def take(self, which: Which) -> Rows:
        """Return some of the rows: of a mask, of places, or of a slice."""
        return Rows({name: taken(column, which) for name, column in self._columns.items()})

    def only(self, *names: str) -> Rows:
        """Return some of the columns."""
        return Rows({name: self._columns[name] for name in names})

    def but(self, *names: str) -> Rows:
        """Return the rows without some columns."""
        return Rows({name: c for name, c in self._columns.items() if name not in names})

    def with_columns(self, columns: Mapping[str, Column]) -> Rows:
        """Return the rows with columns added or replaced."""
        return Rows(self._columns | dict(columns))

    def texts(self, name: str) -> Texts:
        """Return a column as texts."""
        return as_texts(self._columns[name])

    def numbers(self, name: str) -> FloatArray | None:
        """Return a column as numbers, NaN where there is none; None if a text is no number."""
        return as_numbers(self._columns[name])

    def tolist(self, name: str) -> list[Any]:
        """Return a column as Python values."""
        return list(self._columns[name].tolist())

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield rows as mappings; a number that is not finite is None."""
        for start in range(0, self._n, _PIECE):
            part = slice(start, start + _PIECE)
            columns = [_plain(taken(column, part)) for column in self._columns.values()]
            for values in zip(*columns, strict=True):
                yield dict(zip(self._columns, values, strict=True))

    @staticmethod
    def joined(parts: Sequence[Rows]) -> Rows:
        """Return the rows of all parts; a column that a part lacks is missing there."""
        names = list(dict.fromkeys(name for part in parts for name in part.names))
        return Rows({
            name: _joined([
                part[name] if name in part else Texts(np.full(len(part), -1, np.int32), ())
                for part in parts
            ])
            for name in names
        })  # fmt: skip


def heading(name: str) -> str:
    """Return the heading of a column, nothing for one without."""
    return "" if _UNNAMED.fullmatch(name.strip()) else name.strip()


def parts_of(n: int) -> Iterator[slice]:
    """Yield slices of rows, to limit the memory of temporary arrays."""
    for begin in range(0, n, _ROWS):
        yield slice(begin, min(begin + _ROWS, n))


def looked_up(values: npt.NDArray[Any], places: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the values at some places."""
    found = np.empty(places.size, values.dtype)
    for part in parts_of(places.size):
        found[part] = values[places[part]]
    return found


def taken(column: Column, which: Which) -> Column:
    """Return some rows of a column."""
    return column.take(which) if isinstance(column, Texts) else column[which]


def as_texts(column: Column) -> Texts:
    """Return a column as texts; whole numbers have no point, NaN is missing."""
    if isinstance(column, Texts):
        return column
    values, codes = distinct(column)
    if column.dtype.kind == "b":
        return Texts.merged(codes, [str(x).lower() for x in values.tolist()])
    names = [None if value != value else _as_text(value) for value in values.tolist()]
    return Texts.merged(codes, names)


def as_numbers(column: Column) -> FloatArray | None:
    """Return a column as numbers, NaN where there is none; None if a text is no number."""
    if not isinstance(column, Texts):
        return column.astype(np.float64)
    try:
        return column.mapped([float(name) for name in column.names])
    except ValueError:
        return None


def distinct(column: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], Codes]:
    """Return the different values in ascending order, and the place of each row's value."""
    if column.dtype.kind == "i" and column.size:
        least, most = int(column.min()), int(column.max())
        if most - least < max(column.size, 1000):  # no need to sort
            offset = column - least if least else column
            there = np.zeros(most - least + 1, bool)
            for part in parts_of(column.size):
                there[offset[part]] = True
            place = np.cumsum(there, dtype=np.int32) - 1
            return np.flatnonzero(there) + least, looked_up(place, offset)
    values, codes = np.unique(column, return_inverse=True)
    return values, codes.astype(np.int32)


def first_equal(number: npt.NDArray[Any]) -> IntArray:
    """Return for each row the first row with the same number."""
    _, first, same = np.unique(number, return_index=True, return_inverse=True)
    return first[same]


def group_means(group: npt.NDArray[Any], score: FloatArray, n_groups: int) -> FloatArray:
    """Return the mean score of each group, NaN scores left out; NaN for a group without any."""
    known = ~np.isnan(score)
    n = np.bincount(group[known], minlength=n_groups)
    total = np.bincount(group[known], score[known], minlength=n_groups)
    with np.errstate(invalid="ignore"):
        return np.asarray(total / n)


def _as_text(value: Any) -> str:
    """Return a value as text; a whole number has no point."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return str(value)


def _plain(column: Column) -> list[Any]:
    """Return Python values, None for a number that is not finite."""
    if isinstance(column, Texts) or column.dtype.kind != "f":
        return list(column.tolist())
    found = column.astype(object)
    found[~np.isfinite(column)] = None
    return list(found)


def _joined(columns: Sequence[Column]) -> Column:
    """Return one column of several: of numbers, if none has a text, else of texts."""
    arrays = [column for column in columns if not isinstance(column, Texts)]
    if arrays and not any(column.names for column in columns if isinstance(column, Texts)):
        if len(arrays) < len(columns) or len({column.dtype.kind for column in arrays}) > 1:
            return np.concatenate([as_numbers(column) for column in columns])
        return np.concatenate(arrays)
    known: dict[str, int] = {}
    codes = [np.zeros(0, np.int32)]
    for column in map(as_texts, columns):
        place = [known.setdefault(name, len(known)) for name in column.names]
        are_same = place == [*range(len(place))]
        codes.append(column.codes if are_same else column.mapped(place, -1).astype(np.int32))
    return Texts(np.concatenate(codes), tuple(known))


def rows_of_records(records: Iterable[Mapping[str, Any]]) -> Rows:
    """Return one row for each mapping; a name that one lacks is missing there."""
    parts, source = [], iter(records)
    while piece := list(islice(source, _PIECE)):
        names = dict.fromkeys(name for row in piece for name in row)
        parts.append(Rows({x: _column_of([row.get(x) for row in piece], x) for x in names}))
    return parts[0] if len(parts) == 1 else Rows.joined(parts)


def rows_of_columns(columns: Mapping[Any, Iterable[Any]]) -> Rows:
    """Return the rows of columns of any kind, by their names."""
    _check_different(columns)
    return Rows({str(name): _column(values, str(name)) for name, values in columns.items()})


def _check_different(names: Iterable[Any]) -> None:
    if twice := [name for name, n in Counter(map(str, names)).items() if n > 1]:
        raise ScoreDataError(f"expected columns of different names, found {twice[0]!r} twice")


def rows_of_frame(frame: Any) -> Rows:
    """Return the rows of a data frame, a mapping of columns or of arrays, or an empty list."""
    if isinstance(frame, Rows):
        return frame
    if isinstance(frame, list | tuple) and not frame:
        return Rows({})
    if isinstance(frame, Mapping) and all(map(np.iterable, frame.values())):
        if frame and all(map(_is_array, frame.values())):
            return rows_of_arrays(frame)
        return rows_of_columns(frame)
    if hasattr(frame, "collect"):  # a lazy frame of Polars
        frame = frame.collect()
    if hasattr(frame, "iloc"):
        return _rows_of_pandas(frame)
    names = getattr(frame, "column_names", getattr(frame, "columns", None))
    if names is None or not hasattr(frame, "__getitem__"):
        found = type(frame).__name__
        raise TypeError(
            "expected a ScoreTable, a path, a data frame, a mapping of columns, or one array "
            f"(runs, tasks) for each algorithm; found {found}"
        )
    _check_different(names)
    return rows_of_columns({name: frame[name] for name in names})


def _rows_of_pandas(frame: Any) -> Rows:
    """Return the rows of a data frame or series of pandas, with its index.

    An index without a name is called "" if it holds texts, and is left out otherwise.
    """
    frame = frame.to_frame() if frame.ndim == 1 else frame
    if frame.columns.nlevels > 1:
        raise ScoreDataError(several_headings(frame.columns.nlevels, "frame"))
    names = [heading(str(name)) for name in frame.columns]
    kept = [at for at, name in enumerate(names) if name or _is_index(at, frame)]
    frame = frame.iloc[:, kept].set_axis([names[at] for at in kept], axis=1)
    _check_different(frame.columns)
    levels = [frame.index.get_level_values(at) for at in range(frame.index.nlevels)]
    columns = {str(x.name): x for x in levels if x.name is not None and x.name not in frame.columns}
    if levels[0].name is None and not hasattr(levels[0], "step") and "" not in frame.columns:
        first = _column(levels[0], "")
        columns = ({"": first} if isinstance(first, Texts) else {}) | columns
    return rows_of_columns(columns | {str(name): frame[name] for name in frame.columns})


def several_headings(n: int, frame: str = "") -> str:
    """Return the message about a table, perhaps a frame, whose columns have several headings."""
    text = f"expected one row of headings, found {n}: write a row for each score, with columns "
    text += "algorithm, task, run, score"
    made = f"{frame}.stack({[*range(n)]}).rename('score').reset_index()"
    return f"{text}; in pandas {made} makes them" if frame else text


def _is_index(at: int, frame: Any) -> bool:
    """Return whether a column without a heading names the rows."""
    return at == 0 and isinstance(_column(frame.iloc[:, 0], ""), Texts)


def _is_array(values: Any) -> bool:
    """Return whether values have two dimensions or more, as an algorithm's runs on tasks do."""
    if hasattr(values, "ndim"):
        return bool(values.ndim > 1)
    return isinstance(values, list | tuple) and bool(values) and np.ndim(values[0]) > 0


def rows_of_arrays(
    scores: Mapping[str, npt.ArrayLike],
    tasks: Sequence[str] | None = None,
    steps: Sequence[float] | None = None,
) -> Rows:
    """Return the rows of one array for each algorithm, (runs, tasks) or (runs, tasks, steps)."""
    if not scores:
        raise ScoreDataError("expected an array for each algorithm, found none")
    known: dict[tuple[int, ...], tuple[Texts, Codes]] = {}
    parts = [_rows_of_array(name, x, tasks, steps, known) for name, x in scores.items()]
    return Rows.joined(parts)


def _rows_of_array(
    algorithm: str,
    scores: npt.ArrayLike,
    tasks: Sequence[str] | None,
    steps: Sequence[float] | None,
    known: dict[tuple[int, ...], tuple[Texts, Codes]],
) -> Rows:
    """Return the rows of one array; arrays of one shape share their columns of tasks and runs."""
    try:
        if isinstance(scores, np.ma.MaskedArray):
            scores = np.ma.filled(scores.astype(np.float64), np.nan)
        x = np.asarray(scores)
        if x.dtype.kind in "cmM":  # NumPy would drop the imaginary part, and the unit of time
            raise TypeError
        x = x.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError):
        raise ScoreDataError(f"{algorithm}: expected an array of numbers (runs, tasks)") from None
    if x.ndim not in (2, 3):
        raise ScoreDataError(f"{algorithm}: expected shape (runs, tasks), found {x.shape}")
    n_runs, n_tasks = x.shape[:2]
    if tasks is not None and len(tasks) != n_tasks:
        raise ScoreDataError(f"{algorithm}: expected {len(tasks)} tasks, found {n_tasks} columns")
    n_steps = x.shape[2] if x.ndim == 3 else 1
    if x.shape not in known:
        names = [f"task_{i}" for i in range(n_tasks)] if tasks is None else [str(t) for t in tasks]
        task = np.tile(np.repeat(np.arange(n_tasks, dtype=np.int32), n_steps), n_runs)
        run = np.repeat(np.arange(n_runs, dtype=np.int32), n_tasks * n_steps)
        known[x.shape] = Texts.merged(task, names), run
    columns: dict[str, Column] = {
        "algorithm": Texts.repeated(str(algorithm), x.size),
        "task": known[x.shape][0],
        "run": known[x.shape][1],
    }
    if x.ndim == 3:
        values = np.arange(n_steps) if steps is None else np.asarray(steps, dtype=np.float64)
        if values.size != n_steps:
            raise ScoreDataError(f"{algorithm}: expected {values.size} steps, found {n_steps}")
        columns["step"] = np.tile(values, n_runs * n_tasks)
    return Rows(columns | {"score": x.ravel()})


def _column(values: Any, name: str) -> Column:
    """Return a column of a data frame, an array or a list."""
    if isinstance(values, Texts):
        return values
    if isinstance(values, np.ma.MaskedArray):
        values = values.tolist()  # None where it is masked
    kind = str(getattr(values, "dtype", getattr(values, "type", ""))).lower()
    has_numbers = kind.startswith(("int", "uint", "float", "bool", "double"))
    array = np.asarray(values) if has_numbers or isinstance(values, np.ndarray) else None
    if array is not None and array.ndim == 1:
        kind = array.dtype.kind
        if kind == "U":
            # As Python strings all rows at once would take ten times the memory.
            return Texts.of(
                chain.from_iterable(array[part].tolist() for part in parts_of(array.size))
            )
        if kind in "fb":
            return array.astype(bool if kind == "b" else np.float64)
        if kind in "iu" and array.max(initial=0) <= np.iinfo(np.int64).max:
            return array.astype(np.int64)
    for method in ("to_list", "to_pylist", "tolist"):
        if hasattr(values, method):
            values = getattr(values, method)()
            break
    return _column_of(values, name)


def _column_of(values: Iterable[Any], name: str) -> Column:
    """Return a column of Python values: of numbers if all are, else of texts."""
    values = list(values)
    kinds = {type(value) for value in values}
    if kinds <= {int}:
        try:
            return np.array(values, np.int64)
        except OverflowError:
            return Texts.of(map(str, values))
    if kinds <= {bool}:
        return np.array(values, bool)
    if kinds <= {str}:
        return Texts.of(values)
    found = [None if _is_missing(value) else value for value in values]
    if bool in kinds and all(value is None or isinstance(value, bool) for value in found):
        return Texts.of(None if value is None else str(value).lower() for value in found)
    if all(hasattr(x, "__float__") and not isinstance(x, str) for x in found if x is not None):
        try:
            return np.array([np.nan if value is None else float(value) for value in found])
        except (OverflowError, ValueError):
            raise ScoreDataError(f"column {name!r}: expected numbers of at most 1e308") from None
    value: Any
    for value in found:
        if isinstance(value, list | dict | tuple | set | bytes) or np.ndim(value) > 0:
            kind = type(value).__name__
            raise ScoreDataError(f"column {name!r}: expected texts or numbers, found {kind}")
    return Texts.of(None if value is None else _as_text(value) for value in found)


def _is_missing(value: Any) -> bool:
    if isinstance(value, float):
        return value != value
    return value is None or type(value).__name__ in ("NAType", "NaTType")
