"""Rule templates of the reference system: names that begin with X stand for random values.

Each occurrence is drawn by itself: ``(X,STAR,*,X,[X])``. From which values, a parameter file says
by the name or by the field in which it stands; else shapes, colours, orders and buckets are drawn
from those that there are. To tie two places to each other, write a template of Gnomon's own
(:mod:`gnomon.rules.templates`).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from gnomon.errors import GnomonError
from gnomon.rules.lexer import Token, tokenize
from gnomon.rules.orders import BUILT_IN_ORDERS
from gnomon.rules.parser import parse
from gnomon.rules.syntax import RuleSet
from gnomon.rules.templates import Draws, GeneratedRule

#: What a field is drawn from if the parameters do not say it; there is nothing for counts.
_BUILT_IN: Mapping[str, tuple[str, ...]] = {
    "shape": ("SQUARE", "STAR", "CIRCLE", "TRIANGLE"),
    "color": ("RED", "BLACK", "BLUE", "YELLOW"),
    "pos": tuple(BUILT_IN_ORDERS),
    "postpos": tuple(BUILT_IN_ORDERS),
    "bucket": ("0", "1", "2", "3"),
}
_FIELDS = ("count", "shape", "color", "pos", "bucket")
_RANGE = re.compile(r"\[\s*(-?\d+)\s*\.\.\s*(-?\d+)\s*\]")
#: Candidates for each rule that is wanted, as in the reference system.
_CANDIDATES = 10


def read_value_sets(text: str) -> dict[str, tuple[str, ...]]:
    r"""Read which values a variable or a field is drawn from.

    Parameters
    ----------
    text : str
        A CSV file without a header, a line each: a name and ``5``, ``Triangle``, ``"(1,3,5)"``,
        ``"(Red,Pink)"`` or ``"[2..6]"``. Lines that begin with ``#`` are passed over.

    Raises
    ------
    GnomonError
        A line has not two fields, a set is empty, or a name stands twice.

    Examples
    --------
    >>> read_value_sets('Xn,"[1..3]"\nbucket,"(0,2)"')
    {'Xn': ('1', '2', '3'), 'bucket': ('0', '2')}
    """
    found: dict[str, tuple[str, ...]] = {}
    for number, cells in enumerate(csv.reader(io.StringIO(text)), 1):
        if not cells or cells[0].lstrip().startswith("#"):
            continue
        if len(cells) != 2:
            raise GnomonError(
                f"line {number}: expected a name and a set, found {len(cells)} fields"
            )
        name, values = cells[0].strip(), _values(cells[1].strip())
        if not values or name in found:
            wrong = f"an empty set {cells[1]!r}" if not values else "it again"
            raise GnomonError(f"line {number}: expected values of {name!r}, once; found {wrong}")
        found[name] = values
    return found


def _values(text: str) -> tuple[str, ...]:
    if match := _RANGE.fullmatch(text):
        low, high = map(int, match.groups())
        return tuple(map(str, range(low, high + 1)))
    bare = text[1:-1] if text.startswith("(") and text.endswith(")") else text
    return tuple(value.strip() for value in bare.split(",") if value.strip())


def draw_rules(
    template: str,
    n: int,
    *,
    rng: Draws,
    value_sets: Mapping[str, Sequence[str]] | None = None,
    accepts: Callable[[RuleSet], bool] = lambda _: True,
    name: str = "rule",
) -> list[GeneratedRule]:
    r"""Draw rules from a template of the reference system.

    Parameters
    ----------
    template : str
        A rule text in which names that begin with X stand for random values.
    n : int
        How many rules.
    rng : numpy.random.Generator
    value_sets : mapping from name or field to sequence of str, optional
        As of :func:`read_value_sets`.
    accepts : callable, optional
        Whether to keep a candidate, such as one that does not get stuck. Of equal ones the first
        is kept.
    name : str, optional
        Rules are called ``NAME-1``, ``NAME-2``, ...

    Returns
    -------
    list of GeneratedRule
        With the values in the order of the places, as ``X``, ``X#2``, ...

    Raises
    ------
    GnomonError
        Nothing is to be drawn, there are no values for a place, or 10 n candidates do not give n
        rules.
    RuleSyntaxError
        A text does not parse.

    References
    ----------
    The reference system's ``AutomaticRuleGenerator``, as described in its documentation; its rules
    may be equal, and it does not record what was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> sets = read_value_sets('Xn,"[1..3]"\nXb,"(0,2)"')
    >>> text = "(Xn,STAR,*,X,[X]) (*,*,*,*,[Xb])"
    >>> [rule] = draw_rules(text, 1, rng=np.random.default_rng(0), value_sets=sets)
    >>> rule.text
    '(3,STAR,*,L3,[2]) (*,*,*,*,[0])'
    """
    places = list(_places(template))
    if not places:
        raise GnomonError("expected names that begin with X in the template, found none")
    sets = value_sets or {}
    options = [tuple(_options(token.text, field, sets)) for _, token, field in places]
    kept: dict[RuleSet, GeneratedRule] = {}
    for _ in range(_CANDIDATES * n):
        drawn = [values[rng.integers(len(values))] for values in options]
        text = _filled(template, places, drawn)
        rule_set = parse(text)
        if rule_set not in kept and accepts(rule_set):
            values = _named([token.text for _, token, _ in places], drawn)
            kept[rule_set] = GeneratedRule(f"{name}-{len(kept) + 1}", text, values)
        if len(kept) == n:
            return list(kept.values())
    raise GnomonError(
        f"expected {n} rules of {_CANDIDATES * n} candidates, found {len(kept)}: the others get "
        "stuck, or are equal to one of these"
    )


def _places(template: str) -> Iterator[tuple[int, Token, str]]:
    """Yield the line, the token and the field of each random value."""
    for number, line in enumerate(template.split("\n")):
        depth, index, key = 0, 0, None
        tokens = tokenize(line, number + 1)
        if tokens[0].text.lower() == "order":
            continue
        for token, following in zip(tokens, [*tokens[1:], tokens[-1]], strict=True):
            if token.kind == "name" and depth == 1 and following.text == ":":
                key = token.text
            elif token.kind == "name" and token.text.startswith("X"):
                place = _FIELDS[min(index, 4)] if depth else "count"
                yield number, token, key or place
            elif token.kind == "symbol":
                if depth == 1 and token.text == ",":
                    index, key = index + 1, None
                if depth == 0 and token.text == "(":
                    index, key = 0, None
                depth += (token.text in "([") - (token.text in ")]")


def _options(name: str, field: str, sets: Mapping[str, Sequence[str]]) -> Sequence[str]:
    for key in (name, field):
        if key in sets:
            return sets[key]
    if field in _BUILT_IN:
        return _BUILT_IN[field]
    raise GnomonError(
        f"expected values of {name!r} in the parameters, or of its field {field!r}; found none"
    )


def _filled(template: str, places: list[tuple[int, Token, str]], drawn: list[str]) -> str:
    lines = template.split("\n")
    # From behind, so that columns stay.
    for (number, token, _), value in list(zip(places, drawn, strict=True))[::-1]:
        line = lines[number]
        lines[number] = line[: token.column - 1] + value + line[token.end_column - 1 :]
    return "\n".join(lines)


def _named(names: list[str], drawn: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in zip(names, drawn, strict=True):
        same = sum(key.partition("#")[0] == name for key in found)
        found[f"{name}#{same + 1}" if same else name] = value
    return found
