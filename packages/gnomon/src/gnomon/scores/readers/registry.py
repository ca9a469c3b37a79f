"""Readers of score files, the registry that asks which one recognises a file, and ``read_scores``.

A reader is a record: a name, what it reads, whether it recognises a path by its look, and a
function that reads it. Those of this package are named in :data:`BUILT_IN`; other packages add
theirs under the entry-point group ``gnomon.readers``.
"""

from __future__ import annotations

import os
import pkgutil
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, Protocol, get_args

from gnomon.errors import ScoreDataError, UnknownNameError, check_word, listed, reading
from gnomon.scores.columns import Rows, Texts
from gnomon.scores.items import check_inputs
from gnomon.scores.plausibility import warn_of_suspicions
from gnomon.scores.readers.files import header_names, is_table, json_content
from gnomon.scores.table import ScoreTable, Units
from gnomon.scores.tidy import REQUIRED, Origin, tidy_rows

#: What the columns of a pivot may be.
ColumnsAre = Literal["algorithms", "tasks", "runs"]

#: The entry-point group under which a package names its readers.
GROUP = "gnomon.readers"

#: Readers by name, imported when they are first needed. General ones come in the order in which
#: they are asked.
BUILT_IN = (
    "gnomon.scores.datasets:READER",
    "gnomon.scores.readers.wide:OPENRLBENCHMARK",
    "gnomon.scores.readers.trackers:WANDB_CHART",
    "gnomon.scores.readers.trackers:TRACKER_TABLE",
    "gnomon.scores.readers.training:TENSORBOARD_CSV",
    "gnomon.scores.readers.training:EVALUATIONS",
    "gnomon.scores.readers.training:MONITORS",
    "gnomon.scores.readers.training:MARL_EVAL",
    "gnomon.scores.readers.inspect_logs:INSPECT",
    "gnomon.scores.readers.lm_eval:LM_EVAL_SAMPLES",
    "gnomon.scores.readers.helm:HELM",
    "gnomon.scores.readers.votes:VOTES",
    "gnomon.scores.readers.boards:SWE_BENCH",
    "gnomon.scores.readers.boards:EVALPLUS",
    "gnomon.scores.readers.boards:BOARD",
    "gnomon.scores.readers.tables:ITEM_FILE",
    "gnomon.scores.readers.wide:PIVOT",
    "gnomon.scores.readers.lm_eval:LM_EVAL",
    "gnomon.scores.readers.tables:RECORDS",
    "gnomon.scores.readers.arrays:ARRAYS",
    "gnomon.scores.readers.wide:WIDE",
    "gnomon.scores.readers.tables:TIDY",
)

_Place = str | os.PathLike[str]
_RECORDS = 'records in JSON: [{"algorithm": ..., "task": ..., "run": ..., "score": ...}, ...]'

#: What an option of :func:`read_scores` needs, in the words of a message.
_NEEDS = {
    "metric": "scores to choose from",
    "where": "columns to select rows by",
    "columns": "columns to name",
    "run_names": "names of runs to take apart",
    "columns_are": "columns and their meaning",
    "within_run": "rows of one run to average",
}


@dataclass(frozen=True, kw_only=True)
class ReadRequest:
    """Which scores of a source are wanted, and how it is to be read.

    Parameters
    ----------
    metric, curves, where, columns, run_names, columns_are, higher_is_better, count_empty, units, \
    within_run, window
        As in :func:`read_scores`.
    """

    metric: str | None = None
    curves: bool = False
    where: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    run_names: str | None = None
    columns_are: ColumnsAre | None = None
    higher_is_better: bool | None = None
    count_empty: bool = True
    units: Units | None = None
    within_run: str | None = None
    window: int | None = None

    @property
    def is_higher_better(self) -> bool:
        """The direction for a source that does not state it; higher by default."""
        return self.higher_is_better is not False


