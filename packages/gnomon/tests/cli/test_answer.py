"""What a verb prints of the results that a function returned."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
import typer

from gnomon.cli import answering
from gnomon.errors import DegenerateScoresWarning
from gnomon.results import Results
from gnomon.stats import Estimate, Estimates

ONE = Estimate("dqn", "iqm", None, 0.5, 0.4, 0.6, 0.95, "student", 5, 6)
FOUND = Results((ONE,), warnings=("one run only",))


def test_people_get_the_table_and_each_warning_once(capsys: pytest.CaptureFixture[str]) -> None:
    with answering("estimate", as_json=False) as answer:
        warnings.warn("one run only", DegenerateScoresWarning, stacklevel=1)
        answer.show(FOUND)
    out, err = capsys.readouterr()
    assert out == str(FOUND) + "\n"
    assert err.endswith(": one run only\n")


def test_results_without_a_figure_refuse_to_be_drawn(tmp_path: Path) -> None:
    with (
        pytest.raises(typer.BadParameter, match="results of estimate have no figure"),
        answering("estimate", as_json=False, figure=tmp_path / "a.svg") as answer,
    ):
        answer.show(FOUND)
    assert not any(tmp_path.iterdir())


def test_a_figure_of_nothing_is_not_said_to_be_written(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "none.svg"
    with answering("estimate", as_json=False, figure=path) as answer:
        answer.show(Estimates(()))
    assert capsys.readouterr().out == f"nothing to draw: no {path} written\n"
    assert not path.exists()
