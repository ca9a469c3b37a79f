"""Signing a browser in and out: a token is pasted once, and a cookie stands for it from then on."""

from __future__ import annotations

from starlette.responses import Response

from gnomon.database.engine import Database
from gnomon.leaderboard.accounts.audit_log import note
from gnomon.leaderboard.accounts.rate_limits import MINUTE_S, count_or_refuse
from gnomon.leaderboard.accounts.tokens import (
    Caller,
    caller_of_token,
    end_browser_session,
    start_browser_session,
)
from gnomon.leaderboard.refusals import Refusal
from gnomon.leaderboard.settings import ServerSettings
from gnomon.web.api.dependencies import COOKIE

__all__ = ["WrongToken", "sign_in", "sign_out"]


class WrongToken(Refusal):
    """A token that is not valid: status 401."""

    status = 401


def sign_in(
    database: Database, settings: ServerSettings, response: Response, text: str, address: str
) -> Caller:
    """Sign a browser in, and put the cookie into the answer.

    Parameters
    ----------
    database, settings
    response : Response
    text : str
        The token, as it was pasted.
    address : str
        Where the request came from; every try counts.

    Raises
    ------
    WrongToken, TooMany
    """
    with database.writing() as session:
        limit = settings.sign_ins_per_minute
        count_or_refuse(session, f"sign-in {address}", limit, MINUTE_S)
    with database.writing() as session:
        caller = caller_of_token(session, text.strip())
        if caller is None:
            raise WrongToken("this token is wrong, revoked or expired")
        _, cookie = start_browser_session(session, caller, hours=settings.session_hours)
        note(session, "signed in", "account", caller.account_id, by=caller.account_id, public=False)
    response.set_cookie(
        COOKIE,
        cookie,
        max_age=round(settings.session_hours * 3600),
        path="/",
        secure=settings.secure_cookies,
        httponly=True,
        samesite="lax",
    )
    return caller


def sign_out(database: Database, response: Response, caller: Caller) -> None:
    """Sign a browser out, on the server as well as in the browser."""
    with database.writing() as session:
        end_browser_session(session, caller)
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="lax")
