"""A study of trial lists, from its invitation to its code, by people with a mouse and a finger."""

from __future__ import annotations

import html
import json
from dataclasses import asdict
from importlib import resources
from pathlib import Path

import polars as pl
import pytest

from gnomon import verify
from gnomon.database.engine import Database
from gnomon.experiments import (
    ExperimentConfig,
    attempts_to_master,
    measure_series,
    read_series,
    run,
)
from gnomon.report.people_findings import people_findings
from gnomon.studies import read_plan
from gnomon.studies.export.study_export import games_of, write_study
from gnomon.studies.plan.trial_list_plans import trial_list_record
from gnomon.studies.plan.visibility import parse_condition
from gnomon.studies.study_store import make_study, study_named
from studies.plan.test_visibility import ANSWERS, CONDITIONS
from web.browser.test_looks import looked_at, small_targets

pytestmark = pytest.mark.full  # a browser

_PICTURE = Path(__file__).parents[3] / "docs" / "images" / "human-play.png"
#: Colour decides the bucket.
BUCKETS = {"RED": 0, "BLACK": 1, "BLUE": 2, "YELLOW": 3}
HUE = "(*,*,RED,*,0) (*,*,BLACK,*,1) (*,*,BLUE,*,2) (*,*,YELLOW,*,3)\n"
TRIAL_LIST = """\
rule_id,max_boards,min_points,max_points,b,min_objects,max_objects,min_shapes,max_shapes,\
min_colors,max_colors,feedback_switches,stack_memory_depth,stack_memory_show_order,\
grid_memory_show_order,x2_after,x4_after,give_up_at,activate_bonus_at,clear_how_many,\
bonus_extra_pts,clearing_threshold,bot_assist,pseudo_halftime,pregame
my/hue,3,2,10,1.5,5,5,1,4,1,4,free,6,TRUE,TRUE,3,7,0,,,,,,,mine
anything-goes,2,2,10,1.5,3,3,1,3,1,3,fixed,0,FALSE,FALSE,,,,2,1,20,1.3,pseudo,4,
"""
PLAN = """
name = "{name}"
title = "Which rules do people find?"
language = "{language}"
instructions = [
    "Pieces lie on a board.\\n\\n![A board with pieces](board.png)",
    "## Points\\n\\nFew errors earn more.",
]
pictures = ["board.png"]
[quiz]
[[quiz.questions]]
name = "same"
title = "Does a rule change from board to board?"
kind = "choice"
choices = ["yes", "no"]
answer = "no"
[recruitment]
identity = "PROLIFIC_PID"
parameters = ["STUDY_ID"]
[recruitment.finished]
code = "C1FINISHED"
url = "https://panel.example/submissions/complete?cc={{code}}"
[recruitment.left]
code = "C1LEFT"
"""
#: Pages of the reference's kind, one of which should better not be believed.
BUNDLE = {
    "consent.html": """<h1 onclick="document.title = 'hacked'">Consent</h1>
<script>document.title = "hacked"</script><style>* { display: none }</style>
<center><img src="logo.png" alt="A board" onerror="document.title = 'hacked'"></center>
<p style="font-size: 1px">Every attempt is kept. You <b>may stop</b>.</div></section>""",
    "demographics_instructions.html": "<p>Now <em>about you</em>.</p>",
    "demographics.json": """[
{"type": "text", "inputType": "number", "name": "age", "title": "Age?", "isRequired": true},
{"type": "radiogroup", "name": "games", "title": "Do you play board games?", "isRequired": true,
 "choices": ["0|never", "1|sometimes", "2|often"]},
{"type": "text", "name": "which one", "title": "Which?", "isRequired": true,
 "visibleIf": "{games} > 0 and not ({age} < 18 or {games} = '1')"},
{"type": "text", "name": "since", "title": "How long?", "visibleIf": "{which one} contains 'GO'"},
{"type": "comment", "name": "how", "title": "How did you find it?", "goodnessGE": 0.5},
{"type": "comment", "name": "hard", "title": "What was hard?", "goodnessLT": 0.5}]""",
    "debriefing.html": "<p>The first rule was of colours. Your code: <b>{completionCode}</b></p>",
}


