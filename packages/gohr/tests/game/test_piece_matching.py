import pytest

from gohr.game import Piece
from gohr.game.piece_matching import has_color, has_property, has_shape
from gohr.rules import Atom, parse
from gohr.rules.expressions import Values

STAR = Piece(0, 1, "STAR", "RED")
CAT = Piece(0, 1, properties={"kind": "cat", "size": "010", "color": "Red"})


def atom(text: str) -> Atom:
    return parse(text).lines[0].atoms[0]


def scope(name: str) -> Values:
    return frozenset({"RED", "cat", 10} if name == "memory" else ())


@pytest.mark.parametrize(
    ("color", "expected"),
    [
        ("red", True),
        ('"rEd"', True),
        ("[blue,Red]", True),
        ("[RED,3]", True),
        ("[red,3]", False),
        ("!memory", False),
        ("[memory]", False),  # a list of one name is a list of names
        ("[!p,memory]", True),
        ('[!p,"red"]', False),
        ("blue", False),
    ],
)
def test_a_piece_of_shape_and_colour(color: str, expected: bool) -> None:
    assert has_color(STAR, atom(f"(color:{color})").color, scope) is expected


def test_no_condition_is_always_met() -> None:
    assert has_shape(STAR, None, scope)
    assert has_shape(CAT, None, scope)


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        ("kind:cat", True),
        ("kind:Cat", False),
        ('kind:"*"', True),
        ('other:"*"', False),
        ("kind:[dog,cat]", True),
        ("kind:[!p,memory]", True),
        ("kind:memory", False),  # a single name is a name
        ("size:[1..10]", True),
        ("size:[11..12]", False),
        ("kind:[0..9]", False),
        ("size:[!p,memory]", False),  # 10 is not spelt 010
        ('size:"010"', True),
        ("size:10", False),
    ],
)
def test_a_piece_with_properties(clause: str, expected: bool) -> None:
    (each,) = atom(f"({clause})").properties
    assert has_property(CAT, each, scope) is expected


def test_shape_and_colour_of_a_piece_with_properties_keep_their_case() -> None:
    assert has_color(CAT, atom("(color:Red)").color, scope)
    assert not has_color(CAT, atom("(color:red)").color, scope)
    assert not has_shape(CAT, atom("(shape:star)").shape, scope)
