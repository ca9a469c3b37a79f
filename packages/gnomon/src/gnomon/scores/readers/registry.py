"""Sources of scores, their readers, and the choice of the reader for a source.

A reader is a record: a name, a description, a function that recognises a source, and one that
reads it. The readers of this package are named in :data:`BUILT_IN`; other packages add
theirs under the entry-point group ``gnomon.readers``.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Literal, get_args

from gnomon.errors import (
    GnomonError,
    ScoreDataError,
    UnknownNameError,
    check_word,
    listed,
    reading,
    shortened,
)
from gnomon.scores.columns import Rows, rows_of_frame, rows_of_records
from gnomon.scores.readers.files import (
    JSON_LINES,
    PARQUET,
    header_names,
    is_table,
    json_content,
    json_lines,
    read_columns,
)
from gnomon.scores.table import UNITS, ScoreTable, Units
from gnomon.scores.tidy import REQUIRED, Origin, role_of

#: What the columns of a pivot may be.
ColumnsAre = Literal["algorithms", "tasks", "runs"]

#: The entry-point group under which a package names its readers.
GROUP = "gnomon.readers"

#: Readers by name, imported when they are first needed. General ones come in the order in which
#: they are tried.
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
    "gnomon.scores.readers.boards:BOARD",
    "gnomon.scores.readers.boards:EVERY_EVAL",
    "gnomon.scores.readers.boards:MTEB",
    "gnomon.scores.readers.boards:HUGGING_FACE",
    "gnomon.scores.readers.summaries:SUMMARIES",
    "gnomon.scores.readers.tables:ITEM_FILE",
    "gnomon.scores.readers.lm_eval:LM_EVAL",
    "gnomon.scores.readers.arrays:ARRAYS",
    "gnomon.scores.readers.wide:WIDE",
    "gnomon.scores.readers.tables:TIDY",
)

#: The folder of a model on Hugging Face that holds its evaluation results, in YAML.
EVAL_RESULTS = ".eval_results"
_RECORDS = 'records in JSON: [{"algorithm": ..., "task": ..., "run": ..., "score": ...}, ...]'

#: What a format must have for an option of :func:`read_scores`, in the words of a message.
_NEEDS = {
    "metric": "scores to choose from",
    "where": "columns to select rows by",
    "columns": "columns to name",
    "run_names": "names of runs to take apart",
    "columns_are": "columns and their meaning",
    "within_run": "rows of one run to average",
}


class Source:
    """A file, a folder or data in memory, as readers see it.

    Parameters
    ----------
    path : path or None
        The place of the scores, which may not exist; None for scores in memory.
    content : object
        Without a path: a data frame of pandas, Polars or PyArrow, a mapping of columns or of
        arrays, records, or other contents of a JSON file.

    Raises
    ------
    TypeError
        `content` is none of these.

    Examples
    --------
    >>> Source(None, [{"agent": "dqn", "env": "pong", "return": 1.0}]).names
    ['agent', 'env', 'return']
    """

    def __init__(self, path: Path | None, content: Any = None) -> None:
        self.path = path
        self._rows: Rows | None = None
        if path is None:
            if _is_json(content):
                self.json = content
            else:
                self._rows, self.json = rows_of_frame(content), None

    def __str__(self) -> str:
        return "the table" if self.path is None else str(self.path)

    @property
    def place(self) -> Path:
        """The path, of a source that has one."""
        if self.path is None:
            raise TypeError("expected a path, found a table in memory")
        return self.path

    @property
    def stem(self) -> str:
        """The name of the file without its ending, the default name of an algorithm or task."""
        return "scores" if self.path is None else self.path.stem

    @property
    def is_file(self) -> bool:
        """Whether there is a file."""
        return self.path is not None and self.path.is_file()

    @property
    def is_folder(self) -> bool:
        """Whether there is a folder."""
        return self.path is not None and self.path.is_dir()

    @property
    def ending(self) -> str:
        """The ending of the file in small letters; "" in memory."""
        return "" if self.path is None else self.path.suffix.lower()

    def files(self, pattern: str) -> list[Path]:
        """Return the files of a pattern in a folder and up to two below it; or the file itself.

        Not at any depth, for a folder may be a whole disk.
        """
        if not self.is_folder:
            return [self.place]
        depths = ("", "*/", "*/*/")
        return [x for deep in depths for x in sorted(self.place.glob(f"{deep}{pattern}"))]

    @cached_property
    def json(self) -> Any:
        """Content of a JSON file (of JSON lines, a list of the first); None for other files."""
        if self.path is None or not self.path.is_file():
            return None
        try:
            if self.ending in JSON_LINES:
                return list(islice(json_lines(self.path), 1))
            return json_content(self.path) if self.ending == ".json" else None
        except ScoreDataError:
            return None

    @cached_property
    def names(self) -> list[str]:
        """The headings of a table; empty if the source is not a table."""
        if self._rows is not None:
            return list(self._rows.names)
        try:
            if self.path is not None and is_table(self.path):
                return header_names(self.path)
            if self.ending in PARQUET and self.is_file:
                return list(self.table()[0].names)
        except (OSError, ScoreDataError):
            return []  # reading it gives the error
        records = records_in(self.json)
        return list(flat(records[0])) if records else []

    def content(self) -> Any:
        """Return what a JSON file holds, all lines of JSON lines."""
        if self.path is None or (self.ending == ".json" and self.json is not None):
            return self.json
        return json_content(self.path)

    def table(self, *, with_index: bool = False) -> tuple[Rows, Origin]:
        """Return the columns of a table, and where its rows come from.

        With its index, a first column of texts without a heading is called "".
        """
        rows, origin = self._table
        return rows if with_index else rows.but(""), origin

    @cached_property
    def _table(self) -> tuple[Rows, Origin]:
        if self._rows is not None:
            return self._rows, Origin()
        if self.path is not None and self.ending not in (".json", *JSON_LINES):
            return read_columns(self.path)
        is_lines = self.ending in JSON_LINES
        records: Iterable[Mapping[str, Any]] = (
            json_lines(self.path)
            if is_lines and self.path is not None
            else records_in(self.content()) or []
        )
        rows = rows_of_records(map(flat, records))
        lines = (lambda: range(1, 1 + len(rows))) if is_lines else None
        return rows, Origin(None if self.path is None else str(self.path), lines=lines)


def _is_json(content: Any) -> bool:
    """Return whether Python objects are records, or nested as in JSON."""
    if isinstance(content, list | tuple):
        return bool(content) and all(isinstance(x, Mapping) for x in content)
    return isinstance(content, Mapping) and any(
        isinstance(x, Mapping) or (isinstance(x, list) and any(isinstance(y, Mapping) for y in x))
        for x in content.values()
    )


def flat(record: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return the plain values of a record by their keys, nested ones joined by dots.

    Lists are left out, except in place of a score, where the text of the list is kept so that it
    is refused.
    """
    found: dict[str, Any] = {}
    for name, value in record.items():
        if isinstance(value, Mapping):
            found |= flat(value, f"{prefix}{name}.")
        elif not isinstance(value, list):
            found[f"{prefix}{name}"] = value
        elif role_of(name) == "score":
            found[f"{prefix}{name}"] = str(value)
    return found


