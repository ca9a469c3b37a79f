"""A study from its invitation to its code, by people with a mouse and a finger."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from sqlalchemy import select

import gnomon
from gnomon_board.database import Database
from gnomon_board.schema import StudyAssignment
from gnomon_board.studies import make_study, read_plan, write_study
from gohr import verify
from web.browser.test_looks import looked_at, small_targets

pytestmark = pytest.mark.full  # a browser

_PICTURE = Path(__file__).parents[5] / "docs" / "images" / "human-play.png"
#: Colour decides the bucket.
BUCKETS = {"RED": 0, "BLACK": 1, "BLUE": 2, "YELLOW": 3}
HUE = "(*,*,RED,*,0) (*,*,BLACK,*,1) (*,*,BLUE,*,2) (*,*,YELLOW,*,3)\n"
PLAN = """
name = "{name}"
title = "Which rules do people find?"
consent = "consent.md"
instructions = [
    "Pieces lie on a board.\\n\\n![A board with pieces](board.png)",
    "## Points\\n\\nFew errors earn more.",
]
debrief = "The first rule was of colours. Your code: **{{completionCode}}**"
demographics_page = "Now *about you*."
[lists]
a = [
    {{ rule = "hue.txt", episodes = 3, mastery = 5, guess = "mastery" }},
    {{ rule = "anything-goes", episodes = 2, feedback = "fixed", guess = "board" }},
]
[defaults]
points = {{}}
board = {{ pieces = 3, shapes = 0, colors = 0 }}
[quiz]
[[quiz.questions]]
name = "same"
title = "Does a rule change from board to board?"
kind = "choice"
choices = ["yes", "no"]
answer = "no"
[[demographics]]
name = "age"
title = "Age?"
kind = "number"
[[demographics]]
name = "games"
title = "Do you play board games?"
kind = "choice"
choices = ["0|never", "1|sometimes", "2|often"]
[[demographics]]
name = "how"
title = "How did you find it?"
required = false
[recruitment]
identity = "PROLIFIC_PID"
parameters = ["STUDY_ID"]
[recruitment.finished]
code = "C1FINISHED"
url = "https://panel.example/submissions/complete?cc={{code}}"
[recruitment.left]
code = "C1LEFT"
"""
#: A page that should better not be believed.
CONSENT = """# Consent

<script>document.title = "hacked"</script><style>* { display: none }</style>

![A board](board.png)

