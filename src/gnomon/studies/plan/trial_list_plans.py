"""Import of the reference system's trial lists: a folder of CSV files becomes the lists of a plan.

What the reference passes over in silence is refused here, with the nearest name: a column that it
does not know, a header that begins with ``#``, a number that is none.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gnomon._io.text_file import read_text
from gnomon.errors import ConfigError, GnomonError, UnknownNameError
from gnomon.game.formats.board_files import read_board_list
from gnomon.game.formats.data_folder import DataFolder
from gnomon.game.formats.picture_pieces import find_pictures
from gnomon.game.formats.trial_lists import ParameterSet, read_modifier, read_trial_list
from gnomon.rules.catalogue import available_rules
from gnomon.studies.piece_looks import DRAWN_COLORS, DRAWN_SHAPES
from gnomon.studies.plan.page_bundles import bundle_fields, bundle_name
from gnomon.studies.plan.plan_files import given_board, image_files, rule_file_text

#: Columns that have no effect in the reference system either; older designs.
UNUSED_COLUMNS = ("f", "m", "n")
#: What the last folder of a plan of two begins with.
_PLAYS = {"coop.": "cooperative", "adve.": "adversarial"}
_SECOND_BOT = ("halftime", "init_error_rate", "report_confidence")
_BOARD_COLUMNS = [
    f"{end}_{noun}" for end in ("min", "max") for noun in ("objects", "shapes", "colors")
]
#: Every column of the reference's trial lists.
COLUMNS = (
    "rule_id", "max_boards", "min_points", "max_points", "b", *UNUSED_COLUMNS, *_BOARD_COLUMNS,
    "shapes", "colors", "images", "crowded", "condTrain", "condTest", "initial_boards",
    "initial_boards_order", "feedback_switches", "free_wrong_cost", "stack_memory_depth",
    "stack_memory_show_order", "grid_memory_show_order", "give_up_at", "activate_bonus_at",
    "clear_how_many", "bonus_extra_pts", "clearing_threshold", "x2_after", "x4_after",
    "x2_likelihood", "x4_likelihood", "continue", "pregame", "init", "chat", "bot", "bot_assist",
    "bot_assist1", "pseudo_halftime", "pseudo_init_error_rate", "pseudo_report_confidence",
    "pseudo_halftime1", "pseudo_init_error_rate1", "pseudo_report_confidence1",
)  # fmt: skip

#: The reference knows no limit to the attempts on a board; ours is as high as it can be.
_HORIZON = 1000


def trial_list_record(place: str | Path, files: Path | None = None) -> dict[str, Any]:
    """Return trial lists as the fields ``lists``, ``rule_texts`` and ``already`` of a plan.

    Parameters
    ----------
    place : str or Path
        A folder: every ``*.csv`` in it is a list; ``defect.csv`` tells how many players each list
        lacks. Or one of the reference's names of plans: ``P:FOLDER:MODIFIER``, in each row of whose
        lists the columns of the modifier's one row stand in place of the row's own; or
        ``R:RULE:MODIFIER``, one list with the modifier's row, on one rule. Unlike there, a modifier
        changes ``colors``, ``shapes`` and ``images`` too.
    files : Path, optional
        The reference's folder of data, with ``rules``, ``boards``, ``cond``, ``modifiers`` and
        ``trial-lists``; else the folder that holds the ``trial-lists`` of which this folder is one.

    Returns
    -------
    dict
        Fields of a :class:`gnomon.studies.plan.study_plan.StudyPlan`; also the looks of pieces
        that the lists name, from the folder ``shapes``, and colours from ``colors.csv``; and
        ``pages``, fields of the bundle of pages in ``pregame``.

    Raises
    ------
    GnomonError
        A list, or a file that it names, is not as it should be; the message says where.
    """
    kind, name, modifier = _parts(str(place))
    if kind == "R":
        data = DataFolder(files or Path())
        row = _modifier_row(data, modifier)
        texts: dict[str, str] = {}
        series = _series(replace(row, rule_id=name), data, texts)
        alone = Path(name).name
        record = {"lists": {alone: [series]}, "rule_texts": texts, "already": {}}
        return record | _pages({alone: row}, data)
    if kind == "P":
        data = DataFolder(files or Path())
        folder = data.find_folder(name, "trial-lists")
        changes = data.find(modifier, "modifiers", ".csv")
        _check_header(changes)
        return _lists_of(folder, DataFolder(files or _data_folder(folder)), changes)
    folder = Path(place)
    return _lists_of(folder, DataFolder(files or _data_folder(folder)), None)


def name_of_lists(place: str | Path) -> str:
    """Return what a study of some trial lists is called, if its plan does not say."""
    kind, name, modifier = _parts(str(place))
    last = Path(name).resolve().name
    return f"{last}-{Path(modifier).stem}" if kind else last


def _parts(place: str) -> tuple[str, str, str]:
    """Split the name of a plan: its kind, empty for a folder, its own name, and its modifier."""
    if place[:2] not in ("P:", "R:"):
        return "", place, ""
    kind, *rest = place.split(":")
    if len(rest) != 2 or not all(rest):
        noun = "FOLDER" if kind == "P" else "RULE"
        raise ConfigError(f"expected {kind}:{noun}:MODIFIER, found {place!r}")
    return kind, rest[0], rest[1]


def _modifier_row(data: DataFolder, name: str) -> ParameterSet:
    path = data.find(name, "modifiers", ".csv")
    _check_header(path)
    return read_modifier(path)


def _lists_of(folder: Path, data: DataFolder, modifier: Path | None) -> dict[str, Any]:
    """Return the lists of a folder."""
    paths = sorted(path for path in folder.glob("*.csv") if path.name != "defect.csv")
    if not paths:
        raise ConfigError(f"{folder}: expected a folder of trial lists (*.csv); found none")
    texts: dict[str, str] = {}
    lists, first = {}, {}
    for path in paths:
        _check_header(path)
        rows = read_trial_list(path, modifier)
        if not rows:
            raise ConfigError(f"{path}: expected a row of parameters, found none")
        partner = _partner(folder.resolve().name, _Cells(rows[0]))
        lists[path.stem] = [_series(row, data, texts) | partner for row in rows]
        first[path.stem] = rows[0]
    already = _read_defects(folder / "defect.csv", list(lists))
    record = {"lists": lists, "rule_texts": texts, "already": already}
    images = _filled(image_files=image_files(record, data.shapes))
    return record | _looks(lists, data) | images | _pages(first, data)


def _pages(first: Mapping[str, ParameterSet], data: DataFolder) -> dict[str, Any]:
    """Return the pages of the bundle that the first row of each list names."""
    named = {name: bundle_name(row.others) for name, row in first.items()}
    if len(set(named.values())) > 1:
        told = ", ".join(f"{name}: {bundle}" for name, bundle in named.items())
        raise ConfigError(f"field 'pregame': expected one bundle for all lists, found {told}")
    (name,) = set(named.values())
    folder = data.find_folder(name, "pregame")
    if not folder.is_dir() and name != "default":
        raise ConfigError(f"{folder}: there is no such bundle of pages")
    return _filled(pages=bundle_fields(folder))


def _filled(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value}


def _looks(lists: Mapping[str, Any], data: DataFolder) -> dict[str, Any]:
    """Return the shapes and colours of the lists that do not come with the game."""
    entries = [entry for entries in lists.values() for entry in entries]
    boards = [entry["board"] for entry in entries if "board" in entry]
    pieces = [piece for entry in entries for board in entry.get("given", ()) for piece in board]
    shapes = {name for board in boards for name in board.get("shape_palette", ())}
    colors = {name for board in boards for name in board.get("color_palette", ())}
    shapes |= {piece["shape"] for piece in pieces if "shape" in piece}
    colors |= {piece["color"] for piece in pieces if "color" in piece}
    known = _read_colors(data.path / "colors.csv")
    files = {name: read_text(data.shape_file(name)) for name in shapes - set(DRAWN_SHAPES)}
    values = {name: known[name] for name in colors - set(DRAWN_COLORS) if name in known}
    return _filled(shape_files=files, color_values=values)


def _read_colors(path: Path) -> dict[str, str]:
    """Read a table of colours: ``name,red,green,blue`` a line, from 0 to 255."""
    found = {}
    for number, row in _told_rows(path):
        cells = [cell.strip() for cell in row]
        if len(cells) != 4 or not all(c.isdigit() and int(c) < 256 for c in cells[1:]):
            raise ConfigError(f"{path}, row {number}: expected name,red,green,blue from 0 to 255")
        found[cells[0].upper()] = "#" + "".join(f"{int(cell):02x}" for cell in cells[1:])
    return found


def _told_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a table without a header, each with its number; none without a file."""
    if path.is_file():
        for number, row in enumerate(csv.reader(read_text(path).splitlines()), 1):
            if row and not row[0].lstrip().startswith("#"):
                yield number, row


