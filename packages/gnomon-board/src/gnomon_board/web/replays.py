"""Replays of recorded attempts, one episode at a time, as pages show them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gnomon_board.errors import Missing
from gnomon_board.studies.plan import pieces_of
from gohr import N_BUCKETS, Board, BoardSpec, TrialLog
from gohr.experiments import episode_errors
from gohr.outcomes import EMPTY_CELL, END_WORDS, OUTCOME_WORDS


@dataclass(frozen=True)
class Step:
    """An attempt: its piece, its bucket and its outcome."""

    number: int
    cell: int
    shape: str | None
    color: str | None
    bucket: int
    outcome: str


@dataclass(frozen=True)
class Replay:
    """An episode of a trial, and the board after ``step`` of its attempts.

    ``episode`` counts from 0. ``pieces`` are on the board, ``removed`` were moved into buckets.
    """

    learner: str
    rule: str
    episode: int
    n_episodes: int
    step: int
    steps: list[Step]
    pieces: list[dict[str, Any]]
    removed: list[dict[str, Any]]
    end: str
    errors: list[int]


def replay_of(
    log: TrialLog, spec: BoardSpec, learner: str, rule: str, episode: int, step: int
) -> Replay:
    """Return an episode, and its board after some of its attempts; Missing if there is none."""
    errors = episode_errors(log).tolist()
    if episode >= len(errors):
        raise Missing(f"expected an episode below {len(errors)}, found {episode}")
    pieces = pieces_of(Board.from_codes(log.boards[episode].tobytes(), spec))
    steps = _steps(log, episode, pieces)
    step = min(step, len(steps))
    gone = {s.cell: (s.bucket, n) for n, s in enumerate(steps[:step], 1) if s.outcome == "accepted"}
    return Replay(
        learner=learner,
        rule=rule,
        episode=episode,
        n_episodes=len(errors),
        step=step,
        steps=steps,
        pieces=[piece for piece in pieces if piece["cell"] not in gone],
        removed=[
            piece | {"bucket": gone[piece["cell"]][0], "order": gone[piece["cell"]][1]}
            for piece in pieces
            if piece["cell"] in gone
        ],
        end=END_WORDS[int(log.finish[episode])],
        errors=errors,
    )


def _steps(log: TrialLog, episode: int, pieces: list[dict[str, Any]]) -> list[Step]:
    nothing = (None, None)
    looks = {piece["cell"]: (piece["shape"], piece["color"]) for piece in pieces}
    begin = int(log.n_attempts[:episode].sum())
    here = slice(begin, begin + int(log.n_attempts[episode]))
    steps = []
    made = zip(log.actions[here].tolist(), log.outcomes[here].tolist(), strict=True)
    for number, (action, outcome) in enumerate(made, 1):
        cell, bucket = action // N_BUCKETS + 1, action % N_BUCKETS
        shape, color = nothing if outcome == EMPTY_CELL else looks.get(cell, nothing)
        steps.append(Step(number, cell, shape, color, bucket, OUTCOME_WORDS.get(outcome, "?")))
    return steps