@pytest.fixture
def laboratory(site, tmp_path):
    """Make a study of a trial list; return its invitation, and what exports it."""
    database = Database(site.settings.database)

    def make(name, language="en", *, toml=PLAN, trial_list=TRIAL_LIST) -> str:
        lists = tmp_path / "data" / "trial-lists" / "exp"
        for path, text in {
            lists / "a.csv": trial_list,
            tmp_path / "data/rules/my/hue.txt": HUE,
            **{tmp_path / "data/pregame/mine" / page: text for page, text in BUNDLE.items()},
        }.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        (tmp_path / "data/pregame/mine/logo.png").write_bytes(_PICTURE.read_bytes())
        (tmp_path / "board.png").write_bytes(_PICTURE.read_bytes())
        (tmp_path / "plan.toml").write_text(toml.format(name=name, language=language))
        plan = read_plan(tmp_path / "plan.toml", trial_list_record(lists))
        with database.writing() as session:
            return f"/join/{make_study(session, plan, by=1)[1]}"

    yield make, database
    database.close()


def state(page):
    return page.evaluate("fetch(location.pathname + '.json').then(a => a.json())")


def tapped(page, cell, bucket):
    page.locator(f'.piece[data-cell="{cell}"]').click()
    page.locator(f'button.bucket[data-bucket="{bucket}"]').click()


def wait_for_attempts(page, number):
    """Wait until the page, not the server alone, has the answers to so many attempts."""
    page.wait_for_function(
        "n => n === ['moves', 'errors'].reduce("
        "(sum, what) => sum + Number(document.getElementById(`count-${what}`).textContent), 0)",
        arg=number,
    )


def play_board(page, bucket_of, *, errors=0):
    """Play a board to its end, with so many errors first."""
    while True:
        view = state(page)["view"]
        if view["state"] != "playing":
            return view
        piece = view["pieces"][0]
        bucket = (bucket_of(piece) + (errors > 0)) % 4
        errors -= errors > 0
        tapped(page, piece["cell"], bucket)
        wait_for_attempts(page, view["moves"] + view["errors"] + 1)


def guess(page, text):
    page.locator("#guess-text").fill(text)
    page.locator("input[name=confidence]").nth(3).check()
    page.locator("#guess button").click()
    page.locator("#guess").wait_for(state="hidden")


