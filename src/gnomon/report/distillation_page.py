"""Page of a distillation: what was chosen, how far it errs, and beside what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gnomon.distill import ItemChoice, baselines, item_sizes, pareto, sizes
from gnomon.distill.work import Progress
from gnomon.execution.executor import Executor
from gnomon.plot.style import default_settings
from gnomon.report.page import Answer, Report, Section, Table
from gnomon.results import Results
from gnomon.scores.table import ScoreTable

#: An evaluation may have thousands of items: the page names so many.
_MOST_NAMED = 500
#: The curve by size goes on for so many tasks, so that a reader sees what more of them bring.
_SIZES_BEYOND = 3


def distillation_report(
    found: Results[Any],
    title: str,
    *,
    scores: ScoreTable | None = None,
    sets: Mapping[str, Sequence[str]] | None = None,
    costs: Mapping[str, float] | None = None,
    rng: np.random.Generator | int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Report:
    """Return the page of a distillation as data; of tasks, every other way is judged on the way.

    Parameters
    ----------
    found : Distillation or ItemChoice
        From :func:`gnomon.distill.distill`.
    title : str
        What was distilled.
    scores : ScoreTable, optional
        Of items: their answers, from which the page has the error by the number of items.
    sets : mapping from name to tasks, optional
        Fixed sets to judge beside it, published ones or what was run already.
    costs : mapping from task to float, optional
        Of one run of each task: the page then has the least error for each cost, nested.
    rng, executor, progress
        Of the sets of each smaller size, as :func:`gnomon.distill.sizes` takes them.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.distill import distill
    >>> from gnomon.scores import ScoreTable
    >>> rng = np.random.default_rng(0)
    >>> rows = rng.normal(3, 1, (30, 1)) + rng.normal(0, 0.3, (30, 6))
    >>> table = ScoreTable.from_arrays({f"a{i:02}": [row] for i, row in enumerate(rows)})
    >>> page = distillation_report(distill(table, size=2, transform="identity"), "scores.csv")
    >>> [section.name for section in page.sections]
    ['chosen', 'sizes', 'beside']
    """
    if isinstance(found, ItemChoice):
        words, sections = _of_items(found, scores, rng)
    else:
        doing = {"rng": rng, "executor": executor, "progress": progress}
        words, sections = _of_tasks(found, sets, costs, **doing)
    settings = {k: v for k, v in found.settings.items() if isinstance(v, int | float | str)}
    return Report(
        title=title,
        subtitle=found.notes[0],
        answers=(Answer("What was chosen, and how far does it err?", found.notes),),
        sections=sections,
        notices=found.warnings,
        card=tuple((name, _cell(value)) for name, value in settings.items()),
        source=words,
    )


def _of_tasks(
    found: Any,
    sets: Mapping[str, Sequence[str]] | None,
    costs: Mapping[str, float] | None,
    **doing: Any,
) -> tuple[str, tuple[Section, ...]]:
    size, folds = len(found.model.tasks), found.settings["folds"]
    others = baselines(found.data, size=size, folds=folds, sets=sets)
    most = max(size, min(size + _SIZES_BEYOND, len(found.data.candidates) - 1))
    grown = sizes(found.data, most=most, folds=folds, others=True, **doing)
    chosen = _section("chosen", "The tasks", found)
    beside = _section("beside", "Beside what", others, others.notes)
    curve = _section("sizes", "How the error falls with the number of tasks", grown, grown.notes)
    sections = [chosen, curve, beside]
    if costs is not None:
        priced = pareto(
            found.data, costs, most=size, folds=folds, others=True, progress=doing["progress"]
        )
        sections.insert(2, _section("costs", "What less error costs", priced, priced.notes))
    return "the table of scores", tuple(sections)


def _of_items(
    found: ItemChoice, scores: ScoreTable | None, rng: np.random.Generator | int | None
) -> tuple[str, tuple[Section, ...]]:
    names = found.items[:_MOST_NAMED]
    listing = (f"The first {len(names)} of {len(found.items)} items", ", ".join(names))
    chosen = Section("chosen", "The items", listings=(listing,))
    sections = [_section("beside", "Beside what", found), chosen]
    if scores is not None and found:
        method, folds = found.settings["method"], found.settings["folds"]
        most = 2 * len(found.items)
        grown = item_sizes(scores, method=method, folds=folds, most=most, others=True, rng=rng)
        title = "How the error falls with the number of items"
        sections.insert(1, _section("sizes", title, grown, grown.notes))
    return "the table of items", tuple(sections)


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