Every attempt is kept. You **may stop**.
"""


@pytest.fixture
def laboratory(site, tmp_path):
    """Make a study; return its invitation, and what exports it."""
    database = Database(site.settings.database)

    def make(name) -> str:
        (tmp_path / "hue.txt").write_text(HUE)
        (tmp_path / "consent.md").write_text(CONSENT)
        (tmp_path / "board.png").write_bytes(_PICTURE.read_bytes())
        (tmp_path / "plan.toml").write_text(PLAN.format(name=name))
        plan = read_plan(tmp_path / "plan.toml")
        with database.writing() as session:
            return f"/join/{make_study(session, plan)[1]}"

    yield make, database
    database.close()


def state(page):
    return page.evaluate("fetch('/api' + location.pathname).then(a => a.json())")


def moved(page, cell, bucket, *, drag):
    """Drag a piece into a bucket, or tap one after the other."""
    piece, target = f'.piece[data-cell="{cell}"]', f'button.bucket[data-bucket="{bucket}"]'
    if drag:
        page.drag_and_drop(piece, target)
    else:
        page.locator(piece).click()
        page.locator(target).click()


def wait_for_attempts(page, number):
    """Wait until the page, not the server alone, has the answers to so many attempts."""
    page.wait_for_function(
        "n => n === ['moves', 'errors'].reduce("
        "(sum, what) => sum + Number(document.getElementById(`count-${what}`).textContent), 0)",
        arg=number,
    )


def play_board(page, bucket_of, *, errors=0, drag=False):
    """Play a board to its end, with so many errors first."""
    while True:
        view = state(page)["view"]
        if view["state"] != "playing":
            return view
        piece = view["pieces"][0]
        bucket = (bucket_of(piece) + (errors > 0)) % 4
        errors -= errors > 0
        moved(page, piece["cell"], bucket, drag=drag)
        wait_for_attempts(page, view["moves"] + view["errors"] + 1)


def go_on(page):
    """Press the button of a form, and wait for the page that comes."""
    with page.expect_navigation():
        page.locator("main button.primary").click()


def guess(page, text):
    page.locator("#guess-text").fill(text)
    page.locator("input[name=confidence]").nth(3).check()
    page.locator("#guess button").click()
    page.locator("#guess").wait_for(state="hidden")


@pytest.mark.parametrize(("look", "width"), [("desktop", 1200), ("phone", 390)])
def test_a_study_is_played_to_its_code(open_page, laboratory, screenshots, tmp_path, look, width):
    make, database = laboratory
    name = f"laboratory-{look}"
    options = {"width": width, "color_scheme": "dark" if look == "phone" else "light"}
    invitation = make(name)
    if look == "phone":
        options |= {"has_touch": True, "is_mobile": True}
    page = open_page(f"{invitation}?PROLIFIC_PID=5f3a&STUDY_ID=s1&token=secret", **options)
    step = iter(range(1, 100))

    def look_at(what):
        number = next(step)
        assert look == "desktop" or small_targets(page) == [], what
        looked_at(page, screenshots, f"lab-{look}-{number:02}-{what}")

    assert page.title() != "hacked"
    assert page.get_by_role("heading", name="Consent").is_visible()
    assert page.locator("main img").evaluate("image => image.naturalWidth") > 100
    look_at("consent")
    page.get_by_role("checkbox").check()
    go_on(page)
    page.locator("img[alt^='A board with']").wait_for()
    assert page.locator("img").evaluate("image => image.naturalWidth") > 100
    go_on(page)
    go_on(page)
    page.get_by_role("radio").first.check()
    page.locator("main button.primary").click()
    page.get_by_role("alert").wait_for()
    look_at("quiz")
    page.get_by_role("radio").nth(1).check()
    go_on(page)
    player = page.url
    go_on(page)
    page.locator("button.piece").first.wait_for()

    def of_color(piece):
        return BUCKETS[piece["color"]]

    first = play_board(page, of_color, errors=2, drag=look == "desktop")
    assert first["end"] == "cleared"
    assert first["points"]["total"] == 6
    page.locator("#next button").click()
    page.locator("button.piece").first.wait_for()
    second = play_board(page, of_color)
    assert (second["end"], second["state"]) == ("mastered", "ended")
    # Five in a row were enough: a piece of the second board is left.
    assert len(second["pieces"]) == 1
    assert second["points"]["total"] == 6 + 10
    assert page.locator("#points-total").inner_text() == "16"
    look_at("guess")
    assert not page.locator("#result").is_visible()
    guess(page, "Each colour has its bucket")
    page.locator("#result").click()
    go_on(page)
    page.locator("button.piece").first.wait_for()
    play_board(page, lambda piece: 1)
    guess(page, "Anything, it seems")
    page.locator("#next button").click()
    page.locator("button.piece").first.wait_for()
    last = play_board(page, lambda piece: 2)
    assert (last["state"], last["points"]["total"]) == ("ended", 10 + 10)
    # The last board finishes the study, whatever becomes of the page.
    with database.reading() as session:
        played = select(StudyAssignment).where(StudyAssignment.player == f"{name}-0001")
        assert session.scalars(played).one().ending == "finished"
    guess(page, "Anything at all")
    page.locator("#result").click()
    go_on(page)
    page.locator("input[type=number]").fill("44")
    page.get_by_role("radio").nth(2).check()
    page.locator("input[name=how]").fill("by colour")
    look_at("demographics")
    go_on(page)
    page.locator("#completion-code").wait_for()
    assert page.locator("#completion-code").inner_text() == "C1FINISHED"
    assert page.get_by_text("Your code: C1FINISHED").is_visible()
    assert page.locator("#completion").get_attribute("href").endswith("complete?cc=C1FINISHED")
    look_at("end")
    page.goto(player)
    page.locator("#completion-code").wait_for()
    check_export(database, name, tmp_path / "out")


def check_export(database, name, folder):
    """The export is read back: games as they were played."""
    with database.reading() as session:
        write_study(session, name, folder)
    read = gnomon.read_scores(folder / f"{name}-transcript.csv")
    attempts = pl.read_csv(folder / "attempts.csv")
    assert len(attempts) == (3 + 2) + 2 + 3 * 2
    for (player, rule), made in attempts.group_by("player", "rule"):
        assert read.runs(player, rule).tolist() == [(made["outcome"] != 0).sum()]
    assert attempts["client_action_ms"].null_count() == 0
    assert (attempts["client_touch_ms"] <= attempts["client_action_ms"]).all()
    # What the browser measured has no way to the server and back in it.
    assert (attempts["client_action_ms"] <= attempts["reaction_s"] * 1000 + 50).all()
    answers = pl.read_csv(folder / "answers.csv", infer_schema=False)
    about = answers.filter(pl.col("page") == "demographics")
    assert about.select("name", "text").rows() == [
        ("age", "44"), ("games", "2"), ("how", "by colour"),
    ]  # fmt: skip
    guesses = answers.filter(pl.col("page") == "guess")
    assert guesses.select("text", "confidence").rows()[0] == ("Each colour has its bucket", "4")
    assert len(guesses) == 3
    (player,) = pl.read_csv(folder / "participants.csv").iter_rows(named=True)
    assert (player["points"], player["ending"]) == (16 + 20, "finished")
    told = b"".join(path.read_bytes() for path in folder.rglob("*.csv"))
    assert b"5f3a" not in told
    assert b"secret" not in told
    assert verify(folder / "run").ok
