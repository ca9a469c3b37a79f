"""Composite pictures: their properties are those that the reference's recorded pieces have."""

import gzip
import json

import pytest

from gnomon.errors import GnomonError
from gnomon.game.formats.picture_pieces import (
    PREFIX,
    composite_names,
    composite_properties,
    find_pictures,
)
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


def test_a_pattern_stands_for_all_that_can_be_there(tmp_path):
    assert len(composite_names(PREFIX + "?2/b=3?/rq/??", 255)) == 2 * 3 * 3 * 4
    large = composite_names(PREFIX + "v2/??/??", 100)
    assert large == sorted(set(large)) == composite_names(PREFIX + "v2/??/??", 100)
    assert len(large) == 100
    for name in large:
        composite_properties(name)
    # Each letter of a place is drawn about as often.
    counts = [sum(name[-2] == color for name in large) for color in "rgb"]
    assert min(counts) > 20
    found = find_pictures(tmp_path, [PREFIX + "v2/??/??", PREFIX + "?1/rq"])
    assert len(found) == 127 + 2
    for pattern in ("?/rq", "v?/rq", "v2/d=?/rq/rq", "v2/rq", "v1/???"):
        with pytest.raises(GnomonError, match="in a composite picture"):
            composite_names(PREFIX + pattern, 255)
