"""Tidy rows: raw columns are checked; errors name file, line and column.

All readers pass their rows through :func:`tidy_rows`. Whole columns are checked at once, and texts
by their distinct values, so that ten million rows take seconds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.errors import ScoreDataError, UnknownNameError, listed, option, reading, shortened
from gnomon.scores.columns import (
    Column,
    Flags,
    FloatArray,
    Rows,
    Texts,
    as_texts,
    distinct,
    group_means,
)

REQUIRED = ("algorithm", "task", "run", "score")
#: No two rows agree in all of these.
KEY = ("algorithm", "task", "run", "step")
#: Columns with a meaning; any other is an attribute.
SPECIAL = (*REQUIRED, "step", "censored")

#: Larger numbers may overflow when squared, and no measurement is that large.
LARGEST = 1e100
#: Longer names do not fit into a table or a figure.
LONGEST_NAME = 1000

#: Texts for a missing score, compared in lower case.
MISSING_TEXTS = (
    "", "-", "–", "—", "na", "n/a", "#n/a", "<na>", "nan", "null", "none", "?",
)  # fmt: skip
TRUE_TEXTS = ("true", "1", "yes")
FALSE_TEXTS = ("false", "0", "no")
#: The numbers of texts for true and false.
TRUTHS = dict.fromkeys(TRUE_TEXTS, 1.0) | dict.fromkeys(FALSE_TEXTS, 0.0)

#: Usual names of columns, in lower case and without a tracker's prefix.
USUAL: Mapping[str, tuple[str, ...]] = {
    "algorithm": (
        "algorithm", "algo", "alg", "algorithm_name", "agent", "agent_name", "method", "model",
        "model_name", "policy", "exp_name", "learner",
    ),
    "task": (
        "task", "task_name", "task_id", "environment", "env", "env_name", "env_id", "game",
        "benchmark", "domain", "dataset", "dataset_name",
    ),
    "run": ("run", "seed", "trial", "replicate"),
    "score": (
        "score", "scores", "return", "returns", "reward", "rewards", "episode_return",
        "episodic_return", "episode_reward", "episode_returns", "episode_rewards",
        "mean_episode_return", "mean_episode_returns", "mean_return", "mean_reward", "eval_return",
        "eval_reward", "final_return", "final_score", "total_reward", "normalized_score",
        "d4rl_normalized_score", "normalized_return", "ep_rew_mean", "average_return", "avg_return",
        "success_rate", "success", "is_success", "value", "result",
    ),
    "step": (
        "step", "steps", "_step", "step_count", "global_step", "global_steps", "env_step",
        "env_steps", "timestep", "timesteps", "time_step", "total_timesteps", "total_steps",
        "num_steps", "n_steps", "environment_steps", "total_env_steps", "num_env_steps",
        "timesteps_total", "num_env_steps_sampled_lifetime", "frames", "env_frames", "total_frames",
        "iteration", "iterations", "training_iteration",
    ),
}  # fmt: skip
#: Usual names that are ignored if another column has the same role.
_GIVES_WAY = (
    "success", "is_success", "frames", "env_frames", "total_frames", "iteration", "iterations",
    "training_iteration", "_step", "dataset", "dataset_name",
)  # fmt: skip
#: Prefixes of names in trackers, and sections of scores and steps in logs of training.
_PREFIX = re.compile(r"^(?:[a-z_]+\.)+(?=.)")
_SECTION = re.compile(r"^(?:charts|rollout|eval|evaluation|test|time)/")
#: Settings of a run, which are never scores.
_SETTING = re.compile(r"(config|params)[./].+|lr|learning_rate|gamma|batch_size", re.IGNORECASE)
#: Signs in a heading that low or high scores are good.
LOW_SIGNS = ("↓", "⬇", "\\downarrow", "lower is better", "lower better")
HIGH_SIGNS = ("↑", "⬆", "\\uparrow", "higher is better")
#: What a heading holds beside its words: a unit in brackets, a sign.
_NO_UNIT = re.compile(r"\s*(?:\(.*?\)|\[.*?\]|[#%])?\s*$|^\s+")
_WITH_COMMAS = re.compile(r"[+-]?\d+(?:,\d+)+(?:\.\d*)?")
_BEGINS_AS_NUMBER = re.compile(r"[\s\[]*[+-]?\.?\d")
#: Names of a column of items, if scores are right or wrong; also of one of tasks.
PERHAPS_ITEMS = ("question", "problem", "example")


class Origin:
    """Where rows come from, so that a message can name a file's line, or else the row."""

    def __init__(
        self,
        file: str | None = None,
        *,
        lines: Callable[[], Sequence[int]] | None = None,
        called: Mapping[str, str] | None = None,
        separator: str = ",",
    ) -> None:
        self.file = file
        self.separator = separator
        self.called = dict(called or {})
        self._lines = lines

    @property
    def name(self) -> str:
        """The name of the file, for notes."""
        return Path(self.file).name if self.file else "the table"

    def provenance(self, how: str = "") -> tuple[str, ...]:
        """Return where a table was read from, and how; nothing for one in memory."""
        return (f"read from {self.name}{how and f' ({how})'}",) if self.file else ()

    def of_rows(self, kept: npt.NDArray[np.int64]) -> Origin:
        """Return the origin of some of the rows, by their places among all."""
        return Origin(
            self.file,
            lines=lambda: self._numbers(kept.tolist()),
            called=self.called,
            separator=self.separator,
        )

    def error(self, message: str) -> ScoreDataError:
        """Return the error about the whole table."""
        return ScoreDataError(f"{self.file}: {message}" if self.file else message)

    def error_at(self, rows: Sequence[int], column: str, message: str) -> ScoreDataError:
        """Return the error about some rows, counted from 0, of one column."""
        numbers = " and ".join(map(str, self._numbers(rows)))
        noun = ("line" if self.file and self._lines else "row") + ("s" if len(rows) > 1 else "")
        prefix = f"{self.file}, " if self.file else ""
        name = self.called.get(column, column)
        return ScoreDataError(f"{prefix}{noun} {numbers}, column {name!r}: {message}")

    def _numbers(self, rows: Sequence[int]) -> list[int]:
        """Return the lines of rows, or their numbers from 1."""
        if self._lines is None:
            return [int(row) + 1 for row in rows]
        lines = self._lines()
        return [lines[row] if row < len(lines) else int(row) + 2 for row in rows]


