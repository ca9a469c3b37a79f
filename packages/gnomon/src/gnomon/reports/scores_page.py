"""The report of a table of scores: the best, estimates, ranks, tasks, profiles, curves, audit."""

from __future__ import annotations

import math
import os
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, cast

from gnomon.errors import (
    GnomonError,
    ScoreDataError,
    check_level,
    check_resamples,
    counted,
    either,
    joined,
    listed,
)
from gnomon.plot.figure import Figure
from gnomon.printing import latex_rows, percent, value_in_brackets
from gnomon.ranking import Ranking, audit
from gnomon.ranking.audits import TITLES, Audit, tried
from gnomon.ranking.ranks import rank_range, tier_text
from gnomon.reports.evaluation_page import evaluation_report
from gnomon.reports.page import (
    Answer,
    Report,
    Section,
    Table,
    ahead,
    best_text,
    cell,
    order_answers,
    p_text,
    report_of,
    sentence,
    try_place,
)
from gnomon.results import Results, noted, recorded
from gnomon.scores import read_scores
from gnomon.scores.reading import Scores, table_of
from gnomon.scores.table import ScoreTable
from gnomon.stats import Curves, Estimates, compare, curves, estimate, profile
from gnomon.stats.comparison import chosen_pair
from gnomon.stats.difference import IMPROVEMENT
from gnomon.stats.items import refuse_options
from gnomon.stats.learning_curves import Curve

_Place = str | os.PathLike[str]
#: In a table, in place of an interval that is not estimable.
NO_INTERVAL = "[–]"
#: More lines or panels than this hide each other.
MOST_DRAWN, MOST_CURVES = 30, 24
#: Sections of an audit that the page shows as cards, tables and figures of its own.
_SHOWN = ("estimates", "ranks", "runs")


def report(
    source: Scores,
    out: _Place | None = None,
    *,
    title: str | None = None,
    pair: tuple[str, str] | None = None,
    by: Sequence[str] = (),
    level: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
) -> Path:
    """Write a report: one page to open in a browser, every figure with its numbers beside it.

    The page of a table shows which algorithm is best and by how much, estimates, ranks, the mean on
    each task, performance profiles, learning curves, and what an audit finds; its numbers are those
    of :func:`gnomon.estimate`, :func:`gnomon.compare` and :func:`gnomon.rank`. The page of an
    evaluation shows which model is better and by how much, and on which groups of items. Style and
    drawings are inside the page.

    Parameters
    ----------
    source : ScoreTable, path, sequence or mapping of paths, data frame or mapping of arrays
        Scores, as every verb takes them.
    out : path, optional
        A folder for ``report.html``, ``figures/`` and ``tables/``; or a name that ends in
        ``.html``, for the page alone, or in ``.md``, for a short one in Markdown. By default
        ``NAME-report`` in the current folder.
    title : str, optional
        Heading of the page; the name of the source if not given.
    pair : (str, str), optional
        For an evaluation, two models to compare in detail; by default the first two of the ranking.
    by : sequence of str
        For an evaluation, columns whose groups of items are compared; by default subtasks and
        clusters.
    level : float
        Confidence level of intervals and decisions, between 0 and 1.
    n_resamples : int
        Number of bootstrap resamples behind each interval.
    seed : int
        Seed of the resamples. The same source, seed and version give the same bytes.

    Returns
    -------
    Path
        Where the page is.

    Raises
    ------
    GnomonError
        There is no such source, or it is damaged; or there is no such model or column.
    OSError
        The report cannot be written; no part of it is.
    ValueError
        `level` is not between 0 and 1, or `n_resamples` is below 25.

    Examples
    --------
    >>> import tempfile
    >>> import gnomon as gn
    >>> table = gn.load_scores("gohr-full", "skill")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     gn.report(table, folder, n_resamples=100).name
    'report.html'
    """
    check_level(level)
    check_resamples(n_resamples)
    return write_report(
        lambda: source if isinstance(source, ScoreTable) else read_scores(source),
        title or name_of(source),
        out,
        pair=pair,
        by=by,
        level=level,
        n_resamples=n_resamples,
        seed=seed,
    )


def write_report(read: Callable[[], ScoreTable], name: str, out: _Place | None, **how: Any) -> Path:
    """Write the report of a table that is read once the place is known to be writable."""
    place = Path(out or f"{'scores' if ',' in name else Path(name).stem}-report")
    try_place(place)
    with recorded() as notes:
        table = read()
    page = scores_report(table, name, **how)
    return replace(page, notices=(*dict.fromkeys((*notes, *page.notices)),)).save(place)


