"""Boards from files as a curriculum: their orders, what is refused, and that a run keeps them."""

from __future__ import annotations

import json

import numpy as np
import pytest

from gnomon.errors import GnomonError
from gohr.errors import ConfigError
from gohr.experiments import ExperimentConfig, PredefinedBoards, RunFolder, run, trials_of


def write_board(path, *cells, shape="star", color="red"):
    rows = [
        {"id": i, "shape": shape, "color": color, "x": (c - 1) % 6 + 1, "y": (c - 1) // 6 + 1}
        for i, c in enumerate(cells)
    ]
    path.write_text(json.dumps({"id": 0, "value": rows}))


CONFIG = """
name = "curriculum"
rules = ["clockwise"]
learners = ["uniform"]
trials = 3
episodes = 8
[board]
files = ["b.json", "easy/c.json", "a.json"]
order = "{order}"
"""


@pytest.fixture
def config(tmp_path):
    (tmp_path / "easy").mkdir()
    for name, n in (("a", 1), ("b", 2), ("easy/c", 3)):
        write_board(tmp_path / f"{name}.json", *range(1, n + 1))

    def read(order="listed", **changes):
        (tmp_path / "x.toml").write_text(CONFIG.format(order=order))
        return ExperimentConfig.from_toml(tmp_path / "x.toml", changes=changes)

    return read


def sizes(config, number=0):
    trial = next(t for t in trials_of(config) if t.number == number)
    return (trial.play().boards > 0).sum(axis=1).tolist()


def test_listed_and_alphabetical(config):
    assert sizes(config()) == [2, 3, 1, 2, 3, 1, 2, 3]
    assert sizes(config("alphabetical")) == [1, 2, 3, 1, 2, 3, 1, 2]


def test_random_deals_every_board_once_before_any_again(config):
    trials = [sizes(config("random"), number) for number in range(3)]
    assert all(sorted(dealt[i : i + 3]) == [1, 2, 3] for dealt in trials for i in (0, 3))
    assert len({tuple(dealt) for dealt in trials}) > 1
    assert sizes(config("random")) == trials[0]


def test_the_run_folder_has_the_boards(config, tmp_path):
    first = config("random")
    folder = run(first, tmp_path / "run").folder
    (tmp_path / "a.json").unlink()
    assert RunFolder.open(folder.path).config == first
    assert len(folder.trials()) == 3


def test_other_boards_are_another_trial(config):
    keys = [next(trials_of(config(order))).key for order in ("listed", "alphabetical", "random")]
    drawn = ExperimentConfig("x", ["clockwise"], ["uniform"], trials=3, episodes=8)
    assert len({*keys, next(trials_of(drawn)).key}) == 4


def test_in_python_too(config):
    series = config().predefined
    mine = ExperimentConfig("x", ["clockwise"], ["uniform"], predefined=series, episodes=8)
    assert sizes(mine) == sizes(config())
    assert PredefinedBoards.from_record(**renamed(series.to_record())) == series


def renamed(record):
    return {"rows": record["boards"], "order": record["order"]}


@pytest.mark.parametrize(
    ("board", "message"),
    [
        ({"order": "listed"}, r"field 'board', 'order': there are no 'files' to put in order$"),
        ({"files": ["a.json"], "pieces": 3}, r"field 'board': expected 'files' or 'pieces', found"),
        ({"files": ["a.json"], "order": "alpha"}, r"'order': expected 'listed', 'alphabetical' or"),
        ({"files": []}, r"field 'board', 'files': expected a list of board files; found \[\]$"),
        ({"files": ["none.json"]}, r"none.json: cannot read this file: No such file"),
        ({"files": ["crowded.json"]}, r"crowded.json, piece 2: several pieces in cell 5$"),
        ({"files": ["odd.json"]}, r"odd.json: board: piece 0 \(RED MOON\) is not of the palettes$"),
    ],
)
def test_what_is_refused(config, tmp_path, board, message):
    write_board(tmp_path / "crowded.json", 5, 5)
    write_board(tmp_path / "odd.json", 5, shape="moon")
    with pytest.raises(GnomonError, match=message):
        config(board=board)


def test_own_palettes(config, tmp_path):
    write_board(tmp_path / "odd.json", 5, shape="moon")
    mine = config(board={"files": ["odd.json"], "shape_palette": ["sun", "moon"]})
    assert sizes(mine) == [1] * 8


def test_a_damaged_record():
    with pytest.raises(ConfigError, match="expected 36 codes for each board"):
        PredefinedBoards.from_record([[1, 2]], "listed")


def test_dealing_is_a_function_of_the_generator():
    series = PredefinedBoards(tuple(bytes([i] + [0] * 35) for i in range(1, 6)), "random")
    a, b = (series.deal(12, rng=np.random.default_rng(3)) for _ in range(2))
    np.testing.assert_array_equal(a, b)
