"""Files that training writes, and tables that are made of them.

These are monitors and evaluations of Stable-Baselines3, scalars of TensorBoard, results of
marl-eval and tables of openrlbenchmark. Most are one file a run, whose place in a folder names
algorithm, task and run.
"""

from __future__ import annotations

import csv
import json
import os
import re
import warnings
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.errors import (
    DegenerateScoresWarning,
    ScoreDataError,
    counted,
    joined,
    listed,
    option,
    several,
)
from gnomon.scores.columns import FloatArray
from gnomon.scores.plausibility import warn_of_suspicions
from gnomon.scores.readers.files import (
    header_line,
    header_names,
    json_object,
    mapping_at,
    read_csv,
    reported_number,
)
from gnomon.scores.readers.registry import Reader, ReadRequest
from gnomon.scores.readers.trackers import kept_after_restarts, keys_of_runs
from gnomon.scores.table import ScoreTable

Pathlike = str | os.PathLike[str]
#: Algorithm, task and run.
RunKey = tuple[str, str, int | str]

#: Episodes over which the score of a run is averaged, as Stable-Baselines3's own log does.
WINDOW = 100
_NUMBERED = re.compile(r"(.+)_(\d+)")


def files_below(folder: Path, ending: str) -> list[Path]:
    """Return the files of that ending, at most three folders deep."""
    depths = ("*/", "*/*/", "*/*/*/")
    return sorted(file for deep in depths for file in folder.glob(f"{deep}*{ending}"))


def key_of_file(file: Path, folder: Path, ending: str, task: str | None = None) -> RunKey:
    """Return algorithm, task and run of a file, by its place in a folder.

    Parameters
    ----------
    file, folder : path
        A file, and the folder that holds one folder for each algorithm: ``ALGORITHM/TASK/RUN``,
        ``ALGORITHM/TASK_RUN``, ``ALGORITHM_RUN/TASK`` or ``ALGORITHM-TASK``, as RL Baselines3 Zoo
        and others name them.
    ending : str
        How such files are called; what stands before it in a name is the run.
    task : str, optional
        The task that the file itself names.

    Raises
    ------
    ScoreDataError
        The place names no run.
    """
    algorithm, *rest = file.relative_to(folder).parts
    run = file.name.removesuffix(ending).strip(".")
    if len(rest) == 3:
        return algorithm, rest[0], rest[1]
    if len(rest) == 1:
        bare = algorithm.removesuffix(f"-{task}") if task else algorithm
        name, _, place = algorithm.partition("-")
        if bare != algorithm:
            name, place = bare, str(task)
        if not place or not run:
            raise _no_run(file, folder, ending)
        return name, place, run
    place = rest[0]
    numbered = _NUMBERED.fullmatch(place)
    if numbered and (not run or numbered[1] == task):
        return algorithm, numbered[1], numbered[2]
    of_algorithm = _NUMBERED.fullmatch(algorithm)
    if of_algorithm and len({*folder.glob(f"{of_algorithm[1]}_*/")}) > 1:
        return of_algorithm[1], place, of_algorithm[2]
    if not run:
        raise _no_run(file, folder, ending)
    return algorithm, place, run


def _no_run(file: Path, folder: Path, ending: str) -> ScoreDataError:
    last = ending.lstrip(".")
    return ScoreDataError(
        f"{file}: expected ALGORITHM/TASK/RUN.{last} or ALGORITHM/TASK/RUN/{last} in {folder}"
    )


def _by_run(files: Sequence[Path], folder: Path, ending: str) -> dict[RunKey, Path]:
    """Return each file by its key; of two files of one run the second is refused."""
    found: dict[RunKey, Path] = {}
    for file in files:
        key = key_of_file(file, folder, ending)
        if key in found:
            raise ScoreDataError(
                f"{file}: expected one file for each run, found {found[key]} of the same run"
            )
        found[key] = file
    return found


