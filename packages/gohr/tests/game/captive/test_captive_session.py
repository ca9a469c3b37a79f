"""The protocol, a line at a time; where the reference dies, and where nothing was recorded."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from captive_play import CLOCKWISE, session_of, started
from gnomon.errors import GnomonError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cw.txt").write_text(CLOCKWISE)
    two = [
        {"id": 0, "color": "RED", "shape": "STAR", "x": 1, "y": 6},
        {"id": 7, "color": "BLUE", "shape": "SQUARE", "x": 6, "y": 1},
    ]
    (tmp_path / "b.json").write_text(json.dumps({"value": two}))
    return tmp_path


# -- where the reference dies ---------------------------------------------------------------------


def test_bad_bucket_row(folder):
    """Transcript 05: if the piece is movable the reference dies; here it is a bad argument."""
    session = started("cw.txt", "b.json", "output=STANDARD")
    said = session.answer("MOVE 6 1 5 0")
    assert said[:2] == ["-2 0 0", "# Invalid input: bucket row=5 is not 0 or 7"]
    assert len(said) == 3
    assert session.answer("MOVE 6 1 0 5")[:2] == [
        "-2 0 0",
        "# Invalid input: bucket column=5 is not 0 or 7",
    ]
    assert session.answer("MOVE 6 1 7 0")[0] == "0 0 1"


def test_bad_bucket_row_of_an_immovable_piece_is_an_attempt(folder):
    (folder / "red.txt").write_text("(*,*,red,*,*)")
    session = started("red.txt", "b.json", "output=BRIEF")
    assert session.answer("MOVE 1 6 5 0") == ["7 0 1", "# null"]


def test_cond_test_without_conditions(folder):
    """Transcript 06."""
    session = started("cw.txt", "b.json", "output=BRIEF")
    said = session.answer("COND test")
    assert said[0] == "-2 0 0"
    assert said[1:] == [
        "# COND test needs conditions: begin with condTrain= or condTest=",
        "# OK, cond=train",
    ]
    assert session.answer("EXIT") == ["5 0 0", "# Goodbye"]


def test_cond_with_conditions(folder):
    (folder / "cond.txt").write_text("(pos:36)\n")
    session = started("cw.txt", "1", "output=BRIEF", "condTrain=cond.txt", "seed=4")
    assert session.answer("COND") == ["# OK, cond=train"]
    assert session.answer("cond TEST") == ["# OK, cond=test"]
    for _ in range(5):
        assert '"x":6,"y":6' in session.answer("NEW")[2]
    assert session.answer("COND train") == ["# OK, cond=train"]
    for _ in range(5):
        assert '"x":6,"y":6' not in session.answer("NEW")[2]
    session = started("cw.txt", "1", "condTest=cond.txt")
    assert session.answer("COND") == ["# OK, cond=test"]


def test_unknown_order_refuses_at_the_start(folder):
    """Transcript 07."""
    (folder / "order.txt").write_text("(*,*,*,Fart,*)")
    with pytest.raises(GnomonError, match="unknown order 'Fart'; did you mean 'Farthest'"):
        started("order.txt", "b.json")


def test_zero_counters_at_a_stalemate(folder):
    """Transcript 08."""
    (folder / "zero.txt").write_text("(0,*,*,*,*)")
    session = session_of("zero.txt", "3", "output=BRIEF", "reveal=true")
    start = session.start()
    assert start[0] == "2 2 0"
    assert [p["buckets"] for p in json.loads(start[2])["value"]] == [[], [], []]
    assert session.answer("MOVE 0 0")[0] == "-4 2 0"
    assert session.answer("NEW")[0] == "2 2 0"


def test_a_board_that_cannot_be_drawn_is_an_answer(folder):
    """More colours than pieces: the reference dies when such a board comes."""
    session = session_of("cw.txt", "2:4", "0", "3", "seed=23", "output=STANDARD")
    session.start()
    said = [session.answer("NEW") for _ in range(20)]
    failed = [lines for lines in said if lines[0].startswith("-5")]
    assert 0 < len(failed) < 20
    assert failed[0] == ["-5 0 0", "# expected 3 different shapes or colors on 2 pieces"]
    while session.answer("NEW")[0] != "-5 0 0":
        pass
    assert session.answer("MOVE 0 0")[0] == "-4 0 0"
    assert session.answer("DISPLAY") == ['{"id":0,"value":[]}']


# -- the rest --------------------------------------------------------------------------------------


def test_modes_and_pictures(folder):
    session = started("cw.txt", "b.json", "output=STANDARD")
    assert len(session.answer("DISPLAY")) == 1
    assert len(session.answer("displayfull")) == 10
    assert session.answer("mode full") == ["# OK, mode=FULL"]
    assert len(session.answer("MOVE 6 1 7 0")) == 12
    assert session.answer("MODE BRIEF") == ["# OK, mode=BRIEF"]
    assert len(session.answer("MOVE 7 0")) == 2
    assert session.answer("MODE STANDARD") == ["# OK, mode=STANDARD"]
    assert session.answer("MOVE 7 1")[1] == "# Game cleared - the board is clear"


def test_moves_that_are_no_moves(folder):
    session = started("cw.txt", "b.json", "output=STANDARD")
    # Range checks show the board; what cannot be read does not.
    for line in ("MOVE 0 1 7 7", "MOVE 1 0 7 7", "MOVE 7 6 0 0", "MOVE 0 4", "MOVE 999999999 9"):
        assert (session.answer(line)[0], len(session.answer(line))) == ("-2 0 0", 3), line
    for line in ("MOVE 1 x", 'MOVE "1" 2', "MOVE 1 2 3 4 5", "MOVE 0 -1", "MOVE [0] 1"):
        assert (session.answer(line)[0], len(session.answer(line))) == ("-2 0 0", 2), line
    assert session.answer("MOVE 0 1 # because")[0] == "0 0 1"
    assert session.answer("MOVE 99999999999 1")[0] == "-1 0 1"


def test_the_same_seed_gives_the_same_games(folder):
    def games(seed):
        session = session_of("cw.txt", "9", f"seed={seed}", "output=BRIEF")
        return [session.start(), *(session.answer("NEW") for _ in range(3))]

    assert games(7) == games(7)
    assert games(7) != games(8)
    assert games(0) != games(0), "seed 0 is that of the moment"


@settings(max_examples=200)
@given(
    st.lists(
        st.one_of(
            st.text(max_size=30),
            st.sampled_from(["NEW", "DISPLAY", "COND test", "MODE FULL", "FEATURES", "HELP"]),
            st.lists(st.integers(-9, 99), max_size=5).map(
                lambda n: "MOVE " + " ".join(map(str, n))
            ),
            st.tuples(st.integers(0, 3), st.integers(0, 3)).map(lambda n: "MOVE {} {}".format(*n)),
        ),
        max_size=20,
    )
)
def test_any_line_has_an_answer(lines):
    session = started("red-and-star", "2:4", "seed=5", "output=STANDARD")
    for line in lines:
        said = session.answer(line)
        assert said or not line.strip()
        assert all("\n" not in each for each in said)
    assert session.answer("EXIT")[-1] == "# Goodbye"
