"""Looks of pieces: what a study's own shapes, colours and pictures become, and what is refused."""

from __future__ import annotations

import re

import pytest

from gnomon.errors import GnomonError
from gnomon.experiments import measure_series, read_series
from gnomon.leaderboard import verify_run
from gnomon.studies import (
    Game,
    PlayedGame,
    PlaySession,
    StudyPlan,
    check_plan,
    read_plan,
    transcript_text,
)
from gnomon.studies.export.study_run import write_study_run
from gnomon.studies.export.transcript import boards_text
from gnomon.studies.languages import available_languages, texts
from gnomon.studies.piece_looks import PieceLooks, clean_shape, composite_drawing
from gnomon.studies.plan.series_plan import BotAssist
from gnomon.studies.plan.trial_list_files import trial_list_files
from gnomon.studies.plan.trial_list_plans import trial_list_record
from studies.piece_files import HEART, TRIAL_LIST, write_piece_files

COMPOSITE = "/composite/v2/d=13/gs/rq"
#: The same as the trial list, and a given board, in a plan of our own.
PLAN = """
name = "own"
title = "Own"
consent = "Yes."
[shape_files]
heart = "heart.svg"
[color_values]
teal = "#117a65"
[[lists.a]]
rule = "rules/legs.txt"
board = {pieces = 6, images = ["zoo/*", "/composite/v2/d=13/gs/rq"]}
[[lists.a]]
rule = "clockwise"
board = {shapes = 1, colors = 1, shape_palette = ["heart"], color_palette = ["teal"]}
[[lists.a]]
rule = "clockwise"
given = ["given.json"]
"""


@pytest.fixture(scope="module")
def listed(tmp_path_factory):
    """The plan of the trial list."""
    data = tmp_path_factory.mktemp("data")
    return read_plan(None, trial_list_record(write_piece_files(data)), name="looks")


def test_a_trial_list_with_pictures_shapes_and_colors_is_a_plan(listed):
    pictures, shapes, crowded = listed.series("a")
    assert [each.spec().crowded for each in (shapes, crowded)] == [False, True]
    assert list(pictures.spec().images) == [COMPOSITE, "zoo/cat.svg", "zoo/hen.png"]
    assert shapes.spec().shape_palette == ("HEART", "STAR", "SQUARE")
    assert listed.color_values == {"TEAL": "#117a65", "CORAL": "#ff7f50"}
    assert set(listed.image_files) == {"zoo/cat.svg", "zoo/hen.png"}
    assert check_plan(listed).passes, check_plan(listed)
    again = StudyPlan.from_record(listed.model_dump(mode="json"))
    assert again == listed


def test_a_plan_of_our_own_has_them_too(tmp_path):
    write_piece_files(tmp_path)
    shapes = tmp_path / "shapes"
    (shapes / "rules").mkdir()
    (shapes / "rules" / "legs.txt").write_text("(legs:4, bucket:0)\n")
    (shapes / "given.json").write_text(
        '{"value": [{"id": 0, "image": "zoo/cat.svg", "x": 2, "y": 1}]}'
    )
    (shapes / "plan.toml").write_text(PLAN)
    plan = read_plan(shapes / "plan.toml")
    assert plan.series("a")[2].given_boards()[0].pieces[0].properties["legs"] == "4"
    assert plan.series("a")[2].spec().n_codes == 2
    # Nothing accepts a hen.
    (stuck,) = check_plan(plan).findings
    assert (stuck.severity, stuck.where) == ("warning", "a, series 1")
    assert "3 of 3 boards tried got stuck, with up to 4 pieces left" in stuck.message
    (rule,) = plan.rule_texts
    fits = plan.model_copy(update={"rule_texts": {rule: "(*,*,*,*,0)"}})
    assert check_plan(fits).findings == ()


def test_a_property_that_no_picture_has_is_warned_of(listed):
    rules = {**listed.rule_texts, "my/legs": "(lges:4, bucket:0) (legs:2, bucket:1)\n"}
    found = check_plan(listed.model_copy(update={"rule_texts": rules}))
    (finding,) = [each for each in found.findings if each.where.startswith("rule")]
    assert "no piece has the property 'lges'" in finding.message


