"""Logs of training: monitors and evaluations of Stable-Baselines3, scalars of TensorBoard.

Most are one file a run, whose place in a folder names algorithm, task and run. Results of marl-eval
hold all runs.
"""

from __future__ import annotations

import csv
import json
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.errors import ScoreDataError, counted, joined, listed, note, option, several
from gnomon.scores.columns import Column, FloatArray, Rows, Texts
from gnomon.scores.readers.arrays import arrays_in
from gnomon.scores.readers.files import (
    header_names,
    mapping_at,
    read_csv,
    reported_number,
    reported_numbers,
)
from gnomon.scores.readers.registry import Reader, ReadRequest, Source
from gnomon.scores.readers.trackers import kept_after_restarts, keys_of_runs
from gnomon.scores.steps import note_mean
from gnomon.scores.table import ScoreTable
from gnomon.scores.tidy import Origin, tidy_rows

#: Algorithm, task and run.
RunKey = tuple[str, str, str]
#: Steps and scores of a run, or of an evaluation.
Curve = tuple[FloatArray, FloatArray]

#: Episodes over which the score of a run is averaged, as Stable-Baselines3's own log does.
WINDOW = 100
_NUMBERED = re.compile(r"(.+)_(\d+)")


def _table(
    curves: Mapping[RunKey, Curve], wanted: ReadRequest, metric: str, tool: str
) -> ScoreTable:
    """Return the table of the curves of runs."""
    sizes = [len(steps) for steps, _ in curves.values()]
    place = np.repeat(np.arange(len(curves), dtype=np.int32), sizes)
    columns: dict[str, Column] = {
        role: Texts.merged(place, [key[at] for key in curves])
        for at, role in enumerate(("algorithm", "task", "run"))
    }
    columns["step"], columns["score"] = map(np.concatenate, zip(*curves.values(), strict=True))
    rows = tidy_rows(Rows(columns), Origin(tool), {})
    return ScoreTable(rows, metric, None, wanted.is_higher_better, (f"read from {tool}",))


def _below(folder: Path, ending: str) -> list[Path]:
    """Return the files of that ending, at most three folders deep."""
    depths = ("*/", "*/*/", "*/*/*/")
    return sorted(file for deep in depths for file in folder.glob(f"{deep}*{ending}"))


def _files_of_runs(
    path: Path,
    ending: str,
    *,
    is_one: Callable[[Path], bool] = lambda file: True,
    task_of: Callable[[Path], str | None] = lambda file: None,
    several_files: bool = False,
) -> dict[RunKey, list[Path]]:
    """Return the files of each run below a folder; a single file is one run."""
    if not path.exists():
        raise ScoreDataError(f"{path}: expected a file or folder of scores; there is none")
    if path.is_file():
        name = path.name.removesuffix(ending).strip(".") or ending.partition(".")[0]
        task = task_of(path)
        lacks = "neither algorithm nor task" if task is None else "no algorithm"
        note(
            f"{path.name} names {lacks}: read as one run of {name!r} on {task or name!r}; a folder "
            f"ALGORITHM/TASK/RUN/{ending} names all"
        )
        return {(name, task or name, "0"): [path]}
    found: dict[RunKey, list[Path]] = {}
    for file in filter(is_one, _below(path, ending)):
        own = found.setdefault(_key_of_file(file, path, ending, task_of(file)), [])
        if own and not several_files:
            raise ScoreDataError(
                f"{file}: expected one file for each run, found {own[0]} of the same run"
            )
        own.append(file)
    if not found:
        place = f"ALGORITHM/TASK/RUN{'' if ending.startswith('.') else '/'}{ending}"
        raise ScoreDataError(f"{path}: expected {place} in it; found none")
    return found


