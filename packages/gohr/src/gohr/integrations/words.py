"""The words of the game for a language model: its instructions, and how its answers are read.

A :class:`TrialInWords` is a trial that a model plays; a conclusion is a rule and plans for boards.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from string import ascii_uppercase
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias, cast, final, get_args

import numpy as np
import numpy.typing as npt

from gnomon.errors import check_word
from gnomon.results import FieldRecord, Results
from gohr.board import DEFAULT_SPEC, N_BUCKETS, N_CELLS, Board, BoardSpec, Piece
from gohr.experiments.suites import load_suite
from gohr.induction.conclusions import Conclusion
from gohr.induction.diagnosis import OWN
from gohr.induction.statements import THOUGHT
from gohr.induction.testers import Kind, RuleTrial, evidence
from gohr.outcomes import ACCEPTED, DENIED, IMMOVABLE
from gohr.playing import Observation, Transition, TrialInPlay, TrialLog

Language: TypeAlias = Literal["full", "short"]
#: Counts up with every change of the prompts.
PROMPT_VERSION = 2
AGAIN = "I could not read your answer. Reply with the JSON object only."

_SIDE = 6
#: Instructions of the game, by topic.
_INSTRUCTIONS: Mapping[str, str] = MappingProxyType(
    {
        "rule": "A hidden rule determines which piece may go into which bucket, and when. "
        "The rule is the same on every board.",
        "board": "The board has columns 1 to 6 from left to right and rows 1 to 6 from bottom to "
        "top. Bucket 0 is at the top left corner, 1 at the top right, 2 at the bottom right, and 3 "
        "at the bottom left.",
        "goal": "Find the rule with as few errors as possible.",
        "accepted": "If the rule accepts a move, the piece goes into the bucket. "
        "Otherwise the piece stays where it is, and the move counts as an error.",
        "later": "A piece that cannot be moved now may become movable later.",
        "replies": "“No” means that the piece can be moved now, but not to that bucket; "
        "“not now” means that it cannot be moved to any bucket at this point.",
    }
)

#: Replies to an attempt.
_REPLIES = MappingProxyType({ACCEPTED: "yes", DENIED: "no", IMMOVABLE: "not now"})
#: Maximum number of attempts in the memory: the latest ones.
_MOST_TOLD = 1000
_MOVE_ASKED = (
    "You may reason first. End your answer with one line of the form\nMOVE column row bucket"
)
_MOVE_AGAIN = (
    "I could not read a move of a piece on the board in your answer. Reply again, and end with one "
    "line of the form\nMOVE column row bucket"
)
_MOVE = re.compile(r"\bMOVE\W+(\d{1,3})\W+(\d{1,3})\W+(\d{1,3})\b", re.IGNORECASE)
#: The question for the rule.
_RULE_QUESTION = (
    "What is the rule? Answer only with its text in the rule language, as precisely as you can at "
    "this point. A rule consists of lines, and a line of atoms\n"
    "(count, shapes, colors, positions, buckets)\n"
    "side by side. A move is accepted if an atom of the active line accepts it. The next line "
    "becomes active when the active line is used up or accepts none of the remaining pieces. The "
    "count is the number of moves that an atom accepts before it is used up, or * for any number. "
    "Shapes, colors, positions (cells 1 to 36, row by row from the bottom left) and buckets are *, "
    "a value, or a list such as [red,blue]. In place of a bucket, p stands for the last bucket "
    "used, as in p+1."
)
_FULL = """The rule language
A rule consists of lines. One line is active at a time, beginning with the first on each board.
A line consists of atoms (count, shapes, colors, positions, buckets) side by side. A move is
accepted if an atom of the active line accepts it. When the active line is used up or accepts no
move on the board, the next line becomes active; the first line follows the last.
* count: the number of moves that the atom accepts before it is used up, or * for any number. A
  number before the first atom of a line limits the whole line.