@pytest.mark.parametrize(
    ("look", "width", "language"), [("desktop", 1200, "en"), ("phone", 390, "de")]
)
def test_a_study_of_a_trial_list_is_played_to_its_code(
    open_page, laboratory, screenshots, tmp_path, look, width, language
):
    make, database = laboratory
    name = f"laboratory-{look}"
    options = {"width": width}
    invitation = make(name, language)
    if look == "phone":
        options |= {"has_touch": True, "is_mobile": True}
    page = open_page(f"{invitation}?PROLIFIC_PID=5f3a&STUDY_ID=s1&token=secret", **options)
    step = iter(range(1, 100))

    def look_at(what):
        number = next(step)
        assert look == "desktop" or small_targets(page) == [], what
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            name = f"lab-{look}-{number:02}-{what}-{scheme}"
            if (look == "phone") == (scheme == "light"):
                looked_at(page, screenshots, name)
            else:
                page.screenshot(path=screenshots / f"{name}.png", full_page=True)

    assert page.title() != "hacked"
    assert page.get_by_role("heading", name="Consent").is_visible()
    assert page.locator("main img").evaluate("image => image.naturalWidth") > 100
    look_at("consent")
    page.get_by_role("checkbox").check()
    page.locator("main button.primary").click()
    page.locator("img[alt^='A board with']").wait_for()
    assert page.locator("img").evaluate("image => image.naturalWidth") > 100
    look_at("instructions")
    page.locator("main button.primary").click()
    page.locator("main button.primary").click()
    page.get_by_role("radio").first.check()
    page.locator("main button.primary").click()
    page.get_by_role("alert").wait_for()
    look_at("quiz")
    page.get_by_role("radio").nth(1).check()
    page.locator("main button.primary").click()
    look_at("player")
    player = page.url
    page.locator("main button.primary").click()
    page.locator("button.piece").first.wait_for()

    def of_color(piece):
        return BUCKETS[piece["color"]]

    first = play_board(page, of_color, errors=2)
    assert first["end"] == "cleared"
    assert (first["reward"]["points"], first["reward"]["factor"]) == (12, 2)
    look_at("doubled")
    assert page.locator(".smiles .good").count() == 5
    assert page.locator(".smiles .bad").count() == 2
    page.locator("#next button").click()
    page.locator("button.piece").first.wait_for()
    second = play_board(page, of_color)
    assert (second["end"], second["state"]) == ("mastered", "ended")
    # Seven in a row were enough: three pieces of the second board are left.
    assert len(second["pieces"]) == 3
    assert second["reward"]["points"] == 4 * (6 + 10)
    look_at("guess")
    assert not page.locator("#result").is_visible()
    guess(page, "Each colour has its bucket")
    page.locator("#result").click()
    look_at("result")
    page.locator("main button.primary").click()
    page.locator("button.piece").first.wait_for()
    assert page.locator("#give-up").is_hidden()
    play_board(page, lambda piece: 1)
    guess(page, "Anything, it seems")
    page.locator("#bonus button").click()
    page.locator("button.piece").first.wait_for()
    assert page.locator("#hint").is_hidden()
    tapped(page, state(page)["view"]["pieces"][0]["cell"], 3)
    page.locator("#hint").wait_for()
    assert page.locator(".hinted").count() == 2
    look_at("bonus")
    last = play_board(page, lambda piece: 2)
    assert (last["state"], last["reward"]["points"]) == ("ended", 10 + 10 + 20)
    # The last board finishes the study, whatever becomes of the page.
    with database.reading() as session:
        (assignment,) = study_named(session, name).assignments
        assert assignment.ending == "finished"
    guess(page, "Anything at all")
    page.locator("#result").click()
    page.locator("main button.primary").click()
    page.locator("input[type=number]").fill("44")
    which, since = (page.locator(f"input[name={name}]") for name in ("which_one", "since"))
    which.wait_for(state="hidden")  # by a script, which may be slower than this test
    page.get_by_role("radio").nth(2).check()
    which.fill("Go and chess")
    since.fill("years")
    page.get_by_role("radio").nth(1).check()
    assert which.is_hidden()
    assert since.is_hidden()  # what is not asked has no answer
    page.get_by_role("radio").nth(2).check()
    assert since.is_visible()
    which.fill("")
    page.locator("main button.primary").click()
    assert which.evaluate("each => each.validity.valueMissing")
    which.fill("Chess")
    assert since.is_hidden()
    # One of two rules mastered.
    page.locator("input[name=how]").fill("by colour")
    assert page.locator("input[name=hard]").count() == 0
    look_at("demographics")
    page.locator("main button.primary").click()
    page.locator("#completion-code").wait_for()
    assert page.locator("#completion-code").inner_text() == "C1FINISHED"
    assert page.get_by_text("Your code: C1FINISHED").is_visible()
    assert page.locator("#completion").get_attribute("href").endswith("complete?cc=C1FINISHED")
    look_at("end")
    page.goto(player)
    page.locator("#completion-code").wait_for()
    check_export(database, name, tmp_path / "out")


def test_a_likelihood_ratio_promises_a_multiplier_and_ends_the_game(open_page, laboratory):
    """Each success is one in four: two promise the double, nine end it with four times."""
    make, _ = laboratory
    scheme = "x2_likelihood,x4_likelihood"
    rewarded = TRIAL_LIST.partition("anything-goes")[0].replace("x2_after,x4_after", scheme)
    rewarded = rewarded.replace(",3,7,0,", ",10,100000,0,").replace("mine", "")
    short = 'name = "{name}"\ntitle = "Which rules?"\nconsent = "Yes."\nlanguage = "{language}"\n'
    page = open_page(make("likelihood", toml=short, trial_list=rewarded))
    page.get_by_role("checkbox").check()
    page.locator("main button.primary").click()
    page.locator("main button.primary").click()
    page.locator("button.piece").first.wait_for()
    factor = page.locator("#reward-factor")
    for n, told in enumerate(["", "★ ×2 when you finish this board"], 1):
        piece = state(page)["view"]["pieces"][0]
        tapped(page, piece["cell"], BUCKETS[piece["color"]])
        wait_for_attempts(page, n)
        assert factor.inner_text() == told
    first = play_board(page, lambda piece: BUCKETS[piece["color"]])
    assert (first["end"], first["reward"]["points"]) == ("cleared", 2 * 10)
    assert "×2" in factor.inner_text()
    assert "when" not in factor.inner_text()
    page.locator("#next button").click()
    page.locator("button.piece").first.wait_for()
    last = play_board(page, lambda piece: BUCKETS[piece["color"]])
    assert (last["end"], len(last["pieces"])) == ("mastered", 1)
    assert last["reward"]["points"] == 4 * (10 + 10)
    assert "★★ ×4" in factor.inner_text()


