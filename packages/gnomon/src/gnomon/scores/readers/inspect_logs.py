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
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gnomon.errors import GnomonError, ScoreDataError, counted, note, option
from gnomon.scores.readers.files import json_object, json_of, mapping_at
from gnomon.scores.readers.registry import Reader, ReadRequest, Source
from gnomon.scores.readers.samples import (
    Log,
    Sample,
    as_cost,
    compare_means,
    input_columns,
    read_each,
    table_of_logs,
)
from gnomon.scores.table import ScoreTable

#: The end of a text that a summary does not hold in full.
_CUT = "(content truncated)"
#: Columns of costs, and the names of these costs in a log.
_USAGE = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "reasoning_tokens": "reasoning_tokens",
    "total_tokens": "total_tokens",
    "cost": "total_cost",
}
_PASS = re.compile(r"pass_at_(\d+)")
#: Number of bytes at the beginning of a file that show whether it is a log.
_GLANCE = 100_000
#: The method of ZIP that Python reads from 3.14 on.
_ZSTANDARD = 93
#: A local header of ZIP: its signature, and where the lengths of name and extra field stand.
_HEADER = struct.Struct("<4s22xHH")


def _read(source: Source, wanted: ReadRequest) -> ScoreTable:
    """Read a log, or every one in a folder, up to two folders deep."""
    path, files = source.place, source.files("*")
    if source.is_folder:
        every = [file for file in files if file.suffix in (".eval", ".json")]
        files = [file for file in every if _is_log(file)]
        odd = [file.name for file in every if file not in files]
        if odd:
            note(f"{path.name}: {counted(len(odd), 'file')} left out, not logs: {odd[0]}")
    return table_of_logs(read_each(files, _log, "inspect"), wanted, path, "inspect")


def _log(path: Path) -> Log:
    if path.suffix == ".eval":
        try:
            archive = _Archive(path)
        except (OSError, zipfile.BadZipFile) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not one, or truncated"
            raise ScoreDataError(f"{path}: expected a log in a ZIP file; {reason}") from None
        with archive:
            head, samples = archive.head(), list(map(_sample, archive.samples()))
    else:
        head = json_object(path)
        samples = list(map(_sample, head.get("samples") or ()))
    about, results = mapping_at(head, "eval"), mapping_at(head, "results")
    model, task = about.get("model"), about.get("task")
    if not (isinstance(model, str) and isinstance(task, str)):
        raise ScoreDataError(f"{path}: expected a log of inspect with eval.model and eval.task")
    _warn_of_missing(path, head, len(samples))
    log = Log.of(
        samples,
        path=path,
        model=model,
        subtask=task,
        settings=_settings(about, mapping_at(head, "plan")),
        lower_is_better=frozenset(mapping_at(about, "metadata").get("lower_is_better") or ()),
        reason=str(mapping_at(head, "error").get("message") or ""),
    )
    scores = results.get("scores")
    for entry in scores if isinstance(scores, list) else []:
        _compare(log, entry)
    return log


def _compare(log: Log, entry: Mapping[str, Any]) -> None:
    """Warn where one of the results of a log is another mean than its samples give."""
    names = {f"{entry.get('scorer')}/{entry.get('name')}", entry.get("name")}
    metrics = mapping_at(entry, "metrics")
    metric = next((x for x in ("accuracy", "mean") if x in metrics), None)
    mean = next((log.mean(name) for name in log.metrics if name in names), None)
    if metric is None or mean is None:
        return
    reducer = str(entry.get("reducer") or "mean")
    passes = _PASS.fullmatch(reducer)
    compare_means(
        log.path.name,
        f"{metric} of {entry.get('name')}",
        mapping_at(metrics, metric).get("value"),
        [mean],
        by=f" by the reducer {reducer}" if reducer != "mean" else "",
        remedy=f"; {option(metrics=f'pass@{passes[1]}')} estimates it" if passes else "",
    )


def _warn_of_missing(path: Path, head: Mapping[str, Any], n: int) -> None:
    """Warn of a log that was not finished, was marked as invalid, or lacks samples."""
    status, about = head.get("status", "started"), mapping_at(head, "eval")
    ids = mapping_at(about, "dataset").get("sample_ids")
    epochs = mapping_at(about, "config").get("epochs") or 1
    planned = len(ids) * epochs if isinstance(ids, list) else n
    stated = mapping_at(head, "results").get("total_samples")
    known = f"{n} of {counted(planned, 'sample')} are there"
    if status != "success":
        reason = mapping_at(head, "error").get("message")
        because = f" ({reason})" if reason else ""
        note(f"{path.name}: the log's status is {status!r}{because}: {known}")
    elif n != planned:
        note(f"{path.name}: {known}")
    elif isinstance(stated, int) and stated != n:
        note(f"{path.name}: the results count {counted(stated, 'sample')}, the log contains {n}")
    if head.get("invalidated"):
        note(f"{path.name}: the log is marked as invalid")


def _settings(about: Mapping[str, Any], plan: Mapping[str, Any]) -> dict[str, str]:
    """Return what may differ between two logs of one model on one task."""
    found: dict[str, Any] = {"solver": about.get("solver")}
    for name in ("task_args", "solver_args", "model_generate_config", "model_args"):
        found |= mapping_at(about, name)
    found["base_url"] = about.get("model_base_url")
    steps = plan.get("steps")
    found["steps"] = [step.get("solver") for step in steps] if isinstance(steps, list) else None
    return {name: json.dumps(value).strip('"') for name, value in found.items()}


