"""Rules that players state: read from their answers, and compared with the evidence."""

from __future__ import annotations

import math
import re

from gohr.board import DEFAULT_SPEC, N_BUCKETS, Board, BoardSpec
from gohr.engine.compiler import compile_rule
from gohr.errors import RuleError, RuleSyntaxError
from gohr.outcomes import ACCEPTED, DENIED, IMMOVABLE
from gohr.playing import TrialLog
from gohr.reference import ReferenceGame
from gohr.rules.parser import parse
from gohr.rules.syntax import RuleSet

_FENCE = re.compile(r"```[^\n]*\n(.*?)```", re.DOTALL)
#: What a model thinks aloud before its answer.
THOUGHT = re.compile(r"<think>.*?(</think>|\Z)", re.DOTALL)


def read_statement(said: str) -> tuple[RuleSet | None, str | None]:
    """Return the rule in a player's statement, or why the statement is not a rule.

    The rule is the last block of code, or else the whole text.
    """
    said = THOUGHT.sub("", said)
    blocks = _FENCE.findall(said)
    try:
        rule = parse((blocks[-1] if blocks else said).strip())
        compile_rule(rule)
    except (RuleSyntaxError, RuleError) as error:
        return None, str(error).splitlines()[0]
    return rule, None


def foretells(stated: RuleSet, log: TrialLog, *, board_spec: BoardSpec = DEFAULT_SPEC) -> float:
    """Return the share of the replies of a trial that a stated rule predicts.

    Each attempt is put to the stated rule on the true board, with the memory of the moves that
    were really accepted before: accepted, denied or immovable must be the reply. A move that was
    accepted is carried out in any case, and where the stated rule would have refused it, none of
    its counters runs down. So one wrong prediction does not make the following ones wrong.

    Parameters
    ----------
    stated : RuleSet
    log : TrialLog
        Any player's trial on the hidden rule. Attempts on empty cells, and after the end of a
        board, are not counted.
    board_spec : BoardSpec

    Returns
    -------
    float
        From 0 to 1; NaN if there are no attempts.

    Examples
    --------
    >>> import gohr
    >>> boards, rule = gohr.draw_boards(3), gohr.load_rule("clockwise")
    >>> log = gohr.play(boards, gohr.make_learner("frugal", gohr.BoardSpec()), rule)
    >>> foretells(rule, log), foretells(gohr.load_rule("anything-goes"), log) < 0.5
    (1.0, True)
    """
    n_right = n = row = 0
    for board, n_attempts in zip(log.boards, log.n_attempts.tolist(), strict=True):
        game = ReferenceGame(stated, Board.from_codes(board.tolist(), board_spec))
        at = {piece.pos - 1: piece.id for piece in game.pieces}
        movable = game.legal_moves()
        for k in range(row, row := row + n_attempts):
            outcome = int(log.outcomes[k])
            if outcome not in (ACCEPTED, DENIED, IMMOVABLE):
                continue
            cell, bucket = divmod(int(log.actions[k]), N_BUCKETS)
            if (at[cell], bucket) in movable:
                foretold = ACCEPTED
            else:
                foretold = DENIED if any(i == at[cell] for i, _ in movable) else IMMOVABLE
            n, n_right = n + 1, n_right + (foretold == outcome)
            if outcome == ACCEPTED:
                game.follow(at[cell], bucket)
                movable = game.legal_moves()
    return n_right / n if n else math.nan
