"""Logs of inspect: ``.eval`` archives and ``.json`` files, one model on one task each.

Of an archive the summaries of its samples are read, and a sample itself only where no summary
stands for it or its text was cut there. Samples that failed, were cancelled or met a limit are
kept, each with its status.
"""

from __future__ import annotations

import io
import json
import re
import struct
import sys
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import IO, Any, cast

import numpy as np

from gnomon.errors import GnomonError, ScoreDataError, counted, note, option
from gnomon.scores.readers.files import mapping_at
from gnomon.scores.readers.json_stream import array_elements, object_members
from gnomon.scores.readers.registry import Reader, ReadRequest
from gnomon.scores.readers.samples import (
    Log,
    SampleColumns,
    as_cost,
    input_columns,
    read_each,
    table_of_logs,
)
from gnomon.scores.table import ScoreTable

#: Where logs lie below a folder.
DEPTHS = ("", "*/", "*/*/")
#: What stands at the end of a text that a summary does not hold in full.
_CUT = "(content truncated)"
_USAGE = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "reasoning_tokens": "reasoning_tokens",
    "total_tokens": "total_tokens",
    "cost": "total_cost",
}
#: Difference of two means that are the same.
_SAME = 1e-6
_PASS = re.compile(r"pass_at_(\d+)")
#: Members that stand before the samples; by then it is known whether a file is a log.
_HEAD = 12
_GLANCE = 4096


def _read(path: Path, wanted: ReadRequest) -> ScoreTable:
    """Read a log, or every one in a folder, up to two folders deep."""
    logs = read_each(_files(path), _log, "inspect")
    return table_of_logs(logs, wanted, path, "inspect")


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = [file for deep in DEPTHS for file in sorted(path.glob(f"{deep}*"))]
    files = [file for file in files if file.suffix in (".eval", ".json")]
    odd = [file.name for file in files if not _is_log(file)]
    if odd:
        note(f"{path.name}: {counted(len(odd), 'file')} left out, not logs: {odd[0]}")
    return [file for file in files if file.name not in odd]


def _log(path: Path) -> Log:
    """Read one log."""
    head: dict[str, Any] = {}
    columns = SampleColumns()
    n = sum(1 for sample in _samples(path, head) if _add(columns, sample))
    about = mapping_at(head, "eval")
    model, task = about.get("model"), about.get("task")
    if not (isinstance(model, str) and isinstance(task, str)):
        raise ScoreDataError(f"{path}: expected a log of inspect with eval.model and eval.task")
    _say_what_lacks(path, head, about, n)
    log = Log(
        path=path,
        model=model,
        subtask=task,
        rows=columns.rows(),
        unreadable=columns.unreadable,
        settings=_settings(about, mapping_at(head, "plan")),
        lower_is_better=frozenset(mapping_at(about, "metadata").get("lower_is_better") or ()),
        reason=str(mapping_at(head, "error").get("message") or ""),
    )
    _compare(log, mapping_at(head, "results"))
    return log


def _compare(log: Log, results: Mapping[str, Any]) -> None:
    """Warn where the results of a log are other means than its samples give."""
    told = results.get("scores")
    for entry in told if isinstance(told, list) else []:
        names = {f"{entry.get('scorer')}/{entry.get('name')}", entry.get("name")}
        name = next((name for name in log.metrics if name in names), None)
        metrics = mapping_at(entry, "metrics")
        metric = next((x for x in ("accuracy", "mean") if x in metrics), None)
        if name is None or metric is None or name in log.unreadable:
            continue
        value = mapping_at(metrics, metric).get("value")
        mean = _mean_of_items(log, name)
        if not isinstance(value, int | float) or mean is None or abs(value - mean) <= _SAME:
            continue
        reducer = entry.get("reducer")
        passes = _PASS.fullmatch(str(reducer))
        remedy = f"; {option(metrics=f'pass@{passes[1]}')} estimates it" if passes else ""
        by = f" by the reducer {reducer}" if reducer not in (None, "mean") else ""
        note(
            f"{log.path.name}: {metric} of {name} is {value:.4g} there{by}; the mean of its "
            f"samples is {mean:.4g}{remedy}"
        )