def name_of(source: object) -> str:
    """Return what a page of sources is called: of several files in one folder the name of that."""
    if isinstance(source, str | os.PathLike):
        return Path(source).name
    places = [*source.values()] if isinstance(source, Mapping) else source
    if not isinstance(places, list | tuple) or not all(
        isinstance(x, str | os.PathLike) for x in places
    ):
        return "scores"
    paths = [Path(place) for place in places]
    folders = {path.parent for path in paths}
    if len(paths) > 1 and len(folders) == 1 and paths[0].parent.name not in ("", ".."):
        return paths[0].parent.name
    return listed([path.name for path in paths], 3)


def scores_report(
    table: ScoreTable,
    title: str,
    *,
    pair: tuple[str, str] | None = None,
    by: Sequence[str] = (),
    level: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
) -> Report:
    """Return the page of a table of scores as data.

    Every number is that of :func:`gnomon.estimate`, :func:`gnomon.compare` and :func:`gnomon.rank`
    of the same table; nothing is rescaled.

    Parameters
    ----------
    table : ScoreTable
        With steps, the last step that all runs reach counts, and curves are drawn.
    title : str
        What was measured.
    pair, by, level, n_resamples, seed
        As in :func:`report`.

    Raises
    ------
    ScoreDataError
        A pair or groups are requested, and the table is not of items.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.scores.table import ScoreTable
    >>> rng = np.random.default_rng(0)
    >>> table = ScoreTable.from_arrays({a: rng.normal(size=(5, 3)) for a in ("dqn", "sac")})
    >>> page = scores_report(table, "scores.csv", n_resamples=100)
    >>> [section.name for section in page.sections]
    ['estimates', 'ranks', 'tasks', 'profile', 'table', 'metrics']
    """
    with recorded() as of_steps:
        last = table_of(table)
    if last.units == "items":
        return evaluation_report(last, title, pair=pair, by=by, level=level, seed=seed)
    refuse_options("tasks", by=by or None)
    if pair is not None:
        a, b = chosen_pair(last, *pair) or pair
        verb = either(f"compare(scores, {a!r}, {b!r})", f"gnomon compare SOURCE {shlex.join(pair)}")
        raise ScoreDataError(
            f"a report on tasks shows all algorithms, not one pair: {verb} compares {a} and {b}"
        )
    how: dict[str, Any] = {"level": level, "n_resamples": n_resamples, "rng": seed}
    with noted() as notes:
        found = _Findings(last, how)
        sections = [_section("estimates", "Estimates", _estimates, found)]
        if found.ranked:
            sections.append(_section("ranks", "Ranks", _ranks, found))
        sections.append(_section("tasks", "Tasks", _tasks, found))
        sections.append(_section("profile", "Performance profiles", _profile, found))
        if table.n_steps > 1:
            sections.append(_curves(table, how))
        sections += _audit(found)
        answers = _answers(found)
    return report_of(
        last, title, str(last).splitlines()[0], answers, sections,
        [*of_steps, *found.warnings, *notes],
        level=level, seed=seed, card={"resamples": f"{n_resamples:,}"},
    )  # fmt: skip


class _Findings:
    """What the verbs return for a table; what one of them refuses is refused at each access."""

    def __init__(self, table: ScoreTable, how: dict[str, Any]) -> None:
        self.table, self.how, self.level = table, how, float(how["level"])

    @cached_property
    def estimates(self) -> Estimates:
        return estimate(self.table, **self.how)

    @cached_property
    def audit(self) -> Audit:
        return audit(self.table, **self.how)

    @property
    def ranking(self) -> Ranking:
        """The ranking of the audit, which fails if there is none."""
        return cast(Ranking, self.audit.ranking)

    @cached_property
    def ranked(self) -> tuple[str, ...]:
        """Names in the order of the ranking; none if the table cannot be ranked."""
        ranking = tried(lambda: self.ranking)
        return () if isinstance(ranking, GnomonError) else ranking.names

    @property
    def warnings(self) -> list[str]:
        """Those of the estimates and the ranking, which the other results repeat."""
        shown = tried(lambda: self.estimates), tried(lambda: self.ranking)
        return [note for one in shown if isinstance(one, Results) for note in one.warnings]


# Answers


def _answers(found: _Findings) -> tuple[Answer, ...]:
    try:
        ranking = found.ranking
    except GnomonError as error:
        why = sentence(f"The table cannot be ranked: {error}")
        return (Answer("Which algorithm is best?", (why,)),)
    return (
        Answer("Which algorithm is best?", (best_text(ranking, "algorithm"),)),
        Answer("By how much?", _lead(found)),
        Answer("Does the order depend on the metric?", _metrics(found)),
        *order_answers(ranking, *_said(found, "runs")),
    )