def _note(text: str) -> None:
    warnings.warn(text, DegenerateScoresWarning, stacklevel=3)


def read_monitors(
    paths: Mapping[RunKey, Pathlike | Sequence[Pathlike]], *, window: int = WINDOW
) -> ScoreTable:
    r"""Read Stable-Baselines3 monitor files: one row per episode, of unequal numbers.

    The score at the end of an episode is the mean return of the last `window` episodes, as the
    library's own log has it.

    Parameters
    ----------
    paths : mapping from (algorithm, task, run) to path or paths
        A ``monitor.csv`` each: a line ``#{...}``, then the columns r (return), l (length) and t
        (time). The monitors of a vector environment are one run: their episodes are put in the
        order in which they ended.
    window : int
        Number of episodes; fewer at the beginning of a run.

    Returns
    -------
    ScoreTable
        Scores by the number of environment steps at which their episodes ended.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")  # the note on the window of episodes
    ...     path = Path(folder) / "monitor.csv"
    ...     _ = path.write_text("#{}\nr,l,t\n1.5,10,0.1\n2.5,20,0.2\n")
    ...     read_monitors({("ppo", "Ant-v5", 0): path}).curves("ppo", "Ant-v5")
    (array([10., 30.]), array([[1.5, 2. ]]))
    """
    if window < 1:
        raise ScoreDataError(f"expected a window of at least 1 episode, found {window}")
    records = []
    empty = []
    for (algorithm, task, run), place in paths.items():
        several = [place] if isinstance(place, str | os.PathLike) else list(place)
        episodes = [episode for path in several for episode in _episodes(Path(path))]
        if not episodes:
            empty.append(str(several[0]))
        episodes.sort(key=lambda episode: episode[0] if len(several) > 1 else 0.0)
        steps = np.cumsum([length for _, length, _ in episodes])
        returns = np.array([score for _, _, score in episodes])
        for at, step in enumerate(steps.tolist()):
            key = {"algorithm": algorithm, "task": task, "run": run, "step": step}
            records.append(key | {"score": float(returns[max(at + 1 - window, 0) : at + 1].mean())})
    if not records:
        raise ScoreDataError("expected monitor files with episodes in them; found none")
    if empty:
        _note(f"no finished episode in {counted(len(empty), 'file')}, left out: {listed(empty, 3)}")
    note = f"the score of a run is the mean return of its last {window} episodes"
    table = ScoreTable.from_records(
        records, metric="return", provenance=("read from Stable-Baselines3 monitor files", note)
    )
    _note(note)
    return warn_of_suspicions(table)


def _episodes(path: Path) -> list[tuple[float, float, float]]:
    """Return time of ending, length and return of each finished episode of a file."""
    text = _monitor_text(path)
    lines = text.splitlines()
    start = _about(lines[0]).get("t_start", 0.0)
    found = []
    for line, row in enumerate(csv.DictReader(lines[1:]), start=3):
        is_cut = line > len(lines) - 1 and not text.endswith("\n")
        try:
            length, score = (
                _number(row.get(x), f"{path}, line {line}, column {x!r}") for x in "lr"
            )
            time = reported_number(row.get("t"))
        except ScoreDataError:
            if is_cut:
                break
            raise
        if is_cut and (time is None or row.get("t") is None):
            break
        found.append(((start if isinstance(start, float) else 0.0) + (time or 0.0), length, score))
    else:
        return found
    _note(f"{path.name}: the last line is cut off and left out")
    return found


def _monitor_text(path: Path) -> str:
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        raise ScoreDataError(f"{path}: expected a monitor file; there is none") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ScoreDataError(f"{path}: expected a monitor file; {error}") from None
    if not text.startswith("#"):
        raise ScoreDataError(f"{path}, line 1: expected '#' and JSON, as a monitor file has")
    return text