def _data_folder(folder: Path) -> Path:
    whole = folder.resolve()
    return next((each.parent for each in whole.parents if each.name == "trial-lists"), whole.parent)


def _check_header(path: Path) -> None:
    """Refuse a header that is lost, and columns that nobody knows."""
    for line in read_text(path).removeprefix("\ufeff").splitlines():
        names = [name.strip() for name in next(csv.reader([line.lstrip("# ")]), [])]
        if not line.strip():
            continue
        if line.lstrip().startswith("#"):
            if "rule_id" in names:
                raise ConfigError(
                    f"{path}, header: expected the names of columns, found a comment; take the "
                    "'#' away"
                )
            continue
        unknown = [name for name in names if name and name not in COLUMNS]
        if unknown:
            told = (str(UnknownNameError("column", name, COLUMNS)) for name in unknown)
            raise ConfigError(f"{path}, header: {' '.join(told)}")
        return


def _read_defects(path: Path, names: Sequence[str]) -> dict[str, int]:
    """Read how many players each list lacks: ``list,integer`` a line."""
    found = {}
    for number, row in _told_rows(path):
        where = f"{path}, row {number}"
        name, text = (row[0].strip(), row[1].strip()) if len(row) == 2 else ("", "")
        if not text.removeprefix("-").isdigit():
            raise ConfigError(f"{where}: expected list,integer; found {','.join(row)!r}")
        if name not in names:
            raise ConfigError(f"{where}: {UnknownNameError('list', name, names)}")
        found[name] = int(text)
    return found