def _key_of_file(file: Path, folder: Path, ending: str, task: str | None) -> RunKey:
    """Return algorithm, task and run of a file, by its place in a folder.

    These are ``ALGORITHM/TASK/RUN``, ``ALGORITHM/TASK_RUN``, ``ALGORITHM_RUN/TASK`` and
    ``ALGORITHM-TASK``, as RL Baselines3 Zoo and others name folders. A name without the ending is
    the run; `task` is the task that the file itself names.
    """
    algorithm, *rest = file.relative_to(folder).parts
    run = file.name.removesuffix(ending).strip(".")
    if len(rest) == 3:
        return algorithm, rest[0], rest[1]
    if len(rest) == 1:
        name, _, place = algorithm.partition("-")
        if task and algorithm.endswith(f"-{task}"):
            name, place = algorithm.removesuffix(f"-{task}"), task
        if place and run:
            return name, place, run
    else:
        place = rest[0]
        numbered = _NUMBERED.fullmatch(place)
        if numbered and (not run or numbered[1] == task):
            return algorithm, numbered[1], numbered[2]
        of_algorithm = _NUMBERED.fullmatch(algorithm)
        if of_algorithm and len({*folder.glob(f"{of_algorithm[1]}_*/")}) > 1:
            return of_algorithm[1], place, of_algorithm[2]
        if run:
            return algorithm, place, run
    last = ending.lstrip(".")
    raise ScoreDataError(
        f"{file}: expected ALGORITHM/TASK/RUN.{last} or ALGORITHM/TASK/RUN/{last} in {folder}"
    )


_MONITOR = "monitor.csv"


def _read_monitors(source: Source, wanted: ReadRequest) -> ScoreTable:
    """Read monitors: the score at the end of an episode is the mean of the last ones.

    The monitors of a vector environment are one run: their episodes are put in the order in which
    they ended.
    """
    path, window = source.place, WINDOW if wanted.window is None else wanted.window
    files = _files_of_runs(path, _MONITOR, task_of=_task, several_files=True)
    curves: dict[RunKey, Curve] = {}
    empty = []
    for key, own in files.items():
        episodes = [episode for file in own for episode in _episodes(file)]
        if not episodes:
            empty.append(str(own[0]))
            continue
        if len(own) > 1:
            episodes.sort(key=lambda episode: episode[0])
        _, lengths, returns = np.array(episodes).T
        means = [returns[max(at + 1 - window, 0) : at + 1].mean() for at in range(returns.size)]
        curves[key] = np.cumsum(lengths), np.array(means)
    if not curves:
        raise ScoreDataError(f"{path}: expected monitor files with episodes in them; found none")
    if empty:
        note(f"no finished episode in {counted(len(empty), 'file')}, left out: {listed(empty, 3)}")
    n_episodes = [steps.size for steps, _ in curves.values()]
    note_mean(f"mean return of its last {counted(window, 'episode')}", window, n_episodes)
    return _table(_up_to_ends(curves), wanted, "return", "Stable-Baselines3 monitor files")


def _up_to_ends(curves: Mapping[RunKey, Curve]) -> dict[RunKey, Curve]:
    """Return curves with a point where the first run on the task ends, the last episode's.

    There all runs are compared, and a score between two episodes does not exist.
    """
    ends: dict[str, float] = {}
    for (_, task, _), (steps, _) in curves.items():
        ends[task] = min(float(steps[-1]), ends.get(task, np.inf))
    found = {}
    for key, (steps, means) in curves.items():
        end = ends[key[1]]
        at = int(np.searchsorted(steps, end, "right"))
        if at and steps[at - 1] < end:
            steps, means = np.insert(steps, at, end), np.insert(means, at, means[at - 1])
        found[key] = steps, means
    return found


def _episodes(path: Path) -> list[tuple[float, float, float]]:
    """Return time of ending, length and return of each finished episode of a file."""
    about, text = _monitor(path)
    start = about.get("t_start")
    began = start if isinstance(start, float) else 0.0
    rows = list(csv.DictReader(text.splitlines()))
    found = []
    for line, row in enumerate(rows, start=3):
        cells = [row.get(name) for name in ("t", "l", "r")]
        time, length, score = [None if x is None else reported_number(x) for x in cells]
        is_cut = line == len(rows) + 2 and not text.endswith("\n")
        if is_cut and None in (time, length, score):
            note(f"{path.name}: the last line is cut off and left out")
            break
        if length is None or score is None:
            name, cell = ("l", cells[1]) if length is None else ("r", cells[2])
            where = f"{path}, line {line}, column {name!r}"
            raise ScoreDataError(f"{where}: expected a number, found {str(cell)!r}")
        found.append((began + (time or 0.0), length, score))
    return found