def records_in(content: Any, depth: int = 0) -> list[Mapping[str, Any]] | None:
    """Return the records in JSON: a list of objects in any wrapping, or columns; None if none."""
    if isinstance(content, list | tuple):
        are_objects = bool(content) and all(isinstance(x, Mapping) for x in content)
        return list(content) if are_objects else None
    if not isinstance(content, Mapping) or not content or depth > 3:
        return None
    names: Any = content.get("columns")
    rows: Any = content.get("data")
    are_lists = isinstance(rows, list) and all(isinstance(row, list) for row in rows)
    if are_lists and isinstance(names, list) and all(isinstance(name, str) for name in names):
        # A table of Weights & Biases, or of pandas in parts.
        return [dict(zip(names, row, strict=False)) for row in rows] or None
    columns = _columns_in(content)
    if columns is not None:
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    found = {name: records_in(value, depth + 1) for name, value in content.items()}
    known = {name: records for name, records in found.items() if records}
    of_scores = {name: x for name, x in known.items() if _holds_scores(x[0])}
    if len(of_scores or known) == 1:
        return next(iter((of_scores or known).values()))
    if known and all(
        "task" in roles and "algorithm" not in roles
        for roles in (set(map(role_of, flat(x[0]))) for x in known.values())
    ):  # records by the name of their algorithm
        return [{"algorithm": name, **one} for name, records in known.items() for one in records]
    return None


def _holds_scores(record: Mapping[str, Any]) -> bool:
    return {"algorithm", "score"} <= set(map(role_of, flat(record)))


def _columns_in(content: Mapping[str, Any]) -> Mapping[str, Iterable[Any]] | None:
    """Return the columns of a table in JSON, by name as lists or as pandas writes them."""
    values = list(content.values())
    if all(isinstance(x, list) for x in values):
        is_even = len({len(x) for x in values}) == 1
        return content if is_even and _holds_scores(dict.fromkeys(content)) else None
    if not all(isinstance(x, Mapping) for x in values):
        return None
    places = [str(i) for i in range(len(values[0]))]
    is_text = any(isinstance(y, str) for x in values for y in x.values())
    if is_text and all(list(x) == places for x in values):
        return {name: x.values() for name, x in content.items()}
    return None


