"""Page of a learner's card, with the form by which its owner changes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, get_args

from fastapi import APIRouter, Depends, Form, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import ValidationError

from gnomon.leaderboard.accounts.tokens import Caller
from gnomon.leaderboard.refusals import Refusal
from gnomon.leaderboard.seasons.entry_registration import find_entry
from gnomon.leaderboard.seasons.learner_card import Kind, LearnerCard, card_of, change_card
from gnomon.web.api.dependencies import MaybeCaller, ReadSession, RowId, WriteSession, caller
from gnomon.web.api.seasons import check_owner
from gnomon.web.pages.templating import html_response

router = APIRouter(tags=["pages"])

KINDS = get_args(Kind)
_Field = Annotated[str, Form(max_length=2000)]


@dataclass(frozen=True)
class CardPage:
    """What an account says of its learner."""

    entry: int
    learner: str
    account: str
    season: str
    season_title: str
    division: str
    card: LearnerCard


async def card_form(
    kind: _Field = "",
    organisation: _Field = "",
    training_data: _Field = "",
    parameters: _Field = "",
    compute_hours: _Field = "",
    hardware: _Field = "",
    code: _Field = "",
) -> LearnerCard:
    """Return the card of a form, in which what is not known is left empty."""
    given: dict[str, Any] = {
        "kind": kind,
        "organisation": organisation,
        "training_data": training_data,
        "parameters": parameters.strip(),
        "compute_hours": compute_hours.strip(),
        "hardware": hardware,
        "code": code,
    }
    try:
        return LearnerCard.model_validate({k: v for k, v in given.items() if v})
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        raise Refusal(f"{first['loc'][0]}: {first['msg']}") from None


CardForm = Annotated[LearnerCard, Depends(card_form)]


@router.get("/entries/{entry_id}/card.json")
def card_json(session: ReadSession, entry_id: RowId) -> CardPage:
    """Tell what a learner is, as its account says."""
    entry = find_entry(session, entry_id)
    season = entry.season
    return CardPage(
        *(entry.id, entry.name, entry.account.name),
        *(season.name, season.title, season.division),
        card_of(entry),
    )


@router.get("/entries/{entry_id}/card", include_in_schema=False)
def card_html(
    request: Request, session: ReadSession, who: MaybeCaller, entry_id: RowId
) -> Response:
    """Show a card, with the form for its owner."""
    page = card_json(session, entry_id)
    owner = find_entry(session, entry_id).account_id
    may = who is not None and who.may("submit") and who.account_id == owner
    return html_response(request, "board/card.html", page, public=True, may=may, kinds=KINDS)


@router.post("/entries/{entry_id}/card", include_in_schema=False)
def change_form(
    session: WriteSession,
    who: Annotated[Caller, Depends(caller("submit"))],
    entry_id: RowId,
    card: CardForm,
) -> Response:
    """Change a card, and lead back to the learner."""
    entry = find_entry(session, entry_id)
    check_owner(entry, who)
    change_card(session, entry, card, by=who.account_id)
    return RedirectResponse(f"/entries/{entry_id}#card", 303)
