"""A published study computed again, and the page that shows it beside what was printed."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path

from gnomon._version import __version__
from gnomon.distill.atari.reproduction import Comparison, Reproduction, reproduction_of
from gnomon.errors import ScoreDataError, UnknownNameError, counted
from gnomon.experiments import Progress
from gnomon.plot.record import Figure
from gnomon.report.page import Answer, Report, Section, Table
from gnomon.results import noted

#: The studies by name, and the module that computes each.
CASE_STUDIES: Mapping[str, str] = {
    "rliable": "gnomon.report.case_studies.rliable_paper",
    "recht": "gnomon.report.case_studies.recht_essay",
    "gohr": "gnomon.report.case_studies.hidden_rules_paper",
    "atari5": "gnomon.report.case_studies.atari5_paper",
}


@dataclass(frozen=True)
class How:
    """What a case study is computed with.

    Parameters
    ----------
    out : Path, optional
        The folder of the page; runs of the game are kept there too, and taken up again.
    seed : int
        Of all draws.
    workers : int
        Processes; does not change a number.
    trials : int
        Trials of each rule, where learners play.
    progress : callable, optional
        Told of trials that are done, and of all.
    """

    out: Path | None
    seed: int
    workers: int
    trials: int
    progress: Progress | None


@dataclass(frozen=True, eq=False)
class CaseStudy:
    """A published study, computed again.

    Parameters
    ----------
    title : str
        The study: authors, year, title.
    comparisons : tuple of Comparison
        What is printed there, beside ours.
    figures : tuple of Figure
        Its figures, redrawn.
    text : tuple of str
        Paragraphs that explain the differences.
    """

    title: str
    comparisons: tuple[Comparison, ...]
    figures: tuple[Figure, ...] = ()
    text: tuple[str, ...] = ()


def reproduce(
    name: str,
    out: str | os.PathLike[str] | None = None,
    *,
    trials: int = 100,
    seed: int = 0,
    workers: int = 1,
    progress: Progress | None = None,
) -> Reproduction:
    """Compute a published case study again: each printed number beside ours.

    Parameters
    ----------
    name : str
        ``rliable``: Agarwal et al. 2021, Atari 100k; ``recht``: Recht 2018, performance profiles of
        Machado et al.'s scores; ``gohr``: Pulick et al. 2022, section 5; ``atari5``: Aitchison et
        al. 2022.
    out : path, optional
        A folder for the page with all figures redrawn; no page if not given.
    trials : int
        Of each rule, for ``gohr``.
    seed : int
        Of all draws.
    workers : int
        Processes that play, for ``gohr``; does not change a number.
    progress : function of (done, all), optional
        Told how far the runs of ``gohr`` are; with `out` a run that was stopped goes on.

    Returns
    -------
    Reproduction
        One record for each printed number or claim.

    Raises
    ------
    UnknownNameError
        There is no such case study.
    ScoreDataError
        A file of published scores is missing: the message names it and where it is published.

    Examples
    --------
    >>> reproduce("atari6")
    Traceback (most recent call last):
        ...
    gnomon.errors.UnknownNameError: unknown case study 'atari6'; did you mean 'atari5'?
    """
    if name not in CASE_STUDIES:
        raise UnknownNameError("case study", name, sorted(CASE_STUDIES))
    folder = None if out is None else Path(out)
    how = How(folder, seed, workers, trials, progress)
    compute: Callable[[How], CaseStudy] = import_module(CASE_STUDIES[name]).case_study
    with noted() as notes:
        study = compute(how)
    found = replace(reproduction_of(study.comparisons), warnings=tuple(notes))
    if folder is not None:
        _page(study, found, how).save(folder)
    return found


def data_file(path: str, published: str) -> Path:
    """Return the path of a file of published scores below ``GNOMON_DATA``.

    Raises
    ------
    ScoreDataError
        It is not there.
    """
    folder = os.environ.get("GNOMON_DATA")
    if folder and (Path(folder) / path).is_file():
        return Path(folder) / path
    found = f"none in {folder}" if folder else "GNOMON_DATA is not set"
    raise ScoreDataError(
        f"{path}: expected this file of published scores in the folder that GNOMON_DATA names, "
        f"found {found}; it is published at {published}"
    )


def _page(study: CaseStudy, found: Reproduction, how: How) -> Report:
    """Return the page: what agrees, the table, the figures."""
    rows = tuple(
        (one.table, one.item, one.published, one.ours or "not computable here", _said(one))
        for one in found
    )
    table = Table("Printed beside ours", ("where", "what", "published", "ours", "agree"), rows)
    unequal = [f"{one.item}: {one.note}" for one in found if one.equal is False and one.note]
    return Report(
        study.title,
        f"{counted(len(found), 'printed number or claim', 'printed numbers and claims')}, "
        f"{counted(len(study.figures), 'figure')}",
        (Answer("Does it come out again?", (*found.notes, *unequal)),),
        (
            Section("numbers", "Numbers", study.text, (table,)),
            Section("figures", "Figures, redrawn", figures=study.figures),
        ),
        notices=found.warnings,
        card=(("seed", str(how.seed)), ("gnomon", __version__)),
        source="the published scores, or the runs beside this page",
    )


def _said(one: Comparison) -> str:
    word = {True: "yes", False: "no", None: ""}[one.equal]
    return f"{word}: {one.note}" if word and one.note else word or one.note
