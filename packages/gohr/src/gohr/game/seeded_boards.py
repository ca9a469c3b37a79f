"""Random boards identical to those of the reference game server, and their conditions.

:func:`gohr.game.board.draw_boards` draws from the same distribution with NumPy's generators, much
faster; this module is for games that must be the same as the reference's for the same seed.

Conditions set boards for training apart from those for testing. A condition file is a rule file,
read otherwise: a piece *meets* a line if every atom of the line accepts it, into whichever bucket.
A board is for training if no piece on it meets any line, and for testing if some piece does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from gnomon.errors import GnomonError, counted
from gnomon.results import generator
from gohr.game.board import COLORS, N_CELLS, SHAPES, Board, BoardSpec, Piece, draw_boards
from gohr.game.reference import ReferenceGame
from gohr.rules.syntax import ListOf, Number, RuleLine, RuleSet
from gohr.rules.variables import walk


class BoardConditions:
    """Contents of a condition file.

    Examples
    --------
    >>> import gohr
    >>> has_star = BoardConditions(gohr.parse("(shape:star)"))
    >>> boards = has_star.draw(2, gohr.BoardSpec(), testing=True)
    >>> has_star.suits(Board.from_codes(boards[0], gohr.BoardSpec()), testing=True)
    True
    """

    def __init__(self, rule_set: RuleSet) -> None:
        #: The cells that decide, if nothing but cells does; else None.
        self.zone = _zone(rule_set)
        self._lines = [
            [RuleSet((RuleLine((atom,)),), rule_set.orders) for atom in line.atoms]
            for line in rule_set.lines
        ]

    def suits(self, board: Board, *, testing: bool) -> bool:
        """Return whether a board is for testing or for training."""
        return any(_meeting(atoms, board) for atoms in self._lines) == testing

    def draw(
        self, n_boards: int, spec: BoardSpec, *, testing: bool, rng: np.random.Generator | int = 0
    ) -> npt.NDArray[np.uint8]:
        """Draw boards by rejection until ``n_boards`` qualify, shape (n_boards, 36).

        Raises GnomonError: too few of very many do.
        """
        found: list[npt.NDArray[np.uint8]] = []
        rng = generator(rng)
        for _ in range(n_boards * _MOST_DRAWN):
            (codes,) = draw_boards(1, spec, rng=rng)
            if self.suits(Board.from_codes(codes, spec), testing=testing):
                found.append(codes)
            if len(found) == n_boards:
                return np.array(found)
        which = "at least one piece meets" if testing else "no piece meets"
        raise GnomonError(
            f"expected {counted(n_boards, 'board')} on which {which} the condition; found "
            f"{len(found)} among {n_boards * _MOST_DRAWN}"
        )


def _meeting(atoms: list[RuleSet], board: Board) -> set[int]:
    """Return the ids of the pieces that every one of the atoms, each a rule, accepts."""
    pieces = {piece.id for piece in board.pieces}
    for atom in atoms:
        if pieces:
            pieces &= {piece_id for piece_id, _ in ReferenceGame(atom, board).legal_moves()}
    return pieces


def _zone(rule_set: RuleSet) -> tuple[int, ...] | None:
    """Return the cells of a file that is one atom with cell numbers and no other condition."""
    if len(rule_set.lines) != 1 or len(rule_set.lines[0].atoms) != 1:
        return None
    (atom,) = rule_set.lines[0].atoms
    others = (atom.shape, atom.color, atom.code, atom.postpos, *atom.properties)
    if len(atom.positions) != 1 or any(each is not None for each in others):
        return None
    places = [place for place in walk(atom.positions[0]) if not isinstance(place, ListOf)]
    listed = {place.value for place in places if isinstance(place, Number)}
    if not all(isinstance(place, Number) for place in places):
        return None
    return tuple(cell for cell in range(1, N_CELLS + 1) if cell in listed)


#: Boards to draw for each that must meet a condition.
_MOST_DRAWN = 2000
#: After this number of rejected boards, the conditions are taken as unsatisfiable.
_MOST_TRIES = 1000


@dataclass(frozen=True, slots=True)
class BoardParameters:
    """How random boards are drawn: the parameters of the reference game server.

    Ranges include both ends; if the second number is not above the first, the range is the first
    number only.

    Raises GnomonError if there are more pieces than cells or more shapes than in the palette.

    Parameters
    ----------
    pieces : (int, int)
        Number of pieces, 1 to 36.
    shapes, colors : (int, int)
        Number of different shapes and colours that appear; 0 for "as it comes". ⚠ Unlike in
        :class:`gohr.game.board.BoardSpec` they may exceed the number of pieces: then a board
        fails to be drawn when its turn comes.
    shape_palette, color_palette : tuple of str
        The names to draw from, upper case. The order matters for the bits.
    """

    pieces: tuple[int, int]
    shapes: tuple[int, int] = (0, 0)
    colors: tuple[int, int] = (0, 0)
    shape_palette: tuple[str, ...] = SHAPES
    color_palette: tuple[str, ...] = COLORS

    def __post_init__(self) -> None:
        _check("pieces", self.pieces, 1, N_CELLS)
        _check("shapes", self.shapes, 0, len(self.shape_palette))
        _check("colors", self.colors, 0, len(self.color_palette))


def _check(noun: str, numbers: tuple[int, int], least: int, most: int) -> None:
    for number in numbers:
        if not least <= number <= most:
            raise GnomonError(f"expected {least} to {most} {noun}, found {number}")


class RandomBoards:
    """Draws one board after another.

    The order of the draws from ``random`` is part of this class's contract. ``conditions`` separate
    boards for training from boards for testing; ``testing`` selects the kind to begin with.

    Examples
    --------
    >>> dealt = RandomBoards(BoardParameters(pieces=(3, 3)), JavaRandom(1)).deal()
    >>> len(dealt.pieces)
    3
    """

    def __init__(
        self,
        parameters: BoardParameters,
        random: JavaRandom,
        conditions: BoardConditions | None = None,
        *,
        testing: bool = False,
    ) -> None:
        self._parameters = parameters
        self._random = random
        self._conditions = conditions
        self.testing = testing
        self.shapes = parameters.shape_palette
        self.colors = parameters.color_palette
        self.labelled = False

    @property
    def can_test(self) -> bool:
        """Whether there are conditions."""
        return self._conditions is not None

    def deal(self) -> Board:
        """Draw the next board.

        Raises GnomonError if more shapes or colours must appear than there are pieces, or a
        thousand boards in a row did not meet the conditions.
        """
        parameters = self._parameters
        numbers = [
            self._between(each)
            for each in (parameters.pieces, parameters.shapes, parameters.colors)
        ]
        conditions = self._conditions
        if conditions is None or conditions.zone is not None:
            return self._draw(*numbers)
        # The numbers stay the same over all tries.
        for _ in range(_MOST_TRIES):
            board = self._draw(*numbers)
            if conditions.suits(board, testing=self.testing):
                return board
        purpose = "testing" if self.testing else "training"
        raise GnomonError(f"found no board for {purpose} in {_MOST_TRIES} tries")

    def _draw(self, n_pieces: int, n_shapes: int, n_colors: int) -> Board:
        """Draw a board: cells, shapes, colours, in this order."""
        parameters = self._parameters
        cells = self._cells(n_pieces)
        shapes = self._designate(n_pieces, n_shapes, parameters.shape_palette)
        colors = self._designate(n_pieces, n_colors, parameters.color_palette)
        looks = zip(cells, shapes, colors, strict=True)
        return Board(tuple(Piece(i, *look) for i, look in enumerate(looks)))

    def _between(self, numbers: tuple[int, int]) -> int:
        """Draw a number from a range; nothing is drawn if there is only one."""
        low, high = numbers
        return low if high <= low else low + self._random.next_int(high - low + 1)

    def _cells(self, n_pieces: int) -> list[int]:
        """Draw the cells of the pieces, ascending."""
        zone = self._conditions.zone if self._conditions else None
        every = list(range(1, N_CELLS + 1))
        if zone is not None and not self.testing:
            every = [cell for cell in every if cell not in zone]
            _check("pieces", (n_pieces, n_pieces), 1, len(every))
        cells = sorted(self._random.sample(every, n_pieces))
        if zone and self.testing and not set(cells) & set(zone):
            # ⚠ The cell may hold a piece already, if the zone is that of the pieces' own cells.
            moved = self._random.next_int(n_pieces)
            cells[moved] = zone[self._random.next_int(len(zone))]
        return sorted(cells)

    def _designate(self, n_pieces: int, k: int, palette: Sequence[str]) -> list[str]:
        """Give each piece a name, so that exactly `k` names appear; any number of them for 0."""
        draw = self._random.next_int
        if k == 0:
            return [palette[draw(len(palette))] for _ in range(n_pieces)]
        classes = [draw(k) for _ in range(n_pieces)]
        if k > n_pieces:
            raise GnomonError(f"expected {k} different shapes or colors on {n_pieces} pieces")
        for number, piece in enumerate(self._random.sample(list(range(n_pieces)), k)):
            classes[piece] = number
        chosen = sorted(self._random.sample(list(range(len(palette))), k))
        return [palette[chosen[number]] for number in classes]


T = TypeVar("T")

_MULTIPLIER, _INCREMENT, _MASK = 0x5DEECE66D, 0xB, (1 << 48) - 1


class JavaRandom:
    """The generator ``java.util.Random``: linear congruential, 48 bits of state.

    Use it only to repeat recorded games: its low bits are poor. Environments and experiments draw
    from NumPy's generators.

    Only the lowest 48 bits of a seed are used.

    References
    ----------
    The class documentation of ``java.util.Random`` defines every bit. The multiplier and the
    increment are those of the POSIX ``drand48``.

    Examples
    --------
    >>> random = JavaRandom(42)
    >>> [random.next_int(100) for _ in range(5)]
    [30, 63, 48, 84, 70]
    """

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ _MULTIPLIER) & _MASK

    def next_int(self, bound: int) -> int:
        """Return a number from 0 to below `bound`, each equally likely.

        Raises ValueError: `bound` is outside that range.
        """
        if not 0 < bound < 1 << 31:
            raise ValueError(f"expected a bound from 1 to 2147483647, found {bound}")
        if bound & (bound - 1) == 0:
            # For a power of two the high bits are taken, which are more random.
            return (bound * self._next_bits()) >> 31
        while True:
            bits = self._next_bits()
            value = bits % bound
            # Refuse the incomplete last block of numbers, which would favour small values.
            if bits - value + bound - 1 < 1 << 31:
                return value

    def sample(self, items: list[T], n: int) -> list[T]:
        """Return `n` of the items, drawn one by one without replacement, in the order drawn."""
        left = list(items)
        return [left.pop(self.next_int(len(left))) for _ in range(n)]

    def _next_bits(self) -> int:
        """Return 31 random bits."""
        self._state = (self._state * _MULTIPLIER + _INCREMENT) & _MASK
        return self._state >> 17
