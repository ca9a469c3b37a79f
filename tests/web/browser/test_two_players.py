"""Two people in two browsers play a study to its end, through a kill of server and browser."""

from __future__ import annotations

from contextlib import ExitStack

import pytest
from sqlalchemy import select

from gnomon.database.engine import Database
from gnomon.database.migration import upgrade
from gnomon.database.schema import PlayAttempt, PlaySession, StudyAnswer, StudyAssignment
from gnomon.leaderboard.server_settings import ServerSettings
from gnomon.studies import StudyPlan
from gnomon.studies.study_store import make_study
from serving import serving
from small_season import make_account
from web.browser.test_looks import barriers, small_targets

pytestmark = pytest.mark.full  # two browsers

BUCKETS = {"RED": 0, "BLACK": 1, "BLUE": 2, "YELLOW": 3}
PLAN = {
    "name": "pair",
    "title": "Two at a board",
    "consent": "Every attempt and message is kept.",
    "rule_texts": {"hue": "(*,*,RED,*,0) (*,*,BLACK,*,1) (*,*,BLUE,*,2) (*,*,YELLOW,*,3)\n"},
    "lists": {
        "a": [
            {"rule": "hue", "episodes": 2, "partner": {"chat": True}},
            {
                "rule": "anything-goes",
                "board": {"pieces": 2, "shapes": 0, "colors": 0},
                "partner": {"kind": "bot"},
            },
        ]
    },
    "episodes": 1,
    "board": {"pieces": 3, "shapes": 0, "colors": 0},
    "defaults": {"points": {}},
}


@pytest.fixture
def settings(tmp_path):
    found = ServerSettings(tmp_path / "site" / "data")
    found.data.mkdir(parents=True)
    return found


def view(page):
    return page.evaluate("fetch(location.pathname + '.json').then(a => a.json())")["view"]


def moved(page, *, right=True):
    """Move a piece, and return how many attempts of the board the page then has."""
    page.locator("button.piece:not([disabled])").first.wait_for()
    seen = view(page)
    piece = seen["pieces"][0]
    bucket = (BUCKETS[piece["color"]] + (not right)) % 4
    page.locator(f'.piece[data-cell="{piece["cell"]}"]').click()
    page.locator(f'button.bucket[data-bucket="{bucket}"]').click()
    return len(seen["attempts"]) + 1


def has(page, n):
    """Wait for the page itself to show so many attempts."""
    page.wait_for_function("n => document.querySelectorAll('#moves li').length === n", arg=n)


def comes(page, url):
    page.goto(url)
    page.locator("input[name=agree]").check()
    page.get_by_role("button", name="Take part").click()
    page.get_by_role("button", name="Begin").click()
    page.locator("#partner").wait_for()


def test_two_play_to_the_end_through_a_kill_of_server_and_browser(browser, settings, screenshots):
    database = Database(settings.database)
    upgrade(database)
    make_account(database, "root", "admin")
    with database.writing() as session:
        key = make_study(session, StudyPlan.from_record(PLAN), by=1)[1]
    sockets = {}
    with ExitStack() as stack:
        server = stack.enter_context(serving(settings, worker=False))

        def opened(**options):
            context = browser.new_context(**options)
            stack.callback(context.close)
            page = context.new_page()
            page.set_default_timeout(20_000)
            page.on("websocket", lambda socket: heard(sockets.setdefault(page, []), socket))
            return page

        def pictured(page, name):
            page.screenshot(path=screenshots / f"two-{name}.png", full_page=True)
            assert barriers(page) == []

        ada = opened(viewport={"width": 1200, "height": 900})
        comes(ada, f"{server.url}/join/{key}")
        ada.get_by_text("Waiting for somebody").first.wait_for()
        pictured(ada, "waiting")
        phone = {
            "viewport": {"width": 390, "height": 844},
            "color_scheme": "dark",
            "has_touch": True,
            "is_mobile": True,
        }
        bob = opened(**phone)
        comes(bob, f"{server.url}/join/{key}")
        # Ada came first and begins; Bob's page hears of her move.
        has(ada, moved(ada, right=False))
        has(bob, 1)
        assert len(sockets[bob][0]) >= 2  # the first word, and the news of the move
        bob.locator(".says .by").wait_for()
        bob.locator("#message").fill("Red goes top left?")
        bob.get_by_role("button", name="Send").click()
        ada.get_by_text("Red goes top left?").wait_for()
        pictured(ada, "desktop")
        pictured(bob, "phone")
        assert small_targets(bob) == []
        has(bob, moved(bob))
        has(ada, 2)

        # The server is killed while it is Ada's turn; nothing of her attempt is kept.
        server.kill()
        moved_in_vain(ada)
        stack.enter_context(serving(settings, port=server.port, worker=False))
        expected = moved(ada)
        has(ada, expected)
        # Bob's browser is gone; another one goes on by the address.
        address = bob.url
        bob.context.close()
        bob = opened(**phone)
        bob.goto(address)
        has(bob, expected)
        bob.get_by_text("Red goes top left?").wait_for()

        pages = [bob, ada]
        while view(ada)["state"] == "playing":
            n = moved(pages[0])
            for page in pages:
                has(page, n)
            pages.reverse()
        bob.get_by_role("button", name="Next board").click()
        ada.locator("#count-board", has_text="2 of 2").wait_for()
        for _ in range(3):
            n = moved(pages[0])
            for page in pages:
                has(page, n)
            pages.reverse()
        first = list(sockets[ada])
        for page in (ada, bob):
            page.get_by_role("link", name="See how it went").click()
            page.get_by_role("button", name="Go on").click()
        # The second series is against a bot, which answers by itself.
        while (seen := view(ada))["state"] == "playing":
            if seen["partner"]["your_turn"]:
                moved(ada)
            ada.wait_for_timeout(300)
        ada.get_by_role("link", name="See how it went").wait_for()
        assert len([each for each in first if each]) == 2  # Ada's had connected again
        pictured(ada, "bot")
        with database.reading() as session:
            rows = session.scalars(select(PlaySession).order_by(PlaySession.id)).all()
            made = session.execute(
                select(PlayAttempt.episode, PlayAttempt.number, PlayAttempt.mover)
                .where(PlayAttempt.session_id == rows[0].id)
                .order_by(PlayAttempt.id)
            ).all()
            messages = session.scalars(select(StudyAnswer.text)).all()
            players = session.scalars(select(StudyAssignment).order_by(StudyAssignment.id)).all()
            assert [player.n_played for player in players] == [2, 1]
        database.close()
    # One error, and each of six pieces moved once: nothing is lost, nothing counted twice.
    assert [tuple(row) for row in made] == [
        *((0, n, (n - 1) % 2) for n in range(1, 5)),
        *((1, n, (n - 1) % 2) for n in range(1, 4)),
    ]
    assert messages == ["Red goes top left?"]


def heard(sockets, socket):
    """Keep what a websocket hears."""
    frames = []
    sockets.append(frames)
    socket.on("framereceived", lambda frame: frames.append(frame))  # Playwright marks the function


def moved_in_vain(page):
    """Move a piece while no server answers, until the page says so."""
    page.locator("button.piece:not([disabled])").first.click()
    page.locator('button.bucket[data-bucket="0"]').click()
    page.get_by_text("That did not work").wait_for()
