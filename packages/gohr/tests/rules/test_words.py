import pytest
from hypothesis import given

import strategies_rules as rules
from gohr.rules import RuleSet, available_rules, explain, load_rule, parse


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(*,*,*,*,*)", "Any piece may go to any bucket."),
        ("(*,*,*,*,this.bucket)", "Any piece may go to any bucket."),
        ("(*,*,red,*,5)", "Any red piece may go to bucket 1."),
        (
            "(*,[star,circle],[red,blue],*,[3,0])",
            "A red or blue star or circle may go to bucket 0 or 3.",
        ),
        (
            "(2,*,*,[1,T,Mine],Nearby)",
            "Twice, any piece in cell 1, in the highest row that has a piece or first in the "
            "order Mine may go to the nearest bucket.",
        ),
        (
            "3 (*,star,*,*,0) (*,*,*,*,1)",
            "3 times in all, any of these:\n  - a star may go to bucket 0;\n  - any piece "
            "may go to bucket 1.",
        ),
        (
            "(*,*,*,*,pc+1)",
            "Any piece may go to the bucket clockwise from the last bucket used for its colour.",
        ),
        (
            "(*,*,*,*,p-1)",
            "Any piece may go to the bucket counterclockwise from the last bucket used.",
        ),
        ("(*,*,*,*,p+[1,2,3])", "Any piece may go to any bucket but the last bucket used."),
        (
            "(*,*,*,*,Nearby+[0,1])",
            "Any piece may go to the nearest bucket or the bucket clockwise from the nearest "
            "bucket.",
        ),
        (
            "(*,*,*,*,[p, !p*[0,1,2,3]])",
            "Any piece may go to the last bucket used or any bucket as long as nothing has "
            "been accepted.",
        ),
        (
            "(*,*,*,*,last.pos)",
            "Any piece may go to the bucket numbered the cell of the last piece accepted, "
            "modulo 4.",
        ),
        (
            "(color:last.color, bucket:2)",
            "Any piece of the colour of the last piece accepted may go to bucket 2.",
        ),
        ("(code:!q.bucket)", "Any piece may go to any bucket, if nothing has gone to that bucket."),
        (
            '(code:this.color!="RED")',
            "Any piece may go to any bucket, if the colour of the piece differs from red.",
        ),
        ('(*,"Star",*,*,0)', "A star may go to bucket 0."),
        (
            "(size:[1..3], kind:[a,B], postpos:L)",
            "Any piece of size 1 to 3 and of kind a or B, and among these in the leftmost "
            "column that has a piece, may go to any bucket.",
        ),
    ],
)
def test_rules_in_words(text: str, words: str) -> None:
    assert explain(parse(text)) == words


def test_lines_are_numbered_and_orders_spelt_out() -> None:
    assert explain(parse("Order X=[1,[2,3],_]\n(*,*,*,X,0)\n(1,*,*,*,1)")).splitlines() == [
        "Order X: cell 1, then 2 and 3, then all others.",
        "Line 1: any piece first in the order X may go to bucket 0.",
        "Line 2: once, any piece may go to bucket 1.",
        "When a line has accepted all that it may, or accepts none of the pieces left, "
        "the next one follows, and after the last the first.",
    ]


def test_orders_of_no_cell_and_of_all_cells() -> None:
    cells = ",".join(map(str, range(1, 37)))
    words = explain(parse(f"Order X=[_]\nOrder Y=[[{cells}]]\n(*,*,*,[X,Y],0)")).splitlines()
    assert words[0] == "Order X: all cells at once."
    assert words[1].endswith("35 and 36.")


def test_the_library_in_words() -> None:
    for name in available_rules():
        words = explain(load_rule(name))
        assert "unknown" not in words, name
        assert words.endswith("."), name


@given(rules.rule_sets(properties=True, may_fail=True))
def test_any_rule_has_words(rule_set: RuleSet) -> None:
    words = explain(rule_set)
    assert "  -  " not in words
    assert len(words.splitlines()) >= len(rule_set.lines)
