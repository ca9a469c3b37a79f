"""Results of pieces of work, or their first failure."""

import pytest

from gnomon.distillation.work import completed
from gnomon.errors import ScoreDataError
from gohr.execution import Outcome


class Failing:
    """An executor whose pieces all end with one error."""

    def __init__(self, error):
        self.error = error

    def map(self, work, pieces):
        for piece in pieces:
            yield Outcome(piece, error=self.error)


def test_results_come_with_their_pieces():
    assert list(completed(len, ["a", "bc"], "a word")) == [("a", 1), ("bc", 2)]


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
        list(completed(len, ["a"], "a fold", Failing(error)))
