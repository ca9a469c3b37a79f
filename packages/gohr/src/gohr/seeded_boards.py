"""Random boards identical to those of the reference game server, and their conditions.

:func:`gohr.draw_boards` draws from the same distribution with NumPy's generators, much faster; this
module is for games that must be the same as the reference's for the same seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from gnomon.errors import GnomonError
from gohr.board import COLORS, N_CELLS, SHAPES, Board, Piece
from gohr.reference import ReferenceGame
from gohr.rules.syntax import ListOf, Number, RuleLine, RuleSet
from gohr.rules.variables import walk

T = TypeVar("T")

#: After this number of rejected boards, the conditions are taken as unsatisfiable.
_MOST_TRIES = 1000


class SeededBoards:
    """Draws one board after another, bit for bit as the reference game server does.

    Ranges include both ends; if the second number is not above the first, the range is the first
    number only. The generator is ``java.util.Random``.

    Conditions, which are lines of a rule, set boards for training apart from those for testing. A
    piece *meets* a line if every atom of the line accepts it, into whichever bucket. A board is for
    training if no piece on it meets any line, and for testing if some piece does.

    Parameters
    ----------
    pieces : (int, int)
        Number of pieces, 1 to 36.
    shapes, colors : (int, int)
        Number of different shapes and colours that appear; 0 for "as it comes". ⚠ Unlike in
        :class:`gohr.BoardSpec` they may exceed the number of pieces: then a board fails to be drawn
        when its turn comes.
    shape_palette, color_palette : tuple of str
        The names to draw from, upper case, in the order in which the generator numbers them.
    seed : int
        Only the lowest 48 bits count.
    conditions : RuleSet, optional
        The lines.
    testing : bool
        Whether boards for testing are drawn instead of those for training; may be changed.

    Raises
    ------
    GnomonError
        If there are more pieces than cells, or more shapes or colours than in the palette.
    """

    def __init__(
        self,
        pieces: tuple[int, int],
        shapes: tuple[int, int] = (0, 0),
        colors: tuple[int, int] = (0, 0),
        *,
        shape_palette: tuple[str, ...] = SHAPES,
        color_palette: tuple[str, ...] = COLORS,
        seed: int,
        conditions: RuleSet | None = None,
        testing: bool = False,
    ) -> None:
        _check("pieces", pieces, 1, N_CELLS)
        _check("shapes", shapes, 0, len(shape_palette))
        _check("colors", colors, 0, len(color_palette))
        self._numbers = pieces, shapes, colors
        self.shape_palette, self.color_palette = shape_palette, color_palette
        self._random = _JavaRandom(seed)
        self.has_conditions = conditions is not None
        self.testing = testing
        self._zone = None if conditions is None else _zone(conditions)
        #: The lines of the conditions, each atom as a rule.
        self._lines: list[list[RuleSet]] = []
        if conditions is not None:
            self._lines = [
                [RuleSet((RuleLine((atom,)),), conditions.orders) for atom in line.atoms]
                for line in conditions.lines
            ]

    def deal(self) -> Board:
        """Draw the next board.

        Raises GnomonError if more shapes or colours must appear than there are pieces, or a
        thousand boards in a row did not meet the conditions.
        """
        n_pieces, n_shapes, n_colors = map(self._between, self._numbers)
        # The numbers stay the same over all tries.
        for _ in range(_MOST_TRIES):
            cells = self._cells(n_pieces)
            shapes = self._designate(n_pieces, n_shapes, self.shape_palette)
            colors = self._designate(n_pieces, n_colors, self.color_palette)
            looks = zip(cells, shapes, colors, strict=True)
            board = Board(tuple(Piece(i, *look) for i, look in enumerate(looks)))
            if self._zone is not None or not self.has_conditions:
                return board
            if any(_meeting(atoms, board) for atoms in self._lines) == self.testing:
                return board
        purpose = "testing" if self.testing else "training"
        raise GnomonError(f"found no board for {purpose} in {_MOST_TRIES} tries")

    def _between(self, numbers: tuple[int, int]) -> int:
        """Draw a number from a range; nothing is drawn if there is only one."""
        low, high = numbers
        return low if high <= low else low + self._random.next_int(high - low + 1)

    def _cells(self, n_pieces: int) -> list[int]:
        """Draw the cells of the pieces, ascending."""
        zone, every = self._zone, list(range(1, N_CELLS + 1))
        if zone is not None and not self.testing:
            every = [cell for cell in every if cell not in zone]
            _check("pieces", (n_pieces, n_pieces), 1, len(every))
        cells = sorted(self._random.sample(every, n_pieces))
        if zone and self.testing and not set(cells) & set(zone):
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


def _check(noun: str, numbers: tuple[int, int], least: int, most: int) -> None:
    for number in numbers:
        if not least <= number <= most:
            raise GnomonError(f"expected {least} to {most} {noun}, found {number}")


def _meeting(atoms: list[RuleSet], board: Board) -> set[int]:
    """Return the ids of the pieces that every one of the atoms accepts."""
    pieces = {piece.id for piece in board.pieces}
    for atom in atoms:
        if pieces:
            pieces &= {piece_id for piece_id, _ in ReferenceGame(atom, board).legal_moves()}
    return pieces


def _zone(conditions: RuleSet) -> tuple[int, ...] | None:
    """Return the cells of a file that is one atom with cell numbers and no other condition.

    ⚠ Boards under such a condition are not drawn by rejection.
    """
    if len(conditions.lines) != 1 or len(conditions.lines[0].atoms) != 1:
        return None
    (atom,) = conditions.lines[0].atoms
    others = (atom.shape, atom.color, atom.code, atom.postpos, *atom.properties)
    if len(atom.positions) != 1 or any(each is not None for each in others):
        return None
    places = [place for place in walk(atom.positions[0]) if not isinstance(place, ListOf)]
    listed = {place.value for place in places if isinstance(place, Number)}
    if not all(isinstance(place, Number) for place in places):
        return None
    return tuple(cell for cell in range(1, N_CELLS + 1) if cell in listed)


_MULTIPLIER, _INCREMENT, _MASK = 0x5DEECE66D, 0xB, (1 << 48) - 1


class _JavaRandom:
    """``java.util.Random``, whose documentation defines every bit; constants of ``drand48``."""

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ _MULTIPLIER) & _MASK

    def next_int(self, bound: int) -> int:
        """Return a number from 0 to below `bound`, each equally likely."""
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