* shapes, colors: *, a name, or a list such as [red,blue].
* positions: *, a cell (1 to 36, row by row from the bottom left), a list of cells, or an order. An
  order accepts the piece that comes first in it among all pieces on the board: T topmost row,
  B bottommost row, L leftmost column, R rightmost column (any piece of that row or column);
  L1 rows from the top, each from the left; L2 rows from the top, each from the right; L3 columns
  from the right, each from the top; L4 columns from the left, each from the top; NearestObject
  the piece nearest to a bucket; Farthest the piece farthest from all buckets. A line before the
  first rule line defines a custom order: Order MINE=[6,5,4,...] lists the cells in order.
* buckets: *, a bucket, a list, or a sum such as p+1, taken modulo 4. Nearby and Remotest are the
  buckets nearest to and farthest from the piece. p is the bucket of the last accepted move; pc and
  ps are the buckets of the last accepted moves of a piece of the same color and of the same shape.
  Until there is such a move, they have no value, and an atom that needs a value accepts nothing.
Named fields are equivalent: (color:blue, postpos:L1). An omitted field is *. postpos is an order
among the pieces that the atom would otherwise accept.
Example: (1,*,*,T,[0,1]) in the first line and (2,*,[red,black],*,p+2) in the second accept one
piece of the topmost row in bucket 0 or 1, then two red or black pieces in the opposite bucket."""
_ASKED = """Answer with one JSON object and nothing else:
{"words": "the rule in English", "rule": "the rule in the rule language, lines separated by \\n",
"plans": {"A": [[column, row, bucket], ...], "B": ...}}
A plan lists the moves that clear its board without an error, in order, one move for each piece."""
_INTRODUCTION = (
    "Another player has attempted this game. You see the boards, the attempts and the replies."
)


# -- boards and attempts ---------------------------------------------------------------------------


def instructions() -> str:
    """Return the instructions, which a model gets before anything else."""
    said = [_INSTRUCTIONS[name] for name in ("rule", "goal", "board", "accepted", "later")]
    asked = f"Refer to a piece by its column and row. {_MOVE_ASKED}"
    return "\n".join(
        [*said, f"The reply is “yes”, “no” or “not now”. {_INSTRUCTIONS['replies']}", asked]
    )


def board_words(codes: npt.NDArray[np.uint8], spec: BoardSpec) -> str:
    """Return a board as a list of its pieces."""
    pieces = Board.from_codes(codes.tolist(), spec).pieces
    return "\n".join(f"column {x.x}, row {x.y}: {_piece_words(x)}" for x in pieces)


def _piece_words(piece: Piece) -> str:
    return f"{piece.color} {piece.shape}".lower()


def attempt_words(number: int, piece: Piece, bucket: int, outcome: int) -> str:
    """Return an attempt and its reply as a line of the memory, as the browser lists it."""
    what = f"{_piece_words(piece)} (column {piece.x}, row {piece.y})"
    return f"{number}. {what} → bucket {bucket}: {_REPLIES[outcome]}"


def read_move(said: str) -> int | None:
    """Return the attempt that an answer names, ``4 * cell + bucket``; None if it names none.

    The last one counts; text between ``<think>`` and ``</think>`` is ignored. The presence of a
    piece is not checked.
    """
    found = _MOVE.findall(THOUGHT.sub("", said))
    return _action(*map(int, found[-1])) if found else None


def _action(column: int, row: int, bucket: int) -> int | None:
    """Return the number of an attempt; None if it is not of the board."""
    if not (1 <= column <= _SIDE and 1 <= row <= _SIDE and 0 <= bucket < N_BUCKETS):
        return None
    return N_BUCKETS * (_SIDE * (row - 1) + column - 1) + bucket


def _piece_at(codes: npt.NDArray[np.uint8], cell: int, spec: BoardSpec) -> Piece | None:
    """Return the piece in a cell, counted from 0; None if there is none."""
    if not 0 <= cell < N_CELLS or not codes[cell]:
        return None
    return spec.piece(cell, cell + 1, codes[cell])


# -- a trial ---------------------------------------------------------------------------------------


class Turn(NamedTuple):
    """A turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    text: str


