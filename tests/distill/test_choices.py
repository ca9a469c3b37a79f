"""Which tasks and sizes can be chosen."""

import pytest

from gnomon.distill.search.plan import free_tasks
from gnomon.errors import ScoreDataError, UnknownNameError

TASKS = ["u", "v", "w"]


def test_forced_tasks_are_not_free_and_need_not_be_candidates():
    assert free_tasks(["u", "v"], TASKS, 2, forced=["w"]) == ["u", "v"]


@pytest.mark.parametrize(
    ("candidates", "size", "forced", "said"),
    [
        (TASKS, 4, [], "expected a size from 1 to 3, found 4: 3 tasks to choose from and 0 forced"),
        (TASKS, 1, ["u"], "expected a size from 2 to 3, found 1"),
        (TASKS, 2, ["u", "u"], "u is forced twice"),
        ([], 1, [], "expected tasks to choose from, whose scores differ; there are none"),
    ],
)
def test_what_does_not_fit_is_said(candidates, size, forced, said):
    with pytest.raises(ScoreDataError, match=said):
        free_tasks(candidates, TASKS, size, forced=forced)


def test_an_unknown_forced_task():
    with pytest.raises(UnknownNameError, match="unknown task 'x'"):
        free_tasks(TASKS, TASKS, 2, forced=["x"])
