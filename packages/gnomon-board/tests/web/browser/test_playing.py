"""People at the board: with keys alone, with a mouse, with a finger, on a slow line."""

from __future__ import annotations

import random
import re
import tomllib

import pytest

from gnomon_board.database import Database
from gnomon_board.studies import StudyPlan, make_study
from web.browser.test_looks import small_targets

pytestmark = pytest.mark.full  # a browser

PLAN = """
name = "browser-{n}"
title = "Which rules do people find?"
consent = "Every attempt is kept."
episodes = 2
[lists]
a = ["anything-goes", "clockwise"]
"""


@pytest.fixture
def invitation(site, request):
    """The address of the invitation to a study of the plan."""
    name = re.sub(r"[^a-z]", "", request.node.name)[-40:]
    plan = StudyPlan.from_record(tomllib.loads(PLAN.replace("{n}", name)))
    database = Database(site.settings.database)
    with database.writing() as session:
        key = make_study(session, plan)[1]
    database.close()
    return f"/join/{key}"


def state(page):
    return page.evaluate("fetch('/api' + location.pathname).then(a => a.json()).then(a => a.view)")


def move_of(page, piece, bucket):
    """Drag a piece into a bucket, as a hand does."""
    page.mouse.move(*middle(page, f'.piece[data-cell="{piece["cell"]}"]'))
    page.mouse.down()
    page.mouse.move(*middle(page, f'.bucket[data-bucket="{bucket}"]'), steps=6)
    page.mouse.up()


def middle(page, selector):
    """Find where something is, at one go: an answer that comes may draw the board anew."""
    box = page.evaluate("s => document.querySelector(s).getBoundingClientRect().toJSON()", selector)
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def wait_for_count(page, n):
    page.wait_for_function(
        "n => Number(document.getElementById('count-moves').textContent) === n", arg=n
    )


def test_a_move_that_is_refused_puts_the_piece_back(open_game):
    page = open_game("clockwise", "back")
    piece, other = state(page)["pieces"][:2]
    move_of(page, piece, 0)
    wait_for_count(page, 1)
    move_of(page, other, 3)
    page.get_by_text("No.", exact=True).wait_for()
    assert page.locator("#count-errors").inner_text() == "1"
    box = page.locator(f'.piece[data-cell="{other["cell"]}"]')
    assert box.evaluate("piece => piece.style.transform") == ""
    assert page.locator("#moves li").count() == 2
    page.get_by_label("Show moved pieces").uncheck()
    assert page.locator(".ghost").count() == 0
    assert not page.locator("#moves").is_visible()
    # A reload finds the game as it was.
    page.reload()
    assert page.locator("#count-errors").inner_text() == "1"
    assert page.locator(".piece").count() == 8


def test_a_game_is_played_to_its_end_with_keys_alone(open_page, invitation):
    page = open_page(invitation)
    keys = page.keyboard

    def tab_to(selector):
        for _ in range(40):
            keys.press("Tab")
            if page.evaluate("s => document.activeElement?.matches(s) ?? false", selector):
                return
        raise AssertionError(f"the tab key does not reach {selector}")

    tab_to("input[type=checkbox]")
    keys.press("Space")
    tab_to("main button")
    keys.press("Enter")
    page.get_by_role("button", name="Begin").wait_for()
    page.wait_for_load_state()  # the script that sends the form
    tab_to("main button")
    keys.press("Enter")
    page.locator("button.piece").first.wait_for()
    tab_to(".piece")
    # The long way: choose a piece, then a bucket.
    keys.press("Enter")
    page.get_by_text("is chosen. Now choose a bucket.").wait_for()
    keys.press("ArrowRight")
    keys.press("Enter")
    wait_for_count(page, 1)
    assert state(page)["attempts"][0]["bucket"] == 1
    # The short way: a number; the focus goes to the next piece by itself.
    for n in range(2, 10):
        keys.press(str(n % 4))
        wait_for_count(page, n)
    page.get_by_text("The board is cleared.").wait_for()
    keys.press("n")
    page.get_by_text("Board 2 of 2.").wait_for()
    before = page.evaluate("document.activeElement.dataset.cell")
    moved = False
    for arrow in ("ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown"):
        keys.press(arrow)
        moved = moved or page.evaluate("document.activeElement.dataset.cell") != before
    assert moved
    for n in range(10, 19):
        keys.press("0")
        wait_for_count(page, n)
    page.wait_for_function("document.activeElement.id === 'result'")
    keys.press("Enter")
    page.get_by_text("You have found the rule.").wait_for()


