"""The animation of the README is drawn by its script, is small, and ends with the rule found."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import gohr

pytestmark = pytest.mark.full  # a game is played and drawn

DOCS = Path(__file__).parents[2] / "docs"
#: Few enough names that the rules over them are listed in a moment.
SPEC = gohr.BoardSpec(
    pieces=3, shapes=2, colors=1, shape_palette=("STAR", "TRIANGLE"), color_palette=("RED",)
)


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location(
        "make_player_animation", DOCS / "make_player_animation.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_animation_is_small_goes_on_for_ever_and_rests_at_its_end():
    path = DOCS / "images" / "player.gif"
    assert path.stat().st_size < 400_000
    with Image.open(path) as image:
        assert image.info["loop"] == 0
        image.seek(image.n_frames - 1)
        assert image.info["duration"] >= 5000


def test_the_script_draws_every_attempt_of_a_game(script, tmp_path):
    steps = script.play(SPEC, seed=0)
    assert steps[-1].after.n_rules < steps[0].before.n_rules
    assert np.count_nonzero(steps[-1].board) == 1, "the last attempt clears the board"
    refused = sum(not step.accepted for step in steps)
    drawn = script.save(tmp_path / "player.gif", script.frames(steps, SPEC))
    with Image.open(drawn) as image:
        assert image.n_frames == 2 + 5 * len(steps) + refused
