"""Replays: an episode of a verified trial, attempt by attempt, on a drawn board."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from gnomon_board.database.schema import Submission
from gnomon_board.errors import Conflict, Missing, NotAllowed
from gnomon_board.leaderboard.server_settings import Settings
from gnomon_board.leaderboard.submissions.submission import find_submission, shows_hidden_rules
from gnomon_board.leaderboard.submissions.uploaded_logs import canonical_path
from gnomon_board.web.api.dependencies import CurrentSettings, ReadSession, RowId
from gnomon_board.web.pages.page_links import PageLinks
from gnomon_board.web.pages.templating import html_response
from gohr import Board, BoardSpec
from gohr.experiments import season_board_spec
from gohr.game import ACCEPTED, EMPTY_CELL, EPISODE_OVER
from gohr.people import END_WORDS, OUTCOME_WORDS

if TYPE_CHECKING:
    import polars as pl

router = APIRouter(tags=["pages"])

_MOST = 2**31 - 1
Counted = Annotated[int, Query(ge=0, le=_MOST)]
RuleName = Annotated[str, Query(max_length=128, description="The first one if left out.")]


@dataclass(frozen=True)
class Step:
    """An attempt: which piece, which bucket, and what came of it."""

    number: int
    cell: int
    shape: str | None
    color: str | None
    bucket: int
    outcome: str


@dataclass(frozen=True)
class ReplayPage:
    """An episode of a trial, and the board before the attempt that is looked at.

    ``episode`` counts from 0, ``step`` is the number of attempts made so far. ``pieces`` are those
    that are left, ``removed`` those that are gone. ``rules`` and ``n_trials`` are those of the
    submission.
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
    rows = trial_rows(settings, submission, rule, trial)
    if rows.is_empty():
        raise Missing(f"submission {number} has no trial {trial} of rule {rule[:64]!r}")
    page = replay_of(submission, rows, rule, trial, episode, step)
    return html_response(request, "board/replay.html", page, public=True, **_links(page))


def check_replay(submission: Submission) -> None:
    """Refuse what cannot be watched: not verified, or of rules that are hidden."""
    if submission.state != "verified":
        raise Conflict(
            f"submission {submission.id} is {submission.state}: there is nothing to watch"
        )
    if shows_hidden_rules(submission):
        raise NotAllowed("replays are shown once the hidden rules are revealed")


def trial_rows(settings: Settings, submission: Submission, rule: str, trial: int) -> pl.DataFrame:
    """Return the rows of one trial, without reading the others."""
    import polars as pl

    path = canonical_path(settings, str(submission.log_sha256))
    if not path.exists():
        raise Missing("the log of this submission is not here any more")
    chosen = (pl.col("rule").cast(pl.String) == rule) & (pl.col("trial") == trial)
    return pl.scan_parquet(path).filter(chosen).collect()


def replay_of(
    submission: Submission, rows: pl.DataFrame, rule: str, trial: int, episode: int, step: int
) -> ReplayPage:
    """Return an episode of a trial as its page tells it."""
    errors = episode_errors(rows)
    if episode >= len(errors):
        raise Missing(f"expected an episode below {len(errors)}, found {episode}")
    here = rows.filter(rows["episode"] == episode)
    season, entry = submission.season, submission.attempt.entry
    pieces = _pieces(here["board"][0], season_board_spec(season.board))
    steps = _steps(here, pieces)
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
        end=END_WORDS[int(here["finish"][-1])],
        errors=errors,
    )


def episode_errors(rows: pl.DataFrame) -> list[int]:
    """Return the number of errors in each episode."""
    import polars as pl

    wrong = ~pl.col("outcome").is_in([ACCEPTED, EPISODE_OVER])
    counted = rows.group_by("episode", maintain_order=True).agg(wrong.sum().alias("n"))
    return [int(n) for n in counted.sort("episode")["n"]]


def _pieces(board: Any, spec: BoardSpec) -> list[dict[str, Any]]:
    """Return the pieces of a board, which is 36 bytes or as many pairs of hexadecimal digits."""
    codes = bytes.fromhex(board) if isinstance(board, str) else bytes(board)
    pieces = Board.from_codes(codes, spec).pieces
    return [{"cell": p.pos, "shape": p.shape, "color": p.color} for p in pieces]


def _steps(rows: pl.DataFrame, pieces: list[dict[str, Any]]) -> list[Step]:
    nothing = (None, None)
    looks = {piece["cell"]: (piece["shape"], piece["color"]) for piece in pieces}
    played = rows.filter(rows["attempt"].is_not_null())
    steps = []
    for number, cell, bucket, outcome in played["attempt", "cell", "bucket", "outcome"].iter_rows():
        shape, color = nothing if outcome == EMPTY_CELL else looks.get(cell, nothing)
        steps.append(Step(number, cell, shape, color, bucket, OUTCOME_WORDS.get(outcome, "?")))
    return steps


@cache
def demonstration() -> ReplayPage:
    """Return an episode that was recorded once, for a board that has none to show yet."""
    told = json.loads(Path(__file__).with_name("demonstration.json").read_bytes())
    return ReplayPage(**told | {"steps": [Step(**step) for step in told["steps"]]})