def test_a_server_that_does_not_answer_is_told(open_game):
    page = open_game("anything-goes", "silent")
    page.route("**/attempts", lambda route: route.fulfill(status=200, body="not json"))
    page.locator("button.piece").first.click()
    page.locator("button.bucket").first.click()
    page.get_by_text("The server does not respond. Try again.").wait_for()
    page.unroute("**/attempts")
    page.locator("button.piece").first.click()
    page.locator("button.bucket").first.click()
    wait_for_count(page, 1)


def slow(page, ms):
    """Delay the answer to every attempt."""

    def answer(route):
        response = route.fetch()
        page.wait_for_timeout(ms)
        route.fulfill(response=response)

    page.route("**/attempts", answer)


@pytest.fixture
def begun(open_game, request):
    """Open a game in which every move is accepted."""
    name = re.sub(r"[^a-z]", "", request.node.name)[-40:]
    return lambda **options: open_game("anything-goes", name, **options)


def test_no_key_is_dropped_while_a_piece_flies(begun):
    page = begun()
    slow(page, 100)
    page.locator("button.piece").first.focus()
    for n in range(9):
        page.keyboard.press(str(n % 4))
    wait_for_count(page, 9)
    assert [each["bucket"] for each in state(page)["attempts"]] == [n % 4 for n in range(9)]
    page.get_by_text("The board is cleared.").wait_for()


def test_a_piece_is_dragged_while_another_one_flies(begun):
    page = begun()
    slow(page, 250)
    pieces = state(page)["pieces"]
    for n, piece in enumerate(pieces[:4]):
        move_of(page, piece, n % 4)
    wait_for_count(page, 4)
    made = [(each["cell"], each["bucket"]) for each in state(page)["attempts"]]
    assert made == [(piece["cell"], n % 4) for n, piece in enumerate(pieces[:4])]


def test_a_piece_chosen_while_an_answer_is_awaited_stays_chosen(begun):
    page = begun(has_touch=True)
    slow(page, 300)
    first, second = (
        page.locator(f'.piece[data-cell="{p["cell"]}"]') for p in state(page)["pieces"][:2]
    )
    first.tap()
    page.locator('.bucket[data-bucket="2"]').tap()
    second.tap()
    wait_for_count(page, 1)
    assert second.get_attribute("aria-pressed") == "true"
    page.locator('.bucket[data-bucket="1"]').tap()
    wait_for_count(page, 2)
    # By keys, too: the answer takes the focus from neither the next piece nor its buckets.
    page.locator("button.piece").first.focus()
    page.keyboard.press("0")
    page.locator("button.piece").last.focus()
    cell = int(page.locator("button.piece").last.get_attribute("data-cell"))
    wait_for_count(page, 3)
    page.keyboard.press("1")
    page.locator("button.piece").nth(1).focus()
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowRight")
    wait_for_count(page, 4)
    assert page.evaluate("document.activeElement.dataset.bucket") == "1"
    assert state(page)["attempts"][-1]["cell"] == cell


def test_the_clock_of_the_page_tells_touch_absence_and_flight_apart(begun):
    page = begun()
    sent = []
    page.on(
        "request",
        lambda asked: "attempts" in asked.url and sent.append(asked.post_data_json["client"]),
    )
    first, second = (
        page.locator(f'.piece[data-cell="{p["cell"]}"]') for p in state(page)["pieces"][:2]
    )
    page.wait_for_timeout(200)
    first.click()
    # A page without a window always has the focus: what the browser would say is said for it.
    page.evaluate("document.hasFocus = () => false; window.dispatchEvent(new Event('blur'))")
    page.wait_for_timeout(300)
    page.evaluate("delete document.hasFocus; window.dispatchEvent(new Event('focus'))")
    page.locator('.bucket[data-bucket="1"]').click()
    wait_for_count(page, 1)
    page.wait_for_timeout(300)
    second.press("2")
    wait_for_count(page, 2)
    left, stayed = sent
    assert left["animation_ms"] == 0  # nothing flew to the first board
    assert left["touch_ms"] >= 200
    assert 300 <= left["away_ms"] <= left["action_ms"] - left["touch_ms"]
    assert stayed["away_ms"] == 0
    assert stayed["action_ms"] >= stayed["touch_ms"] >= stayed["animation_ms"] == 270


