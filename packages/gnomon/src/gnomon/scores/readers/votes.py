"""Votes: which of two models a judge preferred, as arenas and pairwise judges write them.

A row has ``model_a``, ``model_b`` and ``winner``. Each vote is an item, on which the winner has 1
and the loser 0; both have 0.5 in a tie. Records of Arena-Hard have two games each.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.errors import ScoreDataError, listed, note
from gnomon.scores.columns import Rows, Texts
from gnomon.scores.readers.files import header_names, is_table, json_content, read_csv
from gnomon.scores.readers.json_stream import json_lines
from gnomon.scores.readers.registry import Reader, ReadRequest
from gnomon.scores.table import ScoreTable
from gnomon.scores.tidy import Origin, matching_rows, tidy_rows

_COLUMNS = ("model_a", "model_b", "winner")
_LINES = (".jsonl", ".ndjson")
#: The share of the first model, by the word in the column ``winner``.
_WINNERS = {
    "model_a": 1.0, "a": 1.0, "model_1": 1.0, "1": 1.0, "model_b": 0.0, "b": 0.0, "model_2": 0.0,
    "2": 0.0, "tie": 0.5, "tie (bothbad)": 0.5, "both": 0.5, "bothbad": 0.5, "both_bad": 0.5,
    "draw": 0.5,
}  # fmt: skip
#: The same by the verdict of Arena-Hard, whose first game has the model as A.
_VERDICTS = {"A>>B": 1.0, "A>B": 1.0, "A=B": 0.5, "B>A": 0.0, "B>>A": 0.0, "B=A": 0.5}


def _recognises(path: Path) -> bool:
    try:
        if is_table(path):
            return set(_COLUMNS) <= set(header_names(path))
        if not path.is_file():
            return False
        if path.suffix.lower() in _LINES:
            return _is_vote(next(json_lines(path), {}))
        content = json_content(path) if path.suffix.lower() == ".json" else None
    except (OSError, ScoreDataError):
        return False
    return isinstance(content, list) and bool(content) and _is_vote(content[0])


def _is_vote(record: Any) -> bool:
    return isinstance(record, Mapping) and (set(_COLUMNS) <= set(record) or "games" in record)


def _read(path: Path, wanted: ReadRequest) -> ScoreTable:
    if is_table(path):
        raw, origin = read_csv(path)
    else:
        is_lines = path.suffix.lower() in _LINES
        records: Any = json_lines(path) if is_lines else json_content(path)
        votes = [vote for record in records for vote in _votes(record, path)]
        columns = {name: Texts.of([vote[name] for vote in votes]) for name in _COLUMNS}
        raw, origin = Rows(columns), Origin(str(path))
    if wanted.where:
        keep = matching_rows(raw, wanted.where, origin)
        raw, origin = raw.take(keep), origin.of_rows(np.flatnonzero(keep))
    a, b, winner = (raw.texts(name) for name in _COLUMNS)
    share = _shares(a, b, winner, origin)
    n = len(raw)
    rest = [name for name in raw.names if name not in (*_COLUMNS, "algorithm", "task", "score")]
    item = np.arange(n, dtype=np.int32)
    names = tuple(f"vote {i}" for i in range(1, n + 1))
    halves = [
        Rows({"algorithm": model, "task": Texts(item, names), "score": score})
        .with_columns({"opponent": other})
        .with_columns({name: raw[name] for name in rest if name != "run"})
        for model, other, score in ((a, b, share), (b, a, 1.0 - share))
    ]
    rows = tidy_rows(Rows.joined(halves), Origin(str(path)), {})
    if not n:
        raise origin.error("expected votes, found none")
    note(
        f"{path.name}: each vote is an item with the scores 1 and 0, a tie 0.5 each; models meet "
        "different opponents, so compare the two of a pair, or rank by Bradley-Terry"
    )
    return ScoreTable(rows, "win", None, True, (f"read from {path.name} (votes)",), units="items")


def _shares(a: Texts, b: Texts, winner: Texts, origin: Origin) -> np.ndarray[Any, Any]:
    """Return the share of the first model in each vote; refuse a word that names no winner."""
    found = np.empty(len(winner))
    for at, (one, two, word) in enumerate(
        zip(a.tolist(), b.tolist(), winner.tolist(), strict=True)
    ):
        share = 1.0 if word == one else 0.0 if word == two else _WINNERS.get(str(word).lower())
        if share is None or one is None or two is None:
            expected = "model_a, model_b, tie or the name of one of the two"
            raise origin.error_at([at], "winner", f"expected {expected}, found {word!r}")
        found[at] = share
    return found


def _votes(record: Mapping[str, Any], path: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the votes of a record: itself, or the two games of Arena-Hard."""
    if "games" not in record:
        yield {name: record.get(name) for name in _COLUMNS}
        return
    model, baseline = record.get("model"), record.get("baseline", "baseline")
    for number, game in enumerate(record["games"]):
        share = _VERDICTS.get(str(_verdict(game)))
        if model is None or share is None:
            raise ScoreDataError(
                f"{path}: expected games of Arena-Hard with a score such as A>B; found "
                f"{listed(game if isinstance(game, Mapping) else [json.dumps(game)], 4)}"
            )
        # The models change places in the second game.
        share = share if number % 2 else 1.0 - share
        winner = "tie" if share == 0.5 else "model_a" if share == 1.0 else "model_b"
        yield {"model_a": model, "model_b": baseline, "winner": winner}


def _verdict(game: Any) -> Any:
    """Return the verdict of a game."""
    return game.get("score") if isinstance(game, Mapping) else None


VOTES = Reader(
    "votes",
    "votes between two models: model_a, model_b, winner as CSV or JSON, or games of Arena-Hard",
    recognises=_recognises,
    read=_read,
    takes=frozenset({"where"}),
    units="items",
)
