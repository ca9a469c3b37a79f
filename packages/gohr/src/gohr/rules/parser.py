"""The parser: recursive descent from a rule text to its tree, one method a rule of the grammar.

.. code-block:: text

    file      := { blank | comment | orderLine } ruleLine { blank | comment | ruleLine }
    orderLine := 'Order' ID '=' list
    ruleLine  := [ '*' | NUMBER ] atom { atom }
    atom      := '(' ')' | '(' argument { ',' argument } ')'
    argument  := '*' | ID ':' ( range | expr ) | expr
    range     := '[' NUMBER '..' NUMBER ']'
    expr      := sum [ ('=='|'!='|'<'|'<='|'>'|'>=') sum ]
    sum       := product { ('+'|'-') product }
    product   := negation { ('*'|'/'|'%') negation }
    negation  := '!' negation | primary
    primary   := ID { '.' ID } | STRING | NUMBER | '-' NUMBER | '(' expr ')' | list
    list      := '[' expr { ',' expr } ']'

The fields of an atom are checked in :mod:`gohr.rules.fields`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NoReturn, TypeVar, cast

from gnomon.errors import check_type
from gohr.errors import RuleSyntaxError
from gohr.rules.fields import Argument, FieldError, build_atom, order_ranks
from gohr.rules.lexer import Token, tokenize
from gohr.rules.syntax import (
    ArithmeticOperator,
    Atom,
    Binary,
    ComparisonOperator,
    Expression,
    ListOf,
    Name,
    Not,
    Number,
    Order,
    Range,
    RuleLine,
    RuleSet,
    Span,
    Text,
)

#: How deeply an expression may nest; each operator of a chain does it once, ``1+1+1`` being
#: ``(1+1)+1``. A hundred is more than any rule needs, and bounds the recursion in the tree.
MAX_NESTING = 100
#: Maximum number of open brackets. Python's own stack is the reason why it is lower.
_MAX_OPEN = 40

_NO_CONDITION = "write * for a field without condition"

T = TypeVar("T")

_COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
_TRIMMED = "".join(map(chr, range(33)))


@lru_cache(maxsize=512)  # an experiment, a board and a study read the same texts again and again
def parse(text: str) -> RuleSet:
    r"""Read a rule text.

    Parameters
    ----------
    text : str
        Lines of rules, custom orders, comments (``#``) and blank lines.

    Returns
    -------
    RuleSet
        ``parse(str(rule_set)) == rule_set`` for every rule set that comes back.

    Raises
    ------
    RuleSyntaxError
        With line and column (from 1), the expected and the found text and, for common mistakes, the
        remedy. Nothing else is ever raised for a text, however broken. Numbers beyond 32 bits,
        and expressions nested more deeply than `MAX_NESTING`, are syntax errors too, unlike in the
        reference.

    Notes
    -----
    Time is linear in the length of the text. Undefined names are not syntax errors; see
    :func:`gohr.rules.linter.lint`.

    Examples
    --------
    >>> rule_set = parse("# the next bucket, clockwise\n(1,*,*,*,[0,1,2,3])\n(*,*,*,*,p+1)")
    >>> rule_set.lines[1].atoms[0].buckets
    Binary(operator='+', left=Name(parts=('p',)), right=Number(value=1))
    >>> print(rule_set, end="")
    # the next bucket, clockwise
    (1, *, *, *, [0,1,2,3])
    (*, *, *, *, p+1)
    """
    check_type("text", text, str, "the text of a rule")
    description: list[str] = []
    orders: list[Order] = []
    lines: list[RuleLine] = []
    sources = text.split("\n")
    for number, source in enumerate(sources, start=1):
        meaningful = source.strip(_TRIMMED)
        if not meaningful or meaningful.startswith("#"):
            if meaningful and not orders and not lines:
                description.append(meaningful[1:].strip())
            continue
        parser = _LineParser(_trim(source), number)
        if not lines and parser.begins_order():
            orders.append(parser.order())
        else:
            lines.append(parser.rule_line())
    if not lines:
        raise RuleSyntaxError(
            "expected at least one rule line, such as (*,*,*,*,0), found none",
            len(sources),
            len(sources[-1]) + 1,
            sources[-1],
        )
    return RuleSet(tuple(lines), tuple(orders), tuple(description))


def _trim(source: str) -> str:
    """Blank the control characters at both ends, which do not count, and keep the columns."""
    end = len(source.rstrip(_TRIMMED))
    start = len(source) - len(source.lstrip(_TRIMMED))
    blanks = "".join("\t" if c == "\t" else " " for c in source[:start])
    return blanks + source[start:end]


class _LineParser:
    """The tokens of one line, and the position of the reader."""

    def __init__(self, source: str, number: int) -> None:
        self._source = source
        self._number = number
        self._tokens = tokenize(source, number)
        self._index = 0
        self._open = 0

    # -- lines ---------------------------------------------------------------------------------

    def begins_order(self) -> bool:
        """Return whether this line defines an order: the one keyword whose case is ignored."""
        return self._is("name") and self._token.text.lower() == "order"

    def order(self) -> Order:
        """Read ``Order NAME=[...]``."""
        start = self._advance()
        if not self._is("name"):
            self._fail_expected("a name for the order, as in Order Mine=[1,2,3]")
        name = self._advance()
        self._expect("=", "after the name of the order")
        if not self._at("["):
            self._fail_expected("a list of cells in brackets, as in [1,[2,3],4]")
        ranks = self._checked(lambda: order_ranks(self._list()))
        if not self._is("end"):
            self._fail_expected("nothing more after the list of an order")
        return Order(name.text, ranks, self._span_from(start))

    def rule_line(self) -> RuleLine:
        """Read an optional counter and one or more atoms."""
        start = self._token
        if self.begins_order():
            self._fail("expected a counter or '(', found an order: orders stand before all rules")
        count: int | None = None
        if self._is("number"):
            count = int(self._advance().text)
        elif self._at("*"):
            self._advance()
        elif not self._at("("):
            remedy = "a line without a limit has no count" if self._at("-") else self._comment()
            self._fail_expected("a counter or '(' at the beginning of a rule line", remedy)
        atoms = [self._atom()]
        while not self._is("end"):
            atoms.append(self._atom())
        return RuleLine(tuple(atoms), count, self._span_from(start))

    # -- atoms ---------------------------------------------------------------------------------

    def _atom(self) -> Atom:
        if self._is("number"):
            self._fail_expected("'('", "a counter of the line stands once, at its beginning")
        start = self._expect("(", "to begin an atom", self._comment())
        arguments: list[Argument] = []
        if not self._at(")"):
            arguments.append(self._argument())
            while self._at(","):
                self._advance()
                if self._at(")") and arguments[0].key is None and len(arguments) < 5:
                    self._fail_expected("a field after the comma", _NO_CONDITION)
                arguments.append(self._argument())
        if not self._at(")"):
            self._fail_expected("',' or ')'", self._remedy_after_argument())
        self._advance()
        return self._checked(lambda: build_atom(tuple(arguments), self._span_from(start)))

    def _argument(self) -> Argument:
        start = self._token
        if self._at("*"):
            self._advance()
            return Argument(None, None, self._span_from(start))
        key: str | None = None
        if start.kind == "name" and self._peek_is(":"):
            key = self._advance().text
            self._advance()
            if self._at("*"):
                # The reference prints such clauses and cannot read them back.
                self._fail_expected(
                    f"a value for '{key}'", "leave a clause without condition out altogether"
                )
            if self._begins_range():
                return Argument(key, self._range(), self._span_from(start))
        value = self._expression()
        self._check_height(value, start)
        return Argument(key, value, self._span_from(start))

    def _begins_range(self) -> bool:
        """Look for ``[ NUMBER ..`` ahead."""
        following = self._tokens[self._index : self._index + 3]
        return [t.text for t in following[::2]] == ["[", ".."] and following[1].kind == "number"

    def _range(self) -> Range:
        start = self._advance()
        low = int(self._advance().text)
        self._advance()
        if not self._is("number"):
            self._fail_expected("a number as the upper end of the range")
        high = int(self._advance().text)
        self._expect("]", "after the upper end of the range")
        return Range(low, high, self._span_from(start))

    # -- expressions ---------------------------------------------------------------------------

    def _expression(self) -> Expression:
        start = self._token
        left = self._chain(("+", "-"), self._product)
        if not (self._token.kind == "symbol" and self._token.text in _COMPARISONS):
            return left
        operator = cast(ComparisonOperator, self._advance().text)
        right = self._chain(("+", "-"), self._product)
        return Binary(operator, left, right, self._span_from(start))

    def _product(self) -> Expression:
        return self._chain(("*", "/", "%"), self._negation)

    def _chain(self, operators: tuple[str, ...], operand: Callable[[], Expression]) -> Expression:
        """Read operands between operators of one strength; they associate to the left."""
        start = self._token
        node = operand()
        while self._token.kind == "symbol" and self._token.text in operators:
            operator = cast(ArithmeticOperator, self._advance().text)
            node = Binary(operator, node, operand(), self._span_from(start))
        return node

    def _negation(self) -> Expression:
        start = self._token
        if not self._at("!"):
            return self._primary()
        self._enter()
        operand = self._negation()
        self._open -= 1
        return Not(operand, self._span_from(start))

    def _primary(self) -> Expression:
        token = self._token
        if token.kind == "number":
            return Number(int(self._advance().text), self._span_from(token))
        if token.kind == "text":
            return Text(self._advance().text, self._span_from(token))
        if token.kind == "name":
            return self._name()
        if self._at("-"):
            return self._negative_number()
        if self._at("["):
            return self._list()
        if self._at("("):
            return self._parenthesized()
        self._fail_expected("a name, a number, a string, '(' or '['", self._remedy_for_primary())

    def _name(self) -> Name:
        start = self._advance()
        parts = [start.text]
        while self._at("."):
            self._advance()
            if not self._is("name"):
                self._fail_expected("a name after '.'")
            parts.append(self._advance().text)
            if len(parts) > MAX_NESTING:
                self._fail(f"expected at most {MAX_NESTING} names joined by '.', found more")
        return Name(tuple(parts), self._span_from(start))

    def _negative_number(self) -> Number:
        start = self._advance()
        if not self._is("number"):
            self._fail_expected("a number after the minus sign", "write 0-p for the negative of p")
        return Number(-int(self._advance().text), self._span_from(start))

    def _parenthesized(self) -> Expression:
        self._enter()
        node = self._expression()
        if not self._at(")"):
            remedy = "a list is written in brackets, [1,2]" if self._at(",") else None
            self._fail_expected("')'", remedy or self._remedy_after_argument())
        self._advance()
        self._open -= 1
        return node

    def _list(self) -> ListOf:
        start = self._enter()
        if self._at("]"):
            self._fail_expected("something in the list", "write * for no condition")
        items = [self._expression()]
        while self._at(","):
            self._advance()
            items.append(self._expression())
        if not self._at("]"):
            remedy = None
            if self._at(".."):
                remedy = "ranges are for properties of your own, as in size:[1..3]"
            self._fail_expected("',' or ']'", remedy or self._remedy_after_argument())
        self._advance()
        self._open -= 1
        return ListOf(tuple(items), self._span_from(start))

    # -- depth ---------------------------------------------------------------------------------

    def _enter(self) -> Token:
        """Take an opening bracket (or a ``!``), unless too many are open already."""
        self._open += 1
        if self._open > _MAX_OPEN:
            self._fail(f"expected at most {_MAX_OPEN} open brackets at once, found more")
        return self._advance()

    def _check_height(self, root: Expression, start: Token) -> None:
        """Refuse a tree that is too deep for others to walk; this walk itself does not recurse."""
        waiting = [(root, 1)]
        while waiting:
            node, height = waiting.pop()
            if height > MAX_NESTING:
                self._fail(f"expected an expression nested at most {MAX_NESTING} deep", start)
            if isinstance(node, Binary):
                waiting += [(node.left, height + 1), (node.right, height + 1)]
            elif isinstance(node, Not):
                waiting.append((node.operand, height + 1))
            elif isinstance(node, ListOf):
                waiting += [(item, height + 1) for item in node.items]

    # -- tokens --------------------------------------------------------------------------------

    @property
    def _token(self) -> Token:
        return self._tokens[self._index]

    def _is(self, kind: str) -> bool:
        return self._token.kind == kind

    def _at(self, symbol: str) -> bool:
        return self._token.kind == "symbol" and self._token.text == symbol

    def _peek_is(self, symbol: str) -> bool:
        # A name is never the last token, for the end of the line is one.
        following = self._tokens[self._index + 1]
        return following.kind == "symbol" and following.text == symbol

    def _advance(self) -> Token:
        token = self._token
        self._index += 1
        return token

    def _expect(self, symbol: str, where: str, remedy: str | None = None) -> Token:
        if not self._at(symbol):
            self._fail_expected(f"'{symbol}' {where}", remedy)
        return self._advance()

    def _span_from(self, start: Token) -> Span:
        """Return the span from a token to the one read last."""
        return Span(self._number, start.column, self._tokens[self._index - 1].end_column)

    # -- errors --------------------------------------------------------------------------------

    def _checked(self, build: Callable[[], T]) -> T:
        """Turn a complaint about a field into an error at its place."""
        try:
            return build()
        except FieldError as error:
            where = error.span.line, error.span.column, self._source
            raise RuleSyntaxError(str(error), *where, remedy=error.remedy) from None

    def _fail_expected(self, expected: str, remedy: str | None = None) -> NoReturn:
        self._fail(f"expected {expected}, found {self._token}", remedy=remedy)

    def _fail(self, message: str, at: Token | None = None, remedy: str | None = None) -> NoReturn:
        column = (at or self._token).column
        raise RuleSyntaxError(message, self._number, column, self._source, remedy=remedy)

    def _comment(self) -> str | None:
        return "a comment begins with '#'" if self._at("%") or self._at("/") else None

    def _remedy_after_argument(self) -> str | None:
        if self._at("="):
            return "to compare, write '=='"
        if self._at("."):
            return "numbers are whole"
        if self._is("end"):
            return "close the bracket that is open"
        if self._is("name") or self._is("number") or self._is("text"):
            return "put a comma between two values, and several of one field in [ ]"
        if self._token.kind == "symbol" and self._token.text in _COMPARISONS:
            return "a comparison compares two values; put one of several in parentheses"
        return None

    def _remedy_for_primary(self) -> str | None:
        if self._at("*"):
            return "'*' stands alone in its field"
        if self._at(")") and self._tokens[self._index - 1].text == ",":
            return "no comma after the last field"
        if self._at(","):
            return _NO_CONDITION
        if self._at("+"):
            return "a number has no plus sign"
        return None
