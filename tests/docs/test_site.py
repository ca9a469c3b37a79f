"""The built site: pictures are there, pages fit a phone, text has contrast, and search finds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import unquote

import pytest

SITE = Path(__file__).parents[2] / "site"
CHROMIUM = Path("/usr/bin/chromium")
pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(not (SITE / "index.html").exists(), reason="`make docs` builds the site"),
]
PAGES = sorted(page.parent.relative_to(SITE).as_posix() for page in SITE.rglob("index.html"))
#: Every written page, and one of the reference.
WRITTEN = [place for place in PAGES if "/api/" not in place] + ["gnomon/api/stats/curves"]
#: One page of each look: tables, code, notebooks, figures, generated reference and commands.
LOOKS = (
    *(".", "install", "gnomon/statistics", "gnomon/api/stats/curves", "gnomon/tutorials/ten-jobs"),
    *("gohr/write-a-learner", "gohr/rule-library", "board/leaderboard", "gnomon/commands"),
)


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=SITE)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if not CHROMIUM.exists():
        pytest.skip(f"there is no Chromium at {CHROMIUM}; apt-get install chromium")
    options = {"executable_path": CHROMIUM, "args": ["--no-sandbox", "--disable-gpu"]}
    with sync_api.sync_playwright() as playwright:
        found = playwright.chromium.launch(**options)
        yield found
        found.close()


@pytest.fixture(scope="module")
def phones(browser, address):
    """A page of 390 pixels in each colour scheme."""
    return [
        browser.new_page(
            base_url=address, viewport={"width": 390, "height": 844}, color_scheme=scheme
        )
        for scheme in ("light", "dark")
    ]


def test_every_picture_of_the_site_is_there():
    missing = set()
    for page in SITE.rglob("*.html"):
        for source in re.findall(r"<img[^>]*\ssrc=\"([^\"]+)\"", page.read_text("utf-8")):
            path = unquote(source.partition("#")[0])
            at = SITE / path[1:] if path.startswith("/") else page.parent / path
            if not path.startswith("data:") and not at.exists():
                missing.add((page.relative_to(SITE).as_posix(), source))
    assert missing == set()


def test_no_page_is_wider_than_a_phone(phones):
    wide = {}
    for place in WRITTEN:
        phones[0].goto(f"/{place}/")
        excess = phones[0].evaluate("document.documentElement.scrollWidth - innerWidth")
        if excess > 0:
            wide[place] = excess
    assert wide == {}


@pytest.mark.parametrize("place", LOOKS)
def test_text_has_contrast(phones, place):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    for page in phones:
        page.goto(f"/{place}/")
        found = axe.run(
            page, options={"runOnly": ["color-contrast"], "resultTypes": ["violations"]}
        )
        faint = [node["html"] for v in found.response["violations"] for node in v["nodes"]]
        assert faint == []


def test_search_finds_confidence_intervals_on_the_page_of_statistics(browser, address):
    page = browser.new_page(base_url=address)
    page.goto("/")
    page.fill(".md-search__input", "confidence interval")
    first = page.locator(".md-search-result__link").first
    first.wait_for(timeout=10_000)
    assert "gnomon/statistics/" in (first.get_attribute("href") or "")
