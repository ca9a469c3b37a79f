"""What to run next, tasks already run, budgets and target errors, sparse tables and odd rows."""

import warnings

import numpy as np
import pytest

from gnomon.distillation import distill, next_steps, prepare
from gnomon.errors import DegenerateScoresWarning, ScoreDataError, UnknownNameError
from gnomon.scores import ScoreTable


def table_of(n=40, n_tasks=8, *, gaps=0.0, seed=0, levels=0.0, extra=()):
    rng = np.random.default_rng(seed)
    x = rng.normal(2, 0.7, (n, 1)) + rng.normal(0, 0.3, (n, n_tasks)) + levels * np.arange(n_tasks)
    x[rng.random(x.shape) < gaps] = np.nan
    rows = {f"a{i:02}": [row] for i, row in enumerate(x)} | dict(extra)
    return ScoreTable.from_arrays(rows, tasks=[f"t{j}" for j in range(n_tasks)])


def test_the_model_for_tasks_already_run():
    found = distill(table_of(), have=["t4", "t1"], transform="identity")
    assert found.model.tasks == ("t4", "t1")
    assert set(found[0].nested.chosen) == {("t4", "t1")}
    assert "the best 2 tasks to choose would have" in str(found)
    more = distill(table_of(), have=["t4"], add=2, transform="identity")
    assert "t4" in more.model.tasks
    assert len(more.model.tasks) == 3


def test_a_budget_is_kept_inside_too():
    costs = {f"t{j}": float(1 + j) for j in range(8)}
    found = distill(table_of(), costs=costs, budget=6.0, transform="identity")
    for tasks in (found.model.tasks, *found[0].nested.chosen):
        assert sum(costs[task] for task in tasks) <= 6.0
    with pytest.raises(ScoreDataError, match="the cheapest costs 1, the budget is"):
        distill(table_of(), costs=costs, budget=0.5, transform="identity")
    with pytest.raises(ScoreDataError, match="expected costs and a budget together"):
        distill(table_of(), costs=costs, transform="identity")
    with pytest.raises(ScoreDataError, match="expected a cost of t0 above 0, found 0"):
        distill(table_of(), costs=costs | {"t0": 0.0}, budget=6.0, transform="identity")


def test_a_target_error_takes_more_tasks():
    sizes = [
        len(distill(table_of(40, 8), target_error=e, transform="identity").model.tasks)
        for e in (0.5, 0.08)
    ]
    assert sizes[0] < sizes[1]


def test_the_next_task_and_when_to_stop():
    table = table_of(extra={"mine": [[2.0, 2.1, *[np.nan] * 6]]}.items())
    found = next_steps(table, "mine", target=0.3, transform="identity")
    assert found.tasks == ("t0", "t1")
    assert {one.task for one in found} == {f"t{j}" for j in range(2, 8)}
    assert [one.joint for one in found] == [True] * 3 + [False] * 3
    assert not found.stop
    assert "run the set that is chosen jointly" in str(found)
    done = next_steps(table, "mine", target=2.0, transform="identity")
    assert done.stop
    assert "stop: the target is reached" in str(done)
    assert "cannot be promised" in str(next_steps(table, "mine", target=0.1, transform="identity"))


def test_what_is_cheap_comes_first():
    costs = {f"t{j}": 100.0 for j in range(8)} | {"t6": 0.01}
    row = [1.0, 1.5, 2.0, 2.5, 3.0, *[np.nan] * 3]
    found = next_steps(
        table_of(extra={"mine": [row]}.items()), "mine", costs=costs, transform="identity"
    )
    assert found[0].task == "t6"


def test_bad_input_is_told():
    with pytest.raises(UnknownNameError, match="unknown task 'tt'"):
        next_steps(table_of(), "new", costs={"tt": 1.0}, transform="identity")
    with pytest.raises(ScoreDataError, match="expected a target half width above 0"):
        next_steps(table_of(), "new", target=0.0, transform="identity")
    alone = ScoreTable.from_arrays({"mine": [[1.0, 2.0, 3.0]]})
    with pytest.raises(ScoreDataError, match="other algorithms to learn from; found mine alone"):
        next_steps(alone, "mine", transform="identity")


def test_sparse_tables_are_completed():
    whole = prepare(table_of(60, 12, levels=0.3), transform="identity")
    table = table_of(60, 12, gaps=0.4, levels=0.3)
    with pytest.warns(match="% of the scores are missing"):
        sparse = prepare(table, transform="identity")
    own = np.nanmedian(sparse.x, axis=1)
    truth = whole.target[np.isin(whole.algorithms, sparse.algorithms)]
    error, plain = (np.abs(y - truth).mean() for y in (sparse.target, own))
    assert error < 0.9 * plain
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateScoresWarning)
        found = distill(sparse, size=3)
    assert np.isfinite(found[0].nested_relative_error)


def test_an_error_that_needs_complete_rows_blocks_nothing():
    with pytest.warns(DegenerateScoresWarning) as said:
        found = distill(table_of(40, 12, gaps=0.55), size=5, transform="identity")
    assert any("no plain error, which needs complete rows" in str(w.message) for w in said)
    assert np.isnan(found[0].relative_error)
    assert found[0].nested.n_predicted >= 35


def test_tables_without_overlap_are_refused():
    rows = {f"a{i:02}": np.full((1, 30), np.nan) for i in range(20)}
    for i, row in enumerate(rows.values()):
        start = (3 * i) % 30
        row[0, start : start + 3] = i
    with pytest.raises(ScoreDataError, match="algorithms in common"):
        prepare(ScoreTable.from_arrays(rows), transform="identity")


def test_copies_and_wild_scores_are_named():
    base = table_of()
    row = [float(base.runs("a03", task).mean()) for task in base.tasks]
    wild = [2.0] * 7 + [60.0]
    found = distill(
        table_of(extra={"twin": [row], "wild": [wild]}.items()), size=3, transform="identity"
    )
    said = [text for text in found.warnings if ": the nested R2 is" in text]
    assert any("twin of a03" in text for text in said)
    assert any("wild on t7" in text for text in said)


def test_what_a_copy_does_to_the_tasks_that_there_are():
    base = table_of()
    twin = {"twin": [[float(base.runs("a03", task).mean()) for task in base.tasks]]}
    with_it, without = (
        distill(table, have=["t4"], transform="identity")
        for table in (table_of(extra=twin.items()), base)
    )
    said = next(text for text in with_it.warnings if "twin of a03" in text)
    assert said.endswith(f"{without[0].nested.r2:.3f} without")


def test_six_algorithms_are_too_few():
    with pytest.raises(ScoreDataError, match="too few to choose tasks by"):
        distill(table_of(6), size=2, transform="identity")


def test_six_algorithms_with_fewer_folds_are_few():
    found = distill(table_of(6), size=2, folds=3, transform="identity")
    assert any("6 algorithms are few to choose tasks by: the error" in w for w in found.warnings)


def test_who_has_run_all_is_told_so():
    found = next_steps(table_of(), "a00", transform="identity", target=1e-9)
    assert not found
    assert found.notes[0].startswith("a00: 8 tasks")
