"""Pages of the application: each as HTML for people and as JSON for programs."""

from __future__ import annotations

from fastapi import APIRouter

from gnomon.web.pages import (
    account_pages,
    game_pages,
    learner_page,
    result_page,
    rule_page,
    season_pages,
    study_pages,
    submission_pages,
    submit_pages,
)
from gnomon.web.pages.templating import error_page

__all__ = ["error_page", "router"]

router = APIRouter()
#: In the order in which their paths are tried.
for _part in (
    season_pages,
    submission_pages,
    rule_page,
    learner_page,
    submit_pages,
    account_pages,
    game_pages,
    result_page,
    study_pages,
):
    router.include_router(_part.router)
