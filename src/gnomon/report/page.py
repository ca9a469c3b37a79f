"""The report of a run as data, and the one call that writes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon._io.atomic_file import write_together
from gnomon.experiments.run_folder import RunFolder
from gnomon.plot.record import Figure

if TYPE_CHECKING:
    from gnomon.report.findings import Findings

__all__ = ["Answer", "Report", "Section", "Table", "build_report", "write_report"]


@dataclass(frozen=True)
class Table:
    """A table: a heading, names of columns, and cells as they are printed.

    Parameters
    ----------
    title : str
        What it shows.
    columns : tuple of str
        Names of the columns; the first names the rows.
    rows : tuple of tuples of str
        The cells.
    caption : str
        How to read it.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""


@dataclass(frozen=True, eq=False)
class Section:
    """A part of the report under its own heading.

    Parameters
    ----------
    name : str
        Its anchor on the page.
    title : str
        Its heading.
    text : tuple of str
        Paragraphs.
    tables : tuple of Table
    figures : tuple of Figure
    listings : tuple of (str, str)
        Titles and texts that are shown letter by letter, such as rules.
    """

    name: str
    title: str
    text: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    listings: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Answer:
    """What the report answers first: a question, and sentences that answer it."""

    question: str
    sentences: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Report:
    """A report as data; :func:`gnomon.report.html.report_html` makes a page of it.

    Parameters
    ----------
    title, subtitle : str
        What was run.
    answers : tuple of Answer
        What a reader wants to know first.
    notices : tuple of str
        What a reader must know before believing the rest.
    sections : tuple of Section
        The parts, in order.
    card : tuple of (str, str)
        How it was made: names and values.
    source : str
        What all numbers follow from, besides the seeds.
    """

    title: str
    subtitle: str
    answers: tuple[Answer, ...]
    sections: tuple[Section, ...]
    notices: tuple[str, ...] = ()
    card: tuple[tuple[str, str], ...] = field(default=())
    source: str = "the run folder"

    @property
    def figures(self) -> tuple[Figure, ...]:
        """All figures, in the order of the page."""
        return tuple(figure for section in self.sections for figure in section.figures)

    def save(
        self,
        folder: str | Path,
        *,
        also: Sequence[str] = (),
        beside: Mapping[str, str] | None = None,
    ) -> Path:
        """Write ``report.html`` and ``figures/NAME.svg`` and ``.csv``; return the page's path.

        All files are written, or if something goes wrong, none.

        Parameters
        ----------
        folder : path
        also : sequence of {"png", "pdf"}
            What each figure is to be written as too.
        beside : mapping from str to str, optional
            Names and texts of further files in the folder.

        Raises
        ------
        OSError
            The folder cannot be written to.
        """
        from gnomon.report.html import report_html

        files = {
            f"figures/{name}": data
            for figure in self.figures
            for name, data in figure.files(also).items()
        }
        texts = {**(beside or {}), "report.html": report_html(self)}
        files |= {name: text.encode() for name, text in texts.items()}
        write_together(Path(folder), files)
        return Path(folder) / "report.html"


def build_report(
    run_dir: str | Path,
    out_dir: str | Path | None = None,
    *,
    seed: int = 0,
    level: float = 0.95,
    n_resamples: int = 50_000,
    also: Sequence[str] = (),
) -> Path:
    """Write the report of a run: one page to open in a browser, and every figure as a file.

    The page begins with what a reader wants to know: which rule is hardest for which learner, which
    learner is better, and how certain that is. It stands alone: style and drawings are inside it.

    Parameters
    ----------
    run_dir : str or Path
        A run folder, finished or not; what is missing is named in the report.
    out_dir : str or Path, optional
        Where to write ``report.html`` and ``figures/``; ``report`` in the run folder if not given.
    seed : int
        Of the bootstrap resamples. The same run, seed and version give the same bytes.
    level : float
        Confidence level of intervals and decisions, between 0 and 1.
    n_resamples : int
        Number of bootstrap resamples behind each interval; 50,000 in Pulick et al. (2022).
    also : sequence of {"png", "pdf"}
        What each figure is to be written as, besides SVG.

    Returns
    -------
    Path
        Of ``report.html``.

    Raises
    ------
    RunFolderError
        If there is no run folder, or it is damaged.
    OSError
        If the report cannot be written; nothing of it is, then.
    ValueError
        If `level` is not between 0 and 1.

    Examples
    --------
    >>> import tempfile
    >>> from gnomon.experiments.config import ExperimentConfig
    >>> from gnomon.experiments.runner import run
    >>> config = ExperimentConfig("first", ["clockwise"], ["uniform"], trials=2, episodes=3)
    >>> with tempfile.TemporaryDirectory() as out:
    ...     folder = run(config, out).folder
    ...     page = build_report(folder.path, n_resamples=100)
    ...     page.name, "Which rule is hardest?" in page.read_text()
    ('report.html', True)
    """
    from gnomon.report.findings import findings_of

    if not 0.0 < level < 1.0:
        raise ValueError(f"expected a level between 0 and 1, found {level}")
    folder = RunFolder.open(run_dir)
    findings = findings_of(folder, seed=seed, level=level, n_resamples=n_resamples)
    place = folder.path / "report" if out_dir is None else out_dir
    return write_report(findings, place, also=also)


def write_report(findings: Findings, out_dir: str | Path, *, also: Sequence[str] = ()) -> Path:
    """Write the report of findings that are there already; see :func:`build_report`."""
    from gnomon.plot.style import house_settings
    from gnomon.report.sections import report_of

    with house_settings():
        return report_of(findings).save(out_dir, also=also)