def _sample(sample: Mapping[str, Any]) -> Sample:
    """Return a sample, or the summary of one."""
    status = _status(sample)
    known = {"uuid": sample.get("uuid"), **input_columns(_text(sample.get("input")))}
    return Sample(
        item=str(sample.get("id")),
        epoch=int(sample.get("epoch") or 1),
        status=status,
        scores={} if status == "invalidated" else dict(_scores(sample)),
        columns=known | _costs(sample),
        attributes=mapping_at(sample, "metadata"),
    )


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
    lines = []
    for message in (one for one in content if isinstance(one, dict)):
        parts = message.get("content")
        if isinstance(parts, list):  # summaries contain a placeholder instead of pictures
            known = [part for part in parts if isinstance(part, dict)]
            kinds = [f"({str(part.get('type')).capitalize()})" for part in known]
            texts = [str(x.get("text", kind)) for x, kind in zip(known, kinds, strict=True)]
            parts = " ".join(texts)
        lines.append(f"{message.get('role')}: {parts}")
    return "\n".join(lines)


def _is_log(path: Path) -> bool:
    """Return whether a file begins as a log does, without parsing all of it."""
    try:
        if path.suffix == ".eval":
            return zipfile.is_zipfile(path)
        if path.suffix != ".json" or not path.is_file():
            return False
        with path.open("rb") as stream:
            begin = stream.read(_GLANCE)
        _, found, about = begin.partition(b'"eval"')
        about = about.lstrip(b": \t\r\n")
        return bool(found) and about.startswith(b"{") and b'"task":' in about.replace(b" ", b"")
    except OSError:
        return False


def _recognises(source: Source) -> bool:
    is_archive = source.ending == ".eval" and not source.is_folder
    return is_archive or any(map(_is_log, source.files("*")))


class _Archive(zipfile.ZipFile):
    """A ZIP file of JSON members, which may be compressed with Zstandard."""

    def json(self, name: str) -> Any:
        """Return the JSON that a member holds."""
        info, called = self.getinfo(name), f"{self.filename}, {name}"
        if info.compress_type == _ZSTANDARD:
            return json_of(self._unpacked(info, called), called)
        try:
            return json_of(self.read(info), called)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
            raise ScoreDataError(f"{called}: the compressed data are damaged ({error})") from None

    def _unpacked(self, info: zipfile.ZipInfo, called: str) -> bytes:
        try:
            import zstandard
        except ImportError:
            raise GnomonError(
                f"{self.filename}: this log is compressed with Zstandard, which needs a package: "
                "pip install 'gnomon[evals]'"
            ) from None
        with Path(str(self.filename)).open("rb") as file:
            file.seek(info.header_offset)
            signature, *lengths = _HEADER.unpack(file.read(_HEADER.size))
            if signature != b"PK\x03\x04":
                raise ScoreDataError(f"{called}: expected a member of a ZIP")
            file.seek(sum(lengths), io.SEEK_CUR)
            packed = file.read(info.compress_size)
        try:
            unpacker = zstandard.ZstdDecompressor()
            return bytes(unpacker.stream_reader(packed, read_across_frames=True).read())
        except zstandard.ZstdError as error:
            raise ScoreDataError(f"{called}: the compressed data are damaged ({error})") from None

    def head(self) -> dict[str, Any]:
        """Return what is stated of the whole log; an interrupted log has a journal alone."""
        for name in ("header.json", "_journal/start.json"):
            if name in self.NameToInfo:
                head = self.json(name)
                if isinstance(head, dict):
                    return head
                found = f"expected a JSON object, found {type(head).__name__}"
                raise ScoreDataError(f"{self.filename}, {name}: {found}")
        found = "header.json or _journal/start.json; it has neither"
        raise ScoreDataError(f"{self.filename}: expected a log of inspect with {found}")

    def samples(self) -> Iterator[Mapping[str, Any]]:
        """Yield the summaries, then the samples that have none."""
        members = [name for name in self.namelist() if name.startswith("samples/")]
        journal = [name for name in self.namelist() if name.startswith("_journal/summaries/")]
        lists = ["summaries.json"] if "summaries.json" in self.NameToInfo else journal
        summaries = [summary for name in lists for summary in self.json(name)]
        if summaries and members and "metadata" not in summaries[0]:
            # Summaries of old logs leave metadata out.
            summaries = [] if self.json(members[0]).get("metadata") else summaries
        seen = set()
        for summary in summaries:
            member = f"samples/{summary.get('id')}_epoch_{summary.get('epoch')}.json"
            if member not in seen:
                seen.add(member)
                is_cut = member in self.NameToInfo and _CUT in json.dumps(summary.get("input"))
                yield self.json(member) if is_cut else summary
        if len(seen) < len(members):
            yield from (self.json(name) for name in members if name not in seen)


INSPECT = Reader(
    "inspect",
    "logs of inspect: an .eval or .json file, or a folder of them",
    recognises=_recognises,
    read=_read,
    takes=frozenset({"metric", "where"}),
    units="items",
)
