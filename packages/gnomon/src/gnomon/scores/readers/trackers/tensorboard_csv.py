"""Scalars of TensorBoard, saved as CSV: one tag of one run a file, ``Wall time,Step,Value``.

Neither algorithm nor task stands in such a file; the name of the file may tell them.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Mapping
from pathlib import Path

from gnomon.errors import DegenerateScoresWarning, ScoreDataError, joined
from gnomon.scores.plausibility import warn_of_suspicions
from gnomon.scores.readers.file_contents import header_names, read_csv
from gnomon.scores.readers.registry import Reader, ReadRequest
from gnomon.scores.readers.reported_number import reported_number
from gnomon.scores.readers.trackers.run_names import keys_of_runs
from gnomon.scores.readers.training_logs.run_folders import by_run, files_below
from gnomon.scores.table import ScoreTable

_HEADER = ["Wall time", "Step", "Value"]
#: How TensorBoard names a file: the run's folder, and the tag.
_NAME = re.compile(r"run-(?P<run>.+?)-tag-(?P<tag>.+)")


def read_tensorboard_csv(
    paths: Mapping[tuple[str, str, int | str], str | os.PathLike[str]],
    *,
    metric: str = "value",
    higher_is_better: bool = True,
) -> ScoreTable:
    r"""Read scalars that TensorBoard saved as CSV, one file a run.

    A step that is there twice, since training was taken up again, counts as it was last written.

    Parameters
    ----------
    paths : mapping from (algorithm, task, run) to path
        Files with the columns ``Wall time``, ``Step`` and ``Value``.
    metric : str
        What the scalar is.
    higher_is_better : bool

    Raises
    ------
    ScoreDataError
        A file has other columns, or a cell is no number.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "0.csv"
    ...     _ = path.write_text("Wall time,Step,Value\n1.5,0,59.3\n2.5,1,64.8\n")
    ...     read_tensorboard_csv({("ppo", "Ant-v5", 0): path}).curves("ppo", "Ant-v5")
    (array([0., 1.]), array([[59.3, 64.8]]))
    """
    records = []
    for (algorithm, task, run), path in paths.items():
        for step, score in sorted(_points(Path(path)).items()):
            key = {"algorithm": algorithm, "task": task, "run": run}
            records.append(key | {"step": step, "score": score})
    if not records:
        raise ScoreDataError("expected scalars of TensorBoard to read; found none")
    table = ScoreTable.from_records(
        records,
        metric=metric,
        higher_is_better=higher_is_better,
        provenance=("read from TensorBoard's CSV files",),
    )
    return warn_of_suspicions(table)


def _points(path: Path) -> dict[float, float]:
    """Return the value of each step, the one written last."""
    raw, origin = read_csv(path)
    if raw.columns != _HEADER:
        raise origin.error(
            f"expected the columns {', '.join(_HEADER)}; found {joined(raw.columns)}"
        )
    points = []
    for at, row in enumerate(raw.iter_rows()):
        numbers = [reported_number(text) for text in row]
        for name, text, number in zip(_HEADER, row, numbers, strict=True):
            if number is None or (name != "Value" and number != number):
                raise origin.error_at([at], name, f"expected a number, found {text!r}")
        points.append([number for number in numbers if number is not None])
    return {step: value for _, step, value in sorted(points, key=lambda point: point[0])}


def _read(path: Path, wanted: ReadRequest) -> ScoreTable:
    flat = [path] if path.is_file() else _scalars(sorted(path.glob("*.csv")))
    if flat:
        return _of_names(flat, path, wanted)
    files = _scalars(files_below(path, ".csv"))
    if not files:
        raise ScoreDataError(f"{path}: expected ALGORITHM/TASK/RUN.csv in it; found none")
    paths: dict[tuple[str, str, int | str], Path] = dict(by_run(files, path, ".csv"))
    return read_tensorboard_csv(paths, higher_is_better=wanted.is_higher_better)


def _of_names(files: list[Path], place: Path, wanted: ReadRequest) -> ScoreTable:
    """Read files whose names tell the run, as TensorBoard names them."""
    found = {file: _NAME.fullmatch(file.stem) for file in files}
    names = {file: match["run"] if match else file.stem for file, match in found.items()}
    tags = {file: match["tag"] if match else "value" for file, match in found.items()}
    wanted_tags = dict.fromkeys(tags.values())
    if wanted.metric is None and len(wanted_tags) > 1:
        raise ScoreDataError(
            f"{place}: expected files of one tag, found {joined(list(wanted_tags)[:6])}: "
            f"--score {next(iter(wanted_tags))} names the first"
        )
    tag = (wanted.metric or next(iter(wanted_tags))).replace("/", "_")
    chosen = [file for file in files if tag in (tags[file], tags[file].replace("/", "_"))]
    if not chosen:
        raise ScoreDataError(f"{place}: no file of the tag {tag!r}; found {joined([*wanted_tags])}")
    keys = keys_of_runs([names[file] for file in chosen], wanted.run_names, str(place))
    # Files of one folder, given one by one, are of one task as the folder is.
    is_named = place.is_file() and found[place] is not None
    stem = place.resolve().parent.name if is_named else place.stem
    if place.is_file() and "task" not in keys[0]:
        warnings.warn(
            f"{place.name} names no task: read as of {stem!r}; --run-names, or a folder "
            "ALGORITHM/TASK/RUN.csv, names all",
            DegenerateScoresWarning,
            stacklevel=3,
        )
    paths: dict[tuple[str, str, int | str], Path] = {}
    for file, key in zip(chosen, keys, strict=True):
        whole = {"algorithm": stem, "task": stem, "run": "0"} | key
        run = (whole["algorithm"], whole["task"], whole["run"])
        if run in paths:
            raise ScoreDataError(f"{file}: expected one file for each run, found {paths[run]} too")
        paths[run] = file
    return read_tensorboard_csv(paths, metric=tag, higher_is_better=wanted.is_higher_better)


def _scalars(files: list[Path]) -> list[Path]:
    return [file for file in files if _is_scalar(file)]


def _is_scalar(file: Path) -> bool:
    try:
        return header_names(file) == _HEADER
    except OSError:
        return False


def _recognises(path: Path) -> bool:
    if path.is_dir():
        # One file tells what they all are.
        files = [*sorted(path.glob("*.csv"))[:1], *files_below(path, ".csv")[:1]]
        return any(map(_is_scalar, files))
    return path.suffix.lower() == ".csv" and path.is_file() and _is_scalar(path)


TENSORBOARD_CSV = Reader(
    "tensorboard-csv",
    "scalars of TensorBoard as CSV: one, or a folder ALGORITHM/TASK/RUN.csv or run-RUN-tag-TAG.csv",
    recognises=_recognises,
    read=_read,
    takes=frozenset({"metric", "run_names"}),
)
