"""Composite pictures: their properties are those that the reference's recorded pieces have."""

import gzip
import json

import pytest

from gnomon.errors import GnomonError
from gnomon.game.formats.picture_pieces import PREFIX, composite_properties
from recorded_episodes import VECTORS


def recorded() -> dict[str, dict[str, str]]:
    """All composite pieces of the recorded boards."""
    with gzip.open(VECTORS / "rules_extended.jsonl.gz", "rt") as lines:
        boards = [json.loads(line).get("board") or [] for line in lines]
    pieces = [piece for board in boards for piece in board]
    return {p["image"]: p["props"] for p in pieces if p.get("image", "").startswith(PREFIX)}


@pytest.mark.skipif(not VECTORS.is_dir(), reason="the recorded episodes are not here")
def test_every_recorded_piece_has_the_recorded_properties():
    pieces = recorded()
    assert len(pieces) > 100
    for name, properties in pieces.items():
        assert composite_properties(name) == properties


@pytest.mark.parametrize(
    ("name", "mirrors"),
    [
        ("h2/rq/rq", "1111"),  # h v asc desc
        ("h2/rq/rs", "0111"),
        ("h3/rq/rs/rq", "1111"),
        ("h2/d=12/rq/rq", "0111"),
        ("v2/b=12/rq/rq", "1011"),
        ("g22/rq/rq/rq/rq", "0000"),
    ],
)
def test_mirrors_of_a_picture(name, mirrors):
    properties = composite_properties(PREFIX + name)
    assert "".join(properties[f"trans_{m}"] for m in ("h", "v", "asc", "desc")) == mirrors


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("?", "expected h or v and a number, or g and two numbers"),
        ("h0", "expected h or v and a number"),
        ("h2/rq", "expected 2 elements in a composite picture, found '1'"),
        ("h2/d=1/rq/rq", "expected 2 digits in a composite picture, found 'd=1'"),
        ("h1/d=4/rq", "expected 1 elements in a composite picture, found '2'"),
        ("v1/??", "expected a letter for a colour and one for a shape"),
    ],
)
def test_other_names_are_refused(name, message):
    with pytest.raises(GnomonError, match=message.replace("?", r"\?")):
        composite_properties(PREFIX + name)
