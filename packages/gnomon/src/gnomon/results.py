"""Results of a computation: frozen records in a table that prints and draws itself.

Every verb returns :class:`Results`: a sequence of small records, with the settings that made them
and the warnings that occurred. The command line, a report and a notebook show the same object.
"""

from __future__ import annotations

import math
import pkgutil
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, Self, TypeVar, overload

from gnomon.errors import DegenerateScoresWarning, shortened, visible
from gnomon.printing import html_table, latex_table, text_table

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import polars as pl

Row = Mapping[str, Any]


class Record(Protocol):
    """A small frozen record that can be written as JSON."""

    def as_record(self) -> dict[str, Any]:
        """Return the fields as a mapping fit for JSON, None for a number that is not finite."""


@dataclass(frozen=True)
class FieldRecord:
    """A record that is its fields: base of frozen data classes of numbers, texts and tuples."""

    def as_record(self) -> dict[str, Any]:
        """Return the fields: a tuple as a list, None for a number that is not finite.

        Fields made by :func:`if_known` are left out where they are None.
        """
        found = {f: getattr(self, f.name) for f in fields(self)}
        return {
            f.name: finite_or_none(value)
            for f, value in found.items()
            if value is not None or "if_known" not in f.metadata
        }


def if_known() -> Any:
    """Return a field whose default is None, and which is then left out of the mapping."""
    return field(default=None, metadata={"if_known": True})


@dataclass(frozen=True, eq=False)
class SeriesRecord:
    """A record whose `series` are arrays of one length: base of curves and profiles."""

    #: Fields with one value, and fields with one value for each place.
    key: ClassVar[tuple[str, ...]]
    series: ClassVar[tuple[str, ...]]

    def as_record(self) -> dict[str, Any]:
        """Return the fields, arrays as lists."""
        found = {name: getattr(self, name) for name in self.key}
        lists = {name: getattr(self, name).tolist() for name in self.series}
        return found | {name: [finite_or_none(x) for x in row] for name, row in lists.items()}

    def as_records(self) -> list[dict[str, Any]]:
        """Return one mapping for each place."""
        record = self.as_record()
        key = {name: record[name] for name in self.key}
        rows = zip(*(record[name] for name in self.series), strict=True)
        return [key | dict(zip(self.series, row, strict=True)) for row in rows]


