"""Pages of the application. They only read: their forms call the JSON interface."""

from __future__ import annotations

from fastapi import APIRouter

from gnomon_board.web.pages import (
    compare_page,
    home_page,
    learner_page,
    replay_page,
    rule_page,
    season_pages,
    standings_page,
)
from gnomon_board.web.pages.accounts import account_pages, submission_pages, submit_pages
from gnomon_board.web.pages.play import game_pages, puzzle_pages, result_page, study_pages
from gnomon_board.web.pages.templating import error_page

__all__ = ["error_page", "router"]

router = APIRouter()
#: In the order in which their paths are tried.
for _part in (
    home_page,
    season_pages,
    standings_page,
    submission_pages,
    replay_page,
    rule_page,
    learner_page,
    compare_page,
    submit_pages,
    account_pages,
    puzzle_pages,
    game_pages,
    result_page,
    study_pages,
):
    router.include_router(_part.router)
