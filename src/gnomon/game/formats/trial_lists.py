"""Trial lists and modifiers: CSV files with one set of parameters of a game a row."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gnomon._io.text_file import read_text
from gnomon.errors import GnomonError


@dataclass(frozen=True, slots=True)
class ParameterSet:
    """One row of a trial list: which rule, on which boards, with which rewards.

    The game server plays by the rule and the boards. The other columns belong to games with people
    (rewards, incentives, bots): they are read and checked, and kept in `others`.

    Parameters
    ----------
    where : str
        File and row, for messages.
    rule_id : str or None
        The rule; a modifier has none.
    pieces, shapes, colors : (int, int) or None
        Least and most; None where the row says nothing.
    shape_palette, color_palette, images : tuple of str
        Empty where the row says nothing.
    crowded : bool
        Whether pieces may share a cell.
    cond_train, cond_test : str or None
        Condition files.
    initial_boards, initial_boards_order : str or None
        A folder of boards, and the order in which they come.
    others : mapping from str to bool, int, float or str
        All other columns that are not empty.
    """

    where: str
    rule_id: str | None = None
    pieces: tuple[int, int] | None = None
    shapes: tuple[int, int] | None = None
    colors: tuple[int, int] | None = None
    shape_palette: tuple[str, ...] = ()
    color_palette: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    crowded: bool = False
    cond_train: str | None = None
    cond_test: str | None = None
    initial_boards: str | None = None
    initial_boards_order: str | None = None
    others: Mapping[str, bool | int | float | str] = field(default_factory=dict)


def read_trial_list(
    path: str | Path, modifier: str | Path | None = None
) -> tuple[ParameterSet, ...]:
    r"""Read a trial list: a header line, then one set of parameters a row.

    Lines that begin with ``#`` and empty lines are skipped; an empty field says nothing; further
    columns may have any name. What a ``modifier``, such a file with one row, says stands in place
    of what each row says, column by column.

    Raises GnomonError: a file cannot be read, or a field is not what its column holds; the
    message names file, row (of parameters, from 1) and field.
    """
    changes = {} if modifier is None else _only_row(Path(modifier))[1]
    return tuple(_parameter_set(where, {**row, **changes}) for where, row in _rows(Path(path)))


def read_modifier(path: str | Path) -> ParameterSet:
    """Read a modifier, the one row of a file like a trial list; errors as of that."""
    return _parameter_set(*_only_row(Path(path)))


def _only_row(path: Path) -> tuple[str, dict[str, str]]:
    rows = _rows(path)
    if len(rows) != 1:
        raise GnomonError(f"{path}: expected one row of parameters, found {len(rows)}")
    return rows[0]


def _rows(path: Path) -> list[tuple[str, dict[str, str]]]:
    """Return where each row of parameters stands, and its fields that are not empty."""
    lines = _lines(path)
    if not lines:
        raise GnomonError(f"{path}: expected a header line and rows of parameters; found none")
    header = [name.strip() for name in lines[0]]
    for index, name in enumerate(header):
        if not name or name in header[:index]:
            found = f"{name!r} twice" if name else f"none for column {index + 1}"
            raise GnomonError(f"{path}, header: expected different names of columns, found {found}")
    rows = []
    for number, cells in enumerate(lines[1:], 1):
        where = f"{path}, row {number}"
        if len(cells) > len(header):
            raise GnomonError(f"{where}: expected {len(header)} fields, found {len(cells)}")
        named = zip(header, (cell.strip() for cell in cells), strict=False)
        rows.append((where, {name: cell for name, cell in named if cell}))
    return rows


def _lines(path: Path) -> list[list[str]]:
    lines = read_text(path).removeprefix("\ufeff").splitlines()
    kept = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    try:
        return list(csv.reader(kept))
    except csv.Error as error:
        raise GnomonError(f"{path}: expected comma-separated values: {error}") from None


def _parameter_set(where: str, row: dict[str, str]) -> ParameterSet:
    reader = _Reader(where, row)
    return ParameterSet(
        where,
        rule_id=reader.text("rule_id"),
        pieces=reader.span("objects"),
        shapes=reader.span("shapes"),
        colors=reader.span("colors"),
        shape_palette=tuple(name.upper() for name in reader.names("shapes")),
        color_palette=tuple(name.upper() for name in reader.names("colors")),
        images=reader.names("images"),
        crowded=bool(reader.read("crowded", _boolean, "true or false")),
        cond_train=reader.text("condTrain"),
        cond_test=reader.text("condTest"),
        initial_boards=reader.text("initial_boards"),
        initial_boards_order=reader.text("initial_boards_order"),
        others=reader.others(),
    )


class _Reader:
    """Takes the fields of a row one by one; what is not taken is left for :meth:`others`."""

    def __init__(self, where: str, values: dict[str, str]) -> None:
        self._where = where
        self._values = values

    def read(self, name: str, convert: Callable[[str], Any], expected: str) -> Any:
        """Take a field; None if it is empty."""
        text = self._values.pop(name, None)
        if text is None:
            return None
        try:
            return convert(text)
        except ValueError:
            raise GnomonError(
                f"{self._where}, field {name!r}: expected {expected}, found {text!r}"
            ) from None

    def text(self, name: str) -> str | None:
        return self._values.pop(name, None)

    def names(self, name: str) -> tuple[str, ...]:
        """Take a list of names with semicolons between them."""
        texts = self._values.pop(name, "").split(";")
        return tuple(text.strip() for text in texts if text.strip())

    def span(self, noun: str) -> tuple[int, int] | None:
        """Take the columns of the least and the most; one of them stands for both."""
        ends = [self.read(f"{end}_{noun}", _count, "a number from 0") for end in ("min", "max")]
        low, high = (ends[0] if each is None else each for each in (ends[0], ends[1]))
        low = high if low is None else low
        return None if low is None else (low, high)

    def others(self) -> dict[str, bool | int | float | str]:
        """Return what is left, typed; a column that is known to hold a number must hold one."""
        for name in _NUMBERS & set(self._values):
            if isinstance(_typed(self._values[name]), str | bool):
                found = self._values[name]
                raise GnomonError(
                    f"{self._where}, field {name!r}: expected a number, found {found!r}"
                )
        return {name: _typed(text) for name, text in self._values.items()}


_NUMBERS = {
    "max_boards", "max_points", "min_points", "b", "free_wrong_cost", "stack_memory_depth",
    "activate_bonus_at", "clear_how_many", "bonus_extra_pts", "clearing_threshold", "x2_after",
    "x4_after", "x2_likelihood", "x4_likelihood", "give_up_at",
}  # fmt: skip


def _boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError
    return text.lower() == "true"


def _count(text: str) -> int:
    value = int(text)
    if not 0 <= value < 2**31:
        raise ValueError
    return value


def _typed(text: str) -> bool | int | float | str:
    """Return a truth value, a number, or the text itself."""
    for convert in (_boolean, int, float):
        try:
            value = convert(text)
        except ValueError:
            continue
        if not isinstance(value, float) or math.isfinite(value):
            return value
    return text
