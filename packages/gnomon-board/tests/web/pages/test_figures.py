"""Figures of pages: an image in the page that shows what it is named for."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest


def figures(page):
    """Return the texts in each figure of a page, with its words."""
    found = re.findall(r'<img src="data:image/svg\+xml,([^"]+)" alt="([^"]+)">', page)
    drawn = [(ElementTree.fromstring(unquote(unescape(svg))), alt) for svg, alt in found]
    return [(" ".join("".join(svg.itertext()).split()), alt) for svg, alt in drawn]


def test_a_learner_has_its_curves_and_its_profile(lively):
    curves, profile = figures(lively.get("/entries/3").text)
    assert curves[1] == "Errors so far, episode by episode, on each rule"
    for rule in ("clockwise", "color-match", "top-and-bottom", "red-first"):
        assert rule in curves[0]
    assert "Q-table" in profile[0]
    assert "Never twice" in profile[0]


def test_a_rule_has_every_trial(lively):
    ((texts, alt),) = figures(lively.get("/seasons/spring-2026/rules/clockwise").text)
    assert alt == "Errors of every trial of each learner"
    assert "Q-table" in texts


@pytest.mark.parametrize("path", ["/entries/7", "/seasons/autumn-2026"])
def test_without_trials_or_curves_there_is_no_figure(lively, path):
    assert figures(lively.get(path).text) == []