def _about(line: str) -> dict[str, Any]:
    """Return what the first line holds: the start, and perhaps the environment."""
    try:
        about = json.loads(line.removeprefix("#"))
    except ValueError:
        return {}
    return about if isinstance(about, dict) else {}


def _task(path: Path) -> str | None:
    """Return the environment that a monitor file names, if any."""
    found = _about(_monitor_text(path).partition("\n")[0]).get("env_id")
    return found if isinstance(found, str) and found != "None" else None


def _number(text: object, where: str) -> float:
    """Return the number that a cell holds, or NaN for an empty one."""
    number = None if text is None else reported_number(text)
    if number is None:
        raise ScoreDataError(f"{where}: expected a number, found {str(text)!r}")
    return number


def _read_monitors(path: Path, wanted: ReadRequest) -> ScoreTable:
    window = WINDOW if wanted.window is None else wanted.window
    if path.is_file():
        name = path.name.removesuffix("monitor.csv").strip(".") or "monitor"
        task = _task(path) or name
        _note(
            f"{path.name} names no algorithm: read as one run of {name!r} on {task!r}; a folder "
            "ALGORITHM/TASK/RUN/monitor.csv names all"
        )
        return read_monitors({(name, task, "0"): path}, window=window)
    runs: dict[RunKey, list[Path]] = {}
    for file in files_below(path, "monitor.csv"):
        runs.setdefault(key_of_file(file, path, "monitor.csv", _task(file)), []).append(file)
    if not runs:
        raise ScoreDataError(f"{path}: expected ALGORITHM/TASK/RUN/monitor.csv in it; found none")
    return read_monitors(runs, window=window)


MONITORS = Reader(
    "monitors",
    "monitor files of Stable-Baselines3: one, or a folder ALGORITHM/TASK/RUN/monitor.csv",
    recognises=lambda path: (
        bool(files_below(path, "monitor.csv"))
        if path.is_dir()
        else path.name.endswith("monitor.csv") and path.is_file()
    ),
    read=_read_monitors,
    takes=frozenset({"window"}),
)

_EVALUATIONS = "evaluations.npz"
#: What such a file may hold beside the steps; the first is the score if none is named.
_SCORES = ("results", "successes", "ep_lengths")


def read_evaluations(paths: Mapping[RunKey, Pathlike], *, metric: str | None = None) -> ScoreTable:
    """Read the evaluations of Stable-Baselines3: a score for each evaluation of a run.

    The score of a step is the mean over the episodes of its evaluation: episodes are no runs.

    Parameters
    ----------
    paths : mapping from (algorithm, task, run) to path
        An ``evaluations.npz`` each, with ``timesteps``, shape (evaluations,), and ``results``,
        shape (evaluations, episodes).
    metric : str, optional
        ``results`` (returns, if none is named), ``successes`` or ``ep_lengths``.

    Raises
    ------
    ScoreDataError
        A file is none of these, or lacks the metric.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "evaluations.npz"
    ...     np.savez(path, timesteps=[10, 20], results=[[1.0, 3.0], [4.0, 6.0]])
    ...     read_evaluations({("ppo", "Ant-v5", 0): path}).curves("ppo", "Ant-v5")
    (array([10., 20.]), array([[2., 5.]]))
    """
    name = metric or _SCORES[0]
    records = []
    for (algorithm, task, run), path in paths.items():
        steps, scores = _evaluations(Path(path), name)
        for step, score in zip(steps, scores, strict=True):
            key = {"algorithm": algorithm, "task": task, "run": run}
            records.append(key | {"step": float(step), "score": float(score)})
    table = ScoreTable.from_records(
        records,
        metric="return" if name == "results" else name,
        provenance=("read from Stable-Baselines3 evaluations, means over episodes",),
    )
    return warn_of_suspicions(table)


