"""Page of a distillation: what was chosen, how far it errs, and beside what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from typing import Any

import numpy as np

from gnomon.distillation import Distillation, baselines, sizes
from gnomon.distillation.work import Progress
from gnomon.plot.style import default_settings
from gnomon.reports.page import Answer, Report, Section, Table
from gnomon.results import Results

#: The curve by size goes on for so many tasks, so that a reader sees what more of them bring.
_SIZES_BEYOND = 3


def distillation_report(
    found: Distillation,
    title: str,
    *,
    sets: Mapping[str, Sequence[str]] | None = None,
    rng: np.random.Generator | int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Report:
    """Return the page of a distillation as data, with the errors of other ways to choose tasks.

    Parameters
    ----------
    found : Distillation
        From :func:`gnomon.distillation.distill`.
    title : str
        What was distilled.
    sets : mapping from name to tasks, optional
        Fixed sets to judge beside it, published ones or what was run already.
    rng, executor, progress
        Of the sets of each smaller size, as :func:`gnomon.distillation.sizes` takes them.

    Examples
    --------
    >>> import numpy as np
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
    doing: dict[str, Any] = {"rng": rng, "executor": executor, "progress": progress}
    grown = sizes(found.data, most=most, folds=folds, others=True, **doing)
    settings = {k: v for k, v in found.settings.items() if isinstance(v, int | float | str)}
    return Report(
        title=title,
        subtitle=found.notes[0],
        answers=(Answer("What was chosen, and how far does it err?", found.notes),),
        sections=(
            _section("chosen", "The tasks", found),
            _section("sizes", "Error by number of tasks", grown, grown.notes),
            _section("beside", "Comparison with baselines", others, others.notes),
        ),
        notices=found.warnings,
        card=tuple((name, _cell(value)) for name, value in settings.items()),
        source="the table of scores",
    )


def _section(name: str, title: str, found: Results[Any], text: tuple[str, ...] = ()) -> Section:
    """Return results as a table and a figure."""
    rows = found.rows()
    if not rows:
        return Section(name, title, ("Not measured.",))
    columns = tuple(found.columns or rows[0])
    cells = tuple(tuple(_cell(row[column]) for column in columns) for row in rows)
    with default_settings():
        figure = found.figure()
    table = Table(title, columns, cells)
    return Section(name, title, text, tables=(table,), figures=(figure,))


def _cell(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_cell, value))
    if isinstance(value, float):
        return "–" if value != value else f"{value:.3g}"
    return "" if value is None else str(value)
