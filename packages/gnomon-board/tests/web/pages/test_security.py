"""What strangers write stays text, and what a browser is made to send is not believed."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from app_client import AppClient
from gnomon_board import create_app
from gnomon_board.database import Database
from gnomon_board.schema import Account, AuditRecord, Entry, Season, SeasonRule, Submission
from playing import begin, invite
from populated_board import copied
from small_season import make_account
from submitted import CSRF, csrf_of

EVIL = "\"><script>alert(1)</script>'--{{7*7}}<img src=x onerror=alert(2)>"


def sign_in(client, token):
    answer = client.post("/api/session", json={"token": token})
    assert answer.status_code == 204
    return answer


@pytest.fixture(scope="module")
def evil(lively_folder, tmp_path_factory):
    """A board on which every text that anybody can write tries to be more than a text."""
    settings = copied(lively_folder, tmp_path_factory.mktemp("evil") / "own")
    database = Database(settings.database)
    with AppClient(create_app(settings, database)) as client:
        client.get("/submissions/1/replay")  # while its log is that of its rule
    with database.writing() as session:
        for season in session.scalars(select(Season)):
            season.title = season.description = EVIL
            season.touch()
        for kind, names in {
            Account: ("name",),
            Entry: ("name", "description"),
            Submission: ("reason",),
            SeasonRule: ("family",),
        }.items():
            for row in session.scalars(select(kind)):
                for name in names:
                    suffix = str(row.id) if name == "name" else ""
                    setattr(row, name, (EVIL + suffix)[:126])
        for rule in session.scalars(select(SeasonRule).where(SeasonRule.name == "clockwise")):
            rule.tags, rule.text = [EVIL], f"# {EVIL}\n{rule.text}"
        session.add(AuditRecord(action=EVIL[:128], subject=EVIL[:128], detail={EVIL: EVIL}))
    token = make_account(database, EVIL[:64], "admin")
    with AppClient(create_app(settings, database)) as client:
        sign_in(client, token)
        yield client
    database.close()


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/seasons/spring-2026",
        "/seasons/autumn-2026",
        "/seasons/spring-2026/rules/clockwise",
        "/entries/1",
        "/entries/10",
        "/submissions/1",
        "/submissions/8",
        "/submissions/1/replay?rule=clockwise",
        "/submit?entry=1",
        "/moderation",
        "/submit",
        "/account",
    ],
)
def test_every_text_is_escaped(evil, path):
    answer = evil.get(path)
    assert answer.status_code == 200
    assert "<script>alert" not in answer.text
    assert "<img src=x" not in answer.text
    assert "--49" not in answer.text
    assert "&lt;script&gt;" in answer.text


def test_errors_repeat_what_was_asked_as_text(lively):
    answer = lively.get("/seasons/%3Cscript%3Ealert(1)", headers={"Accept": "text/html"})
    assert answer.status_code in (404, 422)
    assert "<script>alert" not in answer.text


def test_every_answer_forbids_what_is_not_ours(lively):
    for path in ("/", "/seasons/spring-2026", "/static/board.css", "/seasons/none"):
        policy = lively.get(path).headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy


#: What the forms of the pages send.
FORMS = [
    ("/api/seasons/spring-2026/entries", {"name": "mine"}),
    ("/api/submissions/1/withdraw", {"reason": "x"}),
    ("/api/submissions/1/refuse", {"reason": "x"}),
    ("/api/submissions/1/requeue", {}),
    ("/api/entries/1/attempts", {}),
]


@pytest.fixture(scope="module")
def admin_settings(lively_folder, tmp_path_factory):
    """Settings of a copy of the board, which nothing here changes but by signing in."""
    return copied(lively_folder, tmp_path_factory.mktemp("admin") / "own")


@pytest.fixture(scope="module")
def admin(admin_settings):
    """A browser in which an admin is signed in."""
    database = Database(admin_settings.database)
    token = make_account(database, "root", "admin")
    with AppClient(create_app(admin_settings, database)) as client:
        sign_in(client, token)
        yield client
    database.close()


@pytest.mark.parametrize(("path", "form"), FORMS)
@pytest.mark.parametrize("csrf", ["", "0" * 64])
def test_what_no_page_of_ours_sent_is_refused(admin, path, form, csrf):
    answer = admin.post(path, json=form, headers={CSRF: csrf})
    assert answer.status_code == 403
    assert "out of date" in answer.text
    assert admin.get("/api/tokens").status_code == 200


def test_a_browser_is_not_signed_out_by_a_foreign_page(admin):
    assert admin.delete("/api/session").status_code == 403
    assert admin.get("/api/tokens").status_code == 200


def test_json_from_a_foreign_page_is_refused_too(admin, admin_settings):
    database = Database(admin_settings.database)
    invitation = invite(database, "clockwise")
    database.close()
    assert admin.post(f"/api{invitation}", json={"agree": True}).status_code == 403
    with AppClient(create_app(admin_settings)) as player:
        game = begin(player, invitation)
    body = {"cell": 1, "bucket": 0}
    assert admin.post(f"/api{game}/attempts", json=body).status_code == 403


@pytest.mark.parametrize(("path", "form"), FORMS)
def test_who_is_nobody_may_do_nothing(lively, path, form):
    assert lively.post(path, json=form).status_code == 401


def test_who_may_submit_may_not_moderate(client, season, token):
    sign_in(client, token)
    csrf = csrf_of(client, "/account")
    sent = {"/api/submissions/1/refuse": {}, "/api/submissions/1/requeue": {}}
    for path, body in (sent).items():
        assert client.post(path, json=body, headers={CSRF: csrf}).status_code == 403
    assert client.get("/studies").status_code == 403


def test_signing_in_and_out(client, token):
    answer = sign_in(client, token)
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("gnomon_session=")
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    page = client.get("/account")
    assert "ada" in page.text
    assert token not in page.text
    assert page.headers["cache-control"] == "no-store"
    headers = {CSRF: csrf_of(client, "/account")}
    assert client.delete("/api/session", headers=headers).status_code == 204
    assert client.get("/api/tokens").status_code == 401


def test_a_wrong_token_is_told_and_counted(client):
    for _ in range(10):
        answer = client.post("/api/session", json={"token": "gnomon_x_y"})
        assert answer.status_code == 401
        assert "wrong, revoked or expired" in answer.text
    answer = client.post("/api/session", json={"token": "gnomon_x_y"})
    assert answer.status_code == 429


def test_kept_pages_hold_nothing_of_their_reader(admin, admin_settings):
    signed_in = admin.get("/seasons/spring-2026").text
    with AppClient(create_app(admin_settings)) as stranger:
        assert stranger.get("/seasons/spring-2026").text == signed_in
    assert "root" not in signed_in


def test_the_moderator_sees_what_is_not_for_everybody(admin, admin_settings):
    assert "token issued" in admin.get("/moderation").text
    with AppClient(create_app(admin_settings)) as stranger:
        assert "token issued" not in stranger.get("/moderation").text
        assert "New accounts" not in stranger.get("/moderation").text