def _evaluations(path: Path, name: str) -> tuple[FloatArray, FloatArray]:
    """Return steps, and the mean over episodes at each."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files}
    except FileNotFoundError:
        raise ScoreDataError(f"{path}: expected a file of evaluations; there is none") from None
    except (OSError, EOFError, ValueError, zipfile.BadZipFile):
        raise ScoreDataError(f"{path}: expected an .npz file of arrays of numbers") from None
    if name not in arrays or "timesteps" not in arrays:
        raise ScoreDataError(
            f"{path}: expected timesteps and {name}, found {listed(arrays) or 'nothing'}"
        )
    steps, scores = arrays["timesteps"], arrays[name]
    if steps.ndim != 1 or scores.ndim != 2 or len(steps) != len(scores) or not scores.size:
        raise ScoreDataError(
            f"{path}: expected timesteps (evaluations,) and {name} (evaluations, episodes), "
            f"found {steps.shape} and {scores.shape}"
        )
    return steps, np.asarray(scores, dtype=np.float64).mean(axis=1)


def _read_evaluations(path: Path, wanted: ReadRequest) -> ScoreTable:
    if path.is_dir():
        files = files_below(path, _EVALUATIONS)
        if not files:
            place = f"ALGORITHM/TASK/RUN/{_EVALUATIONS}"
            raise ScoreDataError(f"{path}: expected {place} in it; found none")
        return read_evaluations(_by_run(files, path, _EVALUATIONS), metric=wanted.metric)
    name = path.stem
    _note(
        f"{path.name} names neither algorithm nor task: read as one run of {name!r}; a folder "
        f"ALGORITHM/TASK/RUN/{_EVALUATIONS} names all"
    )
    return read_evaluations({(name, name, 0): path}, metric=wanted.metric)


def _are_evaluations(path: Path) -> bool:
    if path.is_dir():
        return bool(files_below(path, _EVALUATIONS))
    if path.suffix.lower() != ".npz" or not path.is_file():
        return False
    try:
        return {"timesteps.npy", "results.npy"} <= set(zipfile.ZipFile(path).namelist())
    except (OSError, zipfile.BadZipFile):
        return False


EVALUATIONS = Reader(
    "evaluations",
    "evaluations.npz of Stable-Baselines3: one, or a folder ALGORITHM/TASK/RUN/evaluations.npz",
    recognises=_are_evaluations,
    read=_read_evaluations,
    takes=frozenset({"metric"}),
)

_SCALARS = ["Wall time", "Step", "Value"]
#: How TensorBoard names a file: the run's folder, and the tag.
_NAME = re.compile(r"run-(?P<run>.+?)-tag-(?P<tag>.+)")


def read_tensorboard_csv(
    paths: Mapping[RunKey, Pathlike], *, metric: str = "value", higher_is_better: bool = True
) -> ScoreTable:
    r"""Read scalars that TensorBoard saved as CSV, one file a run.

    What a restart of the training discarded is left out: rows with a step that a later row has, or
    passes again.

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
    restarted = []
    for (algorithm, task, run), path in paths.items():
        points = np.array(_points(Path(path))).reshape(-1, 3)
        points = points[np.argsort(points[:, 0], kind="stable")]
        kept = kept_after_restarts(np.zeros(len(points), np.int64), points[:, 1])
        if not kept.all():
            restarted.append(f"{algorithm} run {run} on {task}")
        last = {step: value for _, step, value in points[kept].tolist()}
        for step, score in sorted(last.items()):
            key = {"algorithm": algorithm, "task": task, "run": run}
            records.append(key | {"step": step, "score": score})
    if not records:
        raise ScoreDataError("expected scalars of TensorBoard to read; found none")
    if restarted:
        _note(f"{counted(len(restarted), 'run')} restarted from an earlier step "
              f"({listed(restarted, 3)}): the steps discarded then are left out")  # fmt: skip
    table = ScoreTable.from_records(
        records,
        metric=metric,
        higher_is_better=higher_is_better,
        provenance=("read from TensorBoard's CSV files",),
    )
    return warn_of_suspicions(table)


