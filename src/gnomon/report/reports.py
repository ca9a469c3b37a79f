"""Reports: a page to open in a browser, of a run, of a table of scores or of a game log."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import gnomon.scores
from gnomon.errors import GnomonError
from gnomon.experiments.folder.run_folder import MANIFEST, RunFolder
from gnomon.plot.style import default_settings
from gnomon.scores import ScoreTable, read_scores

if TYPE_CHECKING:
    from gnomon.report.findings import Findings
    from gnomon.report.page import Report

__all__ = ["report", "write_report"]


def report(
    source: str | os.PathLike[str] | RunFolder | ScoreTable,
    out: str | os.PathLike[str] | None = None,
    *,
    metric: str | None = None,
    normalize: str | None = None,
    level: float = 0.95,
    n_resamples: int | None = None,
    seed: int = 0,
    also: Sequence[str] = (),
    workers: int = 1,
) -> Path:
    """Write a report: one page to open in a browser, every figure with its numbers beside it.

    The page of a run begins with what a reader wants to know: which rule is hardest for which
    learner, which learner is better, and how certain that is. That of a table of scores tells what
    the table holds, estimates with intervals, performance profiles, the probability of improvement,
    ranks and whom they separate, and what its order depends on. Style and drawings are inside it.

    Parameters
    ----------
    source : path, RunFolder, RunSummary or ScoreTable
        A run folder, finished or not, or what :func:`gnomon.experiments.run` returned; a table of
        scores; or anything that :func:`gnomon.read_scores` reads, such as a score file or a game
        log.
    out : path, optional
        A folder for ``report.html`` and ``figures/``; or a name that ends in ``.html``, for the
        page alone. If not given: ``report`` in the run folder, or ``NAME-report`` here.
    metric : str, optional
        Which score, where a source has several.
    normalize : str, optional
        The scale to put scores on, as :func:`gnomon.normalize` names it; if not given, each task
        from its worst run to its best.
    level : float
        Confidence level of intervals and decisions, between 0 and 1.
    n_resamples : int, optional
        Number of bootstrap resamples behind each interval; if not given 50,000 for a run, as in
        Pulick et al. (2022), and 2,000 for a table.
    seed : int
        Of the resamples. The same source, seed and version give the same bytes.
    also : sequence of {"png", "pdf"}
        What each figure is to be written as, besides SVG.
    workers : int
        Processes that draw, where there are many figures; does not change a byte.

    Returns
    -------
    Path
        Of the page.

    Raises
    ------
    GnomonError
        There is no such source, or it is damaged.
    OSError
        The report cannot be written; nothing of it is, then.
    ValueError
        `level` is not between 0 and 1.

    Examples
    --------
    >>> import tempfile
    >>> from gnomon.experiments.config.experiment_config import ExperimentConfig
    >>> from gnomon.experiments.runner import run
    >>> config = ExperimentConfig("first", ["clockwise"], ["uniform"], trials=2, episodes=3)
    >>> with tempfile.TemporaryDirectory() as out:
    ...     page = report(run(config, out), n_resamples=100)
    ...     page.name, "Which rule is hardest?" in page.read_text()
    ('report.html', True)
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"expected a level between 0 and 1, found {level}")
    folder = _run_folder(source)
    if folder is not None:
        from gnomon.report.findings import findings_of
        from gnomon.report.run_page import report_of

        if metric is not None or normalize is not None:
            raise GnomonError(
                f"{folder.path}: the report of a run takes no score and no normalization; "
                "those of its scores: gnomon score --out FILE, then report FILE"
            )
        findings = findings_of(folder, seed=seed, level=level, n_resamples=n_resamples or 50_000)
        with default_settings():
            return _write(report_of(findings), out or folder.path / "report", also, workers)
    from gnomon.report.scores_page import scores_report

    if isinstance(source, ScoreTable):
        table, name = source, "scores"
    else:
        table, name = read_scores(source, metric=metric), Path(source).name
    if normalize is not None:
        table = gnomon.scores.normalize(table, normalize)
    with default_settings():
        page = scores_report(table, name, level=level, n_resamples=n_resamples or 2000, seed=seed)
        return _write(page, out or f"{Path(name).stem}-report", also, workers)


def write_report(findings: Findings, out: str | Path, *, workers: int = 1) -> Path:
    """Write the report of a run whose findings are there already; see :func:`report`.

    Examples
    --------
    >>> import tempfile
    >>> import gnomon as gn
    >>> from gnomon.report import findings_of
    >>> config = gn.ExperimentConfig("tiny", ["color-match"], ["uniform"], trials=3, episodes=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = gn.run(config, folder)
    ...     page = write_report(findings_of(run.folder, n_resamples=50), f"{folder}/report")
    ...     page.name, page.exists()
    ('report.html', True)
    """
    from gnomon.report.run_page import report_of

    with default_settings():
        return _write(report_of(findings), out, (), workers)


def _run_folder(source: str | os.PathLike[str] | RunFolder | ScoreTable) -> RunFolder | None:
    """Return the run that a source is, if it is one; a folder of anything may hold scores."""
    if isinstance(source, RunFolder):
        return source
    if isinstance(source, ScoreTable):
        return None
    path = Path(source)
    # A damaged run folder is told as such, not as a folder of no scores.
    looks_like_one = any((path / name).exists() for name in (MANIFEST, "shards"))
    return RunFolder.open(path) if looks_like_one else None


def _write(page: Report, out: str | os.PathLike[str], also: Sequence[str], workers: int) -> Path:
    """Write a page into a folder, or alone."""
    place = Path(out)
    if place.suffix.lower() == ".html":
        return page.save_alone(place)
    return page.save(place, also=also, workers=workers)