@dataclass(frozen=True, kw_only=True)
class ReadRequest:
    """Which scores of a source are wanted, and how it is to be read.

    Parameters
    ----------
    metric, curves, where, columns, run_names, columns_are, higher_is_better, units, within_run, \
    window
        As in :func:`read_scores`.
    """

    metric: str | None = None
    curves: bool = False
    where: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    run_names: str | None = None
    columns_are: ColumnsAre | None = None
    higher_is_better: bool | None = None
    units: Units | None = None
    within_run: Literal["mean"] | None = None
    window: int | None = None

    def __post_init__(self) -> None:
        known = {"columns_are": get_args(ColumnsAre), "units": UNITS, "within_run": ("mean",)}
        for name, words in known.items():
            if getattr(self, name) is not None:
                check_word(name, getattr(self, name), words)

    @property
    def is_higher_better(self) -> bool:
        """The direction for a source that does not state it; higher by default."""
        return self.higher_is_better is not False


@dataclass(frozen=True)
class Reader:
    """A format of scores: how it is recognised, and how it is read.

    Parameters
    ----------
    name : str
        As ``format`` of :func:`read_scores` takes it.
    description : str
        What it reads, as part of a sentence.
    recognises : callable
        Whether a :class:`Source` looks like this format. It must be fast and raise no error; the
        ``path`` may not exist.
    read : callable
        The scores of a source and a :class:`ReadRequest`; a
        :class:`gnomon.errors.ScoreDataError` describes an error.
    takes : frozenset of str
        The options that apply to this format, out of ``metric``, ``where``, ``columns``,
        ``run_names``, ``columns_are``, ``within_run`` and ``window``.
    is_general : bool
        Whether it recognises a source by little more than its ending. Such readers are tried only
        if no other one recognises the source.
    units : {"tasks", "items"}
        What a task of its tables is. Readers of items are not tried if tasks are requested.
    in_memory : bool
        Whether it also reads data in memory, whose ``path`` is None.

    Examples
    --------
    >>> reader = Reader(
    ...     "numbers", "a file of numbers, one a line",
    ...     recognises=lambda source: source.ending == ".numbers",
    ...     read=lambda source, wanted: ScoreTable.from_arrays(
    ...         {source.stem: [[float(line)] for line in source.path.read_text().splitlines()]}),
    ... )
    >>> reader.recognises(Source(Path("dqn.numbers")))
    True
    """

    name: str
    description: str
    recognises: Callable[[Source], bool]
    read: Callable[[Source, ReadRequest], ScoreTable]
    takes: frozenset[str] = frozenset()
    is_general: bool = False
    units: Units = "tasks"
    in_memory: bool = False

    def __post_init__(self) -> None:
        check_word("units", self.units, UNITS)


def available_readers() -> dict[str, str]:
    """Return the formats that :func:`read_scores` knows, each with what it reads.

    Examples
    --------
    >>> available_readers()["inspect"]
    'logs of inspect: an .eval or .json file, or a folder of them'
    """
    return {reader.name: reader.description for reader in _readers()}


def read_with(reader: Reader, source: Source, wanted: ReadRequest) -> ScoreTable:
    """Read one source with the reader of its format."""
    for name, what in _NEEDS.items():
        if getattr(wanted, name) and name not in reader.takes:
            raise ScoreDataError(f"{source}: the format {reader.name!r} has no {what}")
    table = reader.read(source, wanted)
    asked = wanted.higher_is_better
    if asked is not None and table.higher_is_better != asked:
        direction = "higher" if table.higher_is_better else "lower"
        raise ScoreDataError(f"{source}: {direction} is better there; expected no other direction")
    return table


def recognised(source: Source, wanted: ReadRequest, format: str | None = None) -> Reader:
    """Return the named reader, the one that recognises a source, or the first general fit."""
    if format is not None:
        return _named(format)
    if not wanted.columns_are and wanted.units != "items" and is_tidy(source):
        tidy: Reader = pkgutil.resolve_name("gnomon.scores.readers.tables:TIDY")
        return tidy  # without loading any other
    is_result = source.path is not None and source.place.absolute().parent.name == EVAL_RESULTS
    if source.is_file and source.ending in _REFUSED and not is_result:
        raise ScoreDataError(f"{source}: {_REFUSED[source.ending]}")
    if wanted.columns_are is not None:
        return _named("wide")
    every = [r for r in _readers() if wanted.units != "tasks" or r.units == "tasks"]
    found = _recognising(source, [reader for reader in every if not reader.is_general])
    if len(found) > 1:
        names = " and ".join(repr(reader.name) for reader in found)
        raise ScoreDataError(
            f"{source}: recognised as {names}; expected one format: "
            f"choose it, as in {reading(str(source), format=found[0].name)}"
        )
    if not found and source.is_folder:
        for name in ("*monitor.csv", "evaluations.npz"):
            if any(source.place.glob(name)):
                raise ScoreDataError(
                    f"{source}: expected a folder of runs, found {name.strip('*')} of one run: "
                    "give its parent (for ALGORITHM-TASK) or the folder above that (for "
                    "ALGORITHM/TASK_RUN)"
                )
    found = found or _recognising(source, [reader for reader in every if reader.is_general])
    if not found:
        raise _unknown_format(source)
    # Of several general readers, the first that takes the options.
    needed = [name for name in _NEEDS if getattr(wanted, name)]
    chosen = next((reader for reader in found if reader.takes.issuperset(needed)), found[0])
    # A tidy file of items may go without runs.
    return _named("items") if wanted.units == "items" and chosen.name == "tidy" else chosen


