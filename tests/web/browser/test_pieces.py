"""Pieces that are pictures, and shapes and colours of one's own, on full boards in a browser."""

from __future__ import annotations

import polars as pl
import pytest

from gnomon import verify
from gnomon.database.engine import Database
from gnomon.experiments import read_series
from gnomon.studies import read_plan
from gnomon.studies.export.study_export import write_study
from gnomon.studies.plan.trial_list_plans import trial_list_record
from gnomon.studies.study_store import make_study, study_named
from studies.piece_files import TRIAL_LIST, write_piece_files
from web.browser.test_laboratory import guess, play_board, state, tapped
from web.browser.test_looks import looked_at

#: How many pieces cannot be hit in their middle, for another lies there.
HIDDEN = """() => [...document.querySelectorAll("#board .piece")].filter((one) => {
  const box = one.getBoundingClientRect();
  const hit = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
  return hit !== one;
}).length"""
#: Clear a board by colours, without looking.
CLEAR = """async () => {
  const game = document.getElementById("game");
  const headers = { "Content-Type": "application/json", "X-CSRF-Token": game.dataset.csrf };
  const buckets = { TEAL: 0, CORAL: 1, RED: 2, BLACK: 3 };
  let { view } = await (await fetch(location.pathname + ".json")).json();
  for (const piece of view.pieces) {
    const body = JSON.stringify({ cell: piece.cell, bucket: buckets[piece.color] });
    const asked = { method: "POST", headers, body };
    view = (await (await fetch(`${game.dataset.address}/attempts.json`, asked)).json()).view;
  }
  return view.state;
}"""

pytestmark = pytest.mark.full  # a browser


@pytest.fixture
def invite(site, tmp_path):
    """Make a study of the trial list; return its invitation, and the database."""
    database = Database(site.settings.database)
    lists = write_piece_files(tmp_path / "data", TRIAL_LIST)

    def make(name: str) -> str:
        plan = read_plan(None, trial_list_record(lists), name=name)
        with database.writing() as session:
            return f"/join/{make_study(session, plan, by=1)[1]}"

    yield make, database
    database.close()


@pytest.mark.parametrize(("look", "width"), [("dark", 1200), ("phone", 390)])
def test_pictures_and_shapes_of_ones_own_are_played(
    open_page, invite, screenshots, tmp_path, look, width
):
    make, database = invite
    options = {"color_scheme": "dark" if look == "dark" else "light", "width": width}
    if look == "phone":
        options |= {"has_touch": True, "is_mobile": True}
    invitation = make(f"pieces-{look}")
    page = open_page(f"{invitation}?id={look}", **options)
    page.locator("[name=agree]").check()
    page.locator("form button.primary").first.click()
    page.locator("form button.primary").first.click()
    page.locator("#board button.piece").first.wait_for()

    pictures = page.locator("#board .piece image")
    assert pictures.count() > 0
    assert page.evaluate(
        "() => Promise.all([...document.querySelectorAll('#board .piece image')].map(one => {"
        " const copy = new Image(); copy.src = one.href.baseVal; return copy.decode()"
        ".then(() => copy.naturalWidth > 0) })).then(all => all.every(Boolean))"
    )
    names = page.locator("#board .piece").evaluate_all("all => all.map(one => one.ariaLabel)")
    assert all(
        name.split(",")[0].partition(";")[0] in ("a cat", "hen", "small green star")
        for name in names
    ), names
    box = page.locator("#board .piece").first.bounding_box()
    assert look != "phone" or min(box["width"], box["height"]) >= 43.5

    piece = state(page)["view"]["pieces"][0]
    tapped(page, piece["cell"], 3)
    page.locator(".says.no").wait_for()
    looked_at(page, screenshots, f"pieces-{look}-pictures")
    legs = {"zoo/cat.svg": 0, "zoo/hen.png": 1}
    play_board(page, lambda piece: legs.get(piece["image"], 2))
    looked_at(page, screenshots, f"pieces-{look}-pictures-gone")
    guess(page, "It goes by the legs")
    page.locator("#result").click()
    page.wait_for_url("**/result")
    page.locator("main button.primary").click()

    page.locator("#board button.piece").nth(35).wait_for()
    assert page.locator('#board .piece .shape[fill="#117a65"]').count() > 0
    assert page.locator("#board .piece script, #board .piece [onload]").count() == 0
    looked_at(page, screenshots, f"pieces-{look}-shapes")
    page.locator("#letters").check()
    looked_at(page, screenshots, f"pieces-{look}-letters")
    assert page.evaluate(CLEAR) == "ended"
    page.reload()
    guess(page, "It goes by the colour")
    page.locator("#result").click()
    page.wait_for_url("**/result")
    page.locator("main button.primary").click()

    page.locator("#board button.piece").nth(35).wait_for()
    shared = page.locator("#board .piece.part2, #board .piece.part3")
    assert shared.count() > 1
    assert page.evaluate(HIDDEN) == 0
    shared.nth(1).click()
    page.locator("#sharing").wait_for()
    beside = page.locator("#sharing button")
    assert beside.count() > 1
    assert min(beside.first.bounding_box()[side] for side in ("width", "height")) >= 44
    beside.first.click()
    assert page.locator('#sharing button[aria-pressed="true"]').count() == 1
    chosen = int(page.locator('#board .piece[aria-pressed="true"]').get_attribute("data-cell"))
    looked_at(page, screenshots, f"pieces-{look}-crowded")
    page.locator("button.bucket").nth(0).click()
    page.wait_for_function("() => document.querySelector('.says').matches('.yes, .no')")
    (made,) = state(page)["view"]["attempts"]
    assert made["cell"] == chosen
    assert page.evaluate(CLEAR) == "ended"
    page.reload()
    looked_at(page, screenshots, f"pieces-{look}-crowded-gone")
    if look == "phone":
        return
    with database.reading() as session:
        write_study(session, study_named(session, f"pieces-{look}"), tmp_path / "out")
    # A run has one alphabet of codes, and a cell or a place for each attempt.
    runs = {path.name: verify(path) for path in (tmp_path / "out").glob("run*")}
    assert {"run-pictures", "run-crowded"} <= set(runs) <= {"run-pictures", "run-crowded", "run"}
    assert all(verified.ok for verified in runs.values())
    attempts = pl.read_parquet(tmp_path / "out" / "data" / "attempts.parquet")
    images = attempts.filter(pl.col("series") == 0)["image"]
    assert set(images) <= {"zoo/cat.svg", "zoo/hen.png", "/composite/v2/d=13/gs/rq"}
    series = read_series([tmp_path / "out"])
    assert [len(each.episodes[0].board) for each in series] == [6, 36, 36]
    made = [len(each.episodes[0].attempts) for each in series]
    assert made == [attempts.filter(pl.col("series") == n).height for n in range(3)]
