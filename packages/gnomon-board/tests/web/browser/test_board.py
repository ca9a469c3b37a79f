"""The board in a browser: submitted, watched, moderated; read on a phone and without a script."""

from __future__ import annotations

import httpx
import pytest

from submitted import play_entry, send

pytestmark = pytest.mark.full  # a browser


def sign_in(page, token):
    page.goto("/account")
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_text("You are signed in").wait_for()


def test_a_learner_is_submitted_watched_and_refused(open_page, site, tokens, tmp_path):
    page = open_page()
    sign_in(page, tokens["barbara"])
    page.goto("/submit")
    page.get_by_label("Season", exact=True).select_option("small")
    page.get_by_label("Name of the learner").fill("Made in a browser")
    page.get_by_label("Description").fill("<b>plain</b> text")
    page.get_by_role("button", name="Register").click()
    page.wait_for_url("**/submit?entry=*")
    entry = int(page.url.split("entry=")[1])
    with httpx.Client(base_url=site.url) as client:
        packed = play_entry(client, entry, tmp_path)
        sent = send(client, tokens["barbara"], entry, packed)
    page.goto(f"/submissions/{sent.json()['id']}")
    for _ in range(120):
        if page.locator(".badge.verified").count():
            break
        page.wait_for_timeout(500)
        page.reload()
    assert page.locator(".notice .badge").inner_text() == "verified"
    submission = page.url

    page.get_by_role("link", name="Watch clockwise, trial 0").click()
    page.get_by_text("Episode 1 of 3.").wait_for()
    assert page.locator(".piece").count() == 9
    page.get_by_role("link", name="Next attempt").click()
    page.get_by_text("Attempt 1:").wait_for()
    # The script shows this button; a key pressed before it runs is lost.
    page.get_by_role("button", name="Play").wait_for()
    page.keyboard.press("ArrowRight")
    page.get_by_text("Attempt 2:").wait_for()
    page.keyboard.press("ArrowLeft")
    page.get_by_text("Attempt 1:").wait_for()
    page.wait_for_url("**step=1")
    page.get_by_role("button", name="Play").click()
    page.get_by_text("Attempt 3:").wait_for()
    page.get_by_role("button", name="Pause").click()

    page.goto("/seasons/small")
    page.get_by_role("link", name="Made in a browser").click()
    page.get_by_text("<b>plain</b> text").wait_for()

    moderator = open_page()
    sign_in(moderator, tokens["root"])
    moderator.goto(submission)
    moderator.locator("#why-refuse").fill("It reads the rule")
    moderator.get_by_role("button", name="Refuse").click()
    moderator.get_by_text("It reads the rule").wait_for()
    assert moderator.locator(".notice .badge").inner_text() == "refused"
    page.goto("/seasons/small")
    assert page.get_by_text("No learner is complete yet.").count() == 1


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/seasons/spring-2026",
        "/entries/4",
        "/seasons/spring-2026/rules/clockwise",
        "/submissions/1",
        "/submissions/1/replay?rule=clockwise&trial=1&episode=2&step=3",
        "/moderation",
        "/compare?a=1&b=3",
    ],
)
def test_pages_are_read_without_a_script(open_page, path):
    page = open_page(path, java_script_enabled=False)
    assert page.get_by_role("heading", level=1).is_visible()
    assert page.locator("main").inner_text().strip()


def test_a_replay_is_stepped_through_without_a_script(open_page):
    page = open_page("/submissions/1/replay?rule=clockwise&trial=1", java_script_enabled=False)
    page.get_by_role("link", name="Next attempt").click()
    page.get_by_text("Attempt 1:").wait_for()
    page.get_by_role("link", name="Next attempt").click()
    page.get_by_text("Attempt 2:").wait_for()


def test_a_key_that_is_held_down_is_kept_up_with(open_page):
    address = "/submissions/1/replay?rule=clockwise&trial=1&episode=2"
    page = open_page(address)
    page.get_by_role("button", name="Play").wait_for()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    n_moves = page.locator(".moves li").count()
    for _ in range(n_moves):
        page.keyboard.down("ArrowRight")
    page.keyboard.up("ArrowRight")
    assert page.locator("[data-step]").inner_text() == str(n_moves)
    assert asked == []
    drawn = page.locator("#replay .board").inner_html()
    words = page.locator(".says").inner_text()
    page.wait_for_function("n => location.search.includes('step=' + n)", arg=n_moves)
    # What the script drew is what the server draws, and the address leads back to it.
    page.reload()
    pieces = "[...document.querySelectorAll('#replay .board [data-cell]')].map(p => p.className)"
    assert page.locator(".says").inner_text() == words
    ghosts = page.evaluate(f"{pieces}.filter(name => name.startsWith('ghost')).length")
    assert drawn.count('class="ghost') == ghosts
    page.keyboard.press("Home")
    assert page.locator("[data-step]").inner_text() == "0"
    page.keyboard.press("ArrowLeft")
    assert page.locator("[data-step]").inner_text() == "0"


def test_a_replay_plays_and_pauses(open_page):
    page = open_page("/submissions/1/replay?rule=clockwise")
    page.get_by_role("button", name="Play").click()
    page.locator(".says").get_by_text("Attempt 1:").wait_for()
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Play").wait_for()


def test_the_head_of_a_long_table_stays_in_sight(open_page):
    for width in (1300, 390):
        page = open_page("/seasons/crowd", width=width)
        page.locator("tr[id]").nth(30).scroll_into_view_if_needed()
        box = page.locator(".sticky thead th").first.bounding_box()
        assert 0 <= box["y"] < 5, width


def test_standings_are_searched_and_paged_without_a_script(open_page):
    page = open_page("/seasons/crowd", java_script_enabled=False)
    page.get_by_role("link", name="Next").click()
    page.get_by_role("link", name="Errors", exact=True).click()
    page.get_by_label("Search").fill("learner 0012")
    page.get_by_role("button", name="Show", exact=True).click()
    page.get_by_text("1 of 196 learners.").wait_for()
    assert page.locator("tr[id] .who a").all_inner_texts() == ["Learner 0012"]
    assert "by=errors" in page.url
