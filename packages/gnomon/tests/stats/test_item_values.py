"""Values of items: pass@k and pass^k against enumeration, means over epochs, bad input."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest

from gnomon.errors import DegenerateScoresWarning, ScoreDataError, UnknownNameError
from gnomon.scores import ScoreTable
from gnomon.stats import compare, estimate


@pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")
def test_pass_at_k_is_the_share_of_draws_with_a_success():
    for s in range(1, 6):
        runs = np.array([[r < right for right in range(s + 1)] for r in range(s)], dtype=float)
        for k in range(1, s + 1):
            draws = [[any(d), all(d)] for x in runs.T for d in itertools.combinations(x, k)]
            found = estimate(small(a=runs), [f"pass@{k}", f"pass^{k}"])
            assert [one.value for one in found] == pytest.approx(np.mean(draws, axis=0))


def test_epochs_are_averaged_within_their_item():
    """An item with many epochs weighs no more than one with few."""
    rows = [("q1", run, 1) for run in range(8)] + [("q2", 0, 0), ("q3", 0, 0), ("q3", 1, 1)]
    table = ScoreTable(
        [{"algorithm": "a", "task": t, "run": r, "score": x} for t, r, x in rows], units="items"
    )
    with pytest.warns(DegenerateScoresWarning, match="3 items; intervals were validated with 20"):
        (one,) = estimate(table)
    assert one.value == 0.5
    assert one.n_tasks == 3
    assert one.n_runs == (1, 8)


def small(**runs):
    return ScoreTable.from_arrays({name: np.asarray(x) for name, x in runs.items()}, units="items")


def test_items_with_too_few_epochs_are_left_out_and_named():
    ragged = np.ones((2, 30))
    ragged[1, :3] = np.nan
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        found = estimate(small(a=ragged, b=np.zeros((2, 30))), "pass@2")
    assert found[0].n_tasks == 27
    left_out, unscored, lacking, *_ = found.warnings
    assert unscored.startswith("3 samples without a score; values use the others")
    assert left_out.startswith("pass@2 of a: 3 items with fewer than 2 epochs left out (task_0, ")
    assert lacking.startswith("a lacks 3 of 30 items")


def test_what_items_have_not_is_refused_with_its_remedy():
    binary, graded = small(a=np.tile([1, 0], 15)[None]), small(a=np.linspace(0, 1, 30)[None])
    with pytest.raises(ScoreDataError, match="expected an item with 3 epochs or more"):
        estimate(binary, "pass^3")
    with pytest.raises(ScoreDataError, match="expected scores 0 or 1, found 0 to 1; take the mean"):
        estimate(graded, "pass@1")
    for name in ("iqm", "pass@0", "pass@", "pass@x", "pass5"):
        with pytest.raises(UnknownNameError, match="unknown metric of items"):
            estimate(binary, name)
    with pytest.raises(ScoreDataError, match="per_task applies to tasks"):
        estimate(binary, per_task=True)
    with pytest.raises(ScoreDataError, match="paired applies to tasks"):
        compare(small(a=np.tile([1, 0], 15)[None], b=np.ones((1, 30))), paired=True)
    with pytest.raises(ScoreDataError, match="method applies to tasks"):
        estimate(binary, method="percentile")
    with pytest.raises(ScoreDataError, match="by applies to items, found tasks"):
        estimate(ScoreTable.from_arrays({"a": [[1], [2]]}), by="topic")
