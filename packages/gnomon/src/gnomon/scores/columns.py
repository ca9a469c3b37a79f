"""Named columns of equal length: NumPy arrays of numbers, and texts as codes and names."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
#: Number of rows that are looked up at a time: an index of 32 bits becomes one of 64.
_ROWS = 1 << 16


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
    def of(cls, values: Collection[object]) -> Texts:
        """Return a column of Python values, None where there is none."""
        return cls.of_values(values, len(values))

    @classmethod
    def of_values(cls, values: Iterable[object], n: int) -> Texts:
        """Return a column of that many Python values."""
        known: dict[object, int] = {None: -1}
        code = known.setdefault
        codes = np.fromiter((code(v, len(known) - 1) for v in values), np.int32, n)
        return cls(codes, tuple(str(name) for name in known if name is not None))

    @classmethod
    def repeated(cls, text: str, n: int) -> Texts:
        """Return a column that has one text in all rows."""
        return cls(np.zeros(n, np.int32), (text,) if n else ())

    @classmethod
    def merged(cls, codes: Codes, names: Sequence[str | None]) -> Texts:
        """Return a column whose names may repeat, be None or lack a row."""
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
        """Return some of the rows, with those names alone that they have."""
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
        """Return the value that stands for the name of each row, `value` where it is missing."""
        return looked_up(np.asarray([*names, value]), self.codes)

    def equals(self, text: str) -> Flags:
        """Return the rows that have a text."""
        return self.isin((text,))

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
        """Return all columns but some."""
        return Rows({name: c for name, c in self._columns.items() if name not in names})

    def with_columns(self, columns: Mapping[str, Column]) -> Rows:
        """Return the rows with further columns, or others in the place of those of their name."""
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

    def arrays(self) -> dict[str, Any]:
        """Return the columns as data frames take them: arrays, or lists of texts."""
        columns = self._columns.items()
        return {name: x.tolist() if isinstance(x, Texts) else x for name, x in columns}

    def records(self, begin: int = 0, end: int | None = None) -> Iterator[dict[str, Any]]:
        """Yield rows as mappings; a number that is not finite is None."""
        end = self._n if end is None else min(end, self._n)
        for start in range(begin, end, 10_000):
            part = slice(start, min(start + 10_000, end))
            columns = [_plain(taken(column, part)) for column in self._columns.values()]
            for values in zip(*columns, strict=True):
                yield dict(zip(self._columns, values, strict=True))

    @staticmethod
    def joined(parts: Sequence[Rows]) -> Rows:
        """Return the rows of several, one after the other; what a part lacks is missing."""
        names = list(dict.fromkeys(name for part in parts for name in part.names))
        return Rows({name: _joined([_or_missing(part, name) for part in parts]) for name in names})


class Cells:
    """Scores by algorithm and task: those of each pair are found without looking at the others.

    Parameters
    ----------
    algorithm, task : Texts
        Of each row; none is missing.
    score : ndarray of float, shape (rows,)
    kept : ndarray of bool, shape (rows,)
        The rows that count.
    """

    def __init__(self, algorithm: Texts, task: Texts, score: FloatArray, kept: Flags) -> None:
        n_tasks = len(task.names)
        self._begins = {name: i * n_tasks for i, name in enumerate(algorithm.names)}
        self._tasks = {name: i for i, name in enumerate(task.names)}
        cell = algorithm.codes.astype(np.int64) * n_tasks
        cell += task.codes
        self._row = None if kept.all() else np.flatnonzero(kept)
        if self._row is not None:
            cell = cell[self._row]
        count = np.bincount(cell, minlength=len(algorithm.names) * n_tasks)
        self.counts = count.reshape(len(algorithm.names), n_tasks)
        self.starts = np.concatenate([[0], np.cumsum(count)])
        if (cell[1:] < cell[:-1]).any():
            order = np.argsort(cell, kind="stable")
            self._row = order if self._row is None else self._row[order]
        self.score: FloatArray = score if self._row is None else score[self._row]

    def of(self, algorithm: str, task: str) -> slice:
        """Return where the scores of a cell lie among all."""
        cell = self._begins[algorithm] + self._tasks[task]
        return slice(int(self.starts[cell]), int(self.starts[cell + 1]))

    def strata(self, algorithm: str, tasks: Sequence[str]) -> tuple[IntArray, IntArray]:
        """Return the places of an algorithm's scores on some tasks, in turn, and their numbers."""
        cell = np.array([self._tasks[task] for task in tasks], np.int64) + self._begins[algorithm]
        begins, counts = self.starts[cell], np.diff(self.starts)[cell]
        ends = np.cumsum(counts)
        return np.repeat(begins + counts - ends, counts) + np.arange(counts.sum()), counts

    def rows_of(self, algorithm: str, task: str) -> slice | IntArray:
        """Return the rows of a cell, in the order of the table."""
        return self.rows_at(self.of(algorithm, task))

    def rows_at(self, places: slice | IntArray) -> slice | IntArray:
        """Return the rows of the table with the scores at some places."""
        return places if self._row is None else self._row[places]


def parts_of(n: int) -> Iterator[slice]:
    """Yield slices of rows to work on one after the other, which takes little memory."""
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
    names = [None if value != value else as_text(value) for value in values.tolist()]
    return Texts.merged(codes, names)


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


def group_means(group: npt.NDArray[Any], score: FloatArray, n_groups: int) -> FloatArray:
    """Return the mean score of each group, NaN scores left out; NaN for a group without any."""
    known = ~np.isnan(score)
    n = np.bincount(group[known], minlength=n_groups)
    total = np.bincount(group[known], score[known], minlength=n_groups)
    with np.errstate(invalid="ignore"):
        return np.asarray(total / n)


def as_numbers(column: Column) -> FloatArray | None:
    """Return a column as numbers, NaN where there is none; None if a text is no number."""
    if not isinstance(column, Texts):
        return column.astype(np.float64)
    try:
        return column.mapped([float(name) for name in column.names])
    except ValueError:
        return None


def as_text(value: Any) -> str:
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


def _or_missing(part: Rows, name: str) -> Column:
    if name in part:
        column: Column = part[name]
        return column
    return Texts(np.full(len(part), -1, np.int32), ())


def _joined(columns: Sequence[Column]) -> Column:
    """Return one column of several."""
    kinds = {
        "texts" if isinstance(c, Texts) else c.dtype.kind
        for c in columns
        if not (isinstance(c, Texts) and not c.names)
    }
    if len(kinds) == 1 and "texts" not in kinds:
        empty = any(isinstance(column, Texts) for column in columns)
        if not empty:
            return np.concatenate([column for column in columns if not isinstance(column, Texts)])
        return np.concatenate([as_numbers(column) for column in columns])
    if kinds and kinds <= {"i", "f", "b"}:
        return np.concatenate([as_numbers(column) for column in columns])
    first = columns[0]
    if isinstance(first, Texts) and all(
        isinstance(column, Texts) and column.names is first.names for column in columns
    ):
        return Texts(np.concatenate([as_texts(column).codes for column in columns]), first.names)
    known: dict[str, int] = {}
    codes = []
    for column in map(as_texts, columns):
        place = [known.setdefault(name, len(known)) for name in column.names]
        codes.append(column.mapped(place, -1).astype(np.int32))
    return Texts(np.concatenate(codes) if codes else np.zeros(0, np.int32), tuple(known))
