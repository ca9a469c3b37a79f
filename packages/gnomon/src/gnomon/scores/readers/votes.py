"""Votes between two models at a time: of people in arenas, and of judges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from gnomon.errors import counted, listed, note
from gnomon.scores.columns import FloatArray, Rows, Texts, rows_of_records
from gnomon.scores.readers.files import mapping_at
from gnomon.scores.readers.registry import Reader, ReadRequest, Source
from gnomon.scores.readers.samples import reading_log
from gnomon.scores.table import ScoreTable
from gnomon.scores.tidy import Origin, selected, tidy_rows

_COLUMNS = ("model_a", "model_b", "winner")
#: The share of the first model, by the word in the column ``winner``.
_WINNERS = {
    "model_a": 1.0, "a": 1.0, "model_1": 1.0, "1": 1.0, "model_b": 0.0, "b": 0.0, "model_2": 0.0,
    "2": 0.0, "tie": 0.5, "tie (bothbad)": 0.5, "both": 0.5, "bothbad": 0.5, "both_bad": 0.5,
    "both bad": 0.5, "draw": 0.5,
}  # fmt: skip
#: The winner by the verdict of Arena-Hard, whose first game has the baseline as A.
_VERDICTS = {
    **dict.fromkeys(("A>>B", "A>B", "B<A", "B<<A"), "a"), "A=B": "tie", "B=A": "tie",
    **dict.fromkeys(("B>>A", "B>A", "A<B", "A<<B"), "b"),
}  # fmt: skip
#: The keys of a judgment of MT-bench on two models, which is made twice, in either order.
_JUDGED = ("model_1", "model_2", "g1_winner", "g2_winner")


def _are_judged(source: Source) -> bool:
    """Return whether records are games of Arena-Hard, or judgments of MT-bench on pairs."""
    first = source.json[0] if isinstance(source.json, list) and source.json else None
    return isinstance(first, Mapping) and ("games" in first or first.keys() >= {*_JUDGED})


def _read_votes(source: Source, wanted: ReadRequest) -> ScoreTable:
    """Read votes: each is an item; the winner has 1, the loser 0, and both 0.5 in a tie."""
    if _are_judged(source):
        origin = Origin(str(source))
        with reading_log(source.place, "a judge"):
            judged = [vote for record in source.content() for vote in _votes(record, origin)]
        raw = rows_of_records(vote for vote in judged if vote["winner"] is not None)
        if len(raw) < len(judged):
            lost = counted(len(judged) - len(raw), "vote")
            note(f"{origin.name}: {lost} without a verdict of the judge left out")
    else:
        raw, origin = source.table()
    raw, origin = selected(raw, wanted.where, origin)
    n = len(raw)
    if not n:
        raise origin.error("expected votes, found none")
    a, b, winner = (raw.texts(name) for name in _COLUMNS)
    share = _shares(a, b, winner, origin)
    names = tuple(f"{source.stem}/vote {i}" for i in range(1, n + 1))
    items = Texts(np.arange(n, dtype=np.int32), names)
    rest = raw.but(*_COLUMNS, "algorithm", "task", "score", "run")
    rows = Rows.joined([
        rest.with_columns({"algorithm": model, "task": items, "score": score, "opponent": other})
        for model, other, score in ((a, b, share), (b, a, 1.0 - share))
    ])  # fmt: skip
    note(f"{origin.name}: each vote is an item with the scores 1 and 0, or 0.5 each for a tie")
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
        if one == two:
            raise origin.error_at([at], "model_b", f"expected two models, found {one!r} twice")
        found[at] = share
    return found


def _votes(record: Mapping[str, Any], origin: Origin) -> Iterator[dict[str, Any]]:
    """Yield the votes of a record: those of two games of Arena-Hard, or one of MT-bench.

    The winner is None where the judge gave no verdict. Two verdicts of MT-bench that disagree are a
    tie, as its own tables count them.
    """
    vote = {"question": record.get("uid", record.get("question_id"))}
    if "games" not in record:
        vote["model_a"], vote["model_b"], *winners = (record.get(name) for name in _JUDGED)
        if not {"model_1", "model_2", "tie", "error"}.issuperset(winners):
            expected = "expected winners of MT-bench: model_1, model_2, tie or error; found"
            raise origin.error(f"{expected} {winners[0]!r} and {winners[1]!r}")
        agreed = winners[0] if winners[0] == winners[1] else "tie"
        yield vote | {"turn": record.get("turn"), "winner": None if "error" in winners else agreed}
        return
    model, baseline = record.get("model"), record.get("baseline", "baseline")
    for number, game in enumerate(record["games"]):
        score = None if game is None else mapping_at({"game": game}, "game").get("score", "")
        winner = _VERDICTS.get(str(score))
        if model is None or (winner is None and score is not None):
            raise origin.error(
                "expected games of Arena-Hard with a score such as A>B; found "
                f"{listed(game, 4) if isinstance(game, Mapping) else game}"
            )
        # The models change places in the second game.
        a, b = (model, baseline) if number % 2 else (baseline, model)
        yield vote | {"model_a": a, "model_b": b, "winner": winner}


VOTES = Reader(
    "votes",
    "votes between two models: model_a, model_b, winner as CSV or JSON, games of Arena-Hard, or "
    "judgments of MT-bench on pairs",
    recognises=lambda source: set(_COLUMNS) <= set(source.names) or _are_judged(source),
    read=_read_votes,
    takes=frozenset({"where"}),
    units="items",
    in_memory=True,
)
