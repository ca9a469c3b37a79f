"""Words and signs of a rule text."""

import pytest

from gohr.errors import RuleSyntaxError
from gohr.rules import parse
from gohr.rules.syntax import Number, Span, Text


def shape(text: str) -> list:
    """Return the items of a condition on shape."""
    return list(parse(f"(shape:[{text}])").lines[0].atoms[0].shape.items)


def test_no_blanks_are_needed_between_tokens() -> None:
    assert parse("1(*,a,*,*,0)(code:b<=c)") == parse(" 1 ( * , a , * , * , 0 ) ( code : b <= c ) ")


def test_columns_count_from_one_and_the_last_is_the_one_behind() -> None:
    assert [each.span for each in shape('  ab,"c d" ')] == [Span(1, 11, 13), Span(1, 14, 19)]


def test_a_hash_begins_a_comment_but_not_inside_of_a_string() -> None:
    assert parse('(shape:"b#c") # d') == parse('(shape:"b#c")')
    assert shape('"b#c"') == [Text("b#c")]


def test_strings_have_no_escapes() -> None:
    assert shape('"a\\",b')[0] == Text("a\\")


@pytest.mark.parametrize("name", ["é", "$x_1", "_", "€uro", "x٣", "naïve", "Ⅷ", "a\u200bb"])
def test_identifiers_are_those_of_java(name: str) -> None:
    assert [each.parts for each in shape(name)] == [(name,)]


@pytest.mark.parametrize("text", ["²", "½", "\u0301a", "\u200b", "\x00", "☃"])
def test_what_begins_no_identifier(text: str) -> None:
    with pytest.raises(RuleSyntaxError, match="line 1, column 2: expected a name"):
        parse(f"({text}")


def test_numbers_have_32_bits_and_leading_zeros_are_dropped() -> None:
    assert shape("007,0,000,2147483647") == [*map(Number, (7, 0, 0, 2147483647))]
    for larger in ("2147483648", "9" * 10**6):
        with pytest.raises(RuleSyntaxError, match="at most 2147483647, found a larger one"):
            parse(f"(*,{larger},*,*,*)")


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("(\ufeff", "byte-order mark"),
        ("a\xa0b", "no-break space"),
        ("{1}", "written in brackets"),
        ("a|b", "alternatives are a list"),
        ("a&b", "hold together already"),
        ("a;b", "separated by commas"),
        ("'a'", 'quoted by "'),
        ("“a”", "not by a typographic one"),
    ],
)
def test_known_mistakes_come_with_a_remedy(text: str, remedy: str) -> None:
    with pytest.raises(RuleSyntaxError, match=remedy):
        parse(text)


def test_an_unterminated_string_is_reported_where_it_begins() -> None:
    with pytest.raises(RuleSyntaxError, match=r"column 3: expected a closing '\"'"):
        parse('a "b c')
