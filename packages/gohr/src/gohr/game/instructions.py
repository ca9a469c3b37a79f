"""Instructions of the game: the text that people read in the browser and models in a prompt.

One text for both, so that their results can be compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from gohr.game.board import Piece
from gohr.game.outcomes import ACCEPTED, DENIED, IMMOVABLE

#: The sentences, by topic; a page shows those that it has a place for.
INSTRUCTIONS: Mapping[str, str] = MappingProxyType(
    {
        "rule": "A hidden rule says which piece may go into which bucket, and when. "
        "It stays the same from board to board.",
        "board": "The board has columns 1 to 6 from the left and rows 1 to 6 from the bottom. "
        "Bucket 0 is at its top left, 1 at the top right, 2 at the bottom right, 3 at the bottom "
        "left.",
        "goal": "Find it with as few errors as you can.",
        "accepted": "What the rule accepts goes into the bucket. "
        "What it does not stays, and is an error.",
        "later": "A piece that cannot be moved now may be movable later.",
        "replies": "“No” means that the piece can be moved now, but not there; "
        "“not now”, that it cannot be moved at all at this point.",
    }
)

#: Replies to an attempt.
REPLIES: Mapping[int, str] = MappingProxyType({ACCEPTED: "yes", DENIED: "no", IMMOVABLE: "not now"})


def piece_words(piece: Piece) -> str:
    """Return what a piece looks like, in words.

    Examples
    --------
    >>> piece_words(Piece(1, 8, "STAR", "RED"))
    'red star'
    """
    return f"{piece.color} {piece.shape}".lower()
