import pytest

from gohr.errors import RuleSyntaxError
from gohr.rules.lexer import tokenize


def words(source: str) -> list[str]:
    return [token.text for token in tokenize(source)][:-1]


def test_no_blanks_are_needed_between_tokens() -> None:
    assert words("1(*,a)(b<=c)") == ["1", "(", "*", ",", "a", ")", "(", "b", "<=", "c", ")"]


def test_two_dots_are_one_token_and_one_dot_is_another() -> None:
    assert words("[1..3] last.color") == ["[", "1", "..", "3", "]", "last", ".", "color"]


def test_columns_count_from_one_and_the_end_stands_after_the_last_token() -> None:
    tokens = tokenize('  ab "c d" ')
    assert [(t.kind, t.column, t.end_column) for t in tokens] == [
        ("name", 3, 5),
        ("text", 6, 11),
        ("end", 11, 11),
    ]


def test_a_hash_begins_a_comment_but_not_inside_of_a_string() -> None:
    assert words('a "b#c" # d') == ["a", "b#c"]


def test_strings_have_no_escapes() -> None:
    assert words(r'"a\" b') == ["a\\", "b"]


@pytest.mark.parametrize("name", ["é", "$x_1", "_", "€uro", "x٣", "naïve", "Ⅷ", "a\u200bb"])
def test_identifiers_are_those_of_java(name: str) -> None:
    assert words(name) == [name]


@pytest.mark.parametrize("text", ["²", "½", "\u0301a", "\u200b", "\x00", "☃"])
def test_what_begins_no_identifier(text: str) -> None:
    with pytest.raises(RuleSyntaxError, match="line 1, column 1: expected a name"):
        tokenize(text)


def test_leading_zeros_are_dropped() -> None:
    assert words("007 0 000") == ["7", "0", "0"]


def test_numbers_have_32_bits() -> None:
    assert words("2147483647") == ["2147483647"]
    with pytest.raises(RuleSyntaxError, match="at most 2147483647, found a larger one"):
        tokenize("2147483648")


def test_a_number_of_a_million_digits_is_refused_at_once() -> None:
    with pytest.raises(RuleSyntaxError, match="larger one"):
        tokenize("9" * 10**6)


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("\ufeff(", "byte-order mark"),
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
        tokenize(text)


def test_an_unterminated_string_is_reported_where_it_begins() -> None:
    with pytest.raises(RuleSyntaxError, match=r"column 3: expected a closing '\"'"):
        tokenize('a "b c')
