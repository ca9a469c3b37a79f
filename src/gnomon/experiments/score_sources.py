"""Scores from whatever they are kept in, known by its look: the door for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.errors import ScoreDataError

# A reader is loaded when its turn comes: most take longer to load than a small file to read.
if TYPE_CHECKING:
    from gnomon.scores.table import ScoreTable

__all__ = ["read_source"]


def read_source(
    source: Path,
    *,
    metric: str | None = None,
    default_metric: str | None = None,
    where: Mapping[str, str] | None = None,
    step_column: str | None = None,
    lower_is_better: bool = False,
    count_empty: bool = True,
) -> ScoreTable:
    r"""Read the scores of a run folder, a score file, or what another program has left.

    Parameters
    ----------
    source : path
        A name of :data:`gnomon.scores.datasets.MEASURED`, unless there is such a file; what
        :func:`gnomon.scores.readers.leaderboard_dump.read_leaderboard_dump`,
        :func:`gnomon.scores.readers.foreign_paths.read_foreign` or
        :func:`gnomon.experiments.game_logs.reader.read_game_log` reads; a run folder; else a file
        of :func:`gnomon.scores.readers.tidy_files.read_scores`.
    metric : str, optional
        Which score, where there are several; ``tce`` of a run folder and of a game log.
    default_metric : str, optional
        Which one, where there are several and none is named.
    where : mapping, optional
        Attribute values that a row of a score file or of a leaderboard's dump must have.
    step_column : str, optional
        The column of a score file to read as the step.
    lower_is_better : bool
        Whether low scores of a file are good; run folders and game logs know.
    count_empty : bool
        Whether attempts on empty cells count, in a run folder.

    Returns
    -------
    ScoreTable

    Raises
    ------
    ScoreDataError
        The source cannot be read as what it looks like, or has no columns and one was named, or
        one score and that was named.
    RunFolderError
        The folder is no run folder.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "wide.csv"
    ...     _ = path.write_text("algorithm,pong,breakout\nours,1.0,2.0\n")
    ...     read_source(path).tasks
    ('pong', 'breakout')
    """
    higher_is_better = not lower_is_better
    wanted = metric or default_metric
    dump = _dump(source, wanted, where, higher_is_better=higher_is_better)
    if dump is not None:
        return dump
    whole = _whole(source, wanted, higher_is_better=higher_is_better, count_empty=count_empty)
    if whole is None:
        from gnomon.scores.readers.tidy_files import read_scores

        if metric is not None:
            raise ScoreDataError(
                f"{source}: a score file holds one score; expected none to be named, found {metric}"
            )
        return read_scores(
            source,
            step_column=step_column,
            where=where,
            higher_is_better=False if lower_is_better else None,
        )
    if where or step_column:
        raise ScoreDataError(
            f"{source}: only in a score file can a column select rows, or be the step"
        )
    return whole


def _dump(
    source: Path, metric: str | None, where: Mapping[str, str] | None, *, higher_is_better: bool
) -> ScoreTable | None:
    """Return the scores of a leaderboard, if that is what lies there."""
    if source.suffix.lower() not in (".csv", ".tsv", ".json", ".gz") and not source.is_dir():
        return None
    from gnomon.scores.readers.leaderboard_dump import read_leaderboard_dump

    return read_leaderboard_dump(
        source, metric=metric, higher_is_better=higher_is_better, where=where
    )


def _whole(
    source: Path, metric: str | None, *, higher_is_better: bool, count_empty: bool
) -> ScoreTable | None:
    """Return the scores of what is read as a whole, having no columns; None for a score file."""
    measured = _measured(source, metric)
    if measured is not None:
        return measured
    if source.suffix.lower() == ".json" or (source.is_dir() and not _is_run_folder(source)):
        from gnomon.scores.readers.foreign_paths import read_foreign

        foreign = read_foreign(source, metric=metric, higher_is_better=higher_is_better)
        if foreign is not None:
            return foreign
    if source.is_dir():
        from gnomon.experiments.run_folder import RunFolder
        from gnomon.experiments.scoring.scores import score_table

        return score_table(RunFolder.open(source), metric or "tce", count_empty=count_empty)
    from gnomon.experiments.game_logs.reader import is_game_log, read_game_log

    return read_game_log(source, metric or "tce") if is_game_log(source) else None


def _is_run_folder(place: Path) -> bool:
    from gnomon.experiments.run_folder import MANIFEST

    return (place / MANIFEST).exists()


def _measured(source: Path, metric: str | None) -> ScoreTable | None:
    """Return the scores that come with Gnomon, if that is what a name that is no path means."""
    from gnomon.scores.datasets import MEASURED, load_measured

    if str(source) not in MEASURED or source.exists():
        return None
    return load_measured(str(source), metric)
