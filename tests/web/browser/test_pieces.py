"""Pieces that are pictures, and shapes and colours of one's own, on full boards in a browser."""

from __future__ import annotations

import polars as pl
import pytest

from gnomon.database.engine import Database
from gnomon.studies import read_plan
from gnomon.studies.plan.trial_list_plans import trial_list_record
from gnomon.studies.study_export import write_study
from gnomon.studies.study_store import make_study, study_named
from studies.piece_files import TRIAL_LIST, write_piece_files
from web.browser.test_laboratory import guess, play_board, state, tapped
from web.browser.test_looks import looked_at

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
    if look == "phone":
        return
    page.locator("#letters").check()
    looked_at(page, screenshots, f"pieces-{look}-letters")
    with database.reading() as session:
        write_study(session, study_named(session, f"pieces-{look}"), tmp_path / "out")
    attempts = pl.read_csv(tmp_path / "out" / "data" / "description-attempts_data.csv")
    assert set(attempts["image"]) <= {"zoo/cat.svg", "zoo/hen.png", "/composite/v2/d=13/gs/rq"}