def test_pictures_are_dealt_played_and_exported(listed, tmp_path):
    series = listed.series("a")[0]
    game = Game("x", listed.rule_texts["my/legs"], 3, 2, board=series.spec(), terms=series.terms())
    played = PlaySession(game)
    buckets = {"zoo/cat.svg": 0, "zoo/hen.png": 1, COMPOSITE: 2}
    dealt = {piece["cell"]: piece["image"] for piece in played.view().pieces}
    for cell, image in dealt.items():
        assert played.attempt(cell, (buckets[image] + 1) % 4).outcome == 4
        assert played.attempt(cell, buckets[image]).accepted
    view = played.view()
    assert (view.end, len(dealt)) == ("cleared", 6)
    assert {piece["cell"]: piece["image"] for piece in view.removed} == dealt
    played.next_board()
    again = PlaySession(game, played.attempts, n_boards=2)
    assert [p["image"] for p in again.view().pieces] == [p["image"] for p in played.view().pieces]
    games = [PlayedGame("p-1", "a", 0, "my/legs", played)]
    assert errors_again(listed, games, tmp_path) == 6
    rows = [line.split(",") for line in transcript_text(games).splitlines()[1:]]
    assert {row[10] for row in rows} == set(dealt.values())
    boards = [line.split(",")[5:] for line in boards_text(games).splitlines()[1:]]
    assert all(row[:2] == ["null", "null"] and row[2] in buckets for row in boards)


def errors_again(plan, games, folder):
    """Export games, read them, and play them again by their rules; return the number of errors."""
    files = trial_list_files(plan) | {
        "a-transcript.csv": transcript_text(games),
        "a-boards.csv": boards_text(games),
        **{f"rules/{name}.txt": text for name, text in plan.rule_texts.items()},
    }
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content.encode() if isinstance(content, str) else content)
    (series,) = read_series([folder])
    rules = folder / "rules"
    (one,) = measure_series([series], rules=rules, with_chances=True, precedence="ignore")
    assert one.chances is not None, "played again by its rule, on its board"
    run = write_study_run(folder / "run", "study", games, {"p-1": 0})
    assert [verdict.ok for verdict in verify_run(run)] == [True]
    return int((~one.accepted).sum())


