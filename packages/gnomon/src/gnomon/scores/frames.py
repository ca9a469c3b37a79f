"""Rows of what a caller has in memory: data frames, arrays, mappings of columns and records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.errors import ScoreDataError
from gnomon.scores.columns import Codes, Column, Rows, Texts, as_text

#: Number of records that become columns at a time.
_PIECE = 10_000


def column_of(values: Iterable[Any], name: str) -> Column:
    """Return a column of Python values: of numbers if all are, else of texts."""
    values = list(values)
    kinds = {type(value) for value in values}
    if kinds <= {int}:
        try:
            return np.array(values, np.int64)
        except OverflowError:
            return Texts.of([str(value) for value in values])
    if kinds <= {bool}:
        return np.array(values, bool)
    if kinds <= {str}:
        return Texts.of(values)
    found = [None if _is_missing(value) else value for value in values]
    if bool in kinds and all(value is None or isinstance(value, bool) for value in found):
        return Texts.of([None if value is None else str(value).lower() for value in found])
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
    return Texts.of([None if value is None else as_text(value) for value in found])


def rows_of_records(records: Iterable[Mapping[str, Any]]) -> Rows:
    """Return one row for each mapping; a name that one lacks is missing there."""
    parts, source = [], iter(records)
    while piece := list(islice(source, _PIECE)):
        names = dict.fromkeys(name for row in piece for name in row)
        parts.append(Rows({x: column_of([row.get(x) for row in piece], x) for x in names}))
    return parts[0] if len(parts) == 1 else Rows.joined(parts)


def rows_of_columns(columns: Mapping[Any, Iterable[Any]]) -> Rows:
    """Return the rows of columns of any kind, by their names."""
    _check_different(columns)
    return Rows({str(name): _column(values, str(name)) for name, values in columns.items()})


def _check_different(names: Iterable[Any]) -> None:
    if twice := [name for name, n in Counter(map(str, names)).items() if n > 1]:
        raise ScoreDataError(f"expected columns of different names, found {twice[0]!r} twice")


def rows_of_frame(frame: Any) -> Rows:
    """Return the rows of a data frame, a mapping of columns or of arrays, or a list of records."""
    if isinstance(frame, Rows):
        return frame
    if isinstance(frame, Mapping) and all(map(np.iterable, frame.values())):
        if frame and all(map(_is_array, frame.values())):
            return rows_of_arrays(frame)
        return rows_of_columns(frame)
    if isinstance(frame, list | tuple) and frame and all(isinstance(x, Mapping) for x in frame):
        return rows_of_records(frame)
    for method in ("to_native", "collect"):  # a frame of narwhals, a lazy one of Polars
        if hasattr(frame, method):
            frame = getattr(frame, method)()
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
    """Return the rows of a data frame or series of pandas, with the index where it says anything.

    An index without a name is left out if it holds numbers, and called "" if it holds texts.
    """
    frame = frame.to_frame() if frame.ndim == 1 else frame
    if frame.columns.nlevels > 1:
        raise ScoreDataError(
            f"expected one row of headings, found {frame.columns.nlevels} levels: pass "
            "frame.stack(...).reset_index(), or one heading for each column"
        )
    _check_different(frame.columns)
    levels = [frame.index.get_level_values(at) for at in range(frame.index.nlevels)]
    columns = {str(x.name): x for x in levels if x.name is not None}
    for name, level in columns.items():
        if name in frame.columns and not frame.set_index(name).index.equals(level):
            raise ScoreDataError(
                f"expected {name!r} as a column or as a level of the index, found both, and they "
                "differ"
            )
    if levels[0].name is None and not hasattr(levels[0], "step") and "" not in frame.columns:
        first = _column(levels[0], "")
        columns = ({"": first} if isinstance(first, Texts) else {}) | columns
    return rows_of_columns(columns | {str(name): frame[name] for name in frame.columns})


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
    array = values if isinstance(values, np.ndarray) else _numbers_of(values)
    if array is not None and array.dtype.kind == "U" and array.ndim == 1:
        # As Python strings all rows at once would take ten times the memory.
        parts = (array[i : i + 65_536].tolist() for i in range(0, array.size, 65_536))
        return Texts.of_values(chain.from_iterable(parts), array.size)
    if array is not None and array.dtype.kind in "iu" and array.ndim == 1:
        if array.size == 0 or array.max() <= np.iinfo(np.int64).max:
            return array.astype(np.int64)
    elif array is not None and array.dtype.kind in "fb" and array.ndim == 1:
        return array.astype(bool if array.dtype.kind == "b" else np.float64)
    for method in ("to_list", "to_pylist", "tolist"):
        if hasattr(values, method):
            return column_of(getattr(values, method)(), name)
    return column_of(values, name)


def _numbers_of(values: Any) -> npt.NDArray[Any] | None:
    """Return the array of a column of a data frame that holds numbers without gaps."""
    kind = str(getattr(values, "dtype", getattr(values, "type", ""))).lower()
    if kind.startswith(("int", "uint", "float", "bool", "double")) and hasattr(values, "to_numpy"):
        with_gaps = getattr(values, "null_count", 0)
        if (with_gaps() if callable(with_gaps) else with_gaps) == 0:
            return np.asarray(values.to_numpy())
    return None


def _is_missing(value: Any) -> bool:
    if isinstance(value, float):
        return value != value
    return value is None or type(value).__name__ in ("NAType", "NaTType")