def _series(row: ParameterSet, data: DataFolder, texts: dict[str, str]) -> dict[str, Any]:
    """Return a row as an entry of a list; its rule goes to ``texts`` if it is no one of ours."""
    cells = _Cells(row)
    fixed = not str(cells.needed("feedback_switches")).startswith("free")
    cost = cells.number("free_wrong_cost", 1.0)
    entry: dict[str, Any] = {
        "rule": _rule(row, data, texts),
        "episodes": cells.integer("max_boards", None),
        "horizon": _HORIZON,
        "feedback": "fixed" if fixed else "free",
        "pick_cost": None if fixed else cost,
        "memory": {
            "stack": cells.integer("stack_memory_depth", 0),
            "numbers": cells.boolean("stack_memory_show_order"),
            "cells": "order" if cells.boolean("grid_memory_show_order") else "tick",
            "attempts": False,
        },
        "give_up_at": cells.integer("give_up_at", 999),
        "points": _points(cells),
        "incentive": incentive_of(row),
        "continues": cells.boolean("continue"),
        "bot_assist": _bot_assist(cells),
    }
    entry["guess"] = "mastery" if _ends_early(entry["incentive"]) else "board"
    return entry | _boards(row, data)


def _points(cells: _Cells) -> dict[str, float] | None:
    """Return what boards are paid, None where no column says so: an export of such a series."""
    columns = {"least": "min_points", "most": "max_points", "slope": "b"}
    if not any(cells.has(name) for name in columns.values()):
        return None
    return {field: cells.number(name, None) for field, name in columns.items()}


