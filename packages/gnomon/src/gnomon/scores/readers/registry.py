"""Readers of score files, and which one of them recognises a file.

A reader is a record: a name, what it reads, whether it recognises a path by its look, and a
function that reads it. Those of this package are named in :data:`BUILT_IN`; other packages add
theirs under the entry-point group ``gnomon.readers``.
"""

from __future__ import annotations

import pkgutil
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

from gnomon.errors import ScoreDataError, UnknownNameError, listed, reading
from gnomon.scores.readers.files import header_names, is_table, json_content
from gnomon.scores.table import ScoreTable, Units
from gnomon.scores.tidy import REQUIRED

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


def read_with(reader: Reader, path: Path, wanted: ReadRequest) -> ScoreTable:
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


def recognised(path: Path, wanted: ReadRequest, format: str | None) -> Reader:
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
