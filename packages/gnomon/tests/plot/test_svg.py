"""SVG: the same bytes, whatever the user's settings; ids and colours fit for a page."""

import re
import xml.etree.ElementTree as ET

import matplotlib as mpl

import gnomon as gn
from gnomon.plot import Figure
from gnomon.plot.style import new_drawing, series_style
from gnomon.reports import Report, Section

TABLE = gn.ScoreTable.from_arrays({"a": [[3, 5], [2, 9]], "b": [[4, 7], [5, 8]]})


def panels():
    return gn.profile(TABLE, n_resamples=25).plot()


def figure(name="one", alt="words", drawing=None):
    return Figure(name, "t", "c", alt, drawing or panels(), ())


def test_the_same_drawing_gives_the_same_bytes_and_no_date():
    first = figure("a").svg
    assert first == figure("a").svg
    assert "<dc:date>" not in first
    assert "<metadata>" not in first
    ET.fromstring(first)


def test_how_the_user_saves_changes_nothing_and_stays_as_it_is():
    plain = figure("a").svg
    mine = {"svg.fonttype": "path", "svg.hashsalt": "x", "savefig.facecolor": "red"}
    with mpl.rc_context(mine):
        before = dict(mpl.rcParams)
        assert figure("a").svg == plain
        assert dict(mpl.rcParams) == before


def test_ids_of_two_inline_drawings_never_meet():
    drawing = panels()
    ids = [
        set(re.findall(r'\bid="([^"]+)"', figure(name, drawing=drawing).html()))
        for name in ("one", "two")
    ]
    assert ids[0]
    assert not ids[0] & ids[1]


def test_references_inside_an_inline_drawing_still_point_somewhere():
    inline = figure().html()
    ids = set(re.findall(r'\bid="([^"]+)"', inline))
    references = re.findall(r'url\(#([^)]+)\)|xlink:href="#([^"]+)"', inline)
    assert references
    assert {a or b for a, b in references} <= ids


def test_colours_of_the_house_become_variables_with_two_values(tmp_path):
    inline = figure().html()
    report = Report("t", "", (), (Section("s", "S", figures=(figure(),)),))
    page = report.save(tmp_path / "page.html").read_text("utf-8")
    used = {*re.findall(r"var\(--([\w-]+)\)", inline)}
    assert "ink" in used
    assert series_style(0).color not in inline.lower()
    for name in used:
        assert page.count(f"--{name}: #") == 2  # on light and on dark paper


def test_the_words_are_escaped():
    inline = figure(alt="a < b & c").html()
    assert '<title id="one-alt">a &lt; b &amp; c</title>' in inline
    ET.fromstring(inline)


def test_the_files_are_the_svg_and_its_numbers():
    rows = ({"rule": 'a,"b"', "tce": float("nan"), "n": 3, "high": float("inf")},)
    files = Figure("fig", "t", "c", "a", panels(), rows).files()
    assert sorted(files) == ["fig.csv", "fig.svg"]
    assert files["fig.svg"].startswith(b"<?xml")
    assert files["fig.csv"] == b'rule,tce,n,high\n"a,""b""",,3,inf\n'


def test_a_name_that_no_xml_may_hold_is_shown_as_unknown_letters():
    drawing = new_drawing(2, 1)
    drawing.text(0.5, 0.5, "a\x1bb\ufffe")
    text = figure(drawing=drawing).svg
    assert "a\ufffdb\ufffd" in text
    ET.fromstring(text)


def test_a_notebook_shows_a_drawing_without_pyplot():
    drawing = new_drawing(2, 1)
    assert drawing._repr_svg_() == figure("drawing", drawing=drawing).svg
