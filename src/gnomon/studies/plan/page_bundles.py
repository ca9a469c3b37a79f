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
from gnomon.studies.plan.visibility import parse_condition, with_names

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
    ``text``, ``comment``; ``html`` and ``image`` ask nothing. ``visibleIf`` of a question, of a
    ``panel`` and of a page becomes ``visible_if`` of each question in it; "other" among the
    choices is asked for in words.
    """
    try:
        record = json.loads(read_text(path))
    except ValueError as error:
        raise ConfigError(f"{path}: expected JSON: {error}") from None
    listed = list(_questions_in(record, ()))
    if not all(isinstance(each, dict) for each, _ in listed):
        raise ConfigError(f"{path}: expected a list of questions")
    return [one for each, when in listed for one in _survey_question(each, when, path)]


def _questions_in(part: Any, when: tuple[str, ...]) -> Iterator[tuple[Any, tuple[str, ...]]]:
    """Yield the questions in a survey, a page or a panel, each with what must hold for it.

    A survey is a list, or a record with ``elements`` or ``pages``.
    """
    has = part if isinstance(part, dict) else {"elements": part}
    inner = has.get("pages") or has.get("elements") or has.get("questions")
    listed: list[Any] = inner if isinstance(inner, list) else [None]
    for one in listed:
        is_record = isinstance(one, dict)
        shown_if = str(one.get("visibleIf") or "").strip() if is_record else ""
        whole = (*when, shown_if) if shown_if else when
        if is_record and ("elements" in one or one.get("type") == "panel"):
            yield from _questions_in(one, whole)
        else:
            yield one, whole


def _survey_question(
    asked: Mapping[str, Any], when: Sequence[str], path: Path
) -> Iterator[dict[str, Any]]:
    kind, name = asked.get("type"), str(asked.get("name", ""))
    title = str(asked.get("title") or name)
    whole: dict[str, Any] = {
        "name": _name(name),
        "title": title,
        "required": bool(asked.get("isRequired")),
    }
    if when:
        whole["visible_if"] = _joined(when, f"{path}, question {name!r}")
    limits = {"goodnessGE": "goodness_least", "goodnessLT": "goodness_below"}
    whole |= {ours: float(asked[theirs]) for theirs, ours in limits.items() if theirs in asked}
    if kind in ("radiogroup", "dropdown", "rating", "boolean"):
        choices = _choices(asked)
        yield whole | {"kind": "choice", "choices": choices}
        if asked.get("hasOther") or asked.get("showOtherItem"):
            yield _other_in_words(whole, choices[-1])
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


def _joined(when: Sequence[str], where: str) -> str:
    """Return conditions that must all hold as one, with the names that questions have here."""
    for expression in when:
        try:
            parse_condition(expression)
        except ValueError as error:
            raise ConfigError(f"{where}, visibleIf {expression!r}: {error}") from None
    named = [with_names(expression, _name) for expression in when]
    return named[0] if len(named) == 1 else " and ".join(f"({each})" for each in named)


def _other_in_words(whole: Mapping[str, Any], choice: str) -> dict[str, Any]:
    """Return the question for what somebody means who chose "other"."""
    name, (value, label) = whole["name"], _pair(choice)
    titled = {"name": f"{name[:56]}_Comment", "title": f"{whole['title']} {label}"}
    return titled | {"required": False, "visible_if": f"{{{name}}} = '{value}'"}


def _choices(asked: Mapping[str, Any]) -> list[str]:
    given = list(asked.get("choices") or asked.get("rateValues") or ())
    if given and (asked.get("hasOther") or asked.get("showOtherItem")):
        given.append(f"other|{asked.get('otherText') or 'Other (describe)'}")
    if given:
        return [_choice(each) for each in given]
    if asked.get("type") == "boolean":
        names = asked.get("labelTrue", "yes"), asked.get("labelFalse", "no")
        return [f"true|{names[0]}", f"false|{names[1]}"]
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