def tidy_rows(
    raw: Rows, origin: Origin, where: Mapping[str, Any], within_run: str | None = None
) -> Rows:
    """Return the rows of `raw` that `where` selects, with checked columns in a fixed order."""
    if not {"algorithm", "task", "score"} <= set(raw.names):
        raise missing_columns(raw, origin)
    raw, origin = selected(raw, where, origin)
    columns: dict[str, Column] = {
        "algorithm": _names(raw["algorithm"], "algorithm", origin),
        "task": _names(raw["task"], "task", origin),
        "run": np.zeros(len(raw), np.int64),
    }
    if "run" in raw:
        columns["run"] = _labels(raw["run"], origin)
    if "step" in raw:
        step = numbers_of(raw["step"], "step", origin)
        _refuse(np.isnan(step), "step", "expected a number, found nothing", origin)
        whole = np.all(np.abs(step) < 2**53) and np.all(step == np.floor(step))
        columns["step"] = step.astype(np.int64) if whole else step
    score = numbers_of(raw["score"], "score", origin)
    message = f"expected a number from -{LARGEST:g} to {LARGEST:g}, found a larger one"
    _refuse(np.isfinite(score) & (np.abs(score) > LARGEST), "score", message, origin)
    columns["score"] = score
    infinite = np.isinf(score)
    if "censored" in raw:
        columns["censored"] = censored = _flags(raw["censored"], origin)
        infinite &= ~censored
    message = "an infinite score needs a true 'censored' (a run that never reached the goal)"
    _refuse(infinite, "score", message, origin)
    rest = {name: raw[name] for name in raw.names if name not in SPECIAL}
    rows = Rows(columns | rest)
    if within_run is not None:
        return _averaged(rows)
    _check_duplicates(rows, origin, has_runs="run" in raw)
    return rows


def missing_columns(raw: Rows, origin: Origin, named: Iterable[str] = ()) -> ScoreDataError:
    """Return the error that names the required columns that are not `named`, or not there."""
    there = [*named] or raw.names
    missing = [x for x in ("algorithm", "task", "score") if x not in there]
    found = shortened(", ".join(raw.names), 200) or "none"
    plural = "s" if len(missing) > 1 else ""
    message = f"missing column{plural} {', '.join(map(repr, missing))}; found {found}"
    if raw.names:
        columns = dict.fromkeys(missing, "NAME")
        message += f"; name {'them' if plural else 'it'} by {reading(origin.file, columns=columns)}"
        message += ", or add columns to the log of one run" * (missing == ["algorithm", "task"])
    for item in (x for x in raw.names if "task" in missing and x.lower() in PERHAPS_ITEMS):
        message += f"; {option(columns={'item': item})} if these are items of an evaluation"
    return origin.error(message)