class _Cells:
    """The columns of a row that concern people."""

    def __init__(self, row: ParameterSet) -> None:
        self._row = row
        self.where = row.where

    def has(self, name: str) -> bool:
        return name in self._row.others

    def value(self, name: str) -> Any:
        return self._row.others.get(name)

    def needed(self, name: str) -> Any:
        return self._get(name, "a value", None, lambda value: True)

    def number(self, name: str, default: float | None) -> float:
        known = float(self._get(name, "a number", default, _is_number))
        if known < 0:
            raise ConfigError(f"{self.where}, field {name!r}: expected 0 or more")
        return known

    def integer(self, name: str, default: int | None) -> int:
        return int(self._get(name, "a whole number from 0", default, _is_count))

    def boolean(self, name: str) -> bool:
        return bool(self._get(name, "true or false", False, lambda value: isinstance(value, bool)))

    def _get(self, name: str, expected: str, default: Any, fits: Callable[[Any], bool]) -> Any:
        value = self._row.others.get(name, default)
        if value is None or not fits(value):
            found = "nothing" if value is None else repr(value)
            raise ConfigError(f"{self.where}, field {name!r}: expected {expected}, found {found}")
        return value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _ends_early(incentive: Mapping[str, Any] | None) -> bool:
    return incentive is not None and incentive["kind"] in ("doubling", "likelihood")


def incentive_of(row: ParameterSet) -> dict[str, Any] | None:
    """Return the incentive of a row, None for none.

    Raises ConfigError: there are two, as the reference's own check has it, or half of one.
    """
    cells = _Cells(row)
    kinds = {"activate_bonus_at": "bonus", "x2_after": "doubling", "x2_likelihood": "likelihood"}
    found = [name for name in kinds if cells.has(name)]
    if len(found) > 1:
        raise ConfigError(f"{cells.where}: expected one incentive, found {' and '.join(found)}")
    for needed, first in (("x4_after", "x2_after"), ("x4_likelihood", "x2_likelihood")):
        if cells.has(needed) and first not in found:
            raise ConfigError(f"{cells.where}, field {first!r}: expected with {needed!r}")
    if not found:
        return None
    if found == ["activate_bonus_at"]:
        return {
            "kind": "bonus",
            "activate_at": cells.integer("activate_bonus_at", None),
            "boards": cells.integer("clear_how_many", 1),
            "points": cells.integer("bonus_extra_pts", 0),
            "threshold": cells.number("clearing_threshold", 1.3),
        }
    x2 = found[0]
    return {
        "kind": kinds[x2],
        "x2": cells.integer(x2, None),
        "x4": cells.integer(x2.replace("x2", "x4"), None),
    }


def _partner(folder: str, cells: _Cells) -> dict[str, Any]:
    """Return the partner that the folder and the first row of a list speak of, if any."""
    play = next((play for start, play in _PLAYS.items() if folder.startswith(start)), None)
    if play is None:
        for name in ("chat", "bot"):
            if cells.has(name) and cells.needed(name):
                raise ConfigError(
                    f"{cells.where}, field {name!r}: expected in a folder whose name begins with "
                    f"{' or '.join(_PLAYS)}; found {folder}"
                )
        return {}
    partner: dict[str, Any] = {"play": play, "chat": cells.boolean("chat")}
    if cells.has("bot"):
        partner |= {"kind": "bot", "chat": False, "bot": _bot(cells, "bot")}
    return {"partner": partner}


