"""Human play in a terminal: a board in letters, an attempt in two characters."""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from gnomon.errors import counted
from gohr.people.baselines import Yardstick
from gohr.people.session import PlayError, PlaySession
from gohr.people.view import PlayView

_SIGNS = {"SQUARE": "■", "STAR": "★", "CIRCLE": "●", "TRIANGLE": "▲"}
_STYLES = {"RED": "red", "BLACK": "default", "BLUE": "blue", "YELLOW": "yellow"}
_LETTERS = string.ascii_lowercase + string.ascii_uppercase
_REPLIES = {
    "accepted": "yes, it goes there",
    "denied": "no: this piece can be moved now, but not there",
    "immovable": "no: this piece cannot be moved now",
}
_ENDS = {
    "": "",
    "cleared": "\nThe board is cleared.",
    "stalemate": "\nNo piece can be moved any more: a stalemate.",
    "cut off": "\nNo attempts are left on this board.",
}
#: Number of rejected attempts that are listed.
_MOST_REFUSED = 12

_HELP = """\
A hidden rule says which piece may go into which bucket, and when.
Find it with few errors.
  a0  try piece a in bucket 0         g  give up, and see how it went
  n   next board, when one is over    m  hide or show what was tried
  h   this help
"""


def play_in_terminal(
    session: PlaySession,
    console: Console,
    read: Callable[[str], str],
    *,
    memory_aid: bool = True,
) -> None:
    """Play until the last board is over, the player gives up, or nothing more can be read.

    ``read`` asks with a prompt and returns a line; it raises EOFError at the end.

    Examples
    --------
    >>> import io
    >>> from gohr.people import Game
    >>> session = PlaySession(Game("any", "(*,*,*,*,*)", seed=0, episodes=1))
    >>> typed = iter(["a0", "g"])
    >>> play_in_terminal(session, Console(file=io.StringIO()), lambda prompt: next(typed))
    >>> len(session.attempts), session.state
    (1, 'ended')
    """
    console.print(_HELP)
    shown: tuple[PlayView, bool] | None = None
    n_explained = 0
    while True:
        view = session.view()
        is_stuck = view.end == "stalemate" and not view.attempts and n_explained < view.episode
        if view.state == "ended" and not is_stuck:
            break
        letters = _letters(session, view)
        if (view, memory_aid) != shown:
            console.print(_screen(view, letters, memory_aid=memory_aid))
            shown = view, memory_aid
        if is_stuck:
            n_explained = view.episode
            console.print("No piece can be moved on this board as it was dealt: a stalemate.")
            continue
        try:
            said = read("n, g> " if view.state == "board over" else "> ").strip()
        except EOFError:
            break
        if said == "m":
            memory_aid = not memory_aid
        elif said:
            console.print(_answer(session, said, letters))
    console.print(f"The game is over: {_sum(session.view())}.")


def _answer(session: PlaySession, said: str, letters: Mapping[str, int]) -> str:
    """Carry out a command, and return the reply."""
    try:
        if said in ("g", "q"):
            session.give_up()
            return ""
        if said == "n":
            session.next_board()
            return ""
        if len(said) == 2 and said[0] in letters and said[1] in "0123":
            session.attempt(letters[said[0]], int(said[1]))
            view = session.view()
            return _REPLIES[view.attempts[-1]["outcome"]] + _ENDS[view.end]
    except PlayError as error:
        return str(error)
    return _HELP if said == "h" else f"expected a piece and a bucket, such as a0; found {said!r}"


def _letters(session: PlaySession, view: PlayView) -> dict[str, int]:
    """Return the cell of each piece by its letter, which is the same as long as a board lasts."""
    left = {piece["cell"] for piece in view.pieces}
    named = zip(_LETTERS, session.board(session.episode).pieces, strict=False)
    return {letter: piece.pos for letter, piece in named if piece.pos in left}


def _screen(view: PlayView, letters: Mapping[str, int], *, memory_aid: bool) -> RenderableType:
    """Return the board, and below it the memory aid."""
    head = f"{view.rule} · board {view.episode} of {view.episodes} · {_sum(view)}"
    lines: list[RenderableType] = [Text(head, style="bold"), _board(view, letters)]
    refused = [attempt for attempt in view.attempts if attempt["outcome"] != "accepted"]
    more = "not accepted: " if len(refused) <= _MOST_REFUSED else "recently rejected: "
    for title, moves in (("moved: ", view.removed), (more, refused[-_MOST_REFUSED:])):
        if memory_aid and moves:
            lines.append(Text(title).append_text(Text().join(map(_move, moves))))
    return Group(*lines)


def _board(view: PlayView, letters: Mapping[str, int]) -> Text:
    letter_of = {cell: letter for letter, cell in letters.items()}
    pieces = {piece["cell"]: piece for piece in view.pieces}
    edge = "+" + "-" * 49 + "+"
    text = Text(f"(0) {edge} (1)\n", no_wrap=True)
    for y in range(6, 0, -1):
        text.append(f"  {y} | ")
        for cell in range(6 * y - 5, 6 * y + 1):
            if cell in pieces:
                text.append(f" {letter_of.get(cell, '')} ").append_text(_piece(pieces[cell]))
                text.append(" ")
            else:
                text.append("   .    ", style="dim")
        text.append("|\n")
    return text.append(f"(3) {edge} (2)\n      " + "".join(f"{x:^8}" for x in range(1, 7)))


def _piece(piece: Mapping[str, Any]) -> Text:
    """Return a sign and three letters: no colour is needed to distinguish pieces."""
    shape, color = str(piece["shape"]), str(piece["color"])
    sign = _SIGNS.get(shape, shape[:1]) + color[:3].lower()
    return Text(sign, style=_STYLES.get(color, "default"))


def _move(move: Mapping[str, Any]) -> Text:
    """Return a piece, its column and row, and a bucket, in one piece."""
    x, y = (move["cell"] - 1) % 6 + 1, (move["cell"] - 1) // 6 + 1
    return _piece(move) + Text(f"\u00a0{x},{y}\u00a0→\u00a0{move['bucket']}   ")


def _sum(view: PlayView) -> str:
    errors = counted(view.errors, "error")
    found = ", ten right in a row: you seem to know the rule" if view.mastered else ""
    return f"{view.moves} moved, {errors}{found}"


def board_records(session: PlaySession) -> list[dict[str, Any]]:
    """Return a record for each board that counts: ``board, end, attempts, errors``."""
    log, errors = session.log(), session.errors_by_board()
    ends = {0: "not cleared", 1: "cleared", 2: "stalemate"}
    return [
        {"board": i, "end": ends[finish], "attempts": n, "errors": wrong}
        for i, (finish, n, wrong) in enumerate(
            zip(log.finish.tolist(), log.n_attempts.tolist(), errors, strict=False), 1
        )
    ]


def result_table(session: PlaySession, others: Sequence[Yardstick]) -> Table:
    """Return the errors so far after each board: the player's, and the medians of the learners.

    The learners played every board to its end, so a board that the player left has no medians.
    """
    table = Table(title="errors so far", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("board", "you", *(other.name for other in others)):
        table.add_column(name, justify="right")
    is_left = bool(session.here()) and (session.state == "playing" or session.left_off)
    total = 0
    for i, errors in enumerate(session.errors_by_board()[: session.n_played]):
        total += errors
        is_whole = i < session.n_played - is_left
        medians = [f"{other.median[i]:g}" if is_whole else "-" for other in others]
        board = f"{i + 1}" if is_whole else f"{i + 1} (not finished)"
        table.add_row(board, str(total), *medians)
    return table