def _mean_of_items(log: Log, name: str) -> float | None:
    """Return the mean over items of the mean over their epochs."""
    score, item = log.scores(name), log.rows.texts("item").codes
    known = ~np.isnan(score)
    n = np.bincount(item[known])
    return (
        float((np.bincount(item[known], score[known])[n > 0] / n[n > 0]).mean())
        if n.any()
        else None
    )


def _samples(path: Path, head: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the samples of a log, and store everything else in `head`."""
    if path.suffix == ".eval":
        with LogArchive(path) as archive:
            yield from _of_archive(archive, head)
        return
    with path.open("rb") as stream:
        for key, value in object_members(stream, str(path), elements_of="samples"):
            if key == "samples":
                yield from [value] if isinstance(value, dict) else value or []
            elif key != "reductions":
                head[key] = value


def _of_archive(archive: LogArchive, head: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the summaries of an archive, then the samples that have none."""
    # An interrupted log has a journal alone.
    is_whole = "header.json" in archive
    if not (is_whole or "_journal/start.json" in archive):
        found = "header.json or _journal/start.json; it has neither"
        raise ScoreDataError(f"{archive.path}: expected a log of inspect with {found}")
    head |= archive.value("header.json" if is_whole else "_journal/start.json")
    members = archive.names("samples")
    journal = sorted(archive.names("_journal/summaries"), key=_number)
    lists = ["summaries.json"] if "summaries.json" in archive else journal
    seen = set()
    if not _leaves_metadata_out(archive, lists, members):
        for summary in chain.from_iterable(archive.elements(name) for name in lists):
            member = f"samples/{summary.get('id')}_epoch_{summary.get('epoch')}.json"
            if member not in seen:
                seen.add(member)
                is_cut = member in archive and _CUT in json.dumps(summary.get("input"))
                yield archive.value(member) if is_cut else summary
    if len(seen) < len(members):
        yield from (archive.value(name) for name in members if name not in seen)


def _leaves_metadata_out(archive: LogArchive, lists: list[str], members: list[str]) -> bool:
    """Return whether samples have metadata and summaries have none, as those of old logs."""
    first = next(chain.from_iterable(archive.elements(name) for name in lists), None)
    if first is None or "metadata" in first or not members:
        return False
    return bool(archive.value(members[0]).get("metadata"))


def _number(member: str) -> tuple[int, str]:
    """Return what sorts the pieces of a journal in the order in which they were written."""
    stem = Path(member).stem
    return (int(stem) if stem.isdigit() else 0, stem)


def _add(columns: SampleColumns, sample: Mapping[str, Any]) -> bool:
    """Add a sample, or the summary of one."""
    row: dict[str, Any] = {
        "item": str(sample.get("id")),
        "epoch": int(sample.get("epoch") or 1),
        "uuid": sample.get("uuid"),
        "status": _status(sample),
        **input_columns(_text(sample.get("input"))),
        **_costs(sample),
    }
    scores = {} if row["status"] == "invalidated" else dict(_scores(sample))
    columns.add(row, scores, mapping_at(sample, "metadata"))
    return True


def _status(sample: Mapping[str, Any]) -> str:
    """Return what became of a sample, whether or not it has a score."""
    error = sample.get("error")
    if error:
        message = error.get("message") if isinstance(error, dict) else error
        return "cancelled" if str(message).startswith("CancelledError") else "error"
    if sample.get("invalidation"):
        return "invalidated"
    return "limit" if sample.get("limit") else "ok"


def _scores(sample: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield name and value of each score; of several values under one scorer each is one."""
    for scorer, score in mapping_at(sample, "scores").items():
        value = score.get("value") if isinstance(score, dict) else score
        if isinstance(value, dict):
            yield from ((f"{scorer}/{key}", one) for key, one in value.items())
        else:
            yield scorer, value


def _costs(sample: Mapping[str, Any]) -> dict[str, float | None]:
    """Return tokens, summed over the models that a sample used, and seconds."""
    usages = [use for use in mapping_at(sample, "model_usage").values() if isinstance(use, dict)]
    found: dict[str, float | None] = {}
    for name, theirs in _USAGE.items():
        known = [cost for use in usages if (cost := as_cost(use.get(theirs))) is not None]
        if known:
            found[name] = sum(known)
    for name, theirs in (("time_s", "total_time"), ("working_time_s", "working_time")):
        found[name] = as_cost(sample.get(theirs))
    return found


def _text(content: object) -> str:
    """Return the text of an input: as it is, or the roles and texts of its messages."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return json.dumps(content)
    return "\n".join(f"{message.get('role')}: {_of_message(message)}"
                     for message in content if isinstance(message, dict))  # fmt: skip


def _of_message(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if not isinstance(content, list):
        return str(content)
    # Summaries contain a placeholder instead of pictures.
    parts = (part for part in content if isinstance(part, dict))
    return " ".join(
        str(part.get("text", f"({str(part.get('type')).capitalize()})")) for part in parts
    )


def _settings(about: Mapping[str, Any], plan: Mapping[str, Any]) -> dict[str, str]:
    """Return what may differ between two logs of one model on one task."""
    found: dict[str, Any] = {"solver": about.get("solver")}
    for name in ("task_args", "solver_args", "model_generate_config", "model_args"):
        found |= mapping_at(about, name)
    found["base_url"] = about.get("model_base_url")
    steps = plan.get("steps")
    found["steps"] = [step.get("solver") for step in steps] if isinstance(steps, list) else None
    return {name: json.dumps(value).strip('"') for name, value in found.items()}


def _say_what_lacks(path: Path, head: Mapping[str, Any], about: Mapping[str, Any], n: int) -> None:
    """Warn of a log that was not finished, was declared invalid, or lacks samples."""
    status = head.get("status", "started")
    ids = mapping_at(about, "dataset").get("sample_ids")
    epochs = mapping_at(about, "config").get("epochs") or 1
    planned = len(ids) * epochs if isinstance(ids, list) else n
    if status != "success":
        reason = mapping_at(head, "error").get("message")
        because = f" ({reason})" if reason else ""
        known = f"{n} of {counted(planned, 'sample')} are there"
        note(f"{path.name}: the log's status is {status!r}{because}: {known}")
    elif n != planned:
        note(f"{path.name}: {n} of {counted(planned, 'sample')} are there")
    else:
        told = mapping_at(head, "results").get("total_samples")
        if isinstance(told, int) and told != n:
            note(f"{path.name}: the results count {counted(told, 'sample')}, the log contains {n}")
    if head.get("invalidated"):
        note(f"{path.name}: the log is declared invalid")


def _is_log(path: Path) -> bool:
    """Return whether a file begins as a log does."""
    try:
        if path.suffix == ".eval":
            return zipfile.is_zipfile(path)
        if path.suffix != ".json" or not path.is_file():
            return False
        with path.open("rb") as stream:
            # Without such a member near the top there is no need to parse it.
            if not re.search(rb'"eval"\s*:\s*\{', stream.read(_GLANCE)):
                return False
            stream.seek(0)
            return _begins_as_log(object_members(stream, str(path), elements_of="samples"))
    except (OSError, ScoreDataError):
        return False


def _begins_as_log(members: Iterable[tuple[str, Any]]) -> bool:
    for at, (key, value) in enumerate(members):
        if key == "eval":
            return isinstance(value, dict) and {"model", "task"} <= value.keys()
        if key in ("samples", "results") or at >= _HEAD:
            return False
    return False


def _recognises(path: Path) -> bool:
    if not path.is_dir():
        return path.suffix == ".eval" or _is_log(path)
    files = (file for deep in DEPTHS for file in path.glob(f"{deep}*"))
    return any(file.suffix == ".eval" or _is_log(file) for file in files)


#: The method of ZIP that Python reads from 3.14 on.
_ZSTANDARD = 93
#: A local header: its signature, and where the lengths of name and extra field stand.
_HEADER = struct.Struct("<4s22xHH")


class LogArchive:
    """A ZIP file of JSON members, to be used in a ``with`` statement.

    Parameters
    ----------
    path : path
        The file.

    Raises
    ------
    ScoreDataError
        It is no ZIP file, or its end is missing, where the list of members stands.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._zip = zipfile.ZipFile(path)
        except (OSError, zipfile.BadZipFile) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is none, or cut off"
            raise ScoreDataError(f"{path}: expected a log in a ZIP file; {reason}") from None
        self._infos = {info.filename: info for info in self._zip.infolist()}

    def __enter__(self) -> LogArchive:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self._zip.close()

    def __contains__(self, name: str) -> bool:
        """Return whether there is such a member."""
        return name in self._infos

    def names(self, folder: str) -> list[str]:
        """Return the names of the members of a folder, in the order in which they were written."""
        return [name for name in self._infos if name.startswith(f"{folder}/")]

    def value(self, name: str) -> dict[str, Any]:
        """Return the JSON object that a member holds."""
        with self._opened(name) as stream:
            return dict(object_members(stream, self._called(name)))

    def elements(self, name: str) -> Iterator[Any]:
        """Yield the elements of the JSON array that a member holds."""
        with self._opened(name) as stream:
            yield from array_elements(stream, self._called(name))

    @contextmanager
    def _opened(self, name: str) -> Iterator[IO[bytes]]:
        """Return the unpacked content of a member; an error names it."""
        with self._open(name) as stream:
            try:
                yield stream
            except _damages() as error:
                message = f"{self._called(name)}: the packed data are damaged ({error})"
                raise ScoreDataError(message) from None

    def _called(self, name: str) -> str:
        return f"{self.path}, {name}"

    def _open(self, name: str) -> IO[bytes]:
        """Return the unpacked content of a member."""
        info = self._infos[name]
        try:
            return self._zip.open(info)
        except NotImplementedError:  # zipfile: the method of compression is unknown to it
            if info.compress_type != _ZSTANDARD:
                found = f"method {info.compress_type}"
                raise ScoreDataError(
                    f"{self._called(name)}: expected deflate or Zstandard, found {found}"
                ) from None
        return self._unpacked(info)

    def _unpacked(self, info: zipfile.ZipInfo) -> IO[bytes]:
        try:
            import zstandard
        except ImportError:
            raise GnomonError(
                f"{self.path}: this log is packed with Zstandard, which needs a package: "
                "pip install 'gnomon[evals]'"
            ) from None
        with self.path.open("rb") as file:
            file.seek(info.header_offset)
            signature, *lengths = _HEADER.unpack(file.read(_HEADER.size))
            if signature != b"PK\x03\x04":
                raise ScoreDataError(f"{self._called(info.filename)}: expected a member of a ZIP")
            file.seek(sum(lengths), io.SEEK_CUR)
            packed = file.read(info.compress_size)
        unpacker = zstandard.ZstdDecompressor()
        return cast("IO[bytes]", unpacker.stream_reader(packed, read_across_frames=True))


def _damages() -> tuple[type[Exception], ...]:
    """Return the errors of damaged members."""
    zstandard = sys.modules.get("zstandard")
    return (zipfile.BadZipFile, zlib.error, EOFError, *([zstandard.ZstdError] if zstandard else []))


INSPECT = Reader(
    "inspect",
    "logs of inspect: an .eval or .json file, or a folder of them",
    recognises=_recognises,
    read=_read,
    takes=frozenset({"metric", "where"}),
    units="items",
)
