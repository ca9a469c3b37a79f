"""The report of a run: findings computed once, then a page with every figure and its numbers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from gnomon.plot import default_settings
from gnomon.reports import try_place, write_page
from gohr.experiments import RunFolder, RunSummary
from gohr.run_page.findings import Findings, findings_of


def report(
    run: str | os.PathLike[str] | RunFolder | RunSummary,
    out: str | os.PathLike[str] | None = None,
    *,
    level: float = 0.95,
    n_resamples: int = 50_000,
    seed: int = 0,
    baseline: str | None = None,
    also: Sequence[str] = (),
    workers: int = 1,
) -> Path:
    """Write the report of a run: one page to open in a browser.

    The page begins with the main results: which rule is hardest for which learner, which learner is
    better, and with what certainty. Style and drawings are inside it.

    Parameters
    ----------
    run : path, RunFolder or RunSummary
        A run folder, finished or not, or the return value of :func:`gohr.run`.
    out : path, optional
        A folder for ``report.html``, ``figures/`` and ``tables/``; or a name that ends in
        ``.html``, for the page alone, or in ``.md``, for a short page in Markdown. By default
        ``report`` in the run folder.
    level : float
        Confidence level of intervals and decisions, between 0 and 1.
    n_resamples : int
        Number of bootstrap resamples behind each interval; 50,000 as in Pulick et al. (2022).
    seed : int
        Seed of the resamples. The same run, seed and version give the same bytes.
    baseline : str, optional
        The rule to compare the others with (:func:`gohr.elements`); by default that of the
        experiment, if it has one.
    also : sequence of {"png", "pdf"}
        Formats of each figure besides SVG.
    workers : int
        Number of processes that draw, where there are many figures; does not change the bytes.

    Returns
    -------
    Path
        The path of the page.

    Raises
    ------
    GnomonError
        The run does not exist, or is damaged.
    OSError
        The report cannot be written; nothing is written then.
    ValueError
        `level` is not between 0 and 1.

    Examples
    --------
    >>> import tempfile
    >>> import gohr
    >>> config = gohr.ExperimentConfig("first", ["clockwise"], ["uniform"], trials=2, episodes=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = gohr.report(gohr.run(config, folder), n_resamples=100)
    ...     page.name, "Which rule is hardest?" in page.read_text()
    ('report.html', True)
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"expected a level between 0 and 1, found {level}")
    folder = run if isinstance(run, RunFolder) else RunFolder.open(Path(run))
    place = Path(out or folder.path / "report")
    try_place(place)
    findings = findings_of(
        folder, seed=seed, level=level, n_resamples=n_resamples, baseline=baseline
    )
    return write_report(findings, place, also=also, workers=workers)


def write_report(
    findings: Findings, out: str | Path, *, also: Sequence[str] = (), workers: int = 1
) -> Path:
    """Write the report of a run whose findings are known; see :func:`report`.

    Examples
    --------
    >>> import tempfile
    >>> import gohr
    >>> from gohr.run_page import findings_of
    >>> config = gohr.ExperimentConfig("tiny", ["color-match"], ["uniform"], trials=3, episodes=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = gohr.run(config, folder)
    ...     page = write_report(findings_of(run.folder, n_resamples=50), f"{folder}/report")
    ...     page.name, page.exists()
    ('report.html', True)
    """
    from gohr.run_page.page import report_of

    try_place(out)
    with default_settings():
        return write_page(report_of(findings), out, also, workers)
