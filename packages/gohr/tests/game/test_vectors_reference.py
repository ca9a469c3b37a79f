"""The reference interpreter replays recorded episodes of the reference game server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gohr import ReferenceGame
from gohr.errors import RuleError, RuleSyntaxError
from gohr.rules import parse
from recorded_episodes import DATA, VECTORS, board_of, legal_of, records

FILES = [
    "rules_paper",
    "rules_extended",
    "synthetic_paper_fuzz",
    "synthetic_orders_fuzz",
    "synthetic_gs5_fuzz",
    "synthetic_picks",
    "synthetic_crowded",
]


def act(game: ReferenceGame, step: dict[str, Any]) -> int:
    """Do what a recorded step did."""
    bucket, piece_id, pos = step["bucket"], step.get("id"), step.get("pos")
    if bucket == -1:
        return game.pick_at(pos) if piece_id is None else game.pick(piece_id)
    return game.attempt_at(pos, bucket) if piece_id is None else game.attempt(piece_id, bucket)


def replay(record: dict[str, Any]) -> None:
    """Play an episode again, and compare everything that was recorded."""
    if "board" not in record:
        with pytest.raises(RuleSyntaxError):
            parse(record["rule_text"])
        return
    rule_set = parse(record["rule_text"])
    if "start_finish" not in record:
        with pytest.raises(RuleError):
            ReferenceGame(rule_set, board_of(record))
        return
    game = ReferenceGame(rule_set, board_of(record))
    assert game.finish == record["start_finish"]
    for step in record["steps"]:
        before = (game.legal_moves(), game.line, game.counters())
        assert before == (legal_of(record, step), step["line"], step["counters"])
        code = act(game, step)
        after = (code, game.finish, len(game.pieces), game.n_attempts)
        assert after == (step["code"], step["finish"], step["left"], step["attempts"])
    if "error" in record:
        assert some_move_raises(record), "the reference died at the attempt after these"
    else:
        assert (game.finish, game.line) == (record["end_finish"], record["end_line"])


def some_move_raises(record: dict[str, Any]) -> bool:
    """Tell whether a move exists, after all that was recorded, that cannot be played."""
    moves = replayed(record).legal_moves()
    for piece_id, bucket in moves:
        game = replayed(record)
        try:
            game.attempt(piece_id, bucket)
        except RuleError:
            return True
    return False


def replayed(record: dict[str, Any]) -> ReferenceGame:
    game = ReferenceGame(parse(record["rule_text"]), board_of(record))
    for step in record["steps"]:
        act(game, step)
    return game


@pytest.mark.parametrize(
    "record", list(records(DATA / "episodes.jsonl.gz")), ids=lambda r: Path(r["rule_file"]).stem
)
def test_selected_episodes(record: dict[str, Any]) -> None:
    replay(record)


@pytest.mark.full
@pytest.mark.skipif(not VECTORS.is_dir(), reason="the recorded episodes are not in the repository")
@pytest.mark.parametrize("name", FILES)
def test_all_episodes(name: str) -> None:
    for record in records(VECTORS / f"{name}.jsonl.gz"):
        replay(record)
