"""Results of a computation: frozen records in a table that shows itself.

What a verb returns (estimates, comparisons, ranks, ...) is a :class:`Results`: a sequence of small
records, with the settings that made them and the warnings that came up. The command line, a report
and a notebook show that object; nobody formats a second time.
"""

from __future__ import annotations

import math
import pkgutil
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, Self, TypeVar, overload

from gnomon.errors import DegenerateScoresWarning, visible
from gnomon.tables import html_table, latex_table, text_table

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import polars as pl

Row = Mapping[str, Any]


class Record(Protocol):
    """A small frozen record that can be written as JSON."""

    def as_record(self) -> dict[str, Any]:
        """Return the fields as a mapping fit for JSON, None for what is not a finite number."""


@dataclass(frozen=True)
class FieldRecord:
    """A record that is its fields: base of frozen data classes of numbers, texts and tuples.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Cost(FieldRecord):
    ...     tasks: tuple[str, ...]
    ...     hours: float
    >>> Cost(("pong", "qbert"), float("nan")).as_record()
    {'tasks': ['pong', 'qbert'], 'hours': None}
    """

    def as_record(self) -> dict[str, Any]:
        """Return the fields: a tuple as a list, None for what is not a finite number."""
        return {f.name: finite_or_none(getattr(self, f.name)) for f in fields(self)}


def finite_or_none(value: Any) -> Any:
    """Return a value as JSON can hold it: a tuple as a list, None for what is no finite number."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return [finite_or_none(item) for item in value] if isinstance(value, tuple) else value


R_co = TypeVar("R_co", bound=Record, covariant=True)


@dataclass(frozen=True, eq=False, repr=False)
class Results(Sequence[R_co], Generic[R_co]):
    """A frozen sequence of records that shows itself as a table, a data frame or a figure.

    Equal to any sequence of the same records. A subclass names the columns that people see and the
    function that draws it.

    Parameters
    ----------
    records : tuple
        The records, in the order in which they are shown.
    settings : mapping
        How they were made: method, level, seed, version and the like.
    warnings : tuple of str
        What the data did not allow, each text once.

    Examples
    --------
    >>> from gnomon.stats.estimates import Estimate
    >>> one = Estimate("dqn", "iqm", 0.5, 0.4, 0.6, 0.95, "delta_t", 5, 6, 0, 0.0)
    >>> found = Results((one,))
    >>> len(found), found[0].metric
    (1, 'iqm')
    >>> found.to_frame().columns[:3]
    ['algorithm', 'metric', 'value']
    """

    records: tuple[R_co, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    #: Which fields people see, in this order; all of them, if none is named.
    columns: ClassVar[tuple[str, ...]] = ()
    #: What draws it, as ``package.module:function``: drawing stands above the statistics, so it is
    #: looked up by name when it is asked for. Called with the results, it returns a
    #: :class:`gnomon.plot.record.Figure`.
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
        """What stands above the table, if anything."""
        return None

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences below the table: how to read it."""
        return ()

    def rows(self) -> Sequence[Row]:
        """Return what people see, a mapping a row; a subclass may put it into words."""
        return self.as_records()

    def as_records(self) -> list[dict[str, Any]]:
        """Return the records as mappings fit for JSON."""
        return [record.as_record() for record in self.records]

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

    def to_frame(self) -> pl.DataFrame:
        """Return every field of every record as a Polars data frame."""
        import polars as pl

        return pl.DataFrame(self.as_records(), infer_schema_length=None)

    def to_pandas(self) -> pd.DataFrame:
        """Return :meth:`to_frame` as a pandas data frame; pandas must be installed."""
        import pandas as pd

        return pd.DataFrame(self.as_records())

    def figure(self) -> Any:
        """Return the drawing with its caption and its numbers, as a report carries it.

        Raises
        ------
        TypeError
            Nothing draws results of this kind.
        """
        if self.drawn_by is None:
            raise TypeError(f"{type(self).__name__} has no figure")
        return pkgutil.resolve_name(self.drawn_by)(self)

    def plot(self, ax: Any = None) -> Any:
        """Draw the results: a new Matplotlib figure, or one panel into axes that are given."""
        if ax is None:
            return self.figure().drawing
        if self.drawn_by is None:
            raise TypeError(f"{type(self).__name__} has no figure")
        return pkgutil.resolve_name(self.drawn_by)(self, ax=ax)

    def where(self, **fields: Any) -> Self:
        """Return the results whose records have these values in these fields.

        Examples
        --------
        >>> from gnomon.stats.estimates import Estimate
        >>> one = Estimate("dqn", "iqm", 0.5, 0.4, 0.6, 0.95, "delta_t", 5, 6, 0, 0.0)
        >>> len(Results((one,)).where(metric="mean"))
        0
        """
        kept = [r for r in self if all(getattr(r, name) == x for name, x in fields.items())]
        return replace(self, records=tuple(kept))

    def _shown(self, rows: Sequence[Row]) -> Sequence[str]:
        return self.columns or (list(rows[0]) if rows else [])


def generator(rng: np.random.Generator | int | None) -> np.random.Generator:
    """Return a generator as it is, or a new one of that seed; 0 if none is named."""
    import numpy as np

    return np.random.default_rng(0 if rng is None else rng)


def made_by(rng: np.random.Generator | int | None, **settings: Any) -> dict[str, Any]:
    """Return settings with the seed, None for a generator at work, and the version of Gnomon."""
    from gnomon._version import __version__

    seed = 0 if rng is None else rng if isinstance(rng, int) else None
    return {**settings, "seed": seed, "version": __version__}


@contextmanager
def noted() -> Iterator[list[str]]:
    """Keep the texts of degenerate scores' warnings, each once; other warnings go on their way.

    The list is filled when the block ends.

    Examples
    --------
    >>> with noted() as notes:
    ...     warnings.warn("one run only", DegenerateScoresWarning)
    >>> notes
    ['one run only']
    """
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DegenerateScoresWarning)
        yield notes
    for warning in caught:
        if issubclass(warning.category, DegenerateScoresWarning):
            notes.append(str(warning.message))
        else:
            _warn_again(warning)
    notes[:] = dict.fromkeys(notes)


@contextmanager
def recorded() -> Iterator[list[str]]:
    """Keep the texts of degenerate scores' warnings, each once, and let all go on their way."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DegenerateScoresWarning)
        yield notes
    ours = [w for w in caught if issubclass(w.category, DegenerateScoresWarning)]
    notes[:] = dict.fromkeys(str(w.message) for w in ours)
    for warning in caught:
        _warn_again(warning)


def _warn_again(warning: warnings.WarningMessage) -> None:
    where = warning.filename, warning.lineno
    warnings.warn_explicit(warning.message, warning.category, *where)