def _lead(found: _Findings) -> tuple[str, ...]:
    """Return by how much the first of the ranking is better than the second."""
    a, b = found.ranked[:2]
    pairs, chances = (
        tried(partial(compare, found.table, a, b, metric, **found.how))
        for metric in ("mean", IMPROVEMENT)
    )
    said = []
    for one in () if isinstance(pairs, GnomonError) else pairs:
        better, other, ends = ahead(one, found.table.higher_is_better)
        by = value_in_brackets(*ends)
        verb = "is ahead of" if one.value else "differs from"
        if one.p_value <= 1.0 - found.level:
            verb = "is better than"
        elif not math.isnan(one.p_value):
            by += ", not significantly"
        said.append(f"Mean score: {better} {verb} {other} by {_with_p(by, p_text(one, 1))}.")
    for one in () if isinstance(chances, GnomonError) else chances:
        chance = value_in_brackets(one.value, one.low, one.high)
        text = f"A run of {a} is better than one of {b} with probability {chance}"
        among = replace(one, p_adjusted=float(found.ranking.p_adjusted[0, 1]))
        said.append(f"{_with_p(text, p_text(among, math.comb(len(found.ranked), 2)))}.")
    return tuple(said) or (sentence(f"Not reported: {pairs}"),)


def _with_p(text: str, p: str) -> str:
    """Return a text with a p-value in brackets, in those at its end if there are any."""
    return f"{text[:-1]}; {p})" if text.endswith(")") else f"{text} ({p})"


def _metrics(found: _Findings) -> tuple[str, ...]:
    """Return which summaries reverse pairs of the ranking, as the audit finds them."""
    if not found.audit.estimates:
        return _said(found, "estimates")
    known = [one for one in found.audit if one.section == "metrics" and one.value is not None]
    turned = [one for one in known if one.value]
    if turned:
        pairs = [f"{one.name} reverses {counted(int(one.value or 0), 'pair')}" for one in turned]
        return (f"Yes: {joined(pairs)} of the ranking.",)
    if known:
        give = "give" if len(known) > 1 else "gives"
        return (f"No: {joined([one.name for one in known])} {give} the same order as the ranking.",)
    return ("No summary is estimable.",)


def _said(found: _Findings, section: str) -> tuple[str, ...]:
    return tuple(sentence(one.finding) for one in found.audit if one.section == section)


# Sections


def _section(
    name: str,
    title: str,
    make: Callable[[_Findings], tuple[Sequence[Table], Sequence[Figure]]],
    found: _Findings,
) -> Section:
    """Return a section, or the reason why there is none."""
    try:
        tables, figures = make(found)
    except GnomonError as error:
        return Section(name, title, (sentence(f"Not reported: {error}"),))
    return Section(name, title, (), tuple(tables), tuple(figures))


def _estimates(found: _Findings) -> tuple[Sequence[Table], Sequence[Figure]]:
    metrics = list(dict.fromkeys(one.metric for one in found.estimates))
    of = {(e.algorithm, e.metric): e for e in found.estimates}
    names = found.ranked or tuple(dict.fromkeys(one.algorithm for one in found.estimates))
    table = Table(
        "Estimates",
        ("algorithm", *metrics),
        tuple((name, *(_cell(of.get((name, metric))) for metric in metrics)) for name in names),
        f"{found.table.scale}; {percent(found.level)} intervals.{_missing(found.estimates)}",
        name="estimates",
        numbers=found.estimates.as_records(),
        latex=found.estimates.to_latex(),
    )
    return [table], _drawn(found.estimates, len(names))


def _cell(one: Any) -> str:
    return "–" if one is None else cell(one.value, one.low, one.high, missing=NO_INTERVAL)


def _missing(found: Iterable[Any]) -> str:
    """Return a caption's sentence about estimates without an interval."""
    some = any(math.isnan(one.low) and math.isfinite(one.value) for one in found)
    return f" {NO_INTERVAL}: interval not estimable." if some else ""


def _drawn(found: Results[Any], n: int) -> list[Figure]:
    return [found.figure()] if n <= MOST_DRAWN else []


