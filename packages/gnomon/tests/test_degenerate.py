"""Every verb on degenerate tables: an answer, or one error of Gnomon's; no other warning."""

import numpy as np
import pytest

import gnomon as gn
from gnomon.errors import GnomonError
from gnomon.ranking import critical_difference
from gnomon.stats import summarize_runs
from score_tables import censored

# Other warnings are errors.
pytestmark = pytest.mark.filterwarnings("ignore::gnomon.errors.GnomonWarning")

X = np.random.default_rng(0).normal(size=(2, 4, 3))
ITEMS = {"units": "items"}


def table(a, b=None, **about):
    return gn.ScoreTable.from_arrays({"a": a} | ({} if b is None else {"b": b}), **about)


TABLES = {
    "one score": table([[1.0]]),
    "one algorithm": table(X[0]),
    "one run of one task": table([[1.0]], [[2.0]]),
    "all equal": table(np.ones((4, 3)), np.ones((4, 3))),
    "all zero": table(np.zeros((4, 3)), np.zeros((4, 3))),
    "equal runs": table(np.ones((4, 3)), 2.0 * np.ones((4, 3))),
    "one task varies": table([[1.0, 1.0], [1.0, 2.0]], [[1.0, 1.0], [1.0, 1.0]]),
    "huge": table(1e99 * X[0], 1e99 * X[1]),
    "tiny": table(5e-324 * np.arange(12).reshape(4, 3), 5e-324 * np.ones((4, 3))),
    "far from zero": table(1e16 + X[0], 1e16 + X[1]),
    "all missing": table(np.full((4, 3), np.nan), np.full((4, 3), np.nan)),
    "one missing": table(X[0], np.full((4, 3), np.nan)),
    "all censored": censored(dict.fromkeys("ab", np.full((3, 1), np.inf))),
    "one item": table([[1.0]], [[0.0]], **ITEMS),
    "two items": table([[1.0, 1.0]], [[0.0, 0.0]], **ITEMS),
    "missing items": table([[1.0, np.nan, 0.0]], [[np.nan, 1.0, np.nan]], **ITEMS),
    "one step": table(X[0][..., None], X[1][..., None], steps=[5]),
    "far steps": table(X[0][:, None], X[1][:, None], steps=[0, 1e300, 1.5e300]),
}
ALL = ["mean", "median", "iqm", "optimality_gap"]
FEW = {"n_resamples": 25}
VERBS = {
    "estimate": lambda t: gn.estimate(t, **FEW),
    "estimate by quantiles": lambda t: gn.estimate(t, method="percentile", **FEW),
    "estimate tasks": lambda t: gn.estimate(t, per_task=True, **FEW),
    "estimate other tasks": lambda t: gn.estimate(t, ALL, resampling="runs_and_tasks", **FEW),
    "compare": lambda t: gn.compare(t, metrics=[*ALL, "probability_of_improvement"], **FEW),
    "compare in pairs": lambda t: gn.compare(t, metrics=ALL, paired=True, **FEW),
    "compare tasks": lambda t: gn.compare(t, metrics=ALL[:2], per_task=True, **FEW),
    "rank": gn.rank,
    "rank tasks": lambda t: gn.rank(t, by="task"),
    "rank by the paper": lambda t: gn.rank(t, "gohr-ev"),
    "critical difference": critical_difference,
    "audit": lambda t: gn.audit(t, **FEW),
    "profile": lambda t: gn.profile(t, "average_score", **FEW),
    "profile of ratios": lambda t: gn.profile(t, "ratio"),
    "profile of tests": lambda t: gn.profile(t, "likelihood"),
    "curves": lambda t: gn.curves(t, ALL, **FEW),
    "areas": lambda t: gn.estimate(summarize_runs(t, "area"), **FEW),
    "plan": lambda t: gn.plan(t, metrics=ALL[:3]),
    "normalize": lambda t: gn.normalize(t, "min-max"),
    "distill": lambda t: gn.distill(t, size=1),
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_answers_or_names_the_fault(verb):
    for name, scores in TABLES.items():
        try:
            found = VERBS[verb](scores)
        except GnomonError:
            continue
        for one in found.as_records() if hasattr(found, "as_records") else ():
            value, low, high = (one.get(field) for field in ("value", "low", "high"))
            if "kind" not in one and None not in (value, low, high) and isinstance(low, float):
                assert low < high, (name, one)
                assert low <= value <= high, (name, one)
            assert 0.0 <= (one.get("p_value") or 0.0) <= 1.0, (name, one)


def test_a_profile_of_one_point_is_drawn():
    assert gn.profile(TABLES["all equal"], "ratio").figure().svg
