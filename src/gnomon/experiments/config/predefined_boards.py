"""Boards that are given, instead of drawn: a curriculum, the same for every learner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.errors import ConfigError, NotCompilableError
from gnomon.game.board import N_CELLS, BoardSpec
from gnomon.game.formats.board_files import BoardOrder, read_board_file


@dataclass(frozen=True)
class PredefinedBoards:
    """A series of boards, dealt over and over in an order.

    Parameters
    ----------
    codes : tuple of bytes, each of 36, or of 72 where pieces share cells
        The boards as the engine plays them, with the palettes of the experiment.
    order : {"listed", "alphabetical", "random"}
        ``random`` deals every board once, in an order of the trial's own, before any comes again.
        The alphabet has sorted the boards already.

    Examples
    --------
    >>> easy, hard = bytes([1] + [0] * 35), bytes([1] * 36)
    >>> series = PredefinedBoards((easy, hard), "listed")
    >>> (series.deal(3, rng=np.random.default_rng(0)) > 0).sum(axis=1).tolist()
    [1, 36, 1]
    """

    codes: tuple[bytes, ...]
    order: BoardOrder = "listed"

    @classmethod
    def from_files(
        cls, files: Sequence[str], order: BoardOrder, spec: BoardSpec, *, base: Path
    ) -> PredefinedBoards:
        """Read board files, as the reference game server writes them, from the folder ``base``.

        Raises
        ------
        GnomonError
            A file cannot be read, or holds what an experiment cannot play: several pieces in one
            cell, or names and pictures that are not in the palettes.
        """
        names = (
            sorted(files, key=lambda name: Path(name).name) if order == "alphabetical" else files
        )
        return cls(tuple(_codes(base, name, spec) for name in names), order)

    @classmethod
    def from_record(cls, rows: Sequence[Sequence[int]], order: BoardOrder) -> PredefinedBoards:
        """Read the boards of a run folder's config; the inverse of :meth:`to_record`."""
        sizes = {len(row) for row in rows}
        if (
            len(sizes) != 1
            or not sizes <= {N_CELLS, 2 * N_CELLS}
            or not all(0 <= code < 256 for row in rows for code in row)
        ):
            raise ConfigError(f"field 'board', 'boards': expected {N_CELLS} codes for each board")
        return cls(tuple(map(bytes, rows)), order)

    def to_record(self) -> Mapping[str, Any]:
        """Return the boards and their order as JSON can hold them."""
        return {"boards": [list(board) for board in self.codes], "order": self.order}

    def deal(self, n_boards: int, *, rng: np.random.Generator) -> npt.NDArray[np.uint8]:
        """Return the codes of a trial's boards, a row each; only ``random`` uses ``rng``."""
        n = len(self.codes)
        deck = np.frombuffer(b"".join(self.codes), dtype=np.uint8).reshape(n, -1)
        times = -(-n_boards // n)
        if self.order == "random":
            order = np.concatenate([rng.permutation(n) for _ in range(times)])
        else:
            order = np.tile(np.arange(n), times)
        dealt: npt.NDArray[np.uint8] = deck[order[:n_boards]]
        return dealt


def _codes(base: Path, name: str, spec: BoardSpec) -> bytes:
    """Read one board, and see that an experiment can play it."""
    path = base / name
    try:
        return read_board_file(path, shapes=base).board.codes(spec).tobytes()
    except NotCompilableError as error:
        raise ConfigError(f"{path}: {error}") from None
