"""Export of a plan's lists as trial lists of the reference system, with the files they name."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from gnomon.game.board import Piece
from gnomon.studies.piece_looks import image_content
from gnomon.studies.plan.series_plan import Bonus, Doubling, Likelihood, SeriesPlan
from gnomon.studies.plan.study_plan import StudyPlan

_Files = dict[str, str | bytes]


def trial_list_files(plan: StudyPlan) -> _Files:
    """Return the texts of the files of a plan's lists, and its pictures, by their paths.

    ``trial-lists/STUDY/LIST.csv`` (``coop.STUDY`` or ``adve.STUDY`` for two; the whole of a list
    that has both in either, so that each series is in its place there), and the conditions,
    boards and looks that they name, so that
    :func:`gnomon.studies.plan.trial_list_plans.trial_list_record` reads them back. What the
    reference has no column for is left out: a mastery that pays nothing, the attempts on a board,
    how long one waits for a partner.
    """
    files: _Files = _looks(plan)
    for name in plan.lists:
        rows = [
            _row(series, f"{plan.name}-{name}-{number}", files)
            for number, series in enumerate(plan.series(name), 1)
        ]
        lacks = f"{name},{plan.already[name]}\n" if name in plan.already else ""
        for folder in dict.fromkeys(list_folders(plan, name)):
            files[f"trial-lists/{folder}/{name}.csv"] = _csv(rows)
            if lacks:
                table = f"trial-lists/{folder}/defect.csv"
                files[table] = str(files.get(table, "")) + lacks
    return files


def list_folders(plan: StudyPlan, name: str) -> list[str]:
    """Return the folder of each series of a list; for two it begins with how they play.

    A series for one alone, beside others for two, is in the folder of the first of those.
    """
    plays = [series.partner.play if series.partner else "" for series in plan.series(name)]
    first = next(filter(None, plays), "")
    starts = [f"{(play or first)[:4]}." if first else "" for play in plays]
    return [f"{start}{plan.name}" for start in starts]


def _looks(plan: StudyPlan) -> _Files:
    """Return the files of the shapes, colours and pictures that pieces of a plan have."""
    files: _Files = {f"shapes/{name}.svg": text for name, text in plan.shape_files.items()}
    if plan.color_values:
        values = {name: bytes.fromhex(value[1:]) for name, value in plan.color_values.items()}
        files["colors.csv"] = "".join(f"{n},{r},{g},{b}\n" for n, (r, g, b) in values.items())
    tables: dict[str, dict[str, Mapping[str, str]]] = {}
    for image, properties in _images(plan):
        if image in plan.image_files:
            path = PurePosixPath(image)
            files[f"shapes/{image}"] = image_content(plan.image_files[image])[1]
            tables.setdefault(f"shapes/{path.parent}/properties.csv", {})[path.name] = properties
    for name, table in tables.items():
        files[name] = _csv([{"image": image, **each} for image, each in table.items()])
    return files


def _images(plan: StudyPlan) -> Iterator[tuple[str, Mapping[str, str]]]:
    for name in plan.lists:
        for series in plan.series(name):
            yield from series.spec().images.items()


def _csv(rows: list[dict[str, Any]]) -> str:
    out = io.StringIO()
    columns = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(out, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _row(series: SeriesPlan, place: str, files: _Files) -> dict[str, Any]:
    """Return a series as a row; the files that it names go to ``files``."""
    row: dict[str, Any] = {"rule_id": series.rule, "max_boards": series.episodes}
    if series.points is not None:
        points = series.points
        row |= {"min_points": points.least, "max_points": points.most, "b": points.slope}
    row |= _boards(series, place, files) | {"feedback_switches": series.feedback}
    if series.feedback == "free":
        row["free_wrong_cost"] = 0 if series.pick_cost is None else series.pick_cost
    memory = series.memory
    return row | {
        "stack_memory_depth": memory.stack,
        "stack_memory_show_order": memory.numbers,
        "grid_memory_show_order": memory.cells == "order",
        "give_up_at": 999 if series.give_up_at is None else series.give_up_at,
        "continue": series.continues,
        **_incentive(series),
        **_bots(series),
    }


def _incentive(series: SeriesPlan) -> Mapping[str, Any]:
    match series.incentive:
        case Doubling(x2=x2, x4=x4):
            return {"x2_after": x2, "x4_after": x4}
        case Likelihood(x2=x2, x4=x4):
            return {"x2_likelihood": round(x2), "x4_likelihood": round(x4)}
        case Bonus() as bonus:
            return {
                "activate_bonus_at": bonus.activate_at,
                "clear_how_many": bonus.boards,
                "bonus_extra_pts": bonus.points,
                "clearing_threshold": bonus.threshold,
            }
    return {}


def _bots(series: SeriesPlan) -> Mapping[str, Any]:
    """Return the columns of hints and of a partner; those of one bot are those of the other."""
    partner = series.partner
    row: dict[str, Any] = {} if series.bot_assist is None else {"bot_assist": "pseudo"}
    if partner is not None:
        row |= {"bot": "pseudo"} if partner.kind == "bot" else {"chat": partner.chat}
    bot = series.bot_assist or (partner.bot if partner and partner.kind == "bot" else None)
    if bot is None:
        return row
    return row | {
        "pseudo_halftime": bot.halftime,
        "pseudo_init_error_rate": bot.error_rate,
        "pseudo_report_confidence": bot.confidence,
    }


def _boards(series: SeriesPlan, place: str, files: _Files) -> dict[str, Any]:
    if series.given:
        return _given(series, place, files)
    spec = series.board.spec()
    ranges = {"objects": spec.pieces}
    row: dict[str, Any] = {"images": ";".join(spec.images)} if spec.images else {}
    if not spec.images:
        ranges |= {"shapes": spec.shapes, "colors": spec.colors}
        row = {"shapes": ";".join(spec.shape_palette), "colors": ";".join(spec.color_palette)}
    row |= {"crowded": True} if spec.crowded else {}
    for noun, (low, high) in ranges.items():
        row |= {f"min_{noun}": low, f"max_{noun}": high}
    for column, text in (("condTrain", series.train), ("condTest", series.test)):
        if text:
            row[column] = place
            files[f"cond/{place}.txt"] = text
    return row


def _given(series: SeriesPlan, place: str, files: _Files) -> dict[str, Any]:
    names = [f"{number:03}" for number in range(1, len(series.given) + 1)]
    for name, board in zip(names, series.given_boards(), strict=True):
        value = [{"id": p.id, **_look(p), "x": p.x, "y": p.y} for p in board.pieces]
        files[f"boards/{place}/{name}.json"] = json.dumps({"id": 0, "value": value}) + "\n"
    # In the order of their names; a list of names would be another file.
    order = "random" if series.order == "random" else "alpha"
    return {"initial_boards": place, "initial_boards_order": order}


def _look(piece: Piece) -> Mapping[str, Any]:
    if piece.image is not None:
        return {"image": piece.image}
    return {"color": piece.color, "shape": piece.shape}