def lossy(page, rng, *, ms, share):
    """Delay every attempt, and lose requests and answers at random; return what was lost."""
    lost = {"requests": 0, "answers": 0}

    def answer(route):
        page.wait_for_timeout(ms)
        if rng.random() < share:
            lost["requests"] += 1
            return route.fulfill(status=200, body="lost")
        response = route.fetch()
        if rng.random() < share:
            lost["answers"] += 1
            return route.fulfill(status=200, body="lost")
        return route.fulfill(response=response)

    page.route("**/attempts", answer)
    return lost


def test_a_slow_line_that_loses_requests_and_answers_makes_no_false_error(open_game):
    """300 ms and 5 %: every attempt is made once, however often it is asked for."""
    page = open_game("clockwise", "lossy")
    # With this seed a request and three answers of eight attempts are lost, two of one attempt.
    rng, lost = random.Random(3), lossy(page, random.Random(1724), ms=300, share=0.05)
    for made in range(1, 9):
        pieces = state(page)["pieces"]
        page.locator("button.piece").nth(rng.randrange(len(pieces))).press(str(rng.randrange(4)))
        page.wait_for_function("n => document.querySelectorAll('#moves li').length === n", arg=made)
        # Whatever is asked for again is made once, and nobody is told of it.
        told = state(page)
        assert [each["number"] for each in told["attempts"]] == list(range(1, made + 1))
        assert page.locator("#count-errors").inner_text() == str(told["errors"])
        assert "The server does not answer" not in page.locator("#says").inner_text()
    assert lost == {"requests": 1, "answers": 3}


def test_a_finger_chooses_and_drags_and_has_room(begun):
    """At 390 px a piece and a bucket, and every button below, take at least 44 by 44."""
    page = begun(width=390, has_touch=True, is_mobile=True)
    assert small_targets(page) == []
    page.locator("button.piece").first.tap()
    page.locator('button.bucket[data-bucket="2"]').tap()
    wait_for_count(page, 1)
    start = page.locator("button.piece").first.bounding_box()
    end = page.locator('button.bucket[data-bucket="3"]').bounding_box()
    (x0, y0), (x1, y1) = (
        (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in (start, end)
    )
    fingers = page.context.new_cdp_session(page)

    def touch(kind, *points):
        touches = [{"x": x, "y": y} for x, y in points]
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches})

    touch("touchStart", (x0, y0))
    for step in range(1, 9):
        touch("touchMove", (x0 + (x1 - x0) * step / 8, y0 + (y1 - y0) * step / 8))
    touch("touchEnd")
    wait_for_count(page, 2)
    assert [each["bucket"] for each in state(page)["attempts"]] == [2, 3]
    assert page.evaluate("scrollY") == 0


def test_a_slip_of_the_hand_makes_no_attempt_and_does_not_end_the_game(begun):
    page = begun()
    box = page.locator("button.piece").first.bounding_box()
    page.mouse.move(box["x"] + 20, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(5, 5, steps=4)
    page.mouse.up()
    page.locator("button.piece").first.click()
    assert page.locator('.piece[aria-pressed="true"]').count() == 1
    page.keyboard.press("Escape")
    assert page.locator('.piece[aria-pressed="true"]').count() == 0
    page.locator("button.bucket").first.click()
    page.get_by_text("First choose a piece.").wait_for()
    page.get_by_text("Stop here", exact=True).click()
    page.get_by_text("You cannot come back to this game.").wait_for()
    assert (state(page)["state"], state(page)["attempts"]) == ("playing", [])
    page.locator("button.piece").first.press("0")
    wait_for_count(page, 1)
    assert not page.get_by_role("button", name="Stop for good").is_visible()


def test_letters_distinguish_all_colours(begun):
    page = begun()
    page.get_by_label("Letters for colours").check()
    found = {}
    for piece in state(page)["pieces"]:
        letter = page.locator(f'.piece[data-cell="{piece["cell"]}"] .letter')
        assert letter.is_visible()
        found.setdefault(letter.text_content(), set()).add(piece["color"])
    assert len(found) == 4
    assert all(len(colors) == 1 for colors in found.values())