def test_the_page_shows_what_the_server_asks_for(browser):
    """Two evaluations of one condition, which share no code."""
    conditions = [parse_condition(text) for text, holds in CONDITIONS.items() if holds is not None]
    script = resources.files("gnomon.web.pages").joinpath("static", "questions.js").read_text()
    page = browser.new_page()
    for answers in (ANSWERS, {"sex": "M", "age": "1"}, {"age": "-3", "why": "games", "none": "0"}):
        fields = [f"<input name='{name}' value='{text}'>" for name, text in answers.items()]
        for condition in conditions:
            tree = html.escape(json.dumps(asdict(condition)))
            fields.append(f'<fieldset data-visible-if="{tree}"></fieldset>')
        page.set_content(f"<form>{''.join(fields)}</form>")
        page.evaluate(script)
        shown = page.locator("fieldset").evaluate_all("all => all.map(one => !one.hidden)")
        assert shown == [condition.holds(answers) for condition in conditions], answers
    page.close()


def check_export(database, name, folder):
    """The export is read back: series as the reference's, tables as they were played."""
    with database.reading() as session:
        study = study_named(session, name)
        games = games_of(session, study)
        write_study(session, study, folder)
    series = read_series([folder])
    assert [each.rule for each in series] == ["my/hue", "anything-goes"]
    measured = measure_series(series, target_streak=3, precedence="ignore")
    by_rule = {one.series.rule: one.m_star for one in measured}
    for game in games:
        accepted = [made.accepted for made in game.session.attempts]
        assert by_rule[game.rule] == attempts_to_master(accepted, target=3)
    for one, game in zip(series, games, strict=True):
        for episode in one.episodes:
            number = one.episodes.index(episode)
            dealt = game.session.board(number).pieces
            assert [(p.pos, p.color) for p in episode.board] == [(p.pos, p.color) for p in dealt]
    attempts = pl.read_parquet(folder / "data" / "attempts.parquet")
    assert len(attempts) == sum(len(game.session.attempts) for game in games)
    assert attempts["client_action_ms"].null_count() == 0
    assert (attempts["client_touch_ms"] <= attempts["client_action_ms"]).all()
    # What the browser measured has no way to the server and back in it.
    assert (attempts["client_action_ms"] <= attempts["reaction_s"] * 1000 + 50).all()
    answers = pl.read_parquet(folder / "data" / "answers.parquet")
    about = answers.filter(pl.col("page") == "demographics")
    assert about.select("name", "text").rows() == [
        ("age", "44"), ("games", "2"), ("which_one", "Chess"), ("how", "by colour"),
    ]  # fmt: skip
    people = pl.read_csv(folder / "data" / "description-participants_data.csv")
    # Of each board the first attempt had no hint yet.
    hinted = attempts.filter(pl.col("rule") == "anything-goes")
    assert hinted["hint_cell"].null_count() == 2
    assert hinted["followed"].null_count() == 2
    assert people["points"].to_list() == [64 + 40]
    assert people["ending"].to_list() == ["finished"]
    guesses = (folder / f"{name}-guesses.csv").read_text().splitlines()
    assert len(guesses) == 4
    assert guesses[1].endswith(",Each colour has its bucket,4")
    told = b"".join(path.read_bytes() for path in folder.rglob("*.csv"))
    assert b"5f3a" not in told
    assert b"secret" not in told
    codebook = pl.read_csv(folder / "codebook.csv")
    for table in ("participants", "attempts", "boards", "answers"):
        columns = codebook.filter(pl.col("table") == table)["column"].to_list()
        data = folder / "data" / f"description-{table}_data.csv"
        assert columns == pl.read_csv(data).columns
    assert verify(folder / "run").ok
    # Beside a run that has one rule; the text of the other is in the export.
    config = ExperimentConfig("machines", ["anything-goes"], ["frugal"], trials=3, episodes=2)
    machines = run(config, folder.parent / "machines").folder
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gnomon.report.people_findings.BOUNDS", ("uniform",))  # ideal takes seconds
        found = people_findings([folder], [machines], target_streak=3, boards=2)
    compared = {(one.rule, one.learner) for one in found.against}
    learners = [("anything-goes", "frugal"), ("anything-goes", "uniform"), ("my/hue", "uniform")]
    assert compared == set(learners)
    assert found.guesses[0].text == "Each colour has its bucket"