def _monitor(path: Path) -> tuple[dict[str, Any], str]:
    """Return what the first line of a monitor states, if it can be read, and the text below it."""
    try:
        first, _, text = path.read_text("utf-8").partition("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ScoreDataError(f"{path}: expected a monitor file; {error}") from None
    if not first.startswith("#"):
        raise ScoreDataError(f"{path}, line 1: expected '#' and JSON, as a monitor file has")
    with suppress(ValueError):
        about = json.loads(first.removeprefix("#"))
        if isinstance(about, dict):
            return about, text
    return {}, text


def _task(path: Path) -> str | None:
    """Return the environment that a monitor file names, if any."""
    found = _monitor(path)[0].get("env_id")
    return found if isinstance(found, str) and found != "None" else None


MONITORS = Reader(
    "monitors",
    "monitor files of Stable-Baselines3: one, or a folder ALGORITHM/TASK/RUN/monitor.csv",
    recognises=lambda source: (
        bool(_below(source.place, _MONITOR))
        if source.is_folder
        else source.place.name.endswith(_MONITOR) and source.is_file
    ),
    read=_read_monitors,
    takes=frozenset({"window"}),
)

_EVALUATIONS = "evaluations.npz"


def _read_evaluations(source: Source, wanted: ReadRequest) -> ScoreTable:
    """Read evaluations: results (returns), successes or ep_lengths, means over the episodes."""
    path = source.place
    name = wanted.metric or "results"
    files = _files_of_runs(path, _EVALUATIONS)
    curves = {key: _evaluations(file, name) for key, (file,) in files.items()}
    metric = "return" if name == "results" else name
    return _table(curves, wanted, metric, "Stable-Baselines3 evaluations, means over episodes")


def _evaluations(path: Path, name: str) -> Curve:
    """Return steps, and the mean over episodes at each: episodes are no runs."""
    arrays = arrays_in(path)
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
    return steps.astype(np.float64), np.asarray(scores, np.float64).mean(axis=1)


def _are_evaluations(source: Source) -> bool:
    path = source.place
    if path.is_dir():
        return bool(_below(path, _EVALUATIONS))
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


def _read_scalars(source: Source, wanted: ReadRequest) -> ScoreTable:
    """Read scalars of TensorBoard, without the steps that a restart of a run discarded."""
    path = source.place
    flat = [path] if path.is_file() else list(filter(_is_scalar, sorted(path.glob("*.csv"))))
    if flat:
        files, metric = _of_names(flat, path, wanted)
    else:
        found = _files_of_runs(path, ".csv", is_one=_is_scalar)
        files, metric = {key: file for key, (file,) in found.items()}, "value"
    curves: dict[RunKey, Curve] = {}
    restarted = []
    for key, file in files.items():
        points = _points(file)
        kept = kept_after_restarts(np.zeros(len(points), np.int64), points[:, 1])
        if not kept.all():
            restarted.append(f"{key[0]} run {key[2]} on {key[1]}")
        last = {step: value for _, step, value in points[kept].tolist()}
        curves[key] = np.array([*last]), np.array([*last.values()])
    if restarted:
        note(f"{counted(len(restarted), 'run')} restarted from an earlier step "
             f"({listed(restarted, 3)}): the steps discarded then are left out")  # fmt: skip
    return _table(curves, wanted, metric, "TensorBoard's CSV files")


def _points(path: Path) -> FloatArray:
    """Return wall time, step and value of each row, in the order of time."""
    raw, origin = read_csv(path)
    if list(raw.names) != _SCALARS:
        raise origin.error(f"expected the columns {', '.join(_SCALARS)}; found {joined(raw.names)}")
    least = dict.fromkeys(_SCALARS[:2], -np.inf)  # a value may be missing
    columns = [reported_numbers(raw, name, origin, least.get(name)) for name in _SCALARS]
    points = np.column_stack(columns)
    return points[np.argsort(points[:, 0], kind="stable")]


def _of_names(
    files: Sequence[Path], place: Path, wanted: ReadRequest
) -> tuple[dict[RunKey, Path], str]:
    """Return the files of one tag by the runs that their names hold, and the tag."""
    found = {file: _NAME.fullmatch(file.stem) for file in files}
    tags = {file: match["tag"] if match else "value" for file, match in found.items()}
    every = list(dict.fromkeys(tags.values()))
    if wanted.metric is None and len(every) > 1:
        raise ScoreDataError(f"{place}: {several(every, 'tag of the files')}")
    tag = (wanted.metric or every[0]).replace("/", "_")
    chosen = {
        file: match["run"] if match else file.stem
        for file, match in found.items()
        if tag == tags[file].replace("/", "_")
    }
    if not chosen:
        raise ScoreDataError(f"{place}: no file of the tag {tag!r}; found {joined(every)}")
    keys = keys_of_runs(list(chosen.values()), wanted.run_names, str(place))
    # Files of one folder, given one by one, are of one task as the folder is.
    is_named = place.is_file() and found[place] is not None
    stem = place.resolve().parent.name if is_named else place.stem
    if place.is_file() and "task" not in keys[0]:
        note(
            f"{place.name} names no task: read as task {stem!r}; a folder ALGORITHM/TASK/RUN.csv, "
            f"or {option(run_names='{task}-{algorithm}')}, names all"
        )
    paths: dict[RunKey, Path] = {}
    for file, parts in zip(chosen, keys, strict=True):
        key = parts.get("algorithm", stem), parts.get("task", stem), parts.get("run", "0")
        if key in paths:
            raise ScoreDataError(f"{file}: expected one file for each run, found {paths[key]} too")
        paths[key] = file
    return paths, tag


def _is_scalar(file: Path) -> bool:
    try:
        return header_names(file) == _SCALARS
    except OSError:
        return False


def _are_scalars(source: Source) -> bool:
    path = source.place
    if path.is_dir():
        # One file shows what they all are.
        files = [*sorted(path.glob("*.csv"))[:1], *_below(path, ".csv")[:1]]
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


def _read_marl(source: Source, wanted: ReadRequest) -> ScoreTable:
    """Read marl-eval's JSON; a score is the mean over episodes, a task ``environment/task``.

    As in marl-eval, the score of a run is that of its ``absolute_metrics``, the final evaluation of
    its best policy, where all runs have one and no curves are wanted; else of each step.
    """
    path, content = source.place, source.content()
    runs = list(_marl_runs(content)) if isinstance(content, dict) else []
    is_absolute = not wanted.curves and bool(runs) and all(_ABSOLUTE in x for _, x in runs)
    parts = [
        (key, part)
        for key, own in runs
        for name, part in own.items()
        if (name == _ABSOLUTE) == is_absolute
    ]
    metrics = dict.fromkeys(x for _, part in parts for x in part if x.lower() != "step_count")
    if not metrics:
        raise ScoreDataError(f"{path}: expected {_MARL}, as marl-eval has them; found none")
    if wanted.metric is None and len(metrics) > 1:
        raise ScoreDataError(f"{path}: {several(list(metrics), 'metric')}")
    metric = wanted.metric or next(iter(metrics))
    records = []
    for key, part in parts:
        if metric not in part:
            continue
        try:
            row = key | {"score": float(np.mean(part[metric]))}
            lower = {name.lower(): value for name, value in part.items()}
            records.append(row if is_absolute else row | {"step": float(lower["step_count"])})
        except (KeyError, TypeError, ValueError) as error:
            raise ScoreDataError(f"{path}: expected {_MARL}; {error}") from None
    if not records:
        raise ScoreDataError(f"{path}: no step holds the metric {metric!r}")
    if is_absolute:
        note(f"{path.name}: the score of a run is the mean of its {_ABSOLUTE}, as in marl-eval")
    return ScoreTable(
        records,
        metric=metric,
        higher_is_better=wanted.is_higher_better,
        provenance=(f"read from {path.name} (marl-eval{', absolute metrics' * is_absolute})",),
    )


def _marl_runs(
    content: Mapping[str, Any],
) -> Iterator[tuple[dict[str, Any], dict[str, Mapping[str, Any]]]]:
    """Yield algorithm, task and run, and the steps of the run by their names in small letters."""
    for environment in content:
        for task in (tasks := mapping_at(content, environment)):
            for algorithm in (algorithms := mapping_at(tasks, task)):
                for run in (runs := mapping_at(algorithms, algorithm)):
                    steps = mapping_at(runs, run)
                    yield (
                        {"algorithm": algorithm, "task": f"{environment}/{task}", "run": run},
                        {
                            name.lower(): mapping_at(steps, name)
                            for name in steps
                            if name.lower().startswith(("step_", _ABSOLUTE))
                        },
                    )


def _is_marl(source: Source) -> bool:
    content = source.json
    return isinstance(content, dict) and any(steps for _, steps in _marl_runs(content))


MARL_EVAL = Reader(
    "marl-eval",
    "JSON of marl-eval: environment, task, algorithm, run, step",
    recognises=_is_marl,
    read=_read_marl,
    takes=frozenset({"metric"}),
)