def renamed_columns(raw: Rows, columns: Mapping[str, str], origin: Origin) -> Rows:
    """Return the columns under the names of tidy rows."""
    _check_columns(raw, columns, origin)
    taken = {*columns, *columns.values()}
    named = {name: raw[theirs] for name, theirs in columns.items()}
    origin.called |= columns
    return Rows(named | {name: raw[name] for name in raw.names if name not in taken})


def _check_columns(raw: Rows, columns: Mapping[str, str], origin: Origin) -> None:
    """Refuse names of columns that mean nothing, or that are not there."""
    for name, theirs in columns.items():
        if name not in SPECIAL:
            raise UnknownNameError("column of scores to read one as", name, SPECIAL)
        if theirs not in raw:
            found = shortened(", ".join(raw.names), 200) or "none"
            raise origin.error(f"no column {theirs!r} to read as the {name}; found {found}")
        if name == "score":
            refuse_setting(theirs, origin)


def short_name(column: str) -> str:
    """Return the name of a column without what a tracker puts before it."""
    return _PREFIX.sub("", column)


def role_of(column: str) -> str | None:
    """Return what a column usually holds, by its name; None for any other."""
    found = {_bare(column), _bare(column.replace(".", "_"))}  # agent.name is agent_name
    return next((role for role, names in USUAL.items() if not found.isdisjoint(names)), None)


def is_setting(column: str) -> bool:
    """Return whether a column holds a setting of the runs, by its name."""
    return _SETTING.fullmatch(column) is not None


def refuse_setting(column: str, origin: Origin) -> None:
    """Refuse a setting of the runs as their score."""
    if is_setting(column):
        raise origin.error(f"column {column!r} is a setting of runs, not a score")


def is_marked_low(heading: str) -> bool:
    """Return whether a heading has a sign that low scores are good."""
    return any(sign in heading.lower() for sign in LOW_SIGNS)


def _bare(column: str) -> str:
    name = _NO_UNIT.sub("", _SECTION.sub("", short_name(column)))
    return name.lower().replace(" ", "_").replace("-", "_")


def usual_columns(
    raw: Rows, named: Mapping[str, str], roles: Sequence[str], origin: Origin
) -> dict[str, str]:
    """Return the column that holds each of some roles: as it is named, else by its usual name."""
    _check_columns(raw, named, origin)
    found = {}
    for role in roles:
        if role in named:
            found[role] = named[role]
            continue
        candidates = [x for x in raw.names if role_of(x) == role and x not in named.values()]
        if role == "score":
            refuse_decimal_commas(raw, candidates, origin)
            empty = [name for name in candidates if as_texts(raw[name]).missing.all()]
            numeric = [x for x in candidates if are_numbers(raw[x]) or are_truths(raw[x])]
            # A column of texts that begin like numbers has wrong cells: reading it names them.
            candidates = (
                numeric
                or empty
                or [
                    x
                    for x in candidates
                    if any(map(_BEGINS_AS_NUMBER.match, as_texts(raw[x]).names))
                ]
            )
        candidates = [x for x in candidates if _bare(x) not in _GIVES_WAY] or candidates
        candidates = [name for name in candidates if name == role] or candidates
        for other in candidates[1:]:
            if raw.tolist(candidates[0]) != raw.tolist(other):
                first = candidates[0]
                raise origin.error(
                    f"columns {first!r} and {other!r} may both be the {role}; "
                    f"choose one, as in {reading(origin.file, columns={role: first})}"
                )
        if candidates:
            found[role] = candidates[0]
    return found


def refuse_decimal_commas(raw: Rows, names: Iterable[str], origin: Origin) -> None:
    """Refuse numbers with decimal commas in columns of scores, unless commas separate the fields.

    They would be read as thousands or texts.
    """
    for name in names if origin.separator != "," else ():
        column = raw[name]
        texts = column.names if isinstance(column, Texts) else ()
        found = [text for text in texts if re.fullmatch(r"[+-]?\d+,\d+", text.strip())]
        if found and all(x in found or _number(x) is not None for x in texts):
            at = int(np.argmax(raw.texts(name).isin(found)))
            message = f"expected a number, found {raw.tolist(name)[at]!r}"
            raise origin.error_at([at], name, f"{message}: write a point for a decimal comma")


def are_numbers(column: Column) -> bool:
    """Return whether a column holds numbers, and no text that is none."""
    if not isinstance(column, Texts):
        return column.dtype.kind in "iuf"
    found = [_number(name) for name in column.names]
    return None not in found and any(number == number for number in found)