def _points(path: Path) -> list[list[float]]:
    """Return wall time, step and value of each row."""
    raw, origin = read_csv(path)
    if list(raw.names) != _SCALARS:
        raise origin.error(
            f"expected the columns {', '.join(_SCALARS)}; found {joined(list(raw.names))}"
        )
    columns = []
    for name in _SCALARS:
        cells = raw.tolist(name)
        numbers = [reported_number(cell) for cell in cells]
        for at, number in enumerate(numbers):
            if number is None or (name != "Value" and number != number):
                raise origin.error_at([at], name, f"expected a number, found {cells[at]!r}")
        columns.append(numbers)
    return [list(row) for row in zip(*columns, strict=True)]


def _read_scalars(path: Path, wanted: ReadRequest) -> ScoreTable:
    flat = [path] if path.is_file() else [x for x in sorted(path.glob("*.csv")) if _is_scalar(x)]
    if flat:
        return _of_names(flat, path, wanted)
    files = [file for file in files_below(path, ".csv") if _is_scalar(file)]
    if not files:
        raise ScoreDataError(f"{path}: expected ALGORITHM/TASK/RUN.csv in it; found none")
    return read_tensorboard_csv(
        _by_run(files, path, ".csv"), higher_is_better=wanted.is_higher_better
    )


def _of_names(files: list[Path], place: Path, wanted: ReadRequest) -> ScoreTable:
    """Read files whose names hold the run, as TensorBoard names them."""
    found = {file: _NAME.fullmatch(file.stem) for file in files}
    names = {file: match["run"] if match else file.stem for file, match in found.items()}
    tags = {file: match["tag"] if match else "value" for file, match in found.items()}
    wanted_tags = dict.fromkeys(tags.values())
    if wanted.metric is None and len(wanted_tags) > 1:
        raise ScoreDataError(f"{place}: {several(list(wanted_tags), 'tag of the files')}")
    tag = (wanted.metric or next(iter(wanted_tags))).replace("/", "_")
    chosen = [file for file in files if tag in (tags[file], tags[file].replace("/", "_"))]
    if not chosen:
        raise ScoreDataError(f"{place}: no file of the tag {tag!r}; found {joined([*wanted_tags])}")
    keys = keys_of_runs([names[file] for file in chosen], wanted.run_names, str(place))
    # Files of one folder, given one by one, are of one task as the folder is.
    is_named = place.is_file() and found[place] is not None
    stem = place.resolve().parent.name if is_named else place.stem
    if place.is_file() and "task" not in keys[0]:
        _note(
            f"{place.name} names no task: read as of {stem!r}; a folder ALGORITHM/TASK/RUN.csv, or "
            f"{option(run_names='{task}-{algorithm}')}, names all"
        )
    paths: dict[RunKey, Path] = {}
    for file, key in zip(chosen, keys, strict=True):
        whole = {"algorithm": stem, "task": stem, "run": "0"} | key
        run = (whole["algorithm"], whole["task"], whole["run"])
        if run in paths:
            raise ScoreDataError(f"{file}: expected one file for each run, found {paths[run]} too")
        paths[run] = file
    return read_tensorboard_csv(paths, metric=tag, higher_is_better=wanted.is_higher_better)


def _is_scalar(file: Path) -> bool:
    try:
        return header_names(file) == _SCALARS
    except OSError:
        return False


def _are_scalars(path: Path) -> bool:
    if path.is_dir():
        # One file shows what they all are.
        files = [*sorted(path.glob("*.csv"))[:1], *files_below(path, ".csv")[:1]]
        return any(map(_is_scalar, files))
    return path.suffix.lower() == ".csv" and path.is_file() and _is_scalar(path)


