"""Replays: an episode of a verified trial, attempt by attempt, with a picture of the board."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from gnomon_board.database.schema import Submission
from gnomon_board.errors import Conflict, Missing, NotAllowed
from gnomon_board.leaderboard.evidence import attempts_of_trial
from gnomon_board.leaderboard.submissions import find_submission, shows_hidden_rules
from gnomon_board.web.api.dependencies import CurrentSettings, DatabaseOf, ReadSession, RowId
from gnomon_board.web.pages.page_links import PageLinks
from gnomon_board.web.pages.templating import html_response
from gohr import Board, TrialLog
from gohr.experiments import episode_errors, season_board_spec
from gohr.game import EMPTY_CELL, N_BUCKETS
from gohr.people import END_WORDS, OUTCOME_WORDS

router = APIRouter(tags=["pages"])

_MOST = 2**31 - 1
Counted = Annotated[int, Query(ge=0, le=_MOST)]
RuleName = Annotated[str, Query(max_length=128, description="The first one if left out.")]


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
class ReplayPage:
    """An episode of a trial, and the board after ``step`` of its attempts.

    ``episode`` counts from 0. ``pieces`` are on the board, ``removed`` are not any more. ``rules``
    and ``n_trials`` are those of the submission.
    """

    submission: int
    season: str
    season_title: str
    learner: str
    entry: int
    rule: str
    rules: list[str]
    trial: int
    n_trials: int
    episode: int
    n_episodes: int
    step: int
    steps: list[Step]
    pieces: list[dict[str, Any]]
    removed: list[dict[str, Any]]
    end: str
    errors: list[int]


def _links(page: ReplayPage) -> dict[str, Any]:
    """Return the links from an episode to others."""
    values = {name: getattr(page, name) for name in ("rule", "trial", "episode", "step")}
    path = f"/submissions/{page.submission}/replay"
    links = PageLinks(path, values, {"trial": 0, "episode": 0, "step": 0})
    return {"links": links}


@router.get("/submissions/{number}/replay", include_in_schema=False)
def replay_html(
    request: Request,
    session: ReadSession,
    database: DatabaseOf,
    settings: CurrentSettings,
    number: RowId,
    rule: RuleName = "",
    trial: Counted = 0,
    episode: Counted = 0,
    step: Counted = 0,
) -> Response:
    """Show every attempt of an episode."""
    submission = find_submission(session, number)
    check_replay(submission)
    rules = [each.name for each in submission.season.rules]
    rule = rule or rules[0]
    log = attempts_of_trial(database, settings, submission, rule, trial)
    page = replay_of(submission, log, rule, trial, episode, step)
    return html_response(request, "board/replay.html", page, public=True, **_links(page))


def check_replay(submission: Submission) -> None:
    """Refuse a submission that is not verified, or whose rules are hidden."""
    if submission.state != "verified":
        raise Conflict(
            f"submission {submission.id} is {submission.state}: there is nothing to watch"
        )
    if shows_hidden_rules(submission):
        raise NotAllowed("replays are shown once the hidden rules are revealed")


def replay_of(
    submission: Submission, log: TrialLog, rule: str, trial: int, episode: int, step: int
) -> ReplayPage:
    """Return the content of the page of an episode."""
    errors = episode_errors(log).tolist()
    if episode >= len(errors):
        raise Missing(f"expected an episode below {len(errors)}, found {episode}")
    season, entry = submission.season, submission.attempt.entry
    board = Board.from_codes(log.boards[episode].tobytes(), season_board_spec(season.board))
    pieces = [{"cell": p.pos, "shape": p.shape, "color": p.color} for p in board.pieces]
    steps = _steps(log, episode, pieces)
    step = min(step, len(steps))
    gone = {s.cell: (s.bucket, n) for n, s in enumerate(steps[:step], 1) if s.outcome == "accepted"}
    return ReplayPage(
        submission=submission.id,
        season=season.name,
        season_title=season.title,
        learner=entry.name,
        entry=entry.id,
        rule=rule,
        rules=[each.name for each in season.rules],
        trial=trial,
        n_trials=season.trials,
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


@cache
def demonstration() -> ReplayPage:
    """Return a recorded episode, for a board that has none to show yet."""
    told = json.loads(Path(__file__).with_name("demonstration.json").read_bytes())
    return ReplayPage(**told | {"steps": [Step(**step) for step in told["steps"]]})