@final
class TrialInWords:
    """A trial that a model plays by answering texts; the caller queries the model.

    If an answer has no legible move, the model is prompted once more; then the answer counts as
    unreadable, and the model is prompted afresh.

    Parameters
    ----------
    trial : TrialInPlay
    board_spec : BoardSpec
        Its palettes give the names of shapes and colours.
    with_memory : bool
        Whether each request lists all attempts so far; otherwise it has the last reply alone, for a
        caller that keeps the conversation.
    max_unreadable : int
        Number of consecutive answers without a move, each after two prompts, after which the trial
        is given up.

    Attributes
    ----------
    n_attempts, n_errors : int
        Attempts so far, and those that were not accepted.
    n_unreadable : int
        Number of answers without a move so far, each after two prompts.

    Examples
    --------
    >>> import gohr
    >>> spec = gohr.BoardSpec(pieces=1, shapes=0, colors=0)
    >>> boards = gohr.draw_boards(1, spec, rng=0)
    >>> trial = TrialInWords(TrialInPlay(boards, gohr.load_rule("clockwise")))
    >>> print(trial.turns()[-1].text)
    Attempts so far: none.
    <BLANKLINE>
    Board 1 now holds:
    column 1, row 1: yellow triangle
    Your move?
    >>> trial.take("I see a triangle.")  # None: it is asked for again
    >>> trial.take("MOVE 1 1 0").outcome, trial.over
    (0, True)
    """

    def __init__(
        self,
        trial: TrialInPlay,
        board_spec: BoardSpec = DEFAULT_SPEC,
        *,
        with_memory: bool = True,
        max_unreadable: int = 5,
    ) -> None:
        self._trial, self._spec, self._max_unreadable = trial, board_spec, max_unreadable
        self._with_memory = with_memory
        self._boards: list[list[str]] = [[]]  # the attempts on each, as lines
        self._again: list[Turn] = []
        self._n_in_vain = 0  # unreadable answers since the last attempt
        self.n_attempts, self.n_errors, self.n_unreadable = 0, 0, 0

    @property
    def given_up(self) -> bool:
        """Whether the model could not be understood: the trial is over, and not complete."""
        return self._n_in_vain >= self._max_unreadable

    @property
    def over(self) -> bool:
        """Whether all boards are played, or the trial is given up."""
        return self._trial.over or self.given_up

    @property
    def observation(self) -> Observation:
        """Observation before the next attempt."""
        return self._trial.observation

    def turns(self) -> list[Turn]:
        """Return the next request."""
        board = board_words(self.observation.board, self._spec)
        holds = f"Board {len(self._boards)} now holds:\n{board}\nYour move?"
        before = self._memory() if self._with_memory else self._last_reply()
        said = "\n\n".join(part for part in (before, holds) if part)
        if self._n_in_vain:
            said = f"Answers that could not be read so far: {self.n_unreadable}. {said}"
        return [Turn("system", instructions()), Turn("user", said), *self._again]

    def take(self, said: str, *, answered: bool = True) -> Transition | None:
        """Make the attempt of an answer; None if the model must be prompted again.

        With ``answered`` false the answer was refused or cut off, and holds no attempt.
        """
        action = read_move(said) if answered else None
        cell, bucket = divmod(-1 if action is None else action, N_BUCKETS)
        piece = _piece_at(self.observation.board, cell, self._spec)
        if action is None or piece is None:
            if self._again:
                self._again, self._n_in_vain = [], self._n_in_vain + 1
                self.n_unreadable += 1
            else:
                self._again = [Turn("assistant", said or "(no answer)"), Turn("user", _MOVE_AGAIN)]
            return None
        self._again, self._n_in_vain = [], 0
        made = self._trial.attempt(action)
        self.n_attempts += 1
        self.n_errors += made.outcome != ACCEPTED
        here = self._boards[-1]
        here.append(attempt_words(len(here) + 1, piece, bucket, made.outcome))
        if made.terminated or made.truncated:
            self._boards.append([])
        return made

    def statement_turns(self) -> list[Turn]:
        """Return the request for the rule, after a board."""
        asked = f"{self._memory()}\n\nThis board is over. {_RULE_QUESTION}"
        return [Turn("system", instructions()), Turn("user", asked)]

    def reward(self) -> float:
        """Return the share of the attempts that were accepted, 0 if there was none.

        An answer without a move counts as an attempt that was not.
        """
        n = self.n_attempts + self.n_unreadable
        return (self.n_attempts - self.n_errors) / n if n else 0.0

    def log(self) -> TrialLog:
        """Return every attempt on the boards that are over."""
        return self._trial.log()

    def _last_reply(self) -> str:
        """Return the reply to the last attempt; empty before the first."""
        if self._boards[-1]:
            return self._boards[-1][-1]
        return f"{self._boards[-2][-1]}\nThat board is over." if len(self._boards) > 1 else ""

    def _memory(self) -> str:
        """Return the last attempts, board by board."""
        lines = [(k, line) for k, board in enumerate(self._boards, start=1) for line in board]
        if not lines:
            return "Attempts so far: none."
        told, last = ["Attempts so far:"], 0
        for k, line in lines[-_MOST_TOLD:]:
            told += [line] if k == last else [f"Board {k}", line]
            last = k
        return "\n".join(told)


