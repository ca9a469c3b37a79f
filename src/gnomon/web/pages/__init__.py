"""Pages of the application: each as HTML for people and as JSON for programs."""

from __future__ import annotations

from importlib import import_module

from fastapi import APIRouter

from gnomon.web.pages.templating import error_page

__all__ = ["error_page", "router"]

#: In the order in which their paths are tried.
_PARTS = (
    "season_pages",
    "submission_pages",
    "rule_page",
    "learner_page",
    "submit_pages",
    "account_pages",
    "game_pages",
    "study_pages",
)


router = APIRouter()
for _part in _PARTS:
    router.include_router(import_module(f"gnomon.web.pages.{_part}").router)