def finite_or_none(value: Any) -> Any:
    """Return a value for JSON: a tuple as a list, None for a number that is not finite."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: finite_or_none(item) for name, item in value.items()}
    return [finite_or_none(item) for item in value] if isinstance(value, list | tuple) else value


R_co = TypeVar("R_co", bound=Record, covariant=True)


@dataclass(frozen=True, eq=False, repr=False)
class Results(Sequence[R_co], Generic[R_co]):
    """A frozen sequence of records: a table that prints, converts and draws itself.

    Equal to any sequence of the same records. A subclass names the columns that people see and the
    function that draws it.

    Parameters
    ----------
    records : tuple
        The records, in the order in which they are shown.
    settings : mapping
        How they were computed: method, level, seed, version and so on.
    warnings : tuple of str
        Warnings that occurred, such as an interval that the data do not permit.

    Examples
    --------
    >>> from gnomon.stats.estimates import Estimate
    >>> one = Estimate("dqn", "iqm", None, 0.5, 0.4, 0.6, 0.95, "student", 5, 6)
    >>> found = Results((one,))
    >>> len(found), found[0].metric
    (1, 'iqm')
    >>> found.as_records()[0]["value"]
    0.5
    """

    records: tuple[R_co, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    #: Fields in the printed table, in this order; all of them, if none is named.
    columns: ClassVar[tuple[str, ...]] = ()
    #: What draws it, as ``package.module:function``: drawing is a layer above the statistics, so it
    #: is looked up by name when it is needed. Called with the results, it returns a
    #: :class:`gnomon.plot.Figure`.
    drawn_by: ClassVar[str | None] = None

    @overload
    def __getitem__(self, index: int) -> R_co: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[R_co, ...]: ...
    def __getitem__(self, index: int | slice) -> R_co | tuple[R_co, ...]:
        return self.records[index]

    def __len__(self) -> int:
        return len(self.records)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str) or not isinstance(other, Sequence):
            return NotImplemented
        return [*self.records] == [*other]

    __hash__ = None  # type: ignore[assignment]  # equal to lists, which have none

    @property
    def title(self) -> str | None:
        """The line above the table, if any."""
        return None

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences below the table: how to read it."""
        return ()

    def rows(self) -> Sequence[Row]:
        """Return the rows of the printed table; a subclass may put them into words."""
        return self.as_records()

    def as_records(self) -> list[dict[str, Any]]:
        """Return the records as mappings fit for JSON."""
        rows = [x.as_records() if isinstance(x, SeriesRecord) else [x.as_record()] for x in self]
        return [row for own in rows for row in own]

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, width: int = 200) -> str:
        """Return the table for a terminal of that many columns, with the notes below it."""
        rows = self.rows()
        table = (
            text_table(rows, self._shown(rows), title=self.title, width=width)
            if rows
            else "no results"
        )
        return "\n".join([table, *map(visible, self.notes)])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        rows = self.rows()
        return html_table(rows, self._shown(rows), title=self.title, notes=self.notes)

    def to_latex(self) -> str:
        """Return the table for a paper (booktabs), intervals in brackets after their values."""
        rows = self.rows()
        return latex_table(rows, self._shown(rows))

    def to_pandas(self) -> pd.DataFrame:
        """Return every field of every record as a pandas data frame; pandas must be installed.

        A field that is a pair of numbers in some records, such as the least and the most runs of a
        task, gives two columns, ``NAME_min`` and ``NAME_max``.
        """
        import pandas as pd

        return pd.DataFrame(self._columns())

    def to_polars(self) -> pl.DataFrame:
        """Return :meth:`to_pandas` as a Polars data frame; Polars must be installed."""
        import polars as pl

        return pl.DataFrame(self._columns(), strict=False)

    def _columns(self) -> dict[str, list[Any]]:
        """Return the fields of all records as columns, each of one type."""
        records = self.as_records()
        columns: dict[str, list[Any]] = {}
        for name in dict.fromkeys(name for record in records for name in record):
            values = [record.get(name) for record in records]
            lists = [value for value in values if isinstance(value, list)]
            if lists and len(lists) < len(values):
                ends = [v if isinstance(v, list) else [v, v] for v in values]
                columns[f"{name}_min"] = [min(pair, default=None) for pair in ends]
                columns[f"{name}_max"] = [max(pair, default=None) for pair in ends]
            else:
                columns[name] = values
        return columns

    def figure(self) -> Any:
        """Return the drawing with its caption and its numbers, as a report carries it."""
        return self._drawn()

    def plot(self, ax: Any = None) -> Any:
        """Draw the results: a new Matplotlib figure, or one panel into axes that are given."""
        return self._drawn().drawing if ax is None else self._drawn(ax)

    def _drawn(self, ax: Any = None) -> Any:
        if self.drawn_by is None:
            raise TypeError(f"{type(self).__name__} has no figure")
        return pkgutil.resolve_name(self.drawn_by)(self, ax=ax)

    def where(self, **fields: Any) -> Self:
        """Return the results whose records have these values in these fields."""
        kept = [r for r in self if all(getattr(r, name) == x for name, x in fields.items())]
        return replace(self, records=tuple(kept))

    def _shown(self, rows: Sequence[Row]) -> Sequence[str]:
        """Return the columns that have an entry in some row; each is a field, or in the rows."""
        names = self.columns or (list(rows[0]) if rows else [])
        for name in names if rows else ():
            if not hasattr(self[0], name) and not any(name in row for row in rows):
                raise KeyError(f"{type(self).__name__} has no column {name!r}")
        return [name for name in names if any(row.get(name) not in (None, "", []) for row in rows)]


def generator(rng: np.random.Generator | int | None = None) -> np.random.Generator:
    """Return a generator as it is, or a new one of that seed; 0 if none is named."""
    import numpy as np

    try:
        return np.random.default_rng(0 if rng is None else rng)
    except (TypeError, ValueError):
        found = shortened(repr(rng))
        raise TypeError(f"rng: expected a generator or a seed, 0 or more, found {found}") from None


def made_by(rng: np.random.Generator | int | None, **settings: Any) -> dict[str, Any]:
    """Return settings with the seed, None for a generator at work, and the version of Gnomon."""
    from gnomon._version import __version__

    seed = 0 if rng is None else rng if isinstance(rng, int) else None
    return {**settings, "seed": seed, "version": __version__}


@contextmanager
def recorded(*, silently: bool = False) -> Iterator[list[str]]:
    """Keep the texts of degenerate scores' warnings, each once; the list is filled at the end.

    All warnings are shown as usual, except those that are kept silently.
    """
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DegenerateScoresWarning)
        yield notes
    ours = [each for each in caught if issubclass(each.category, DegenerateScoresWarning)]
    notes[:] = dict.fromkeys(str(each.message) for each in ours)
    for each in caught:
        if not (silently and each in ours):
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)


def noted() -> AbstractContextManager[list[str]]:
    """Keep the texts of degenerate scores' warnings silently; others are shown as usual."""
    return recorded(silently=True)
