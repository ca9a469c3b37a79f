"""Experiments whose pieces are pictures, or share cells: played, kept, verified, refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2

from gnomon.errors import ConfigError, GnomonError, NotCompilableError, NotCompiledWarning
from gnomon.experiments import ExperimentConfig, RunFolder, run
from gnomon.game import Board, BoardSpec, Piece, draw_boards
from gnomon.leaderboard import verify_run
from gnomon.learners import make_learner, play_trial
from gnomon.report import draw_board
from gnomon.rules import parse
from studies.piece_files import write_piece_files

RULE = {"name": "legs", "text": "(legs:4, bucket:0) (legs:2, bucket:1) (c:gr, bucket:[2,3])"}
PICTURES = {"pieces": [4, 6], "images": ["zoo/*", "/composite/v2/d=13/gs/rq"]}
LEARNER_FIELDS = {"process": {"command": "true"}}
CROWDED = {"pieces": 36, "shapes": 3, "colors": 2, "crowded": True}


@pytest.fixture(scope="module")
def shapes(tmp_path_factory):
    """A folder with pictures."""
    data = tmp_path_factory.mktemp("data")
    write_piece_files(data)
    return data / "shapes"


@pytest.mark.parametrize(
    "board", [pytest.param(PICTURES, id="pictures", marks=pytest.mark.full), CROWDED]
)
def test_a_run_is_kept_and_verified(shapes, tmp_path, board):
    fields = {"name": "odd", "rules": [RULE], "learners": ["uniform", "linear_dqn"]}
    record = {**fields, "trials": 1, "episodes": 3, "horizon": 30, "board": board}
    config = ExperimentConfig.from_record(record, base=shapes)
    assert ExperimentConfig.from_record(config.to_record()) == config
    with pytest.warns(NotCompiledWarning, match="not compilable: (pieces that|several pieces)"):
        summary = run(config, tmp_path / "run")
    assert (summary.done, summary.failed) == (2, 0)
    assert all(verdict.ok for verdict in verify_run(tmp_path / "run"))
    folder = RunFolder.open(tmp_path / "run")
    log = folder.log(folder.trials()[0])
    assert log.boards.shape == (3, config.board.n_numbers)
    assert len(draw_board(log.boards[0], spec=config.board).patches) > 36


def test_a_learner_finds_a_rule_about_properties(shapes):
    fields = {"rules": [RULE], "learners": ["tabular_q"], "trials": 1, "episodes": 40}
    config = ExperimentConfig.from_record({"name": "x", **fields, "board": PICTURES}, base=shapes)
    assert config.doubts == ()
    spec, rng = config.board, np.random.default_rng(0)
    learner = make_learner("tabular_q", spec, rng=rng)
    boards = draw_boards(40, spec, rng=rng)
    log = play_trial(learner, parse(RULE["text"]), boards, board_spec=spec)
    n_errors = log.n_attempts - (boards > 0).sum(axis=1)
    assert n_errors[:5].sum() > 5 * n_errors[-5:].sum()


@pytest.mark.parametrize("board", [PICTURES, CROWDED], ids=["pictures", "crowded"])
@pytest.mark.parametrize("kind", ["ideal", "process"])
def test_a_learner_that_knows_cells_shapes_and_colors_is_refused(shapes, board, kind):
    learner = {"kind": kind, **LEARNER_FIELDS.get(kind, {})}
    record = {"name": "x", "rules": ["clockwise"], "learners": [learner], "board": board}
    with pytest.raises(ConfigError, match=f"'{kind}': expected shapes and colours, each piece in"):
        ExperimentConfig.from_record(record, base=shapes)


def test_pictures_and_boards_that_are_not_there_are_named(shapes, tmp_path):
    fields = {"name": "x", "rules": ["clockwise"], "learners": ["uniform"]}
    with pytest.raises(GnomonError, match="no picture is called 'dogs/\\*'"):
        ExperimentConfig.from_record(fields | {"board": {"images": ["dogs/*"]}}, base=shapes)
    (shapes / "one.json").write_text(
        '{"value": [{"id": 5, "image": "zoo/cat.svg", "x": 1, "y": 1}]}'
    )
    given = {"images": ["zoo/*.png"], "files": ["one.json"]}
    with pytest.raises(ConfigError, match=r"piece 5 .zoo/cat.svg. is not of the palettes"):
        ExperimentConfig.from_record(fields | {"board": given}, base=shapes)
    found = ExperimentConfig.from_record(
        fields | {"board": given | {"images": ["zoo/*"], "crowded": True}}, base=shapes
    )
    assert found.predefined.deal(2, rng=np.random.default_rng(0)).shape == (2, 72)


def test_crowded_boards_are_drawn_as_others_but_for_their_cells():
    spec = BoardSpec(36, 3, 2, crowded=True)
    boards = draw_boards(400, spec, rng=np.random.default_rng(1))
    for row in boards[:50]:
        board = Board.from_codes(row, spec)
        assert [piece.place for piece in board.pieces] == list(range(1, 37))
        assert len({piece.shape for piece in board.pieces}) == 3
        assert np.array_equal(board.codes(spec), row)
    assert np.array_equal(boards[:, 36:], np.sort(boards[:, 36:], axis=1))
    # Each cell is as likely as any other: chi-square with 35 degrees of freedom.
    counts = np.bincount(boards[:, 36:].ravel(), minlength=37)[1:]
    expected = counts.sum() / 36
    assert ((counts - expected) ** 2 / expected).sum() < chi2.ppf(0.999, 35)
    rng = np.random.default_rng(2)
    both = np.vstack([draw_boards(3, spec, rng=rng), draw_boards(2, spec, rng=rng)])
    assert np.array_equal(draw_boards(5, spec, rng=np.random.default_rng(2)), both)
    with pytest.raises(NotCompilableError, match="expected at most 36 pieces"):
        Board(tuple(Piece(i, 1, "STAR", "RED") for i in range(37))).codes(spec)