@dataclass(frozen=True)
class Reader:
    """A format of score files: how it is recognised, and how it is read.

    Parameters
    ----------
    name : str
        As ``format`` of :func:`read_scores` takes it.
    description : str
        What it reads, as part of a sentence.
    recognises : callable
        Whether a path looks like this format: cheaply, and without an error. The path may not
        exist.
    read : callable
        The scores that lie there; a :class:`gnomon.errors.ScoreDataError` describes an error.
    takes : frozenset of str
        Those of ``metric``, ``where``, ``columns``, ``run_names`` and ``columns_are`` that have a
        meaning for this format.
    is_general : bool
        Whether it recognises little more than the ending of a name: it is asked only where no
        other reader recognises the file.
    units : {"tasks", "items"}
        What a task of its tables is. One of items is not asked where tasks are wanted.
    step : str
        What a step of its learning curves is, such as an episode.

    Examples
    --------
    >>> reader = Reader(
    ...     "numbers", "a file of numbers, one a line",
    ...     recognises=lambda path: path.suffix == ".numbers",
    ...     read=lambda path, wanted: ScoreTable.from_arrays(
    ...         {path.stem: [[float(line)] for line in path.read_text().splitlines()]}),
    ... )
    >>> reader.recognises(Path("dqn.numbers"))
    True
    """

    name: str
    description: str
    recognises: Callable[[Path], bool]
    read: Callable[[Path, ReadRequest], ScoreTable]
    takes: frozenset[str] = frozenset()
    is_general: bool = False
    units: Units = "tasks"
    step: str = "step"


def available_readers() -> dict[str, str]:
    """Return the formats that :func:`read_scores` knows, each with what it reads.

    Examples
    --------
    >>> available_readers()["wide"]
    'a CSV or TSV table with a row per algorithm and a column per task'
    """
    return {reader.name: reader.description for reader in _readers()}


#: Where scores lie: in one place, in several, or in some that have the names of algorithms.
_Sources = _Place | Sequence[_Place] | Mapping[str, _Place]