def _recognising(source: Source, readers: Sequence[Reader]) -> list[Reader]:
    """Return the readers that recognise a source; large logs are recognised without parsing."""
    if source.path is None:
        return [reader for reader in readers if reader.in_memory and reader.recognises(source)]
    logs = [reader for reader in readers if reader.name in ("inspect", "helm")]
    found = [reader for reader in logs if source.is_file and reader.recognises(source)]
    return found or [reader for reader in readers if reader.recognises(source)]


_PICKLES = (
    "pickles are not read, since they run code when they are opened: load it in Python and pass "
    "the arrays or the data frame, or save a CSV file"
)
_SHEETS = "spreadsheets are not read: save the sheet as CSV, or pass the frame of pandas.read_excel"
_FRAMES = "such files are not read: pass the data frame in Python, or write CSV or Parquet"
#: Why files of some endings are never read.
_REFUSED = {
    **dict.fromkeys((".pkl", ".pickle", ".pt", ".pth", ".joblib"), _PICKLES),
    **dict.fromkeys((".xlsx", ".xls", ".xlsm", ".ods"), _SHEETS),
    **dict.fromkeys((".feather", ".arrow", ".ipc", ".h5", ".hdf5", ".db", ".sqlite"), _FRAMES),
    **dict.fromkeys((".gz", ".zip", ".tar", ".tgz", ".bz2", ".xz", ".7z"), "unpack it first"),
    **dict.fromkeys((".md", ".tex", ".html", ".pdf"), "documents are not read: copy the table to "
                    "a CSV file"),
    **dict.fromkeys((".yaml", ".yml"), f"YAML is read only from a folder {EVAL_RESULTS}: write "
                    f"{_RECORDS}"),
}  # fmt: skip


def _unknown_format(source: Source) -> ScoreDataError:
    """Return the error about a source that no reader recognises."""
    if source.path is not None and not source.path.exists():
        return ScoreDataError(f"{source}: expected a file of scores; there is none")
    if source.path is None or source.ending == ".json":
        content = source.content()
        for row, one in enumerate(content if isinstance(content, list) else [], 1):
            if isinstance(content[0], dict) and not isinstance(one, dict):
                found = f"expected an object as in row 1, found {shortened(str(one))}"
                return ScoreDataError(f"{source}, row {row}: {found}")
        found = shortened(repr(content), 60)
        if content and isinstance(content, dict):
            found = f"the keys {listed(content, 4)}"
        return ScoreDataError(
            f"{source}: expected scores in JSON of a known format, found {found}; the nearest "
            f"format is {_RECORDS}"
        )
    names = ", ".join(sorted(available_readers()))
    return ScoreDataError(f"{source}: expected scores in a known format ({names}); found none")


def is_tidy(source: Source) -> bool:
    """Return whether a table has the columns of a tidy file, by these very names."""
    has_names = source.path is None or is_table(source.path)
    return has_names and set(source.names).issuperset(REQUIRED)


def is_recognised(path: Path) -> bool:
    """Return whether a reader recognises what lies in a place, or the name of a data set."""
    source, there = Source(path), path.exists()
    return is_tidy(source) or any(
        r.recognises(source) for r in _readers() if there or not r.is_general
    )


def _named(name: str) -> Reader:
    """Return the reader of a format."""
    by_name = {reader.name: reader for reader in _readers()}
    if name not in by_name:
        raise UnknownNameError("format of scores", name, by_name)
    return by_name[name]


@cache
def _readers() -> tuple[Reader, ...]:
    """Return the readers of this package, and those that other packages name."""
    from importlib import metadata  # not needed for a tidy file, and slow to import

    found: dict[str, Reader] = {r.name: r for r in map(pkgutil.resolve_name, BUILT_IN)}
    for point in metadata.entry_points(group=GROUP):
        try:
            reader = point.load()
        except Exception as error:
            raise GnomonError(f"the reader {point.value} cannot be loaded: {error}") from error
        found.setdefault(reader.name, reader)
    return tuple(found.values())
