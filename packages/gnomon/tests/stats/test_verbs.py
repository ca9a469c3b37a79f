"""What the verbs return: records in a table that says how it was made and draws itself."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import gnomon
from gnomon.distillation import SubsetModel
from gnomon.errors import ScoreDataError, UnknownNameError
from gnomon.scores import ScoreTable, write_scores
from gnomon.stats import compare, curves, estimate, plan, profile

pytestmark = pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")

DRAWS = np.random.default_rng(0)
SCORES = {name: DRAWS.gamma(4.0, 0.25, (6, 4)) for name in ("dqn", "sac", "ppo")}
TABLE = ScoreTable.from_arrays(SCORES, metric="return")
STEPS = ScoreTable.from_arrays({n: x[..., None] * np.arange(1.0, 5.0) for n, x in SCORES.items()})

VERBS = {
    "estimate": lambda rng: estimate(TABLE, "mean", method="percentile", rng=rng),
    "compare": lambda rng: compare(TABLE, "dqn", "sac", "iqm", method="percentile", rng=rng),
    "all pairs": lambda rng: compare(TABLE, metrics="mean", method="percentile", rng=rng),
    "improvement": lambda rng: compare(TABLE, method="percentile", rng=rng),
    "profile": lambda rng: profile(TABLE, "average_score", rng=rng),
    "curves": lambda rng: curves(STEPS, method="percentile", rng=rng),
}


@pytest.mark.parametrize("name", VERBS)
def test_results_say_how_they_were_made_and_show_themselves(name):
    found = VERBS[name](3)
    made = {"level": 0.95, "n_resamples": 2000, "seed": 3, "version": gnomon.__version__}
    assert made.items() <= found.settings.items()
    assert VERBS[name](np.random.default_rng(3)).settings["seed"] is None
    assert VERBS[name](None).as_records() == VERBS[name](0).as_records()
    assert len(found.to_polars()) == len(found.as_records()) > 0
    assert str(found) == repr(found) == found.to_text()
    assert found._repr_html_().startswith("<table>")
    assert r"\toprule" in found.to_latex()


@pytest.mark.parametrize("name", VERBS)
def test_results_draw_themselves_into_given_axes(name):
    found = VERBS[name](None)
    assert isinstance(found.plot(), Figure)
    ax = Figure().subplots()
    assert isinstance(found.plot(ax), Axes)
    assert ax.has_data() or ax.texts


@pytest.mark.parametrize("verb", ["estimate", "compare", "rank", "audit", "predict", "report"])
def test_a_verb_takes_scores_of_any_kind(verb, tmp_path):
    write_scores(TABLE, tmp_path / "scores.csv")
    path = tmp_path / "scores.csv"
    rows = {name: list(TABLE.rows.tolist(name)) for name in TABLE.rows.names}
    kinds = [TABLE, path, str(path), [path], TABLE.to_pandas(), TABLE.to_records(), rows, SCORES]
    if verb == "predict":
        model = SubsetModel(("task_0",), (1.0,), transform="identity", residuals=(-1.0, 1.0))
        answers = [gnomon.predict(model, kind) for kind in kinds]
    elif verb == "report":
        how = {"n_resamples": 50, "title": "scores"}
        pages = [gnomon.report(kind, tmp_path / "page.md", **how).read_text() for kind in kinds]
        answers = ["\n".join(line for line in page.splitlines() if "|" in line) for page in pages]
    else:
        found = [getattr(gnomon, verb)(kind).as_records() for kind in kinds]
        # An audit names the source of the scores too.
        answers = [[one for one in rows if one.get("section") != "table"] for rows in found]
    assert all(answer == answers[0] for answer in answers)
    for odd in (3, None, [1, 2]):
        with pytest.raises(TypeError, match="expected a ScoreTable, a path, a data frame"):
            gnomon.estimate(odd)


def test_one_panel_has_one_metric():
    ax = Figure().subplots()
    several = estimate(TABLE, ["mean", "iqm"])
    with pytest.raises(ValueError, match="expected one panel for given axes, found 2"):
        several.plot(ax)
    assert several.where(metric="iqm").plot(ax) is ax
    with pytest.raises(ValueError, match="expected one panel for given axes, found 2"):
        compare(TABLE, "dqn", "sac").plot(ax)
    with pytest.raises(ValueError, match="expected one panel for given axes, found 4"):
        estimate(TABLE, per_task=True).plot(ax)
    assert estimate(TABLE, per_task=True).where(task="task_1").plot(ax) is ax


def test_bad_pairs_have_a_message():
    for call, error, message in (
        (lambda: compare(TABLE, "dqn", "dqn"), ScoreDataError, "found 'dqn' twice"),
        (lambda: compare(TABLE, "dqn", "a2c"), UnknownNameError, "unknown algorithm 'a2c'"),
        (lambda: plan(TABLE, "dqn"), ScoreDataError, "or none; found 'dqn' alone"),
        (lambda: compare(TABLE.select(algorithms=["dqn"])), ScoreDataError, "found dqn alone"),
    ):
        with pytest.raises(error, match=message):
            call()


@pytest.mark.parametrize("verb", ["estimate", "compare", "rank", "profile", "plan", "audit"])
def test_runs_without_a_score_are_reported(verb):
    gaps = {name: np.where(np.arange(6)[:, None] == 5, np.nan, x) for name, x in SCORES.items()}
    found = getattr(gnomon, verb)(ScoreTable.from_arrays(gaps))
    assert "12 of 72 runs have no score and are left out" in found.warnings
