"""The words of a conclusion: evidence of others, test boards, the rule language; answers read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from string import ascii_uppercase
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from gnomon.results import FieldRecord, Results
from gohr.experiments.config.suites import load_suite
from gohr.game.board import N_BUCKETS, BoardSpec
from gohr.game.instructions import INSTRUCTIONS
from gohr.game.outcomes import ACCEPTED
from gohr.induction.conclusions import Conclusion
from gohr.induction.conditions import Kind, evidence, trial_boards
from gohr.induction.outcomes import OWN
from gohr.integrations.prompt import (
    RULE_QUESTION,
    attempt_words,
    board_words,
    instructions,
    piece_at,
)
from gohr.playing import TrialLog

Language: TypeAlias = Literal["full", "short"]
#: Counts up with every change of the words below.
CONCLUSION_VERSION = 1

_FULL = """The rule language
A rule set has rule lines. One line is in force at a time, the first one at the start of each board.
A line has atoms (count, shapes, colors, positions, buckets) side by side. A move is accepted if an
atom of the line in force accepts it. The next line is in force, after the last one the first again,
when the line in force is used up or accepts nothing on the board.
* count: how many moves the atom may accept before it is used up, or * for any number. A number
  before the first atom of a line limits the whole line.
* shapes, colors: *, a name, or a list such as [red,blue].
* positions: *, a cell (1 to 36, row by row from the bottom left), a list of cells, or an order. An
  order accepts the piece that comes first in it among all pieces on the board: T topmost row,
  B bottommost row, L leftmost column, R rightmost column (any piece of that row or column);
  L1 rows from the top, each from the left; L2 rows from the top, each from the right; L3 columns
  from the right, each from the top; L4 columns from the left, each from the top; NearestObject
  nearest to a bucket; Farthest farthest from all. A line before the first rule line defines an
  order of your own: Order MINE=[6,5,4,...], the cells in turn.
* buckets: *, a bucket, a list, or a sum such as p+1, counted modulo 4. Nearby and Remotest are the
  buckets nearest to and farthest from the piece. p is the bucket of the last accepted move, pc and
  ps those of the last accepted move of a piece of the same color and of the same shape. Before
  there is one, p, pc and ps have no value, and nothing that needs it is accepted.
