"""Page of a distillation: what was chosen, its errors, and those of other choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gnomon.distillation import Distillation, baselines, sizes
from gnomon.reports.page import Answer, Report, Section, Table
from gnomon.results import Results

#: The curve by size goes on for this many tasks, to show what more of them bring.
_SIZES_BEYOND = 3


def distillation_report(
    found: Distillation,
    title: str,
    *,
    sets: Mapping[str, Sequence[str]] | None = None,
    rng: np.random.Generator | int | None = None,
    progress: Any = None,
) -> Report:
    """Return the page of a distillation as data, with the errors of other ways to choose tasks.

    Parameters
    ----------
    found : Distillation
        From :func:`gnomon.distill`.
    title : str
        What was distilled.
    sets : mapping from name to tasks, optional
        Fixed sets to compare, for example published ones.
    rng, progress
        Of the sets of each size, as :func:`gnomon.distillation.sizes` takes them.

    Examples
    --------
    >>> from gnomon.distillation import distill
    >>> from gnomon.scores import ScoreTable
    >>> rng = np.random.default_rng(0)
    >>> rows = rng.normal(3, 1, (30, 1)) + rng.normal(0, 0.3, (30, 6))
    >>> table = ScoreTable.from_arrays({f"a{i:02}": [row] for i, row in enumerate(rows)})
    >>> page = distillation_report(distill(table, size=2, transform="identity"), "scores.csv")
    >>> [section.name for section in page.sections]
    ['chosen', 'sizes', 'beside']
    """
    size, folds = len(found.model.tasks), found.settings["folds"]
    others = baselines(found.data, size=size, folds=folds, sets=sets)
    most = max(size, min(size + _SIZES_BEYOND, len(found.data.candidates) - 1))
    grown = sizes(found.data, most=most, folds=folds, rng=rng, progress=progress)
    settings = {k: v for k, v in found.settings.items() if isinstance(v, int | float | str)}
    return Report(
        title=title,
        subtitle=next(iter(found.notes), found.model.formula),
        answers=(Answer("Which tasks, and how large is the error?", found.notes),),
        sections=(
            _section("chosen", "The tasks", found),
            _section("sizes", "Error by number of tasks", grown),
            _section("beside", "Comparison with baselines", others, others.notes),
        ),
        notices=found.warnings,
        card=tuple((name, _cell(value)) for name, value in settings.items()),
        source="the table of scores",
    )


def _section(name: str, title: str, found: Results[Any], text: tuple[str, ...] = ()) -> Section:
    """Return results as a table and, where there is one, a figure."""
    rows = found.rows()
    columns = [c for c in found.columns or rows[0] if c not in ("rank", "cv_mse")]
    cells = tuple(tuple(_cell(row[column]) for column in columns) for row in rows)
    heads = tuple(column.replace("_", " ") for column in columns)
    drawn = not isinstance(found, Distillation) or found[0].nested is not None
    figures = (found.figure(),) if drawn else ()
    return Section(name, title, text, tables=(Table(title, heads, cells),), figures=figures)


def _cell(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_cell, value))
    if isinstance(value, float):
        return "–" if value != value else f"{value:.3g}"
    return "" if value is None else str(value)