def are_truths(column: Column) -> bool:
    """Return whether a column holds true and false, as texts perhaps."""
    if not isinstance(column, Texts):
        return column.dtype.kind == "b"
    return {name.strip().lower() for name in column.names} <= {*TRUTHS, *MISSING_TEXTS}


def matching_rows(raw: Rows, where: Mapping[str, Any], origin: Origin) -> Flags:
    """Return which rows have all the attribute values of `where`, compared as texts."""
    keep: Flags = np.ones(len(raw), bool)
    ours = {theirs: name for name, theirs in origin.called.items()}
    for name, value in where.items():
        column = name if name in raw else ours.get(name)
        if column is None or column not in raw:
            known = ", ".join(origin.called.get(x, x) for x in raw.names)
            raise origin.error(f"no column {name!r} to select by; found {known}")
        texts = raw.texts(column)
        keep &= texts.isin([str(value)])
        if not keep.any():
            raise origin.error(
                f"no row has {name} = {value!s}; found {listed(sorted(texts.names))}"
            )
    return keep


def selected(raw: Rows, where: Mapping[str, Any], origin: Origin) -> tuple[Rows, Origin]:
    """Return the rows that :func:`matching_rows` names, and their origin."""
    if not where:
        return raw, origin
    kept = np.flatnonzero(matching_rows(raw, where, origin))
    return raw.take(kept), origin.of_rows(kept)


def _refuse(wrong: Flags, column: str, message: str, origin: Origin) -> None:
    """Raise for the first row that is `wrong`."""
    if wrong.any():
        raise origin.error_at([int(np.argmax(wrong))], column, message)


def _names(raw: Column, name: str, origin: Origin) -> Texts:
    """Return a column of non-empty texts."""
    texts = as_texts(raw)
    stripped = [text.strip() for text in texts.names]
    if stripped != list(texts.names) or "" in stripped:
        texts = Texts.merged(texts.codes, [text or None for text in stripped])
    _refuse(texts.missing, name, "expected a name, found nothing", origin)
    message = f"expected a name of at most {LONGEST_NAME:,} characters, found a longer one"
    if any(len(text) > LONGEST_NAME for text in texts.names):
        long = texts.mapped([len(text) > LONGEST_NAME for text in texts.names], False)
        _refuse(long, name, message, origin)
    return texts


def _labels(raw: Column, origin: Origin) -> Column:
    """Return run labels: whole numbers if all are, and none is spelt in two ways, else texts."""
    if not isinstance(raw, Texts) and raw.dtype.kind == "i":
        return raw
    texts = _names(raw, "run", origin)
    if not all(re.fullmatch(r"[+-]?\d{1,18}", name, re.ASCII) for name in texts.names):
        return texts
    numbers = [int(name) for name in texts.names]
    return texts.mapped(numbers, 0) if len(set(numbers)) == len(numbers) else texts


def numbers_of(raw: Column, name: str, origin: Origin) -> FloatArray:
    """Return a column of floats, NaN where there is nothing."""
    if not isinstance(raw, Texts):
        if raw.dtype.kind == "b" and raw.size and name != "score":
            found = str(bool(raw[0])).lower()
            raise origin.error_at([0], name, f"expected a number, found {found!r}")
        return raw.astype(np.float64, copy=False)
    plain = [text.strip().lower() for text in raw.names]
    if name == "score" and are_truths(raw):
        return raw.mapped([TRUTHS.get(text, np.nan) for text in plain])
    numbers = [_number(text) for text in plain]
    if None in numbers:
        unread = [number is None for number in numbers]
        if name == "score":
            # Among right and wrong answers, name the cell that is neither.
            neither = [no and text not in TRUTHS for no, text in zip(unread, plain, strict=True)]
            unread = neither if any(neither) else unread
        wrong = raw.mapped(unread, False)
        at = int(np.argmax(wrong))
        text = raw.names[int(raw.codes[at])]
        remedy = ""
        if _WITH_COMMAS.fullmatch(text.strip()):
            remedy = ": write a point for a decimal comma, and no comma between thousands"
        raise origin.error_at([at], name, f"expected a number, found {shortened(text)!r}{remedy}")
    return raw.mapped(numbers)


def _number(text: str) -> float | None:
    """Return the number of a text, NaN for a missing one, None if it is none."""
    if text.strip().lower() in MISSING_TEXTS:
        return float("nan")
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def _flags(raw: Column, origin: Origin) -> Flags:
    """Return a column of true and false; nothing means false."""
    if not isinstance(raw, Texts) and raw.dtype.kind == "b":
        return raw
    texts = as_texts(raw)
    names = [name.strip().lower() for name in texts.names]
    known = [name in (*TRUE_TEXTS, *FALSE_TEXTS, *MISSING_TEXTS) for name in names]
    message = "expected true or false, found another text"
    _refuse(~texts.mapped(known, True).astype(bool), "censored", message, origin)
    flags: Flags = texts.mapped([name in TRUE_TEXTS for name in names], False).astype(bool)
    return flags


