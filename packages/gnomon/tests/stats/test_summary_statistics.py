import numpy as np
import pytest
from scipy import stats

from gnomon.errors import ScoreDataError
from gnomon.ranking import rank
from gnomon.reports import scores_report
from gnomon.results import noted
from gnomon.scores import ScoreTable, read_scores, write_scores
from gnomon.stats import compare, estimate

DRAWS = np.random.default_rng(5)
RUNS = {"a": DRAWS.gamma(2.0, size=(5, 7)), "b": DRAWS.gamma(3.0, size=(4, 7))}
TABLE = ScoreTable(
    [
        {"algorithm": name, "task": f"t{t}", "run": f"{t}-{r}", "score": score}
        for name, x in RUNS.items()
        for (r, t), score in np.ndenumerate(x)
    ]
)
SUMMARIES = [
    {"algorithm": name, "task": f"t{t}", "mean": own.mean(), "std": own.std(ddof=1), "n": own.size}
    for name, x in RUNS.items()
    for t, own in enumerate(x.T)
]


def rng():
    return np.random.default_rng(0)


def test_means_and_deviations_say_what_the_runs_say():
    found = [estimate(scores, ["mean", "median"], rng=rng()) for scores in (TABLE, SUMMARIES)]
    for own, other in zip(*found, strict=True):
        names = [(e.algorithm, e.metric, e.n_runs) for e in (own, other)]
        assert names[0] == names[1]
        ends = [(e.value, e.low, e.high) for e in (own, other)]
        assert ends[0] == pytest.approx(ends[1])


def test_comparisons_are_those_of_the_runs():
    options = {"per_task": True, "variances": "own", "rng": rng()}
    found = compare(SUMMARIES, "a", "b", ["mean"], **options)
    welch = stats.ttest_ind(RUNS["a"][:, 3], RUNS["b"][:, 3], equal_var=False)
    assert found[4].p_value == pytest.approx(welch.pvalue)


def test_a_file_of_summaries_is_estimated_and_what_needs_runs_is_refused(tmp_path):
    path = tmp_path / "means.csv"
    path.write_text("algorithm,task,mean,std,runs\na,t,4.0,2.0,3\nb,t,7.0,2.0,3\n")
    assert [(e.metric, e.value) for e in estimate(path)] == [
        ("mean", 4.0), ("median", 4.0), ("mean", 7.0), ("median", 7.0)]  # fmt: skip
    assert compare(path, metrics="mean")[0].value == -3.0
    with pytest.raises(ScoreDataError, match="iqm: expected a metric that means and standard"):
        estimate(path, "iqm")
    with pytest.raises(ScoreDataError, match=r"deviations suffice for \(mean\)"):
        estimate(path, "median", per_task=True)
    with pytest.raises(ScoreDataError, match="paired=True needs runs, and these are summaries"):
        compare(path, paired=True)
    stand_ins = read_scores(path)
    for needs_runs in (
        lambda: rank(path),
        lambda: scores_report(stand_ins, "means.csv"),
        lambda: write_scores(stand_ins, tmp_path / "runs.csv"),
    ):
        with pytest.raises(ScoreDataError, match="found means and standard deviations; estimate"):
            needs_runs()


def test_summaries_of_unlike_scales_name_a_scale_that_takes_them(command, tmp_path):
    path, limits = tmp_path / "means.csv", tmp_path / "limits.csv"
    path.write_text("algorithm,task,mean,std,n\na,t,4.0,2.0,3\na,u,7000.0,2.0,3\n")
    limits.write_text("task,low,high\nt,0,8\nu,0,14000\n")
    for scale in ((), ("--normalize", "min-max")):
        said = command("gnomon", "estimate", str(path), *scale)
        assert said.status == 2
        assert "--normalize limits.csv, a file with columns task, low, high" in said.err
    said = command(f"gnomon estimate {path} --normalize {limits} --json")
    assert '"value": 0.5' in said.out


def test_stand_in_runs_have_the_mean_and_the_deviation():
    rows = [("t", 1.0, 0.5, 1), ("u", 4.0, 2.0, 3), ("v", 7.0, 3.5, 2)]
    names = ("algorithm", "task", "mean", "std", "runs")
    table = read_scores([dict(zip(names, ("a", *row), strict=True)) for row in rows])
    assert [table.runs("a", task).size for task in "tuv"] == [1, 3, 2]
    assert table.runs("a", "t").tolist() == [1.0]
    assert table.runs("a", "u").tolist() == [2.0, 4.0, 6.0]
    assert table.runs("a", "v").std(ddof=1) == pytest.approx(3.5)


def with_errors(tmp_path, heading, more=""):
    path = tmp_path / "acc.csv"
    cells = ["m1,t1,0.5,0.02", "m1,t2,0.6,0.03", "m2,t1,0.7,0.02", "m2,t2,0.8,0.03"]
    path.write_text("\n".join([f"model,task,{heading}", *(cell + more for cell in cells)]))
    return path


@pytest.mark.filterwarnings("ignore:intervals come from", "ignore:.*is read as algorithm")
@pytest.mark.parametrize("heading", ["score,stderr,n_items", "accuracy,se,n", "mean,stderr,count"])
def test_scores_with_standard_errors_are_summaries(tmp_path, heading):
    path = with_errors(tmp_path, heading, ",4000")
    (found,) = compare(path, "m1", "m2", metrics="mean")
    error = np.hypot(0.02, 0.03) / 2 * np.sqrt(2)
    assert found.value == pytest.approx(-0.2)
    assert [found.low, found.high] == pytest.approx(
        [-0.2 - 1.96 * error, -0.2 + 1.96 * error], 2e-2
    )
    for metrics in (None, "mean"):
        found = estimate(path, metrics, per_task=True)
        assert [(one.algorithm, one.task) for one in found[:2]] == [("m1", "t1"), ("m2", "t1")]
        half = stats.t.ppf(0.975, 3999) * 0.03
        assert [found[2].low, found[2].high] == pytest.approx([0.6 - half, 0.6 + half], rel=1e-3)


@pytest.mark.parametrize("heading", ["score,stderr", "accuracy,stderr"])
def test_a_standard_error_without_a_number_of_items_is_noted(tmp_path, heading):
    path = with_errors(tmp_path, heading)
    with noted() as notes:
        compare(path, "m1", "m2", metrics="mean")
    assert any("'stderr' is left out" in one and "'n_items'" in one for one in notes)
