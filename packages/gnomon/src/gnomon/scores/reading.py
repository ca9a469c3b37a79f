"""``read_scores`` makes a table of files, folders, data frames, arrays and records."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np

from gnomon.errors import ScoreDataError, check_word, either, listed, note
from gnomon.scores.checks import check_inputs, refuse_summaries, suspicions
from gnomon.scores.columns import Rows, Texts, first_equal
from gnomon.scores.readers.registry import ColumnsAre, ReadRequest, Source, read_with, recognised
from gnomon.scores.table import ScoreTable, Units
from gnomon.scores.tidy import KEY, Origin, numbered, tidy_rows

_Place = str | os.PathLike[str]
#: Where scores lie: in one place, in several, or in some that have the names of algorithms.
Places = _Place | Sequence[_Place] | Mapping[str, _Place]


class Frame(Protocol):
    """A data frame, a mapping or a list: its columns or rows are looked up by name or place."""

    def __getitem__(self, key: Any, /) -> Any:
        """Return a column."""


#: What a verb takes: a table, a path, a data frame, arrays by algorithm, or records.
Scores = ScoreTable | os.PathLike[str] | Frame


def read_scores(
    source: Places | Frame,
    *,
    metric: str | None = None,
    columns: Mapping[str, str] | None = None,
    where: Mapping[str, Any] | None = None,
    run_names: str | None = None,
    columns_are: ColumnsAre | None = None,
    higher_is_better: bool | None = None,
    format: str | None = None,
    curves: bool = False,
    units: Units | None = None,
    cluster: str | None = None,
    within_run: Literal["mean"] | None = None,
    at: float | Literal["end"] | None = None,
    window: int | None = None,
) -> ScoreTable:
    r"""Read scores from a file or folder of any format that a reader recognises, or from memory.

    These are tidy files (CSV, TSV, Parquet), tables as papers print them, what other tools
    write, and the names of data sets: :func:`available_readers` lists them. A data frame gives what
    a file with its columns gives.

    Parameters
    ----------
    source : path, sequence of paths, mapping from algorithm to path, data frame, arrays or records
        A file, a folder, or a name that :func:`gnomon.scores.load_scores` knows. Several
        are merged; each source of a mapping contains one algorithm, which gets the name.
        In memory: a data frame of pandas, Polars or PyArrow, a mapping of columns, an array (runs,
        tasks) for each algorithm as rliable has them, or a mapping for each row.
    metric : str, optional
        Which score, where the source holds several.
    columns : mapping, optional
        The names of columns in a tidy file: ``{"algorithm": "Name", "step": "frames"}``; ``item``
        is the column of items of an evaluation.
    where : mapping, optional
        Attribute values that a row must have to be read, for example ``{"suite": "atari57"}``.
    run_names : str, optional
        The pattern of names of runs, of ``{algorithm}``, ``{task}``, ``{run}`` and ``{}`` for a
        part to ignore: ``{task}__{algorithm}__{run}``. For exports of trackers.
    columns_are : {"algorithms", "tasks", "runs"}, optional
        What the columns of a pivot are, a table with a row for each seed or step.
    higher_is_better : bool, optional
        The direction; higher is better if neither this nor the source states it.
    format : str, optional
        The name of a reader, for a source that is not recognised, or by several.
    curves : bool
        Whether learning curves are wanted, where a source holds other scores as well: a run folder,
        or results of marl-eval.
    units : {"tasks", "items"}, optional
        What a task is; by default as in the source: logs of evaluations and files of
        ``model, item, correct`` are of items, all else is of tasks.
    cluster : str, optional
        For items, the attribute that gives the cluster of each, such as a document or a topic.
    within_run : {"mean"}, optional
        How to combine several rows of one run, such as evaluation episodes. Without it, such rows
        are refused.
    at : float or "end", optional
        For curves, the step whose score is that of the run, or the end of each run by itself.
    window : int, optional
        The score of a run is the mean of this number of scores: of logs with a row for each episode
        the last ones (100 if not given), of curves those up to the last step that all runs on the
        task reach.

    Returns
    -------
    ScoreTable

    Raises
    ------
    ScoreDataError
        No reader recognises the source, or several do; it cannot be read; or an option does not
        apply to it. The message names file, line and column.
    UnknownNameError
        There is no such metric, format or column.
    TypeError
        `source` is none of these.

    Warns
    -----
    DegenerateScoresWarning
        The table looks like a mistake (tasks that are seeds, axes swapped, episodes as runs), or
        something was left out.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "wide.csv"
    ...     _ = path.write_text("algorithm,pong,breakout\nours,1.0,2.0\n")
    ...     print(read_scores(path))
    2 scores (score, higher is better): 1 algorithm, 2 tasks, 1 run
    """
    if isinstance(at, str):
        check_word("at", at, ("end",))
    if columns and "item" in columns:  # then tasks are items
        columns = {"task" if name == "item" else name: x for name, x in columns.items()}
        units = units or "items"
    if window is not None and window < 1:
        raise ScoreDataError(f"expected a window of 1 or more scores, found {window}")
    wanted = ReadRequest(
        metric=metric,
        curves=curves,
        where=where or {},
        columns=columns or {},
        run_names=run_names,
        columns_are=columns_are,
        higher_is_better=higher_is_better,
        units=units,
        within_run=within_run,
        window=window,
    )
    named = _sources(source)
    readers = [recognised(one, wanted, format) for _, one in named]
    tables = [
        _under(name, read_with(reader, one, wanted))
        for (name, one), reader in zip(named, readers, strict=True)
    ]
    table = _joined(tables)
    for message in suspicions(table, run_column=(columns or {}).get("run")):
        note(message)
    table = replace(table, units=units or table.units, cluster=cluster or table.cluster)
    averaged = window is not None and not all("window" in reader.takes for reader in readers)
    if table.units == "items" and table.cluster is None and "cluster" in table.rows:
        remedy = either(
            "cluster='cluster'", "gnomon read FILE --cluster cluster --out CLUSTERED.csv"
        )
        if len(table.rows.texts("cluster").names) > 1:
            note(
                "column 'cluster' is not used: items are treated as independent, and intervals are "
                f"too narrow if items of a cluster are alike; {remedy} makes them clusters"
            )
    if at == "end" and not averaged:
        table = table.last_step()
    elif at is not None or averaged:
        from gnomon.scores.steps import at_common_step, mean_of_last

        if at == "end":
            table = mean_of_last(table, window or 1)
        else:  # monitors have averaged their episodes
            table = at_common_step(table, at, window=window if averaged else None)
    return table


def _sources(source: Any) -> list[tuple[str | None, Source]]:
    """Return the sources, each with the name that its algorithm is to get, if any."""
    many = list(source.values()) if isinstance(source, Mapping) else source
    if isinstance(source, str | os.PathLike):
        return [(None, Source(Path(source)))]
    if not isinstance(many, list | tuple) or not all(
        isinstance(x, str | os.PathLike) for x in many
    ):
        return [(None, Source(None, source))]
    if not many:
        raise ScoreDataError("expected a source of scores, found none")
    names = map(str, source) if isinstance(source, Mapping) else [None] * len(many)
    return [(name, Source(Path(place))) for name, place in zip(names, many, strict=True)]


def _under(name: str | None, table: ScoreTable) -> ScoreTable:
    """Return the table of one algorithm under its name in a mapping, any other as it is."""
    if name is None:
        return table
    if len(table.algorithms) != 1:
        found = listed(table.algorithms)
        raise ScoreDataError(f"{name}: expected one algorithm to give this name, found {found}")
    column = Texts.repeated(name, len(table))
    return replace(table, rows=table.rows.with_columns({"algorithm": column}))


def _joined(tables: Sequence[ScoreTable]) -> ScoreTable:
    """Return one table of the rows of several, whose scores are of one kind."""
    first, *others = tables
    for other in others:
        for name in ("metric", "unit", "higher_is_better", "units", "cluster", "of_summaries"):
            one, two = getattr(first, name), getattr(other, name)
            if one != two:
                message = f"expected one kind of scores in all sources; {name} is {one} and {two}"
                raise ScoreDataError(message)
    if not others:
        return first
    rows = Rows.joined([table.rows for table in tables])
    check_inputs(rows, "sources")
    _refuse_overlap(rows, tables)
    provenance = tuple(line for table in tables for line in table.provenance)
    return replace(first, rows=tidy_rows(rows, Origin("sources"), {}), provenance=provenance)


def _refuse_overlap(rows: Rows, tables: Sequence[ScoreTable]) -> None:
    """Refuse two sources that hold scores of one run."""
    key = [name for name in KEY if name in rows]
    number, _ = numbered(rows, key)
    first = first_equal(number)
    again = first != np.arange(len(rows))
    if again.any():
        at = int(np.argmax(again))
        ends = np.cumsum([len(table) for table in tables])
        places = [int(np.searchsorted(ends, row, "right")) + 1 for row in (first[at], at)]
        shown = ", ".join(f"{name} {rows.take([at]).tolist(name)[0]}" for name in key)
        raise ScoreDataError(
            f"sources {places[0]} and {places[1]} both hold {shown}: leave one out, or "
            + either("map the name of each algorithm to its source", "write NAME=PATH")
            + " if they are of different algorithms"
        )


def table_of(scores: Scores, *, curves: bool = False, summaries: bool = False) -> ScoreTable:
    """Return the table of what a verb is given; unless curves are wanted, one score of each run.

    Runs that stand in for means and deviations are refused unless `summaries` suffice.
    """
    from gnomon.scores.steps import at_common_step

    table = scores if isinstance(scores, ScoreTable) else read_scores(scores, curves=curves)
    if not summaries:
        refuse_summaries(table)
    return table if curves else at_common_step(table)