# -- a conclusion ----------------------------------------------------------------------------------


def others_words(log: TrialLog, spec: BoardSpec) -> str:
    """Return the boards, attempts and replies of another player as text."""
    parts, row = [], 0
    for k, (board, n) in enumerate(zip(log.boards, log.n_attempts.tolist(), strict=True), start=1):
        lines = [f"Board {k} at the start:", board_words(board, spec), "Attempts:"]
        codes = board.copy()
        for number in range(n):
            action, outcome = int(log.actions[row]), int(log.outcomes[row])
            cell, bucket = divmod(action, N_BUCKETS)
            piece = _piece_at(codes, cell, spec)
            if piece is not None:
                lines.append(attempt_words(number + 1, piece, bucket, outcome))
            if outcome == ACCEPTED:
                codes[cell] = 0
            row += 1
        parts.append("\n".join(lines))
    return "\n\n".join(parts) if parts else "The player made no attempt."


def opening(*, others: bool) -> str:
    """Return the instructions of a conclusion from the evidence of others."""
    said = [_INSTRUCTIONS[name] for name in ("rule", "board", "accepted", "later", "replies")]
    return "\n".join([*([_INTRODUCTION] if others else []), *said])


def question(boards: npt.NDArray[np.uint8], spec: BoardSpec, language: Language) -> str:
    """Return the request for a conclusion: the language, test boards, the form of the answer."""
    shown = [
        f"Board {name}\n{board_words(board, spec)}"
        for name, board in zip(ascii_uppercase, boards, strict=False)
    ]
    told = _FULL if language == "full" else _RULE_QUESTION
    asked = "What is the hidden rule, and how would you clear each of the following boards?"
    return "\n\n".join([f"{told}\n\n{asked}" if language == "full" else told, *shown, _ASKED])


def read_conclusion(said: str, n_boards: int) -> Conclusion | None:
    """Return the conclusion in an answer; None if the answer has no JSON object with plans.

    A plan that cannot be read is no plan. The last object counts.
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
        plan.append(_action(*move))
    return None if None in plan else tuple(cast("list[int]", plan))


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

    Requests of a model's own play are counted as the ideal learner's attempts, the least that can
    be expected; about four characters make a token.
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
    answers is not included.
    """
    chosen, found = load_suite(suite), []
    for condition in conditions:
        check_word("tester", condition, (OWN, *get_args(Kind)))
        requests = characters = 0
        for rule, n in product(chosen.entries, n_boards):
            source = "informative" if condition == OWN else condition
            trial = RuleTrial(rule, 0, seed, chosen.board)
            log, tests = evidence(trial, cast(Kind, source), n), trial.boards("test", n_tests)
            told = len(others_words(log, chosen.board))
            requests += 1
            characters += told + len(question(tests, chosen.board, "full"))
            if condition == OWN:  # each request shows the attempts before it
                requests += len(log.actions)
                characters += len(log.actions) * (len(instructions()) + told // 2)
        n_samples = len(chosen.entries) * len(n_boards) * trials
        found.append(Requests(condition, n_samples, trials * requests, trials * characters // 4))
    return Results(tuple(found))
