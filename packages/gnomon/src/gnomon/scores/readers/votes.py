"""Votes: which of two models a judge preferred, as arenas and pairwise judges write them.

A row has ``model_a``, ``model_b`` and ``winner``. Each vote is an item, on which the winner has 1
and the loser 0; both have 0.5 in a tie. Records of Arena-Hard have two games each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from gnomon.errors import listed, note
from gnomon.scores.columns import FloatArray, Rows, Texts, rows_of_records
from gnomon.scores.readers.files import mapping_at
from gnomon.scores.readers.registry import Reader, ReadRequest, Source
from gnomon.scores.table import ScoreTable
from gnomon.scores.tidy import Origin, matching_rows, tidy_rows

_COLUMNS = ("model_a", "model_b", "winner")
#: The share of the first model, by the word in the column ``winner``.
_WINNERS = {
    "model_a": 1.0, "a": 1.0, "model_1": 1.0, "1": 1.0, "model_b": 0.0, "b": 0.0, "model_2": 0.0,
    "2": 0.0, "tie": 0.5, "tie (bothbad)": 0.5, "both": 0.5, "bothbad": 0.5, "both_bad": 0.5,
    "draw": 0.5,
}  # fmt: skip
#: The winner by the verdict of Arena-Hard, whose first game has the baseline as A.
_VERDICTS = {"A>>B": "a", "A>B": "a", "A=B": "tie", "B=A": "tie", "B>A": "b", "B>>A": "b"}


def _holds_games(source: Source) -> bool:
    """Return whether records are those of Arena-Hard."""
    first = source.json[0] if isinstance(source.json, list) and source.json else None
    return isinstance(first, Mapping) and "games" in first


def _read(source: Source, wanted: ReadRequest) -> ScoreTable:
    if _holds_games(source):
        origin = Origin(str(source))
        raw = rows_of_records(
            vote for record in source.content() for vote in _votes(record, origin)
        )
    else:
        raw, origin = source.table()
    if wanted.where:
        keep = matching_rows(raw, wanted.where, origin)
        raw, origin = raw.take(keep), origin.of_rows(np.flatnonzero(keep))
    n = len(raw)
    if not n:
        raise origin.error("expected votes, found none")
    a, b, winner = (raw.texts(name) for name in _COLUMNS)
    share = _shares(a, b, winner, origin)
    items = Texts(np.arange(n, dtype=np.int32), tuple(f"vote {i}" for i in range(1, n + 1)))
    rest = raw.but(*_COLUMNS, "algorithm", "task", "score", "run")
    rows = Rows.joined([
        rest.with_columns({"algorithm": model, "task": items, "score": score, "opponent": other})
        for model, other, score in ((a, b, share), (b, a, 1.0 - share))
    ])  # fmt: skip
    note(
        f"{origin.name}: each vote is an item with the scores 1 and 0, a tie 0.5 each; models meet "
        "different opponents, so compare the two of a pair, or rank by Bradley-Terry"
    )
    tidy = tidy_rows(rows, Origin(origin.file), {})
    return ScoreTable(tidy, "win", None, True, origin.provenance("votes"), units="items")


def _shares(a: Texts, b: Texts, winner: Texts, origin: Origin) -> FloatArray:
    """Return the share of the first model in each vote; refuse a word that names no winner."""
    found = np.empty(len(winner))
    votes = zip(a.tolist(), b.tolist(), winner.tolist(), strict=True)
    for at, (one, two, word) in enumerate(votes):
        share = 1.0 if word == one else 0.0 if word == two else _WINNERS.get(str(word).lower())
        if share is None or one is None or two is None:
            expected = "model_a, model_b, tie or the name of one of the two"
            raise origin.error_at([at], "winner", f"expected {expected}, found {word!r}")
        found[at] = share
    return found


def _votes(record: Mapping[str, Any], origin: Origin) -> Iterator[dict[str, Any]]:
    """Yield the votes of the two games of a record of Arena-Hard."""
    model, baseline = record.get("model"), record.get("baseline", "baseline")
    for number, game in enumerate(record["games"]):
        winner = _VERDICTS.get(str(mapping_at({"game": game}, "game").get("score")))
        if model is None or winner is None:
            raise origin.error(
                "expected games of Arena-Hard with a score such as A>B; found "
                f"{listed(game, 4) if isinstance(game, Mapping) else game}"
            )
        # The models change places in the second game.
        a, b = (model, baseline) if number % 2 else (baseline, model)
        yield {"model_a": a, "model_b": b, "winner": winner}


VOTES = Reader(
    "votes",
    "votes between two models: model_a, model_b, winner as CSV or JSON, or games of Arena-Hard",
    recognises=lambda source: set(_COLUMNS) <= set(source.names) or _holds_games(source),
    read=_read,
    takes=frozenset({"where"}),
    units="items",
    in_memory=True,
)
