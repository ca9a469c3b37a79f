"""Bundles of pages of the reference system, which a trial list names by ``pregame``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gnomon._io.text_file import read_text
from gnomon.errors import ConfigError
from gnomon.studies.plan.page_html import html_page
from gnomon.studies.plan.plan_files import PICTURES, picture_data

#: Bundles of the older column ``init``; any other number is the default one.
_BUNDLES = {2: "stalemate", 3: "relational", 11: "doubling"}


def bundle_name(cells: Mapping[str, Any]) -> str:
    """Return which bundle the first row of a trial list names, by ``pregame`` or ``init``."""
    named = cells.get("pregame")
    return str(named) if named is not None else _BUNDLES.get(cells.get("init", 0), "default")


def bundle_fields(folder: Path) -> dict[str, Any]:
    """Return a bundle of pages as fields of a plan.

    ``consent.html``; the pictures in ``instructions/``, a page each, in the order of the first
    number in their names, then of what stands before it, those without a number after them;
    ``demographics_instructions.html``, ``demographics.json``; and ``debriefing.html``, or else
    ``debriefing.uid.html``. What there is not is left out.

    Raises
    ------
    GnomonError
        A file cannot be read, or a question is of a kind that is not known.
    """
    found: dict[str, Any] = {}
    pages = {
        "consent": ("consent.html",),
        "demographics_page": ("demographics_instructions.html",),
        "debrief": ("debriefing.html", "debriefing.uid.html"),
    }
    for field, names in pages.items():
        path = next((folder / name for name in names if (folder / name).is_file()), None)
        found |= {} if path is None else {field: html_page(path)}
    booklet = sorted(_pictures_in(folder / "instructions"), key=_place_in_booklet)
    if booklet:
        found["instructions"] = [f"![{path.stem}](instructions/{path.name})" for path in booklet]
    shown = [*booklet, *_pictures_in(folder)]
    if shown:
        found["pictures"] = {p.relative_to(folder).as_posix(): picture_data(p) for p in shown}
    if (folder / "demographics.json").is_file():
        found["demographics"] = read_survey(folder / "demographics.json")
    return found


def _pictures_in(folder: Path) -> list[Path]:
    there = folder.iterdir() if folder.is_dir() else ()
    return [path for path in there if path.suffix.lower() in PICTURES]


def _place_in_booklet(path: Path) -> tuple[int, int, str, str]:
    number = re.search(r"[0-9]+", path.name)
    if number is None:
        return 1, 0, "", path.name
    return 0, int(number.group()), path.name[: number.start()], path.name


def read_survey(path: Path) -> list[dict[str, Any]]:
    """Return the questions of a ``demographics.json`` as those of a plan.

    Kinds: ``radiogroup``, ``dropdown``, ``rating``, ``boolean``, ``matrix`` (a question a row),
    ``text``, ``comment``; ``html`` and ``image`` ask nothing. A question with ``visibleIf`` is
    asked of all, and need not be answered.
    """
    try:
        record = json.loads(read_text(path))
    except ValueError as error:
        raise ConfigError(f"{path}: expected JSON: {error}") from None
    listed = _questions_in(record)
    if not all(isinstance(each, dict) for each in listed):
        raise ConfigError(f"{path}: expected a list of questions")
    return [one for each in listed for one in _survey_question(each, path)]


def _questions_in(record: Any) -> Sequence[Any]:
    """Return the questions of a survey: a list, or a record with ``elements`` or ``pages``."""
    if isinstance(record, list):
        return record
    parts = record if isinstance(record, dict) else {}
    if "pages" in parts:
        return [one for page in parts["pages"] for one in _questions_in(page)]
    return parts.get("elements") or parts.get("questions") or [None]


def _survey_question(asked: Mapping[str, Any], path: Path) -> Iterator[dict[str, Any]]:
    kind, name = asked.get("type"), str(asked.get("name", ""))
    title = str(asked.get("title") or name)
    whole: dict[str, Any] = {
        "name": _name(name),
        "title": title,
        "required": bool(asked.get("isRequired")) and "visibleIf" not in asked,
    }
    limits = {"goodnessGE": "goodness_least", "goodnessLT": "goodness_below"}
    whole |= {ours: float(asked[theirs]) for theirs, ours in limits.items() if theirs in asked}
    if kind in ("radiogroup", "dropdown", "rating", "boolean"):
        yield whole | {"kind": "choice", "choices": _choices(asked)}
    elif kind == "matrix":
        for value, row in map(_pair, asked.get("rows", ())):
            more = {"name": _name(f"{name}_{value}"), "title": f"{title} {row}"}
            choices = [_choice(each) for each in asked.get("columns", ())]
            yield whole | more | {"kind": "choice", "choices": choices}
    elif kind in ("text", "comment"):
        yield whole | {"kind": "number" if asked.get("inputType") == "number" else "text"}
    elif kind not in ("html", "image"):
        known = "radiogroup, dropdown, rating, boolean, matrix, text, comment"
        raise ConfigError(f"{path}, question {name!r}: expected a type of {known}; found {kind!r}")


def _choices(asked: Mapping[str, Any]) -> list[str]:
    given = asked.get("choices") or asked.get("rateValues")
    if given:
        return [_choice(each) for each in given]
    if asked.get("type") == "boolean":
        return [str(asked.get("labelTrue", "yes")), str(asked.get("labelFalse", "no"))]
    low, high = int(asked.get("rateMin", 1)), int(asked.get("rateMax", 5))
    return [str(number) for number in range(low, high + 1)]


def _pair(given: Any) -> tuple[str, str]:
    """Return what is kept of a choice, and what it is called."""
    if isinstance(given, dict):
        value = str(given.get("value", ""))
        return value, str(given.get("text") or value)
    value, _, label = str(given).partition("|")
    return value.strip(), label.strip() or value.strip()


def _choice(given: Any) -> str:
    value, label = _pair(given)
    return value if value == label else f"{value}|{label}"


def _name(text: str) -> str:
    """Return the name of a question with letters, digits and '_' alone."""
    name = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")[:60]
    return name if name[:1].isalpha() else f"q_{name}"
