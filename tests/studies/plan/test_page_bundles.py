"""Bundles of pages of the reference system: HTML that is cleaned, a booklet, a survey."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.errors import GnomonError
from gnomon.studies.plan.page_bundles import bundle_fields, bundle_name, read_survey
from gnomon.studies.plan.page_html import clean_html, html_page
from gnomon.studies.plan.questionnaire import Question

BARE = '<a rel="noopener noreferrer">a</a>'
HOSTILE = {
    "<script>alert(1)</script>": "",
    "<scr<script>ipt>alert(1)</script>": "ipt&gt;alert(1)",
    "<img src=x.png onerror=alert(1)>": '<img src="x.png">',
    "<img src='https://track.example/x.png' alt='logo'>": '<img alt="logo">',
    "<img src='//track.example/x.png'>": "",
    '<a href="java\tscript:alert(1)">a</a>': BARE,
    '<a href="JAVASCRIPT:alert(1)" target=_top>a</a>': BARE,
    '<p style="background:url(x)" class="leave" id="game">a</p>': "<p>a</p>",
    "<svg><a xlink:href='javascript:alert(1)'><text>a</text></a></svg>b": "b",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>": "",
    "<form action='/account'><input name=csrf><button>Go</button></form>": "",
    "</div></section></main><p>a": "<p>a</p>",
    "<a href='/account/delete'>a</a>": BARE,
    "<b>a<i>b</b>c": "<b>a<i>b</i></b><i>c</i>",
    "&lt;script&gt;": "&lt;script&gt;",
    "<!-- <script> -->a<!DOCTYPE x><?php echo 1 ?>": "a",
    '<meta http-equiv="refresh" content="0;url=//x"><base href="//x"><link rel=stylesheet>': "",
    "<style>*{display:none}</style><textarea></p><script>x</script></textarea>": "",
}


def test_html_is_cleaned():
    for page, expected in HOSTILE.items():
        assert clean_html(page) == expected, page
        assert clean_html(expected) == expected, page


@given(
    st.lists(st.sampled_from(["<", ">", "/", "<p", "<script", "</", "'", '"', "=", "&", "a", " "]))
)
def test_what_is_cleaned_is_clean(parts):
    cleaned = clean_html("".join(parts))
    assert "<script" not in cleaned
    assert clean_html(cleaned) == cleaned


def test_pictures_of_a_page_are_those_of_the_study():
    page = '<img src="mine.png" alt="Mine"><img src="instructions/other.png" alt="Other">'
    shown = clean_html(page, {"mine.png": "data:image/png;base64,AA=="})
    assert shown == '<img src="data:image/png;base64,AA==" alt="Mine"><img alt="Other">'


@pytest.fixture
def bundle(tmp_path):
    survey = [
        {"type": "radiogroup", "name": "who are you", "choices": ["f|female", "m|male"],
         "isRequired": True},
        {"type": "text", "name": "2nd", "visibleIf": "{who are you} = 'm'", "isRequired": True},
        {"type": "panel", "visibleIf": "{2nd} notempty", "elements": [
            {"type": "text", "inputType": "number", "name": "age", "title": "How old?",
             "visibleIf": "{who are you} <> '{f}'"}]},
        {"type": "matrix", "name": "felt", "title": "I felt", "rows": ["b|bored", "keen"],
         "columns": [{"value": 1, "text": "no"}], "goodnessLT": 0.5},
        {"type": "dropdown", "name": "hand", "choices": ["left"], "hasOther": True},
        {"type": "html", "html": "<p>Thanks</p>"},
    ]  # fmt: skip
    for name, text in {
        "consent.html": "<h1>Consent</h1>",
        "debriefing.uid.html": "<p>{completionCode}</p>",
        "demographics.json": json.dumps({"pages": [{"elements": survey}]}),
        **{f"instructions/{name}": "" for name in ("b2.png", "a2.jpg", "a10.png", "last.png")},
        "instructions/notes.txt": "",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_a_bundle_becomes_pages_of_a_plan(bundle):
    fields = bundle_fields(bundle)
    assert fields["consent"] == html_page(bundle / "consent.html")
    assert [page.rpartition("/")[2] for page in fields["instructions"]] == [
        "a2.jpg)", "b2.png)", "a10.png)", "last.png)",
    ]  # fmt: skip
    assert set(fields) == {"consent", "debrief", "instructions", "pictures", "demographics"}
    asked = [Question.model_validate(each) for each in fields["demographics"]]
    assert [each.name for each in asked] == [
        "who_are_you", "q_2nd", "age", "felt_b", "felt_keen",
        "hand", "hand_Comment",
    ]  # fmt: skip
    assert asked[0].checked("f") == "f"
    assert asked[0].required
    assert (asked[1].required, asked[1].visible_if) == (True, "{who_are_you} = 'm'")
    assert asked[2].visible_if == "({q_2nd} notempty) and ({who_are_you} <> '{f}')"
    assert asked[5].choices == ("left", "other|Other (describe)")
    assert asked[6].visible_if == "{hand} = 'other'"
    assert (asked[3].title, asked[3].choices) == ("I felt bored", ("1|no",))
    assert [each.is_for(0.5) for each in asked] == [True] * 3 + [False] * 2 + [True] * 2
    assert bundle_fields(bundle / "instructions" / "none") == {}


def test_a_bundle_goes_by_its_name():
    for cells, expected in (
        ({}, "default"), ({"pregame": "mine", "init": 2}, "mine"), ({"init": 2}, "stalemate"),
        ({"init": 3}, "relational"), ({"init": 11}, "doubling"), ({"init": 7}, "default"),
    ):  # fmt: skip
        assert bundle_name(cells) == expected, cells


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "expected JSON"),
        ('{"title": "none"}', "expected a list of questions"),
        ('[{"type": "signaturepad", "name": "s"}]', "question 's': expected a type of radiogroup"),
        (
            '[{"type": "text", "name": "s", "visibleIf": "{age} ~ 1"}]',
            "question 's', visibleIf '{age} ~ 1': expected one of = <>",
        ),
    ],
)
def test_a_survey_that_cannot_be_asked_is_refused(tmp_path, text, message):
    path = tmp_path / "demographics.json"
    path.write_text(text)
    with pytest.raises(GnomonError, match=re.escape(message)):
        read_survey(path)
