"""Names and texts of strangers: shown as they are, and never deceiving."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from gnomon_board import token_for
from gnomon_board.errors import Refusal
from gnomon_board.schema import Account


def names_of(database, *asked):
    """Return the names of all accounts, after tokens for some."""
    for name in asked:
        token_for(database, name, ["submit"])
    with database.reading() as session:
        return list(session.scalars(select(Account.name).order_by(Account.id)))


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
def test_names_in_their_normal_form(database, given_, expected):
    assert names_of(database, given_) == [expected]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("", "expected 1 to 64 characters, found 0"),
        (" \t ", "expected 1 to 64 characters, found 0"),
        ("a" * 65, "expected 1 to 64 characters, found 65"),
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
def test_names_that_are_refused(database, name, expected):
    with pytest.raises(Refusal, match=expected):
        names_of(database, name)


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
def test_names_that_a_reader_would_take_for_the_same(database, one, other):
    assert names_of(database, one, other) == [one]


@pytest.mark.parametrize(("one", "other"), [("dqn-2", "dqn-3"), ("a", "b"), ("強化", "学習")])
def test_names_that_differ(database, one, other):
    assert names_of(database, one, other) == [one, other]


@settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(text=st.text())
def test_whatever_passes_can_be_kept_and_shown(database, text):
    with suppress(Refusal):
        names = names_of(database, text)
        assert all(name.encode() and "\x00" not in name for name in names)
        assert names_of(database, *names[-3:]) == names
