"""The board in a browser: submitted, watched, moderated; read on a phone and without a script."""

from __future__ import annotations

import httpx
import pytest

from submitted import play_entry

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
    page.get_by_label("Season").select_option("small")
    page.get_by_label("Name of the learner").fill("Made in a browser")
    page.get_by_label("Description").fill("<b>plain</b> text")
    page.get_by_role("button", name="Register").click()
    page.wait_for_url("**/entries/*/**")
    entry = int(page.url.split("/entries/")[1].split("/")[0])
    with httpx.Client(base_url=site.url) as client:
        packed = play_entry(client, entry, tmp_path)
    (tmp_path / "run.parquet").write_bytes(packed.log)
    page.get_by_label("Log of every attempt").set_input_files(tmp_path / "run.parquet")
    page.get_by_label("Name of the learner in the log").fill("uniform")
    page.get_by_role("button", name="Send", exact=True).click()
    page.wait_for_url("**/submissions/*")
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
    assert "step=1" in page.url
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
    page.goto("/moderation")
    assert page.get_by_text("It reads the rule").count() >= 1
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
        "/methods",
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


def test_the_reader_chooses_light_or_dark(open_page):
    page = open_page("/seasons/spring-2026", color_scheme="light")
    paper = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)
    button = page.locator(".theme")
    button.click()
    assert page.evaluate(paper) == light
    button.click()
    dark = page.evaluate(paper)
    assert dark != light
    page.reload()
    assert page.evaluate(paper) == dark
    button.click()
    assert page.evaluate(paper) == light
