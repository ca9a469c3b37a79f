"""The report of a table of scores or of an evaluation, as a page to open in a browser."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gnomon
from gnomon.errors import check_level, check_resamples, check_word, listed
from gnomon.reports.page import try_place
from gnomon.scores.reading import Scores

_Place = str | os.PathLike[str]


def report(
    source: Scores,
    out: _Place | None = None,
    *,
    metric: str | None = None,
    normalize: str | None = None,
    title: str | None = None,
    pair: tuple[str, str] | None = None,
    by: Sequence[str] = (),
    level: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
    also: Sequence[str] = (),
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
    metric : str, optional
        Which score, where a source has several.
    normalize : str, optional
        The scale to put scores on, as :func:`gnomon.normalize` names it; nothing is rescaled if
        it is not given.
    title : str, optional
        Heading of the page; the name of the source if not given.
    pair : (str, str), optional
        Of an evaluation, two models to compare in detail; by default the first two of the ranking.
    by : sequence of str
        Of an evaluation, columns whose groups of items are compared; subtasks and clusters, if none
        is named.
    level : float
        Confidence level of intervals and decisions, between 0 and 1.
    n_resamples : int
        Number of bootstrap resamples behind each interval.
    seed : int
        Of the resamples. The same source, seed and version give the same bytes.
    also : sequence of {"png", "pdf"}
        Further formats of each figure, besides SVG.

    Returns
    -------
    Path
        Of the page.

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
    if out is not None:
        try_place(out, also)  # before scores are read
    from gnomon.reports.scores_page import scores_report

    table, name = source, title or name_of(source)
    if not isinstance(table, gnomon.ScoreTable):
        table = gnomon.read_scores(table, metric=metric)
    elif metric is not None:
        check_word("metric", metric, (table.metric,))
    place = Path(out or f"{'scores' if ',' in name else Path(name).stem}-report")
    try_place(place, also)
    if normalize is not None:
        table = gnomon.scores.normalize(table, normalize)
    how: dict[str, Any] = {"level": level, "n_resamples": n_resamples, "seed": seed}
    return scores_report(table, name, pair=pair, by=by, **how).save(place, also=also)


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
