"""Readers of the results of experiments: run folders, and the files of the game servers.

`gnomon` finds them by the entry points of this package. Their dependencies are imported when
needed, since a file of scores needs none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.errors import ScoreDataError, UnknownNameError
from gnomon.scores import Reader, ReadRequest, Source

if TYPE_CHECKING:
    from gnomon import ScoreTable


def _is_run_folder(source: Source) -> bool:
    if not source.is_folder:
        return False
    from gohr.experiments.progress import is_run_folder

    return is_run_folder(source.place)


def _read_run_folder(source: Source, wanted: ReadRequest) -> ScoreTable:
    from gohr.experiments.scores import score

    return score(source.place, wanted.metric or ("cumulated_errors" if wanted.curves else "tce"))


def _is_game_log(source: Source) -> bool:
    from gohr.captive_log import is_result_file
    from gohr.people.transcripts import is_transcript

    return source.is_file and (is_result_file(source.place) or is_transcript(source.place))


def _read_game_log(source: Source, wanted: ReadRequest) -> ScoreTable:
    """Read a result file or a transcript: a row a run, or a row an episode with a ``step``.

    Such files omit attempts on empty cells and do not distinguish a stalemate from an episode that
    was given up.
    """
    import numpy as np

    from gohr.captive_log import read_runs
    from gohr.experiments.metrics import METRICS, metric_named
    from gohr.experiments.scores import run_label
    from gohr.people.transcripts import is_transcript, read_transcripts, score_series

    path = source.place
    chosen = metric_named(wanted.metric or "tce")
    if is_transcript(path):
        return score_series(read_transcripts(path), chosen.name)
    if chosen.of_attempts:
        known = [name for name, metric in METRICS.items() if not metric.of_attempts]
        raise UnknownNameError("metric", chosen.name, known)
    runs = [run for run in read_runs(path) if run.errors]
    if not runs:
        raise ScoreDataError(f"{path}: expected at least one episode; found none")
    columns = {
        "algorithm": [run.player for run in runs],
        "task": [run.rule for run in runs],
        "run": [run_label(run.rule, run.run) for run in runs],
    }
    values = [chosen.compute(np.array(x.errors), np.array(x.cleared, np.int8)) for x in runs]
    counted = "attempts on empty cells left out, as the captive server does"
    return chosen.table(columns, values, (f"read from {path.name}", counted))


RUN_FOLDER = Reader(
    "run-folder",
    "the folder of an experiment that gohr run has played",
    recognises=_is_run_folder,
    read=_read_run_folder,
    takes=frozenset({"metric"}),
)

GAME_LOG = Reader(
    "game-log",
    "a result file or transcript of a game server",
    recognises=_is_game_log,
    read=_read_game_log,
    takes=frozenset({"metric"}),
)