def read_scores(
    source: _Sources,
    *,
    metric: str | None = None,
    normalize: str | None = None,
    columns: Mapping[str, str] | None = None,
    where: Mapping[str, Any] | None = None,
    run_names: str | None = None,
    columns_are: ColumnsAre | None = None,
    higher_is_better: bool | None = None,
    format: str | None = None,
    count_empty: bool = True,
    curves: bool = False,
    units: Units | None = None,
    cluster: str | None = None,
    rename: Mapping[str, str] | None = None,
    within_run: str | None = None,
    at: float | Literal["end"] | None = None,
    window: int | None = None,
) -> ScoreTable:
    r"""Read scores from a file or folder of any format that a reader recognises.

    These are tidy files (CSV, TSV, Parquet), tables as papers print them, what other tools
    write, run folders, game logs, and the names of data sets: :func:`available_readers` lists them.

    Parameters
    ----------
    source : path, sequence of paths, or mapping from algorithm to path
        A file, a folder, or a name that :func:`gnomon.scores.load_scores` knows. Of several, the
        rows are put together; those of a mapping hold one algorithm each, which gets the name.
    metric : str, optional
        Which score, where the source holds several.
    normalize : str, optional
        The scale to put the scores on, as :func:`gnomon.scores.normalize` names it.
    columns : mapping, optional
        What the columns of a tidy file are called: ``{"algorithm": "Name", "step": "frames"}``.
    where : mapping, optional
        Attribute values that a row must have to be read, for example ``{"suite": "atari57"}``.
    run_names : str, optional
        How names of runs are made, of parts ``{algorithm}``, ``{task}``, ``{run}`` and ``{}`` for
        what means nothing: ``{task}__{algorithm}__{run}``. For exports of trackers.
    columns_are : {"algorithms", "tasks", "runs"}, optional
        What the columns of a pivot are, a table with a row for each seed or step.
    higher_is_better : bool, optional
        The direction; higher is better if neither this nor the source states it.
    format : str, optional
        The name of a reader, for a source that is not recognised, or by several.
    count_empty : bool
        Whether attempts on empty cells are errors, in a run folder.
    curves : bool
        Whether learning curves are wanted, where a source holds other scores as well: a run folder,
        or results of marl-eval.
    units : {"tasks", "items"}, optional
        What a task is; as the source has it if not given: logs of evaluations and files of
        ``model, item, correct`` are of items, all else is of tasks.
    cluster : str, optional
        For items, the attribute that gives the cluster of each, such as a document or a topic.
    rename : mapping, optional
        What algorithms are to be called that the source calls otherwise: ``{"tiny": "Tiny 1B"}``.
    within_run : {"mean"}, optional
        What becomes of several rows of one run, such as evaluation episodes: their mean. Without
        it, such rows are refused.
    at : float or "end", optional
        Of curves, the step whose score is that of the run, or the end of each run by itself.
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
        No reader recognises the source, or several do; it cannot be read as what it looks like, or
        has nothing that an option could mean. The message names file, line and column.
    UnknownNameError
        There is no such metric, format, normalisation or column.

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
    if columns_are is not None:
        check_word("columns_are", columns_are, get_args(ColumnsAre))
    if isinstance(at, str):
        check_word("at", at, ("end",))
    wanted = ReadRequest(
        metric=metric,
        curves=curves,
        where=where or {},
        columns=columns or {},
        run_names=run_names,
        columns_are=columns_are,
        higher_is_better=higher_is_better,
        count_empty=count_empty,
        units=units,
        within_run=within_run,
        window=window,
    )
    places = _named_paths(source)
    readers = [_recognised(path, wanted, format) for path in places.values()]
    tables = [
        _under(name, _read(path, wanted, reader))
        for (name, path), reader in zip(places.items(), readers, strict=True)
    ]
    table = warn_of_suspicions(_renamed(_joined(tables), rename or {}))
    if units is not None or cluster is not None:
        table = replace(table, units=units or table.units, cluster=cluster)
    if at == "end":
        table = table.last_step()
    elif at is not None or (window and not all("window" in reader.takes for reader in readers)):
        from gnomon.scores.steps import at_common_step

        table = at_common_step(table, at, window=window)
    if normalize is None:
        return table
    from gnomon.scores import normalization

    return normalization.normalize(table, normalize)


def _joined(tables: Sequence[ScoreTable]) -> ScoreTable:
    """Return one table of the rows of several, whose scores are of one kind."""
    first, *others = tables
    for other in others:
        for name in ("metric", "unit", "higher_is_better", "units", "cluster"):
            one, two = getattr(first, name), getattr(other, name)
            if one != two:
                message = f"expected one kind of scores in all sources; {name} is {one} and {two}"
                raise ScoreDataError(message)
    if not others:
        return first
    rows = Rows.joined([table.rows for table in tables])
    check_inputs(rows, "sources")
    provenance = tuple(line for table in tables for line in table.provenance)
    return replace(first, rows=tidy_rows(rows, Origin("sources"), {}), provenance=provenance)


def _renamed(table: ScoreTable, names: Mapping[str, str]) -> ScoreTable:
    """Return a table in which some algorithms have other names."""
    for name in names:
        if name not in table.algorithms:
            raise UnknownNameError("algorithm", name, table.algorithms)
    found = [names.get(name, name) for name in table.algorithms]
    twice = [name for name in found if found.count(name) > 1]
    if twice:
        raise ScoreDataError(f"expected algorithms of different names, found {twice[0]!r} twice")
    column = Texts(table.rows["algorithm"].codes, tuple(found))
    return replace(table, rows=table.rows.with_columns({"algorithm": column}))


class Frame(Protocol):
    """A data frame, a mapping or a list: its columns or rows are looked up by name or place."""

    def __getitem__(self, key: Any, /) -> Any:
        """Return a column."""


#: What a verb takes: a table, a path, a data frame, arrays by algorithm, or records.
Scores = ScoreTable | os.PathLike[str] | Frame


def table_of(scores: Scores, metric: str | None = None) -> ScoreTable:
    """Return the table of whatever a verb is given.

    Parameters
    ----------
    scores : ScoreTable, path, data frame, mapping or list of records
        A table; where scores lie, as :func:`read_scores` takes it; a data frame of pandas, Polars
        or PyArrow; a mapping of columns; one array (runs, tasks) for each algorithm, as rliable has
        them; or one mapping for each row.
    metric : str, optional
        Which score, where files have several.

    Raises
    ------
    TypeError
        `scores` is none of these.

    Examples
    --------
    >>> table_of({"dqn": [[1.0, 2.0], [3.0, 4.0]]}).run_counts
    array([[2, 2]])
    """
    if isinstance(scores, ScoreTable):
        return scores
    if isinstance(scores, str | os.PathLike):
        return read_scores(scores, metric=metric)
    source: Any = scores
    many = list(source.values()) if isinstance(source, Mapping) else source
    if isinstance(many, list | tuple) and many and all(isinstance(x, str | Path) for x in many):
        return read_scores(source, metric=metric)
    return warn_of_suspicions(ScoreTable(scores))


def _named_paths(source: object) -> dict[str | Path, Path]:
    """Return the places where scores lie, by the name of their algorithm or, without, by place."""
    if isinstance(source, str | os.PathLike):
        source = [source]
    many = source if isinstance(source, list | tuple | Mapping) else [source]
    items = many.items() if isinstance(many, Mapping) else [(None, place) for place in many]
    found: dict[str | Path, Path] = {}
    for name, place in items:
        if not isinstance(place, str | os.PathLike):
            kind = type(source).__name__
            raise TypeError(
                f"expected a path, found {kind}; ScoreTable.from_frame takes data frames and arrays"
            )
        found[Path(place) if name is None else str(name)] = Path(place)
    if not found:
        raise ScoreDataError("expected a source of scores, found none")
    return found


def _read(path: Path, wanted: ReadRequest, reader: Reader) -> ScoreTable:
    """Read one source with the reader of its format."""
    for name, what in _NEEDS.items():
        if getattr(wanted, name) and name not in reader.takes:
            raise ScoreDataError(f"{path}: the format {reader.name!r} has no {what}")
    table = reader.read(path, wanted)
    asked = wanted.higher_is_better
    if asked is not None and table.higher_is_better != asked:
        direction = "higher" if table.higher_is_better else "lower"
        raise ScoreDataError(f"{path}: {direction} is better there; expected no other direction")
    return table


def _under(name: str | Path, table: ScoreTable) -> ScoreTable:
    """Return the table of one algorithm under its name in a mapping, any other as it is."""
    if isinstance(name, Path):
        return table
    if len(table.algorithms) != 1:
        found = listed(table.algorithms)
        raise ScoreDataError(f"{name}: expected one algorithm to give this name, found {found}")
    return _renamed(table, {table.algorithms[0]: name})


def _recognised(path: Path, wanted: ReadRequest, format: str | None) -> Reader:
    """Return the named reader, the one that recognises a path, or the first apt general one."""
    if format is not None:
        return _named(format)
    if not wanted.columns_are and wanted.units != "items" and is_tidy(path):
        return _tidy()
    _refuse_endings(path)
    if wanted.columns_are is not None:
        return _named("pivot")
    every = [r for r in _readers() if wanted.units != "tasks" or r.units == "tasks"]
    found = _recognising(path, [reader for reader in every if not reader.is_general])
    if len(found) > 1:
        names = " and ".join(repr(reader.name) for reader in found)
        raise ScoreDataError(
            f"{path}: recognised as {names}; expected one format: "
            f"{reading(str(path), format=found[0].name)} names it"
        )
    found = found or _recognising(path, [reader for reader in every if reader.is_general])
    others = [r for r in _readers() if r not in every and r.name != "items"]
    logs = _recognising(path, others) if path.exists() else []
    # Beside samples of lm-eval lie results, which are of tasks.
    if logs and "lm-eval" not in [reader.name for reader in found]:
        raise ScoreDataError(f"{path}: expected tasks, found items of the format {logs[0].name!r}")
    if not found:
        raise _unknown_format(path)
    # Of several general readers, the first that takes the options.
    needed = [name for name in _NEEDS if getattr(wanted, name)]
    chosen = next((reader for reader in found if reader.takes.issuperset(needed)), found[0])
    # A tidy file of items may go without runs.
    return _named("items") if wanted.units == "items" and chosen.name == "tidy" else chosen


def _recognising(path: Path, readers: Sequence[Reader]) -> list[Reader]:
    """Return the readers that recognise a path; a log of inspect by its head alone."""
    inspect = [reader for reader in readers if reader.name == "inspect"]
    if inspect and path.is_file() and inspect[0].recognises(path):
        return inspect
    return [reader for reader in readers if reader.recognises(path)]


def _refuse_endings(path: Path) -> None:
    """Refuse files of formats that are never read, and give the reason."""
    ending = path.suffix.lower() if path.is_file() else ""
    if ending in (".pkl", ".pickle", ".pt", ".pth", ".joblib"):
        raise ScoreDataError(
            f"{path}: pickles are not read, since they run code when they are opened: load it in "
            "Python and pass the arrays or the data frame, or save a CSV file"
        )
    if ending in (".yaml", ".yml"):
        raise ScoreDataError(f"{path}: YAML is not read: write {_RECORDS}")


def _unknown_format(path: Path) -> ScoreDataError:
    """Return the error about a source that no reader recognises."""
    if not path.exists():
        return ScoreDataError(f"{path}: expected a file of scores; there is none")
    if path.suffix.lower() == ".json":
        content = json_content(path)
        keys = f"the keys {listed(content, 4)}" if isinstance(content, dict) else "a list"
        return ScoreDataError(
            f"{path}: expected scores in JSON of a known format, found {keys}; the nearest format "
            f"is {_RECORDS}"
        )
    names = ", ".join(sorted(available_readers()))
    return ScoreDataError(f"{path}: expected scores in a known format ({names}); found none")


def is_tidy(path: Path) -> bool:
    """Return whether a file has the columns of a tidy file, by these very names."""
    try:
        return is_table(path) and set(header_names(path)).issuperset(REQUIRED)
    except OSError:
        return False


def _tidy() -> Reader:
    """Return the reader of tidy files without loading any other."""
    reader: Reader = pkgutil.resolve_name("gnomon.scores.readers.tables:TIDY")
    return reader


def reader_of(path: Path) -> Reader | None:
    """Return the specific reader that recognises a path; None if there is none."""
    if is_tidy(path):
        return None
    found = _recognising(path, [reader for reader in _readers() if not reader.is_general])
    return found[0] if found else None


def is_recognised(path: Path) -> bool:
    """Return whether a reader recognises what lies in a place, or the name of a data set."""
    if is_tidy(path):
        return True
    there = path.exists()
    return any(r.recognises(path) for r in _readers() if there or not r.is_general)


def _named(name: str) -> Reader:
    """Return the reader of a format."""
    by_name = {reader.name: reader for reader in _readers()}
    if name not in by_name:
        raise UnknownNameError("format of scores", name, by_name)
    return by_name[name]


@cache
def _readers() -> tuple[Reader, ...]:
    """Return the readers of this package, and those of others that can be loaded."""
    from importlib import metadata  # not needed for a tidy file, and slow to import

    found = {reader.name: reader for reader in map(pkgutil.resolve_name, BUILT_IN)}
    for point in metadata.entry_points(group=GROUP):
        if point.value in BUILT_IN:
            continue
        try:
            reader = point.load()
        except Exception as error:  # another package's fault must not keep ours from being read
            _warn(f"reader {point.name!r} ({point.value}) cannot be loaded: {error}")
            continue
        if not isinstance(reader, Reader):
            _warn(f"reader {point.name!r} ({point.value}): expected a gnomon.scores.Reader")
        elif reader.name in found:
            _warn(f"reader {point.value}: there is a format {reader.name!r} already")
        else:
            found[reader.name] = reader
    return tuple(found.values())


def _warn(text: str) -> None:
    warnings.warn(f"{text}; it is left out", RuntimeWarning, stacklevel=4)
