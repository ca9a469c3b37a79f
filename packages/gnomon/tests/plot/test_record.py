"""SVG: the same bytes, whatever the user's settings; ids and colours fit for a page."""

import re
import xml.etree.ElementTree as ET

import matplotlib as mpl
import numpy as np

from gnomon.plot import Figure, cumulated_error_curves, new_drawing
from gnomon.plot.record import csv_text, inline_svg, theme_css
from gnomon.plot.style import THEME, svg_text

ERRORS = np.array([[3.0, 5.0], [2.0, 9.0], [4.0, 7.0]])


def test_the_same_drawing_gives_the_same_bytes_and_no_date():
    first = svg_text(cumulated_error_curves(ERRORS), "a")
    assert first == svg_text(cumulated_error_curves(ERRORS), "a")
    assert "<dc:date>" not in first
    assert "<metadata>" not in first
    ET.fromstring(first)


def test_how_the_user_saves_changes_nothing_and_stays_as_it_is():
    plain = svg_text(cumulated_error_curves(ERRORS), "a")
    mine = {"svg.fonttype": "path", "svg.hashsalt": "x", "savefig.facecolor": "red"}
    with mpl.rc_context(mine):
        before = dict(mpl.rcParams)
        assert svg_text(cumulated_error_curves(ERRORS), "a") == plain
        assert dict(mpl.rcParams) == before


def test_ids_of_two_inline_drawings_never_meet():
    svg = svg_text(cumulated_error_curves(ERRORS), "same")
    ids = [
        set(re.findall(r'\bid="([^"]+)"', inline_svg(svg, name, "words")))
        for name in ("one", "two")
    ]
    assert ids[0]
    assert not ids[0] & ids[1]


def test_references_inside_an_inline_drawing_still_point_somewhere():
    inline = inline_svg(svg_text(cumulated_error_curves(ERRORS), "a"), "one", "words")
    ids = set(re.findall(r'\bid="([^"]+)"', inline))
    references = re.findall(r'url\(#([^)]+)\)|xlink:href="#([^"]+)"', inline)
    assert references
    assert {a or b for a, b in references} <= ids


def test_colours_of_the_house_become_variables_with_two_values():
    inline = inline_svg(svg_text(cumulated_error_curves(ERRORS), "a"), "one", "words")
    for light, (name, dark) in THEME.items():
        assert light not in inline.lower()
        assert f"--{name}: {light};" in theme_css()
        assert f"--{name}: {dark};" in theme_css()
    assert "var(--ink)" in inline


def test_the_words_are_escaped():
    inline = inline_svg(svg_text(cumulated_error_curves(ERRORS), "a"), "one", "a < b & c")
    assert '<title id="one-alt">a &lt; b &amp; c</title>' in inline
    ET.fromstring(inline)


def test_a_figure_is_saved_as_svg_with_its_numbers_beside_it(tmp_path):
    rows = ({"rule": 'a,"b"', "tce": float("nan"), "n": 3, "high": float("inf")},)
    figure = Figure("fig", "t", "c", "a", cumulated_error_curves(ERRORS), rows)
    svg, numbers = figure.save(tmp_path / "new")
    assert svg.read_text().startswith("<?xml")
    assert numbers.read_text() == 'rule,tce,n,high\n"a,""b""",,3,inf\n'
    assert csv_text(()) == "\n"
    assert sorted(p.name for p in (tmp_path / "new").iterdir()) == ["fig.csv", "fig.svg"]


def test_a_name_that_no_xml_may_hold_is_shown_as_unknown_letters():
    drawing = new_drawing(2, 1)
    drawing.text(0.5, 0.5, "a\x1bb\ufffe")
    text = svg_text(drawing, "x")
    assert "a\ufffdb\ufffd" in text
    ET.fromstring(text)


def test_a_notebook_shows_a_drawing_without_pyplot():
    drawing = new_drawing(2, 1)
    assert drawing._repr_svg_() == svg_text(drawing, "drawing")
