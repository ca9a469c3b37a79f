"""The whole check of a rule: its text, and a search for boards on which it gets stuck."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from gnomon.errors import counted
from gohr.board import COLORS, SHAPES, BoardSpec
from gohr.engine.compiler import compile_rule
from gohr.errors import RuleError, RuleSyntaxError, excerpt
from gohr.rules.catalogue import info_of
from gohr.rules.linter import Finding, lint
from gohr.rules.parser import parse

if TYPE_CHECKING:
    from gohr.board import Board
    from gohr.rules.syntax import RuleSet
    from gohr.stalemate import StalemateSearch

#: The tag of a rule that is meant to get stuck sometimes.
_MEANT = "can-stall"
_PROPERTIES = "no search for a stalemate: the rule refers to properties of pieces"


@dataclass(frozen=True, slots=True)
class CheckedRule:
    """A rule text and all that was found in it.

    Parameters
    ----------
    file : str
        Its file, or its name in the library.
    text : str
        The text as it was read.
    findings : tuple of Finding
        In the order of the text.
    n_lines : int
        Number of rule lines; 0 if the text does not parse.
    search : StalemateSearch, optional
        The search for a board on which the rule gets stuck, if there was one.
    not_searched : str, optional
        Why there was none though it was asked for.
    """

    file: str
    text: str
    findings: tuple[Finding, ...]
    n_lines: int = 0
    search: StalemateSearch | None = None
    not_searched: str = ""

    @property
    def passes(self) -> bool:
        """Whether there is no error and no warning."""
        return all(finding.severity == "note" for finding in self.findings)

    def records(self) -> list[dict[str, str | int]]:
        """Return a record for each finding."""
        return [{"file": self.file, **asdict(finding)} for finding in self.findings]

    def __str__(self) -> str:
        shown = [self._shown(finding) for finding in self.findings]
        if self.search is not None and self.search.board is not None:
            shown.append(_drawn(self.search.board))
        stuck = self.search is not None and self.search.board is not None
        searched = self.not_searched if self.search is None or stuck else str(self.search)
        if not self.findings:
            lines = counted(self.n_lines, "line")
            shown.append(
                "; ".join(filter(None, (f"{self.file}: {lines}, nothing wrong", searched)))
            )
        elif self.passes and searched:
            shown.append(f"{self.file}: {searched}")
        return "\n".join(shown)

    def _shown(self, finding: Finding) -> str:
        """Return a finding with the line of text and a caret below it."""
        source = self.text.split("\n")[finding.line - 1]
        return f"{self.file}, {finding}\n{excerpt(source, finding.column)}"


def check(
    text: str,
    *,
    name: str = "rule",
    max_states: int = 1_000,
    shapes: Sequence[str] = SHAPES,
    colors: Sequence[str] = COLORS,
) -> CheckedRule:
    """Check a rule: find likely mistakes, and a small board on which it gets stuck.

    The text is parsed, searched for likely mistakes (:func:`gohr.rules.lint`) and compiled; then
    boards of few pieces are searched for a stalemate.

    Parameters
    ----------
    text : str
        The text of the rule.
    name : str
        The file or rule that findings name.
    max_states : int
        States of play to search for a stalemate; 0 for no search.
    shapes, colors : sequence of str
        The palettes of the pieces.

    Returns
    -------
    CheckedRule
        ``findings``, each with severity, line, column, message and remedy; ``passes`` if none is an
        error or a warning; ``search`` of the stalemate.

    Examples
    --------
    >>> import gohr
    >>> found = gohr.check("(*, *, red, *, 0)", max_states=10_000)
    >>> found.passes, len(found.search.board.pieces)
    (False, 1)
    """
    findings = lint(text, shapes=shapes, colors=colors)
    try:
        rule_set = parse(text)
    except RuleSyntaxError:
        return CheckedRule(name, text, findings)
    n_lines = len(rule_set.lines)
    playable = all(finding.severity != "error" for finding in findings)
    if playable:
        try:
            compile_rule(rule_set, BoardSpec(1, 0, 0, shapes, colors))
        except RuleError as error:
            found = Finding(error.line or 1, error.column or 1, "error", error.message, "")
            return CheckedRule(name, text, (*findings, found), n_lines)
    # The search uses pieces of shape and colour alone; a rule on others would always be stuck.
    if not max_states or not playable:
        return CheckedRule(name, text, findings, n_lines)
    if any(atom.properties for line in rule_set.lines for atom in line.atoms):
        return CheckedRule(name, text, findings, n_lines, not_searched=_PROPERTIES)
    from gohr.stalemate import find_stalemate

    search = find_stalemate(rule_set, max_states=max_states)
    return CheckedRule(name, text, (*findings, *_stuck(rule_set, search)), n_lines, search)


def _stuck(rule_set: RuleSet, search: StalemateSearch) -> Sequence[Finding]:
    """Report a stalemate, as a note if the rule declares that it is intended."""
    if search.board is None:
        return ()
    span = rule_set.lines[0].span
    where = (span.line, span.column) if span else (0, 0)
    if _MEANT in info_of("", rule_set).tags:
        return (Finding(*where, "note", f"the rule {search}", f"as stated by its tag '{_MEANT}'"),)
    remedy = f"accept the pieces that are left, or write '# tags: {_MEANT}' if it is intended"
    return (Finding(*where, "warning", f"the rule {search}", remedy),)


def _drawn(board: Board) -> str:
    """Draw a board with the palettes that its pieces need."""
    from gohr.drawing import board_text

    shapes = dict.fromkeys([*SHAPES, *(piece.shape or "" for piece in board.pieces)])
    colors = dict.fromkeys([*COLORS, *(piece.color or "" for piece in board.pieces)])
    spec = BoardSpec(len(board.pieces), 0, 0, tuple(shapes), tuple(colors))
    drawing = board_text(board.codes(spec), spec)
    return "\n".join(f"  {row}".rstrip() for row in drawing.split("\n"))
