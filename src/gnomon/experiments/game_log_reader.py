"""The result files and transcripts of the game servers as tables of scores.

A captive game server writes *Long* or *Compact* result files, a line an episode, and *transcripts*,
a line an attempt; people's games are kept as the same kind of transcript. :func:`read_game_log`
makes a table of scores of any of the three: players as algorithms, rules as tasks.
:mod:`gnomon.experiments.game_log_writer` writes them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon._io.text_file import read_text
from gnomon.errors import ScoreDataError, UnknownNameError
from gnomon.experiments.game_log_rows import (
    COMPACT,
    COMPACT_RUN,
    LONG,
    TRANSCRIPT,
    Row,
    Rows,
    kind_of,
)
from gnomon.experiments.scoring.trial_scores import METRICS
from gnomon.game.board import BUCKET_PLACES
from gnomon.game.outcomes import ACCEPTED, DENIED, IMMOVABLE

if TYPE_CHECKING:
    from gnomon.scores.table import ScoreTable


@dataclass(frozen=True, slots=True)
class PlayedRun:
    """A player's episodes on a rule, one after another.

    A run bears the number that the file gives it; in a transcript they are counted from 0. Errors,
    and whether the board was cleared, are by episode.
    """

    player: str
    rule: str
    run: int
    errors: list[int] = field(default_factory=list)
    cleared: list[bool] = field(default_factory=list)


def read_game_log(path: str | Path, metric: str = "tce") -> ScoreTable:
    r"""Read a result file or a transcript as a table of scores.

    Attempts on empty cells are not in such files, and a stalemate cannot be told from an episode
    that was given up. The table has a row a run; a score per episode has the column ``step``.

    Raises ScoreDataError: the file is none of these, or a field is not what it should be; the
    message names file, row (line of the file) and field. Raises UnknownNameError: there is no such
    metric.
    """
    import polars as pl

    from gnomon.scores.table import ScoreTable

    if metric not in METRICS:
        raise UnknownNameError("metric", metric, METRICS)
    chosen = METRICS[metric]
    rows: list[dict[str, Any]] = []
    for run in read_runs(path):
        finish = np.array(run.cleared, dtype=np.int8)
        value = chosen.compute(np.array(run.errors, dtype=np.int64), finish)
        key = {"algorithm": run.player, "task": run.rule, "run": run.run}
        if isinstance(value, np.ndarray):
            rows += [key | {"step": i, "score": x} for i, x in enumerate(value.tolist(), 1)]
        else:
            rows.append(key | {"score": value})
    if not rows:
        raise ScoreDataError(f"{path}: expected at least one episode; found none")
    frame = pl.DataFrame(rows)
    if frame["score"].is_infinite().any():
        frame = frame.with_columns(pl.col("score").is_infinite().alias("censored"))
    return ScoreTable.from_frame(
        frame,
        metric=metric,
        unit=chosen.unit,
        higher_is_better=chosen.higher_is_better,
        provenance=(
            f"read from {Path(path).name}",
            "attempts on empty cells left out, as the captive server does",
        ),
    )


def read_runs(path: str | Path) -> list[PlayedRun]:
    """Read the runs of a result file or a transcript; errors as :func:`read_game_log`."""
    path = Path(path)
    lines = read_text(path, error=ScoreDataError).removeprefix("\ufeff").splitlines()
    kind = kind_of(lines[0]) if lines else None
    if kind is None:
        raise ScoreDataError(
            f"{path}: expected the header of a Long or Compact result file or of a transcript"
        )
    # ⚠ A header may come again in the middle, where files were put together.
    rows = ((n, line) for n, line in enumerate(lines, 1) if line.strip() and line[0] != "#")
    read = {LONG: _read_long, COMPACT_RUN: _read_compact, TRANSCRIPT: _read_transcript}
    return read[kind](Rows(path, rows))


def _read_long(rows: Rows) -> list[PlayedRun]:
    runs: dict[tuple[str, str, int], PlayedRun] = {}
    for row, line in rows:
        row.split(line, LONG)
        key = row.text("nickname"), row.text("rule_name"), row.integer("trial_id")
        run = runs.setdefault(key, PlayedRun(*key))
        if row.integer("board_id") != len(run.errors):
            raise row.error("board_id", f"{len(run.errors)}, the next of run {key[2]}")
        pieces, moves = row.integer("number_of_pieces", 1, 36), row.integer("number_of_moves")
        accuracy = row.number("move_acc", 0, 1)
        cleared = bool(row.integer("if_clear", 0, 1))
        accepted = round(moves * accuracy)
        if abs(accepted - moves * accuracy) > 1e-6 * max(1, moves):
            raise row.error("move_acc", f"a fraction of {moves} moves")
        if accepted > pieces or (cleared and accepted < pieces):
            relation = "all" if cleared else "at most"
            raise row.error("move_acc", f"{relation} {pieces} pieces to have been accepted")
        run.errors.append(moves - accepted)
        run.cleared.append(cleared)
    return list(runs.values())


def _read_compact(rows: Rows) -> list[PlayedRun]:
    runs: dict[tuple[str, str, int], PlayedRun] = {}
    run: PlayedRun | None = None
    for row, line in rows:
        if line.startswith("."):
            row.split(line[1:], COMPACT_RUN)
            key = row.text("nickname"), row.text("rule_name"), row.integer("trial_id")
            if key in runs:
                raise row.error("trial_id", f"another than in an earlier run of {key[0]}")
            run = runs[key] = PlayedRun(*key)
            continue
        row.split(line, COMPACT)
        if run is None:
            raise ScoreDataError(f"{row.where}: expected the line of a run, .nickname,rule,trial")
        moves = row.integer("number_of_moves")
        run.errors.append(row.integer("number_of_errors", 0, moves))
        run.cleared.append(bool(row.integer("if_clear", 0, 1)))
    return list(runs.values())


@dataclass(slots=True)
class _Progress:
    """Where a player stands on a rule in a transcript."""

    run: PlayedRun
    series: int
    episode: int = 0
    episode_id: str = ""
    move: int = -1
    left: int = -1


def _read_transcript(rows: Rows) -> list[PlayedRun]:
    """Read attempts. The runs are told apart by the numbers of their episodes."""
    runs: list[PlayedRun] = []
    players: dict[tuple[str, str], _Progress] = {}
    n_runs: dict[tuple[str, str], int] = {}
    for row, line in rows:
        row.split(line, TRANSCRIPT)
        key = row.text("playerId"), row.text("ruleId")
        series, episode = row.integer("seriesNo"), row.integer("episodeNo", 0, 100_000)
        at = players.get(key)
        if at is None or series != at.series or _begins_again(at, episode, row):
            run = PlayedRun(*key, n_runs.get(key, 0))
            n_runs[key] = run.run + 1
            runs.append(run)
            at = players[key] = _Progress(run, series)
        _take_attempt(row, at, episode)
    return runs


def _begins_again(at: _Progress, episode: int, row: Row) -> bool:
    """Tell whether an episode is of another run: its number is not the same or a later one."""
    return episode < at.episode or (
        episode == at.episode and row.text("episodeId") != at.episode_id
    )


def _take_attempt(row: Row, at: _Progress, episode: int) -> None:
    """Check an attempt, and add it to the run."""
    if row.text("episodeId") != at.episode_id:
        at.episode, at.episode_id, at.move, at.left = episode, row.text("episodeId"), -1, -1
        # An episode without any attempt leaves no line.
        for _ in range(episode + 1 - len(at.run.errors)):
            at.run.errors.append(0)
            at.run.cleared.append(False)
    if row.integer("moveNo") != at.move + 1:
        raise row.error("moveNo", f"{at.move + 1}, the next of its episode")
    at.move += 1
    code, left = row.integer("code", -99, 99), row.integer("objectCnt", 0, 36)
    is_pick = _is_pick(row)
    removed = code == ACCEPTED and not is_pick
    if at.left >= 0 and left != at.left - removed:
        raise row.error("objectCnt", f"{at.left - removed} pieces left after code {code}")
    at.left = left
    at.run.errors[-1] += code in (DENIED, IMMOVABLE)
    at.run.cleared[-1] = left == 0


def _is_pick(row: Row) -> bool:
    """Check the place fields; tell whether a piece was named without a bucket."""
    row.text("timestamp")
    row.text("objectType")
    row.integer("mover", -1, 9)
    if not row.is_empty("reactionTime"):
        row.number("reactionTime", 0, math.inf)
    row.integer("objectId")
    row.integer("y", 1, 6)
    row.integer("x", 1, 6)
    if row.is_empty("bucketId") or row.integer("bucketId", -1, 3) == -1:
        return True
    places = row.integer("by", 0, 7), row.integer("bx", 0, 7)
    if BUCKET_PLACES[row.integer("bucketId", 0, 3)] != places:
        raise row.error("bucketId", f"the bucket at row {places[0]}, column {places[1]}")
    return False