def _check_duplicates(rows: Rows, origin: Origin, *, has_runs: bool) -> None:
    """Refuse two rows with the same key."""
    key = [name for name in KEY if name in rows]
    number, n_numbers = numbered(rows, key)
    if n_numbers <= 2 * number.size + 1000:
        seen = np.zeros(n_numbers, np.bool_)
        seen[number] = True
        if np.count_nonzero(seen) == number.size:
            return
    elif _are_different(number):
        return
    order = np.argsort(number, kind="stable")
    again = np.flatnonzero(np.diff(number[order]) == 0) + 1
    at = int(order[again].min())
    earlier = int(np.argmax(number == number[at]))
    if not has_runs:
        algorithm, task = (rows.texts(name).names[rows[name].codes[at]] for name in KEY[:2])
        raise origin.error_at(
            [earlier, at],
            "run",
            f"several rows of {algorithm} on {task} but no column of runs or epochs: "
            f"name it by {reading(origin.file, columns={'run': 'NAME'})}, "
            f"or average the rows by {option(within_run='mean')}",
        )
    shown = ", ".join(f"{name} {rows.take([at]).tolist(name)[0]}" for name in key)
    message = f"expected one row for each {', '.join(key)}; found {shown} twice"
    mean = f"{reading(origin.file, within_run='mean')} averages the rows of a run"
    curves = "" if "step" in key else f", {option(columns={'step': 'NAME'})} reads curves"
    raise origin.error_at([earlier, at], "run", f"{message}; {mean}{curves}")


def _averaged(rows: Rows) -> Rows:
    """Return one row for each run and step, with the mean score of its rows."""
    number, _ = numbered(rows, [name for name in KEY if name in rows])
    _, first, group = np.unique(number, return_index=True, return_inverse=True)
    mean = group_means(group, rows["score"], first.size)
    # Columns that vary within a run, such as the number of the episode, are left out.
    same = [x for x in rows.names if (_coded(rows[x]) == _coded(rows[x])[first][group]).all()]
    order = np.argsort(first)
    kept = rows.only(*(x for x in rows.names if x in same or x in SPECIAL)).take(first[order])
    return kept.with_columns({"score": mean[order]})


def numbered(rows: Rows, key: Sequence[str]) -> tuple[npt.NDArray[np.integer], int]:
    """Return a whole number for each row, the same for equal keys alone, and their limit."""
    number: npt.NDArray[np.integer] = np.zeros(len(rows), np.int32)
    n_numbers = 1
    for name in key:
        code = _coded(rows[name])
        n_codes = int(code.max(initial=0)) + 1
        n_numbers *= n_codes
        if n_numbers >= 2**62:
            number = np.unique(number, return_inverse=True)[1]
            n_numbers = (int(number.max()) + 1) * n_codes
        if n_numbers >= 2**31:
            number = number.astype(np.int64, copy=False)
        number *= n_codes
        number += code
    return number, n_numbers


def _are_different(number: npt.NDArray[np.integer]) -> bool:
    """Return whether no number comes twice."""
    ordered = np.sort(number)
    return not (ordered[1:] == ordered[:-1]).any()


def _coded(column: Column) -> npt.NDArray[Any]:
    """Return a small whole number from 0 for each value, the same for equal ones alone."""
    if isinstance(column, Texts):
        return column.codes + np.int32(1) if column.codes.min(initial=0) < 0 else column.codes
    return distinct(column)[1]


def with_usual_names(raw: Rows, columns: Mapping[str, str], origin: Origin) -> Rows:
    """Return columns under the names of tidy rows: as `columns` has them, else by usual names.

    A column of steps is taken by another name only where rows of one run need it.
    """
    roles = [x for x in ("algorithm", "task", "run", "score") if x not in (*raw.names, *columns)]
    found = dict(columns) | usual_columns(raw, columns, roles, origin)
    if "step" not in (*raw.names, *found) and "step" in map(role_of, raw.names):
        own = [found.get(role, role) for role in ("algorithm", "task", "run")]
        number, _ = numbered(raw, [name for name in own if name in raw])
        if not _are_different(number):
            found |= usual_columns(raw, found, ["step"], origin)
    return renamed_columns(raw, found, origin)
