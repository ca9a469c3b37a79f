"""Every page, by day and by night and on a phone: without barriers, without overflow, and kept."""

from __future__ import annotations

import pytest

pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
from axe_playwright_python.sync_playwright import Axe

from gnomon_board.database import Database
from gnomon_board.studies import StudyPlan, make_study
from playing import invite

pytestmark = pytest.mark.full  # a browser

PAGES = {
    "home": "/",
    "standings": "/seasons/spring-2026",
    "standings-hidden": "/seasons/autumn-2026",
    "standings-crowd": "/seasons/crowd?by=errors&page=2&verified=yes",
    "compare": "/compare?a=1&b=3",
    "rule": "/seasons/spring-2026/rules/clockwise",
    "rule-hidden": "/seasons/autumn-2026/rules/s-h01",
    "learner": "/entries/4",
    "learner-withdrawn": "/entries/10",
    "submission": "/submissions/1",
    "submission-refused": "/submissions/8",
    "replay": "/submissions/4/replay?rule=clockwise&trial=1&episode=2&step=5",
    "submit-entry": "/submit?entry=1",
    "moderation": "/moderation",
    "sign-in": "/account",
    "submit": "/submit",
    "problem": "/seasons/none",
}

#: Each theme once, and each width once: all widths have the colours of their theme.
LOOKS = [("light", 1200), ("dark", 360)]
#: What axe-core looks for: WCAG 2.2 at the levels A and AA, and its best practices.
OPTIONS = {
    "runOnly": {
        "type": "tag",
        "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    },
    "resultTypes": ["violations"],
}


def barriers(page):
    """Return what axe-core finds, each with the first places."""
    found = Axe().run(page, options=OPTIONS).response["violations"]
    return [(v["id"], [n["html"][:120] for n in v["nodes"][:3]]) for v in found]


def overflow(page):
    return page.evaluate("document.documentElement.scrollWidth - innerWidth")


def small_targets(page):
    """Return what a finger could miss: below 44 by 44."""
    return page.evaluate(
        """() => ['button', 'a.button', 'summary', 'label']
        .flatMap(kind => [...document.querySelectorAll('main ' + kind)])
        .filter(each => each.offsetParent !== null)
        .map(each => [each.className || each.textContent, each.getBoundingClientRect()])
        .filter(([, box]) => box.width < 44 || box.height < 44)
        .map(([name, box]) => [name, box.width, box.height])"""
    )


def looked_at(page, folder, name):
    page.wait_for_load_state("networkidle")
    page.screenshot(path=folder / f"{name}.png", full_page=True)
    assert barriers(page) == []
    assert overflow(page) <= 0


def visit(open_page, path, **options):
    """Open a page; the browser's own word on a page that is missing is no complaint of ours."""
    if path != PAGES["problem"]:
        return open_page(path, **options)
    page = open_page("/submit", **options)
    page.route(path, lambda route: route.fulfill(response=route.fetch(), status=200))
    page.goto(path)
    return page


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize(("look", "width"), LOOKS)
def test_every_page_has_no_barriers(open_page, screenshots, name, look, width):
    page = visit(open_page, PAGES[name], color_scheme=look, width=width)
    looked_at(page, screenshots, f"{name}-{look}")


@pytest.mark.parametrize(("look", "width"), LOOKS)
def test_a_game_and_its_result_have_no_barriers(open_game, screenshots, look, width):
    options = {"color_scheme": look, "width": width, "reduced_motion": "reduce"}
    page = open_game("clockwise", f"game-{look}", **options)
    for n in range(6):
        page.locator("button.piece").nth(n % 3).press(str(n % 4))
        page.wait_for_function(
            "n => document.querySelectorAll('#moves li').length === n", arg=n + 1
        )
    looked_at(page, screenshots, f"game-{look}")
    page.get_by_text("Stop here", exact=True).click()
    looked_at(page, screenshots, f"game-stop-{look}")
    page.get_by_role("button", name="Stop for good").click()
    page.get_by_text("The game is over").wait_for()
    looked_at(page, screenshots, f"result-{look}")


@pytest.mark.parametrize(("look", "width"), LOOKS)
def test_evidence_and_test_boards_go_by_keys_and_have_no_barriers(
    open_page, site, screenshots, look, width
):
    series = {"rule": "clockwise", "evidence": "random", "episodes": 2, "tests": 1}
    database = Database(site.settings.database)
    invitation = invite(database, series, name=f"evidence-{look}")
    database.close()
    options = {"color_scheme": look, "width": width, "reduced_motion": "reduce"}
    page = open_page(invitation, **options)
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Take part").click()
    page.get_by_role("button", name="Begin").click()
    page.get_by_text("These moves were tried before").wait_for()
    page.wait_for_load_state("load")
    page.keyboard.press("ArrowRight")
    assert page.locator("[data-step]").inner_text() == "1"
    looked_at(page, screenshots, f"evidence-{look}")
    page.keyboard.press("End")
    assert page.locator("[data-step]").inner_text() == str(page.locator(".moves li").count())
    looked_at(page, screenshots, f"evidence-end-{look}")
    page.get_by_role("link", name="Next board").press("Enter")
    page.get_by_role("link", name="To the test boards").press("Enter")
    for n in range(9):
        page.locator("button.piece").first.press(str(n % 4))
        page.wait_for_function(
            "n => document.querySelectorAll('#moves li').length === n", arg=n + 1
        )
        if n == 3:
            page.reload()
            assert page.locator("#moves li").count() == 4
            looked_at(page, screenshots, f"test-board-{look}")
    assert page.locator("#moves .reply").all_inner_texts() == ["placed"] * 9
    looked_at(page, screenshots, f"test-board-over-{look}")
    page.locator("#guess-text").fill("clockwise")
    page.locator("input[name=confidence]").nth(3).check()
    page.locator("#guess button").click()
    page.locator("#result").click()
    looked_at(page, screenshots, f"test-boards-result-{look}")


@pytest.mark.parametrize(("look", "width"), LOOKS)
def test_the_pages_of_an_administrator_have_no_barriers(
    open_page, site, tokens, screenshots, look, width
):
    lists = {"a": ["clockwise"]}
    plan = {"name": f"looks-{look}", "title": "Looks", "consent": "Yes.", "lists": lists}
    database = Database(site.settings.database)
    with database.writing() as session:
        study, key = make_study(session, StudyPlan.from_record(plan))
    database.close()
    page = open_page(f"/join/{key}", color_scheme=look, width=width)
    looked_at(page, screenshots, f"invitation-{look}")
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Take part").click()
    page.get_by_role("button", name="Begin").wait_for()
    looked_at(page, screenshots, f"player-{look}")
    page.goto("/account")
    page.get_by_label("Token").fill(tokens["root"])
    page.get_by_role("button", name="Sign in").click()
    page.get_by_text("You are signed in").wait_for()
    looked_at(page, screenshots, f"account-{look}")
    for name, path in {
        "studies": "/studies",
        "study": f"/studies/{study.id}",
        "moderation-moderator": "/moderation",
        "submission-moderator": "/submissions/1",
        "submit-form": "/submit",
    }.items():
        page.goto(path)
        looked_at(page, screenshots, f"{name}-{look}")