Named fields do the same: (color:blue, postpos:L1). postpos is an order among the pieces that the
atom would otherwise accept. A name that is left out is *.
An example: (1,*,*,T,[0,1]) in the first line and (2,*,[red,black],*,p+2) in the second accept a
piece of the topmost row in bucket 0 or 1, then two red or black pieces in the opposite bucket."""

_ASKED = """Answer with one JSON object and nothing else:
{"words": "the rule in English", "rule": "the rule in the rule language, lines separated by \\n",
"plans": {"A": [[column, row, bucket], ...], "B": ...}}
A plan lists the moves that clear its board without an error, as many as it has pieces, in order."""
AGAIN = "I could not read that. Answer again, with the JSON object alone."
_INTRODUCTION = (
    "Another player has made attempts at a game; you see its boards, its attempts and the replies."
)


def others_words(log: TrialLog, spec: BoardSpec) -> str:
    """Return the boards, attempts and replies of another player as text.

    Examples
    --------
    >>> from gohr.experiments import RuleEntry
    >>> from gohr.induction import evidence
    >>> log = evidence(RuleEntry("one", "(*,*,*,*,1)"), "positive", 1)
    >>> others_words(log, BoardSpec()).splitlines()[0]
    'Board 1 holds at first:'
    """
    parts, row = [], 0
    for k, (board, n) in enumerate(zip(log.boards, log.n_attempts.tolist(), strict=True), start=1):
        lines = [f"Board {k} holds at first:", board_words(board, spec, "pieces"), "Attempts:"]
        codes = board.copy()
        for number in range(n):
            action, outcome = int(log.actions[row]), int(log.outcomes[row])
            cell, bucket = divmod(action, N_BUCKETS)
            piece = piece_at(codes, cell, spec)
            if piece is not None:
                lines.append(attempt_words(number + 1, piece, bucket, outcome))
            if outcome == ACCEPTED:
                codes[cell] = 0
            row += 1
        parts.append("\n".join(lines))
    return "\n\n".join(parts) if parts else "No attempts were made."


def opening(*, others: bool) -> str:
    """Return the instructions of a conclusion from the evidence of others."""
    said = [INSTRUCTIONS[name] for name in ("rule", "board", "accepted", "later", "replies")]
    return "\n".join([*([_INTRODUCTION] if others else []), *said])


def question(boards: npt.NDArray[np.uint8], spec: BoardSpec, language: Language) -> str:
    r"""Return the request for a conclusion: the language, the test boards, the form of the answer.

    Examples
    --------
    >>> board = np.eye(1, 36, 7, dtype=np.uint8)
    >>> print(question(board, BoardSpec(), "short").split("\n\n")[1])
    Board A
    column 2, row 2: red square
    """
    shown = [
        f"Board {name}\n{board_words(board, spec, 'pieces')}"
        for name, board in zip(ascii_uppercase, boards, strict=False)
    ]
    told = _FULL if language == "full" else RULE_QUESTION
    asked = "What is the hidden rule, and how would you clear each of these boards under it?"
    return "\n\n".join([f"{told}\n\n{asked}" if language == "full" else told, *shown, _ASKED])


def read_conclusion(said: str, n_boards: int) -> Conclusion | None:
    """Return the conclusion in an answer; None if the answer has no JSON object with plans.

    A plan that cannot be read is no plan. The last object counts.

    Examples
    --------
    >>> read_conclusion('{"rule": "(*,*,*,*,1)", "plans": {"A": [[1, 1, 1]]}}', 2)
    Conclusion(plans=((1,), None), statement='(*,*,*,*,1)', words=None)
    """
    found = [value for value in _objects(said) if isinstance(value.get("plans"), Mapping)]
    if not found:
        return None
    answer = found[-1]
    plans = tuple(_plan(answer["plans"].get(name)) for name in ascii_uppercase[:n_boards])
    rule, words = (answer.get(name) for name in ("rule", "words"))
    return Conclusion(
        plans, rule if isinstance(rule, str) else "", words if isinstance(words, str) else None
    )


def _objects(said: str) -> Iterator[dict[str, Any]]:
    decoder, at = json.JSONDecoder(), 0
    while (at := said.find("{", at)) >= 0:
        try:
            value, at = decoder.raw_decode(said, at)
        except (ValueError, RecursionError):
            at += 1
            continue
        if isinstance(value, dict):
            yield value


def _plan(moves: Any) -> tuple[int, ...] | None:
    """Return the attempts of a plan; None if a move is not of the board."""
    if not isinstance(moves, list):
        return None
    plan = []
    for move in moves:
        if not (isinstance(move, list) and len(move) == 3 and all(type(x) is int for x in move)):
            return None
        column, row, bucket = move
        if not (1 <= column <= 6 and 1 <= row <= 6 and 0 <= bucket < N_BUCKETS):
            return None
        plan.append(N_BUCKETS * (6 * (row - 1) + column - 1) + bucket)
    return tuple(plan)


#: The form of the answer, for providers that enforce one.
ANSWER_SCHEMA: Mapping[str, Any] = MappingProxyType(
    {
        "type": "object",
        "properties": {
            "words": {"type": "string"},
            "rule": {"type": "string"},
            "plans": {
                "type": "object",
                "additionalProperties": {
                    "type": "array",
                    "items": {"type": "array", "items": {"type": "integer"}},
                },
            },
        },
        "required": ["words", "rule", "plans"],
    }
)


@dataclass(frozen=True)
class Requests(FieldRecord):
    """Forecast of the requests of the task ``gohr/rule_learning`` in one condition.

    Parameters
    ----------
    condition : str
    n_samples, n_requests : int
        Requests of a model's own play are counted as the ideal learner's attempts, the least that
        can be expected; those asked again are not counted.
    tokens_in : int
        About a token for each four characters.
    """

    condition: str
    n_samples: int
    n_requests: int
    tokens_in: int


def forecast_of(
    suite: str,
    conditions: Sequence[str],
    *,
    n_boards: Sequence[int] = (5,),
    n_tests: int = 5,
    trials: int = 10,
    seed: int = 0,
) -> Results[Requests]:
    """Forecast requests and tokens of ``inspect eval gohr/rule_learning``, from its own prompts.

    The first trial of each rule is written out and stands for the others. What a model thinks and
    answers is not in it: at prices per million tokens, the cost is
    ``tokens_in * price_in + n_requests * tokens of an answer * price_out``.

    Examples
    --------
    >>> [found] = forecast_of("gohr-paper", ["random"], trials=10)
    >>> found.n_requests, found.tokens_in > 40 * 2000
    (40, True)
    """
    chosen, found = load_suite(suite), []
    for condition in conditions:
        requests = characters = 0
        for rule, n in product(chosen.entries, n_boards):
            source = "informative" if condition == OWN else condition
            log = evidence(rule, cast(Kind, source), n, seed=seed, board_spec=chosen.board)
            tests = trial_boards(rule, "test", n_tests, seed=seed, board_spec=chosen.board)
            told = len(others_words(log, chosen.board))
            requests += 1
            characters += told + len(question(tests, chosen.board, "full"))
            if condition == OWN:  # each request shows the attempts before it
                requests += len(log.actions)
                characters += len(log.actions) * (len(instructions("line")) + told // 2)
        n_samples = len(chosen.entries) * len(n_boards) * trials
        found.append(Requests(condition, n_samples, trials * requests, trials * characters // 4))
    return Results(tuple(found))