TENSORBOARD_CSV = Reader(
    "tensorboard-csv",
    "scalars of TensorBoard as CSV: one, or a folder ALGORITHM/TASK/RUN.csv or run-RUN-tag-TAG.csv",
    recognises=_are_scalars,
    read=_read_scalars,
    takes=frozenset({"metric", "run_names"}),
)

_MARL = "environment, task, algorithm, run, step_N with step_count"
_ABSOLUTE = "absolute_metrics"


def read_marl_eval(
    path: Pathlike,
    *,
    metric: str | None = None,
    higher_is_better: bool = True,
    curves: bool = False,
) -> ScoreTable:
    """Read marl-eval's JSON: environment, task, algorithm, run, step.

    A score is the mean over evaluation episodes; tasks are named ``environment/task``. As in
    marl-eval, the score of a run is that of its ``absolute_metrics``, the final evaluation of its
    best policy, where all runs have one; else of each step.

    Parameters
    ----------
    path : path
    metric : str, optional
        Which metric, if there are several.
    higher_is_better : bool
        The direction, which the file does not state.
    curves : bool
        Read the evaluations during training, even where there are absolute metrics.

    Raises
    ------
    ScoreDataError
        No step holds the metric, or it has to be named.

    Examples
    --------
    >>> import json, tempfile
    >>> run = {"step_0": {"step_count": 10, "return": [1.0, 3.0]}}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "results.json"
    ...     _ = path.write_text(json.dumps({"smac": {"3m": {"qmix": {"seed_0": run}}}}))
    ...     read_marl_eval(path).curves("qmix", "smac/3m")
    (array([10.]), array([[2.]]))
    """
    path = Path(path)
    runs = list(_marl_runs(json_object(path), path))
    is_absolute = not curves and bool(runs) and all(_ABSOLUTE in parts for _, parts in runs)
    metrics: dict[str, None] = {}
    for _, parts in runs:
        for name, part in parts.items():
            if (name == _ABSOLUTE) == is_absolute:
                metrics |= dict.fromkeys(key for key in part if key.lower() != "step_count")
    if not metrics:
        raise ScoreDataError(f"{path}: expected {_MARL}, as marl-eval has them; found none")
    if metric is None and len(metrics) > 1:
        raise ScoreDataError(f"{path}: {several(list(metrics), 'metric')}")
    metric = metric or next(iter(metrics))
    records = []
    for key, parts in runs:
        for name, part in parts.items():
            if (name == _ABSOLUTE) != is_absolute or metric not in part:
                continue
            try:
                row = key | {"score": float(np.mean(part[metric]))}
                records.append(row if is_absolute else row | {"step": _step_count(part)})
            except (KeyError, TypeError, ValueError) as error:
                raise ScoreDataError(f"{path}: expected {_MARL}; {error}") from None
    if not records:
        raise ScoreDataError(f"{path}: no step holds the metric {metric!r}")
    if is_absolute:
        _note(f"{path.name}: the score of a run is the mean of its {_ABSOLUTE}, as in marl-eval")
    table = ScoreTable.from_records(
        records,
        metric=metric,
        higher_is_better=higher_is_better,
        provenance=(f"read from {path.name} (marl-eval{', absolute metrics' * is_absolute})",),
    )
    return warn_of_suspicions(table)


def _step_count(part: Mapping[str, Any]) -> float:
    lower = {name.lower(): value for name, value in part.items()}
    return float(lower["step_count"])


def _marl_runs(
    content: Mapping[str, Any], path: Path
) -> Iterator[tuple[dict[str, Any], dict[str, Mapping[str, Any]]]]:
    """Yield algorithm, task and run, and the steps of the run by their names in small letters."""
    for environment in content:
        for task in (tasks := mapping_at(content, environment)):
            for algorithm in (algorithms := mapping_at(tasks, task)):
                for run in (runs := mapping_at(algorithms, algorithm)):
                    key = {"algorithm": algorithm, "task": f"{environment}/{task}", "run": run}
                    steps = mapping_at(runs, run)
                    known = {
                        name.lower(): steps[name]
                        for name in steps
                        if name.lower().startswith(("step_", _ABSOLUTE))
                        and isinstance(steps[name], Mapping)
                    }
                    if steps and not known:
                        raise ScoreDataError(f"{path}: expected {_MARL}; found {listed(steps, 4)}")
                    yield key, known