def _ranks(found: _Findings) -> tuple[Sequence[Table], Sequence[Figure]]:
    """Return the ranks, and P(better) of all pairs."""
    ranking = found.ranking
    rows = tuple(
        (
            one.name,
            value_in_brackets(one.value, one.low, one.high),
            rank_range(one.rank_low, one.rank_high),
            tier_text(one.tiers),
        )
        for one in ranking
    )
    table = Table(
        "Ranks",
        ("algorithm", ranking.title.partition(",")[0], "rank", "tier"),
        rows,
        f"{percent(found.level)} intervals, pointwise for win probabilities and simultaneous "
        f"for ranks. {' '.join(ranking.notes)}",
        name="ranks",
        numbers=ranking.as_records(),
        latex=ranking.to_latex(),
    )
    figures = [ranking.figure()]
    if len(ranking) > 2:
        pairs = tried(lambda: compare(found.table, metrics=IMPROVEMENT, **found.how))
        figures += [] if isinstance(pairs, GnomonError) else _drawn(pairs, len(ranking))
    return [table], figures


def _tasks(found: _Findings) -> tuple[Sequence[Table], Sequence[Figure]]:
    """Return the mean of each algorithm on each task."""
    with noted():  # The caption states what is missing.
        per_task = estimate(found.table, "mean", per_task=True, **found.how)
    of = {(e.task, e.algorithm): e for e in per_task}
    every = dict.fromkeys([*found.ranked, *found.table.algorithms])
    names = [name for name in every if any(a == name for _, a in of)]
    tasks = list(dict.fromkeys(str(task) for task, _ in of))
    cells = [[_cell(of.get((task, name))) for name in names] for task in tasks]
    best = max if found.table.higher_is_better else min
    top: dict[str | None, float] = {}
    for one in per_task:
        if math.isfinite(one.value):
            top[one.task] = best(one.value, top.get(one.task, one.value))
    bold = [[(task, name) in of and of[task, name].value == top.get(task) for name in names]
            for task in tasks]  # fmt: skip
    table = Table(
        "Mean score per task",
        ("task", *names),
        tuple((task, *row) for task, row in zip(tasks, cells, strict=True)),
        f"Means of runs with {percent(found.level)} intervals.{_missing(per_task)} "
        "In LaTeX the best mean of each task is bold.",
        name="tasks",
        numbers=per_task.as_records(),
        latex=latex_rows(("task", *names), tasks, cells, bold),
    )
    return [table], []


def _profile(found: _Findings) -> tuple[Sequence[Table], Sequence[Figure]]:
    return [], _drawn(profile(found.table, **found.how), len(found.table.algorithms))


def _curves(table: ScoreTable, how: dict[str, Any]) -> Section:
    """Return the mean along the steps, over all tasks and on each."""
    whole = tried(lambda: curves(table, "mean", **how))
    tasks = table.tasks[:MOST_CURVES] if len(table.tasks) > 1 else ()
    each = {t: tried(partial(curves, table.select(tasks=[t]), "mean", **how)) for t in tasks}
    known = {task: one for task, one in each.items() if not isinstance(one, GnomonError)}
    n, text, figures = len(table.algorithms), tuple[str, ...](), list[Figure]()
    if isinstance(whole, GnomonError):
        text = (sentence(f"Not reported{' over all tasks' if known else ''}: {whole}"),)
    else:
        figures = _drawn(whole, n)
    if known and n <= MOST_DRAWN:
        own = [
            replace(curve, task=task) for task, one in known.items() for curve in _shared_steps(one)
        ]
        figure = Curves(tuple(own), next(iter(known.values())).settings).figure()
        some = f" The first {MOST_CURVES} of {len(table.tasks)} tasks are drawn."
        caption = f"{figure.caption} Steps that only one algorithm reaches are omitted."
        caption += some * (len(table.tasks) > MOST_CURVES)
        figures.append(replace(figure, title="Learning curves per task", caption=caption))
    return Section("curves", "Learning curves", text, (), tuple(figures))


def _shared_steps(found: Iterable[Curve]) -> list[Curve]:
    """Return curves of a task up to the last step that two of them reach."""
    own = [*found]
    last = sorted(float(curve.step[-1]) for curve in own)[-2:][0]
    return [
        replace(curve, **{name: getattr(curve, name)[curve.step <= last]
                          for name in ("step", "value", "low", "high")})
        for curve in own
    ]  # fmt: skip


def _audit(found: _Findings) -> list[Section]:
    """Return what the audit found beside the numbers above, section by section."""
    audited = tried(lambda: found.audit)
    if isinstance(audited, GnomonError):
        lines = str(found.table).splitlines()
        return [Section("table", TITLES["table"], tuple(map(sentence, lines)))]
    names = dict.fromkeys(one.section for one in audited if one.section not in _SHOWN)
    return [Section(name, TITLES[name], _said(found, name)) for name in names]