def test_pieces_of_a_crowded_board_are_named_by_their_own_number(listed, tmp_path):
    series = listed.series("a")[2]
    text = listed.rule_texts["my/hue"]
    terms = series.terms().model_copy(update={"bot_assist": BotAssist(), "feedback": "fixed"})
    played = PlaySession(Game("x", text, 3, 1, board=series.spec(), terms=terms))
    dealt = played.view().pieces
    assert [piece["cell"] for piece in dealt] == list(range(1, 37))
    assert len({piece["at"] for piece in dealt}) < 36
    buckets = {"TEAL": 0, "CORAL": 1, "RED": 2, "BLACK": 3}
    # The last of a cell first: whoever goes by cells would move another one.
    for piece in reversed(dealt):
        assert played.attempt(piece["cell"], (buckets[piece["color"]] + 1) % 4).outcome == 4
        assert played.view().hint.cell in {each["cell"] for each in played.view().pieces}
        assert played.attempt(piece["cell"], buckets[piece["color"]]).accepted
    view = played.view()
    assert (view.end, view.moves, view.errors) == ("cleared", 36, 36)
    assert [piece["at"] for piece in view.removed] == [piece["at"] for piece in reversed(dealt)]
    games = [PlayedGame("p-1", "a", 2, "my/hue", played)]
    assert errors_again(listed, games, tmp_path) == 36
    rows = [line.split(",") for line in transcript_text(games).splitlines()[1:]]
    moved = [(int(y), int(x)) for *_, y, x, _, _, _, _, _, _ in rows][1::2]
    assert moved == [((p["at"] - 1) // 6 + 1, (p["at"] - 1) % 6 + 1) for p in reversed(dealt)]
    assert played.log().boards.shape == (1, 72)


def test_nothing_of_a_shape_reaches_a_page_but_its_geometry():
    drawn = clean_shape(HEART, "heart")
    assert re.findall(r"<(\w+)", drawn) == ["svg", "g", "path"]
    assert not re.search("script|alert|onclick|onload|style|red", drawn)
    odd = '<svg viewBox="0 0 9 9"><g transform="rotate(9)"><path d="M0 0&quot;&gt;"/></g></svg>'
    assert clean_shape(odd, "odd").endswith('<g transform="rotate(9)"><path/></g></g></svg>')


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<svg", "expected an SVG"),
        ("<svg viewBox='0 0 0 1'><path d='M0 0'/></svg>", "with a viewBox and shapes"),
        ("<svg viewBox='0 0 9 9'><text>hi</text></svg>", "with a viewBox and shapes"),
        ("<html viewBox='0 0 9 9'><path d='M0 0'/></html>", "with a viewBox and shapes"),
        ("<!DOCTYPE svg [<!ENTITY a 'b'>]><svg/>", "without a document type"),
        ("<svg viewBox='0 0 9 9'>" + "<path d='M0 0'/>" * 301 + "</svg>", "at most 300 elements"),
    ],
)
def test_what_is_no_shape_is_refused(text, message):
    with pytest.raises(GnomonError, match=f"star: .*{message}"):
        clean_shape(text, "star")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"color_values": {"teal": "red; x"}}, "color_values.TEAL"),
        ({"shape_files": {"a b": HEART}}, "'A B': expected letters"),
        ({"image_files": {"a.png": "data:text/html;base64,AA=="}}, "image_files.a.png"),
        ({"image_files": {"../a.png": "data:image/png;base64,AA=="}}, "without '..'"),
        ({"image_files": {"a.png": "data:image/png;base64," + "A" * 9_000_000}}, "at most 6 MB"),
        ({"board": {"images": {"a.png": {"x": "1"}}}}, "there is no image 'a.png'"),
        ({"lists": {"a": [{"rule": "clockwise", "given": [[{"cell": 1}]]}]}}, "or an image"),
    ],
)
def test_what_is_wrong_with_looks_is_named(change, message):
    record = {"name": "p", "title": "P", "consent": "Yes.", "lists": {"a": ["clockwise"]}}
    with pytest.raises(GnomonError, match=message):
        StudyPlan.from_record(record | change)


def test_pictures_are_called_by_label_file_or_elements(listed):
    spec = listed.series("a")[0].spec()
    looks = PieceLooks.of(listed.model_dump(), spec, texts("en"))
    assert looks.labels == {
        COMPOSITE: "small green star; red square",
        "zoo/cat.svg": "a cat",
        "zoo/hen.png": "hen",
    }
    for language in available_languages():
        assert PieceLooks.of({}, spec, texts(language)).labels[COMPOSITE]


def test_a_composite_picture_is_drawn_where_its_elements_are():
    small, large = composite_drawing(COMPOSITE)
    assert (small.color, small.shape, small.x, small.y, small.side) == (
        *("GREEN", "STAR"),
        *(35.0, 10.0, 30.0),
    )
    assert (large.x, large.y, large.side) == (25.0, 50.0, 50.0)
    assert len(composite_drawing("/composite/g22/b=1233/bq/xx/bq/bq")) == 3
    assert composite_drawing("zoo/cat.svg") == ()


def test_the_lists_of_a_plan_with_looks_are_exported_and_read_back(listed, tmp_path):
    for path, content in trial_list_files(listed).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content.encode() if isinstance(content, str) else content)
    for name, text in listed.rule_texts.items():
        (tmp_path / "rules" / f"{name}.txt").parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "rules" / f"{name}.txt").write_text(text)
    again = read_plan(None, trial_list_record(tmp_path / "trial-lists" / "looks"), name="looks")
    assert again == listed


def test_the_trial_list_of_pictures_is_read_as_the_captive_server_reads_it(tmp_path):
    lists = write_piece_files(tmp_path, TRIAL_LIST.replace("zoo/*;", "zoo/*.svg;"))
    series, *_ = read_plan(None, trial_list_record(lists), name="looks").series("a")
    assert list(series.spec().images) == [COMPOSITE, "zoo/cat.svg"]
