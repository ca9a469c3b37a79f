"""Results of pieces of work, or their first failure."""

import pytest

from gnomon.distill.outcomes import result_of
from gnomon.errors import ScoreDataError
from gnomon.execution.executor import Outcome


def test_a_result_passes():
    assert result_of(Outcome("piece", 3), "a piece") == 3


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ("ScoreDataError: too few rows", "a fold failed: too few rows"),
        ("the worker process died", "a fold failed: the worker process died"),
        ("ZeroDivisionError: division by zero", "a fold failed: ZeroDivisionError: division"),
    ],
)
def test_a_failure_is_one_line(error, said):
    with pytest.raises(ScoreDataError, match=said):
        result_of(Outcome("piece", error=error), "a fold")
