"""A real browser on a real server: Debian's Chromium, headless, by Playwright."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gnomon_board import Settings
from gnomon_board.database import Database, upgrade
from large_board import fill_season
from playing import invite
from populated_board import populate, populate_two_seasons
from serving import Server, serving
from small_season import make_account

sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

_CHROMIUM = "/usr/bin/chromium"
_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
_ROOT = Path(__file__).parents[5]


@pytest.fixture(scope="module")
def browser() -> Iterator[sync_api.Browser]:
    """The browser; not for the whole session, since no other loop of events can run beside its."""
    if not Path(_CHROMIUM).exists():
        pytest.skip(f"there is no Chromium at {_CHROMIUM}; apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_CHROMIUM, args=_ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def tokens() -> dict[str, str]:
    """The tokens of the accounts on the site, once there is one."""
    return {}


@pytest.fixture(scope="session")
def site(tmp_path_factory, tokens) -> Iterator[Server]:
    """A server with its worker, and a board with life in it."""
    settings = Settings(tmp_path_factory.mktemp("site") / "data")
    settings.data.mkdir()
    database = Database(settings.database)
    upgrade(database)
    populate_two_seasons(database, settings)
    populate(database, settings, name="small", rules=("clockwise",), learners=(), episodes=3)
    fill_season(database, 200)
    tokens["root"] = make_account(database, "root", "admin")
    tokens["barbara"] = make_account(database, "barbara", "submit")
    database.close()
    with serving(settings) as server:
        yield server


@pytest.fixture
def open_page(browser, site) -> Iterator[Callable[..., sync_api.Page]]:
    """Open a page in a browser of its own; whatever it complains of fails the test."""
    contexts = []
    complaints: list[str] = []

    def opened(path: str = "/", **options: object) -> sync_api.Page:
        viewport = {"width": options.pop("width", 1200), "height": 900}
        context = browser.new_context(base_url=site.url, viewport=viewport, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "console",
            lambda line: (
                complaints.append(line.text) if line.type in ("error", "warning") else None
            ),
        )
        page.goto(path)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture
def open_game(open_page, site) -> Callable[..., sync_api.Page]:
    """Open the game of a new study on a rule, as a player sees it."""

    def opened(rule: str, name: str, **options: object) -> sync_api.Page:
        database = Database(site.settings.database)
        invitation = invite(database, rule, name=name)
        database.close()
        page = open_page(invitation, **options)
        page.get_by_role("checkbox").check()
        page.get_by_role("button", name="Take part").click()
        page.get_by_role("button", name="Begin").click()
        page.locator("button.piece").first.wait_for()
        return page

    return opened


@pytest.fixture(scope="session")
def screenshots() -> Path:
    """The folder in which pictures of the pages are kept: ``GNOMON_SCREENSHOTS``, or in build/."""
    folder = Path(os.environ.get("GNOMON_SCREENSHOTS") or _ROOT / "build" / "screenshots")
    folder.mkdir(parents=True, exist_ok=True)  # other workers keep theirs there too
    return folder
