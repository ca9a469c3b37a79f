"""Readers of the results of experiments: run folders, and the files of the game servers.

`gnomon` finds them by the entry points of this package. Their dependencies are imported when
needed, since a file of scores needs none.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.scores import Reader, ReadRequest

if TYPE_CHECKING:
    from gnomon import ScoreTable


def _is_run_folder(path: Path) -> bool:
    if not path.is_dir():
        return False
    from gohr.experiments.run_folder import is_run_folder

    return is_run_folder(path)


def _read_run_folder(path: Path, wanted: ReadRequest) -> ScoreTable:
    from gohr.experiments.run_folder import RunFolder
    from gohr.experiments.scoring.run_scores import score_table

    metric = wanted.metric or ("cumulated_errors" if wanted.curves else "tce")
    return score_table(RunFolder.open(path), metric, count_empty=wanted.count_empty)


def _is_game_log(path: Path) -> bool:
    from gohr.game.captive_log import is_game_log

    return path.is_file() and is_game_log(path)


def _read_game_log(path: Path, wanted: ReadRequest) -> ScoreTable:
    from gohr.experiments.game_log_reader import read_game_log
    from gohr.experiments.scoring.attempt_scores import ATTEMPT_METRICS
    from gohr.people.transcripts import is_transcript, read_transcripts, score_series

    metric = wanted.metric or "tce"
    if metric in ATTEMPT_METRICS and is_transcript(path):
        return score_series(read_transcripts(path), metric)
    return read_game_log(path, metric)


RUN_FOLDER = Reader(
    "run-folder",
    "the folder of an experiment that gohr run has played",
    recognises=_is_run_folder,
    read=_read_run_folder,
    takes=frozenset({"metric"}),
    step="episode",
)

GAME_LOG = Reader(
    "game-log",
    "a result file or transcript of a game server",
    recognises=_is_game_log,
    read=_read_game_log,
    takes=frozenset({"metric"}),
)