def _is_marl(path: Path) -> bool:
    if path.suffix.lower() != ".json" or not path.is_file():
        return False
    try:
        return any(steps for _, steps in _marl_runs(json_object(path), path))
    except ScoreDataError:
        return False


MARL_EVAL = Reader(
    "marl-eval",
    "JSON of marl-eval: environment, task, algorithm, run, step",
    recognises=_is_marl,
    read=lambda path, wanted: read_marl_eval(
        path,
        metric=wanted.metric,
        higher_is_better=wanted.is_higher_better,
        curves=wanted.curves,
    ),
    takes=frozenset({"metric"}),
)

#: A heading: who, which project, which experiment, and how its runs were filtered.
_HEADING = re.compile(r"(?:[^/]*/[^/]*/)?(.*?)\s*\((\{.*\})\)")


def _is_openrlbenchmark(path: Path) -> bool:
    if path.suffix.lower() != ".csv" or not path.is_file():
        return False
    line = header_line(path)
    return line.startswith((",", '"",')) and "({" in line


def _read_openrlbenchmark(path: Path, wanted: ReadRequest) -> ScoreTable:
    try:
        text = path.read_text(encoding="utf-8-sig")
        rows = [row for row in csv.reader(text.splitlines()) if any(row)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ScoreDataError(f"{path}: expected a table of openrlbenchmark; {error}") from None
    names = _headings(rows[0][1:])
    records = []
    for line, row in enumerate(rows[1:], start=2):
        if len(row) != len(names) + 1:
            raise ScoreDataError(
                f"{path}, line {line}: expected a task and {len(names)} cells, found {len(row)} "
                "fields"
            )
        for name, text in zip(names, row[1:], strict=True):
            # A missing mean comes with a missing deviation.
            score = reported_number("nan" if text.strip().startswith("nan") else text)
            if score is None:
                raise ScoreDataError(
                    f"{path}, line {line}, column {name!r}: expected a number, found {text!r}"
                )
            records.append({"algorithm": name, "task": row[0], "run": 0, "score": score})
    if not records:
        raise ScoreDataError(f"{path}: expected rows of tasks, found none")
    _note(
        "deviations are left out, since openrlbenchmark does not state of how many runs they are: "
        "each cell is read as one number"
    )
    table = ScoreTable.from_records(
        records,
        metric=wanted.metric or "score",
        higher_is_better=wanted.is_higher_better,
        provenance=(f"read from {path.name} (openrlbenchmark)",),
    )
    return warn_of_suspicions(table)


def _headings(cells: list[str]) -> list[str]:
    """Return the names of the columns; published headers hold commas that are not quoted."""
    whole: list[str] = []
    for cell in cells:
        if whole and any(whole[-1].count(a) > whole[-1].count(b) for a, b in ("()", "[]", "{}")):
            whole[-1] += f",{cell}"
        else:
            whole.append(cell)
    short = []
    for text in whole:
        found = _HEADING.fullmatch(text.strip())
        tags = "" if found is None or found[2] == "{}" else f" ({found[2]})"
        short.append(f"{found[1]}{tags}" if found else text.strip())
    return short if len(set(short)) == len(short) else [text.strip() for text in whole]


OPENRLBENCHMARK = Reader(
    "openrlbenchmark",
    "a table of openrlbenchmark: a row a task, a column a set of runs, means and deviations",
    recognises=_is_openrlbenchmark,
    read=_read_openrlbenchmark,
    takes=frozenset({"metric"}),
)