def _bot_assist(cells: _Cells) -> dict[str, Any] | None:
    for name in _SECOND_BOT:
        if cells.has(f"pseudo_{name}1"):
            second, first = cells.needed(f"pseudo_{name}1"), cells.value(f"pseudo_{name}")
            if second != first:
                raise ConfigError(
                    f"{cells.where}, field 'pseudo_{name}1': expected what player 0 has "
                    f"({first}), found {second}; both get hints of one bot"
                )
    if cells.has("bot_assist1") != cells.has("bot_assist") and cells.has("bot_assist1"):
        raise ConfigError(f"{cells.where}, field 'bot_assist1': expected with 'bot_assist'")
    return _bot(cells, "bot_assist") if cells.has("bot_assist") else None


def _bot(cells: _Cells, column: str) -> dict[str, Any]:
    if cells.needed(column) != "pseudo":
        raise ConfigError(f"{cells.where}, field {column!r}: expected pseudo")
    confident = not cells.has("pseudo_report_confidence")
    return {
        "halftime": cells.number("pseudo_halftime", 8.0),
        "error_rate": cells.number("pseudo_init_error_rate", 0.75),
        "confidence": confident or cells.boolean("pseudo_report_confidence"),
    }


def _rule(row: ParameterSet, data: DataFolder, texts: dict[str, str]) -> str:
    if row.rule_id is None:
        raise ConfigError(f"{row.where}, field 'rule_id': expected a rule, found nothing")
    if row.rule_id not in available_rules() and row.rule_id not in texts:
        texts[row.rule_id] = rule_file_text(_file_of(row, data, row.rule_id, "rules"))
    return row.rule_id


def _file_of(row: ParameterSet, data: DataFolder, name: str, folder: str) -> Path:
    try:
        return data.find(name, folder, ".txt")
    except GnomonError as error:
        raise ConfigError(f"{row.where}: {error} in {folder}/ of {data.path}") from None


def _boards(row: ParameterSet, data: DataFolder) -> dict[str, Any]:
    """Return how the boards of a row come."""
    if row.initial_boards is not None:
        if row.pieces or row.shapes or row.colors:
            raise ConfigError(
                f"{row.where}, field 'initial_boards': expected no numbers of objects, shapes and "
                "colors beside it"
            )
        return _given(row, data)
    if row.pieces is None:
        raise ConfigError(f"{row.where}, field 'min_objects': expected a number, found nothing")
    board: dict[str, Any] = {
        "pieces": list(row.pieces),
        "shapes": list(row.shapes or (0, 0)),
        "colors": list(row.colors or (0, 0)),
    }
    board |= _filled(
        shape_palette=data.shape_names(row.shape_palette),
        color_palette=list(row.color_palette),
        images={p.image: dict(p.properties) for p in find_pictures(data.shapes, row.images)},
        crowded=row.crowded,
    )
    conditions = {"train": row.cond_train, "test": row.cond_test}
    texts = {k: read_text(_file_of(row, data, v, "cond")) for k, v in conditions.items() if v}
    return {"board": board, **texts}


def _given(row: ParameterSet, data: DataFolder) -> dict[str, Any]:
    assert row.initial_boards is not None
    folder = data.find_folder(row.initial_boards, "boards")
    order = (row.initial_boards_order or "").strip()
    if order.lower() in ("random", "alpha"):
        paths = sorted(folder.glob("*.json"), key=lambda path: path.name)
    elif order.endswith(".csv"):
        names = read_board_list(folder / order)
        paths = [folder / (n if n.endswith(".json") else f"{n}.json") for n in names]
    else:
        raise ConfigError(
            f"{row.where}, field 'initial_boards_order': expected random, alpha or a .csv file, "
            f"found {order or 'nothing'}"
        )
    if not paths:
        raise ConfigError(f"{folder}: expected board files (*.json), found none")
    given = [given_board(path, data.shapes) for path in paths]
    return {"given": given, "order": "random" if order.lower() == "random" else "listed"}
