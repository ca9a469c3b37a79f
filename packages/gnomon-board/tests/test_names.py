"""Names and texts of strangers: shown as they are, and never deceiving."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon_board.accounts import clean_link, clean_name, clean_text, name_key
from gnomon_board.errors import Refusal


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        ("  two   words ", "two words"),
        ("e\u0301tude", "\u00e9tude"),  # NFC
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),  # text, escaped when shown
        ("強化学習", "強化学習"),
        ("a" * 64, "a" * 64),
    ],
)
def test_names_in_their_normal_form(given_, expected):
    assert clean_name(given_) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("", "expected 1 to 64 letters, found 0"),
        (" \t ", "expected 1 to 64 letters, found 0"),
        ("a" * 65, "expected 1 to 64 letters, found 65"),
        ("evil\u202etxt.exe", r"found U\+202E"),  # turns the direction of writing
        ("zero\u200bwidth", r"found U\+200B"),
        ("nul\x00", r"found U\+0000"),
        ("bell\x07", r"found U\+0007"),
        ("\ud800", r"found U\+D800"),
        ("\ue000", r"found U\+E000"),
        ("...", "expected at least one letter or digit"),
        ("blank\u3164", r"found U\+3164"),  # a letter, says Unicode, and shows nothing
        ("blank\u2800", r"found U\+2800"),
        ("Z" + 5 * "\u0335", "expected at most 4 marks on a letter"),
    ],
)
def test_names_that_are_refused(name, expected):
    with pytest.raises(Refusal, match=expected):
        clean_name(name)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Q-Learning", "q learning"),
        ("DQN", "ＤＱＮ"),
        ("paypal", "раураl"),  # Cyrillic
        ("naïve", "naive"),
        ("lO", "10"),
        ("Straße", "STRASSE"),
    ],
)
def test_names_that_a_reader_would_take_for_the_same(one, other):
    assert name_key(clean_name(one)) == name_key(clean_name(other))


@pytest.mark.parametrize(("one", "other"), [("dqn-2", "dqn-3"), ("a", "b"), ("強化", "学習")])
def test_names_that_differ(one, other):
    assert name_key(one) != name_key(other)


@given(st.text())
def test_whatever_passes_can_be_kept_and_shown(text):
    for clean in (clean_name, clean_text):
        with suppress(Refusal):
            cleaned = clean(text)
            cleaned.encode()  # no half of a letter
            assert "\x00" not in cleaned
            assert clean(cleaned) == cleaned


@pytest.mark.parametrize(
    "link",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "data:text/html,<script>alert(1)</script>",
        "file:///etc/passwd",
        "//evil.org",
        "http://",
        "http:evil.org",
        "https://user@evil.org/",
        'https://evil.org/"onmouseover="alert(1)',
        "https://evil.org/<script>",
        "https://evil.org/a b",
        "https://evil.org/\u202e",
        "http://[::1",
        "https://example.org/" + "x" * 500,
    ],
)
def test_links_that_are_refused(link):
    with pytest.raises(Refusal, match="link: expected"):
        clean_link(link)


@pytest.mark.parametrize("link", ["", "http://example.org", "https://example.org:8443/a?b=c#d"])
def test_links_that_pass(link):
    assert clean_link(f" {link} ") == link
