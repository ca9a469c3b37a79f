"""``gnomon suite``, as the command line calls it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from gnomon.distill import SubsetModel
from gnomon.scores import ScoreTable, atari_baselines, write_scores


@pytest.fixture
def suite(gnomon, tmp_path):
    """Call a verb of a suite: of a file that is written for it, unless told otherwise."""
    rng = np.random.default_rng(0)
    scores = rng.normal(2, 1, (30, 1)) + rng.normal(0, 0.4, (30, 8))
    rows = {f"a{i:02}": [row] for i, row in enumerate(scores)}
    tasks = [f"t{j}" for j in range(8)]
    write_scores(ScoreTable.from_arrays(rows, tasks=tasks), tmp_path / "suite.csv")

    def call(verb, *arguments, source="suite.csv"):
        prepared = ("--transform", "identity") if source == "suite.csv" else ()
        return gnomon("suite", verb, source, *prepared, *arguments)

    return call


def records(said):
    status, out, err = said
    assert status == 0, err
    return json.loads(out)["results"]


def test_error_by_size(suite, tmp_path):
    found = records(suite("sizes", "--most", "3", "--figure", "sizes.svg", "--json"))
    assert [r["size"] for r in found] == [1, 2, 3]
    assert all(r["nested_relative_error"] > 0 for r in found)
    assert (tmp_path / "sizes.svg").read_text().lstrip().startswith(("<?xml", "<svg"))


def test_the_front_of_cost(suite, tmp_path):
    lines = ["task,cost", *(f"t{j},{1 + j % 3}" for j in range(8))]
    (tmp_path / "costs.csv").write_text("\n".join(lines) + "\n")
    options = ("--costs", "costs.csv", "--most", "3", "--figure", "front.png", "--json")
    found = records(suite("pareto", *options))
    assert [r["cost"] for r in found] == sorted({r["cost"] for r in found})
    errors = [r["cv_mse"] for r in found]
    assert errors == sorted(errors, reverse=True)
    within = records(suite("pareto", "--costs", "costs.csv", "--budget", "2", "--json"))
    assert all(r["cost"] <= 2 for r in within)
    (tmp_path / "costs.csv").write_text("task,cost\nt0,1\nt0,2\n")
    status, out, err = suite("pareto", "--costs", "costs.csv")
    assert (status, out) == (2, "")
    assert "costs.csv, line 3: 't0' is there twice" in err


@pytest.mark.parametrize("by", ["algorithms", "fold-seeds"])
def test_stability(suite, by):
    options = ("--size", "2", "--by", by, "--samples", "12", "--committee", "2", "--json")
    found = records(suite("stability", *options, "--figure", "shares.svg"))
    shares = [r["share"] for r in found if r["kind"] == "task"]
    assert sum(shares) == pytest.approx(2)
    assert sum(r["share"] for r in found if r["kind"] == "subset") == pytest.approx(1)
    members = [r for r in found if r["kind"] == "member"]
    assert sum(r["share"] for r in members) == pytest.approx(1)
    assert all(len(r["weights"]) == 2 for r in members)


def test_stability_without_each_group(suite, tmp_path):
    lines = (tmp_path / "suite.csv").read_text().splitlines()
    grouped = [lines[0] + ",lab", *(f"{line},lab{i % 5}" for i, line in enumerate(lines[1:]))]
    (tmp_path / "suite.csv").write_text("\n".join(grouped) + "\n")
    options = ("--size", "2", "--by", "left-out-groups", "--group-by", "lab")
    status, out, _ = suite("stability", *options)
    assert status == 0
    assert "different subsets in 5 draws" in out


@pytest.mark.full
def test_processes_draw_the_same(suite):
    options = ("stability", "--size", "2", "--samples", "6", "--json")
    assert records(suite(*options)) == records(suite(*options, "--workers", "2"))


def test_an_optimal_subset_is_certified(suite):
    (found,) = records(suite("optimal", "--size", "3", "--json"))
    assert found["certified"]
    assert found["gap"] == 0
    assert len(found["tasks"]) == 3
    status, out, _ = suite("optimal", "--size", "3")
    assert status == 0
    assert "the best 3 of the 8 tasks without gaps" in out


def test_single_tasks(suite, tmp_path):
    (tmp_path / "kinds.csv").write_text("task,category\nt0,maze\nt1,sports\n")
    options = ("--categories", "kinds.csv", "--figure", "single.svg", "--json")
    found = records(suite("single", *options))
    assert [r["r2"] for r in found] == sorted((r["r2"] for r in found), reverse=True)
    assert len(found) == 8


def test_correlations(suite):
    found = records(
        suite("correlations", "--strongest", "3", "--negative", "2", "--figure", "g.svg", "--json")
    )
    assert len(found) == 5
    assert [r["correlation"] for r in found] == sorted(
        (r["correlation"] for r in found), reverse=True
    )
    every = records(suite("correlations", "--strongest", "26", "--negative", "9", "--json"))
    assert len(every) == 28  # Never a pair twice.


def test_what_a_subset_explains(suite):
    options = ("--task", "t1", "--task", "t4", "--figure", "explained.svg", "--json")
    found = {r["task"]: r for r in records(suite("explained", *options))}
    assert found["t1"]["r2"] == pytest.approx(1)
    assert found["t4"]["weights"] == pytest.approx([0, 1], abs=1e-9)
    assert found["t0"]["r2"] < 1
    assert len(records(suite("explained", "--size", "3", "--json"))) == 8


def test_fairness(suite):
    found = records(suite("fairness", "--size", "2", "--figure", "fair.svg", "--json"))
    assert [(r["a"], r["b"], r["measure"]) for r in found][:2] == [
        ("low", "middle", "accuracy"),
        ("low", "high", "accuracy"),
    ]
    assert all(0 <= r["welch_p"] <= 1 for r in found)


def test_components(suite):
    found = records(suite("components", "--json"))
    assert sum(r["explained"] for r in found) == pytest.approx(1)
    assert found[0]["target_correlation"] > 0.9


def call_predict(suite, *arguments):
    return suite("predict", *arguments, source="model.json")


def test_a_saved_model_predicts(suite, tmp_path):
    model = SubsetModel(
        ("t1", "t2"), (0.5, 0.5), transform="identity", residuals=(-0.1, 0.0, 0.1),
        ranges=((-9.0, 9.0), (-9.0, 9.0)),
    )  # fmt: skip
    model.save(tmp_path / "model.json")
    found = records(call_predict(suite, "suite.csv", "--json"))
    assert len(found) == 30
    assert all(r["low"] < r["value"] < r["high"] for r in found)
    lines = [
        "algorithm,task,run,score",
        "whole,t1,0,4",
        "whole,t1,1,6",
        "whole,t2,0,99",
        "half,t1,0,1",
    ]
    (tmp_path / "new.csv").write_text("\n".join(lines) + "\n")
    status, out, _ = call_predict(suite, "new.csv", "--json")
    whole, half = sorted(json.loads(out)["results"], key=lambda r: r["algorithm"], reverse=True)
    assert status == 0
    assert (whole["value"], whole["outside"]) == (pytest.approx(52.0), ["t2"])
    assert half["value"] is None
    warnings = json.loads(out)["warnings"]
    assert any("half: not estimable, no score on t2" in text for text in warnings)
    assert any("outside the range" in text for text in warnings)
    (tmp_path / "ends.csv").write_text("task,random,human\nt1,0,10\nt2,0,99\n")
    scaled = records(call_predict(suite, "new.csv", "--references", "ends.csv", "--json"))
    assert {r["algorithm"]: r["value"] for r in scaled}["whole"] == pytest.approx(75.0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "model.json: expected a 'gnomon subset model 2' as JSON"),
        ('{"format": "other"}', "model.json: expected a 'gnomon subset model 2' as JSON"),
        ("nonsense", "model.json: expected a 'gnomon subset model 2' as JSON"),
    ],
)
def test_what_is_no_model_is_refused(suite, tmp_path, text, said):
    (tmp_path / "model.json").write_text(text)
    status, out, err = call_predict(suite, "suite.csv")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert said in err


@pytest.mark.parametrize(
    ("verb", "arguments", "said"),
    [
        ("sizes", ("--most", "9"), "expected a size from 1 to 8, found 9"),
        ("pareto", ("--costs", "none.csv"), "none.csv: No such file"),
        ("stability", ("--by", "groups"), "stability by groups needs groups"),
        ("stability", ("--by", "left-out-groups"), "stability by left-out-groups needs groups"),
        ("stability", ("--procedure", "magic"), "unknown procedure 'magic'"),
        ("stability", ("--figure", "no/where.svg"), "no: expected a folder to write to"),
        ("optimal", ("--size", "9"), "expected a size from 1 to 8, found 9"),
        ("single", ("--categories", "suite.csv"), "expected a CSV file of task, category"),
        ("explained", ("--task", "x"), "unknown task 'x'"),
        ("explained", ("--task", "t1", "--task", "t1"), "expected different tasks"),
        ("fairness", ("--task", "t99"), "unknown task 't99'"),
    ],
)
def test_bad_input_is_one_line(suite, verb, arguments, said):
    status, out, err = suite(verb, *arguments)
    assert status == 2
    assert out == ""
    assert err.count("\n") == 1
    assert said in err


def test_a_data_set_is_prepared_as_its_authors_do(suite, atari_folder):
    found = records(suite("single", "--json", source="atari5"))
    assert (found[0]["task"], round(found[0]["r2"], 3)) == ("zaxxon", 0.903)
    pairs = records(suite("correlations", "--figure", "g.svg", "--json", source="atari5"))
    assert (pairs[0]["a"], pairs[0]["b"]) == ("alien", "mspacman")
    status, _, err = suite("single", "--group-by", "year", source="atari5")
    assert status == 2
    assert "atari5 is prepared as its authors do: no --group-by" in err


@pytest.fixture
def fitted(gnomon, suite, tmp_path):
    """Write a model of the suite that was normalised by references, and its raw scores."""
    ends = "".join(f"t{j},0,4\n" for j in range(8))
    (tmp_path / "ends.csv").write_text("task,random,human\n" + ends)
    arguments = ("--size", "3", "--references", "ends.csv", "--model", "model.json")
    status, _, err = gnomon("distill", "suite.csv", "--transform", "identity", *arguments)
    assert status == 0, err
    return tmp_path / "model.json"


def test_a_suite_is_normalised_by_the_name_or_the_file_that_other_verbs_take(gnomon, tmp_path):
    games, draws = ["pong", "qbert", "boxing", "freeway"], np.random.default_rng(0)
    ends = {game: atari_baselines()[game] for game in games}
    rows = [
        f"a{i},{game},0,{low + (high - low) * np.exp(draws.normal()):.4f}"
        for i in range(12)
        for game, (low, high) in ends.items()
    ]
    (tmp_path / "raw.csv").write_text("\n".join(["algorithm,task,run,score", *rows]) + "\n")
    lines = [f"{game},{low},{high}" for game, (low, high) in ends.items()]
    (tmp_path / "ends.csv").write_text("\n".join(["task,low,high", *lines]) + "\n")
    found = [
        records(gnomon("distill", "raw.csv", "--size", "2", "--nested", "none", "--json", *by))
        for by in (("--normalize", "atari"), ("--normalize", "ends.csv"))
    ]
    assert found[0] == found[1]
    for name, said in (("atri", "unknown normalization 'atri'; did you mean 'atari'?"),
                       ("dmc", "dmc: expected returns from 0 to 1000")):  # fmt: skip
        status, _, err = gnomon("distill", "raw.csv", "--normalize", name)
        assert (status, said in err) == (2, True), err


def test_a_model_holds_its_references(gnomon, fitted):
    raw = records(gnomon("distill", "predict", "model.json", "suite.csv", "--json"))
    given = gnomon("suite", "predict", "model.json", "suite.csv", "--references", "ends.csv")
    assert given[0] == 0
    scaled = gnomon("suite", "predict", "model.json", "suite.csv", "--normalized", "--json")
    assert len(records(scaled)) == 30
    assert max(r["value"] for r in raw if r["value"]) > 60
    record = json.loads(fitted.read_text())
    assert record["version"]
    assert set(record["references"]) == set(record["tasks"])
    fitted.write_text(json.dumps(record | {"references": None}))
    status, _, err = gnomon("distill", "predict", "model.json", "suite.csv")
    assert status == 2
    assert "expected scores normalised as the model's training" in err
    assert "--normalized" in err


def test_which_of_two(gnomon, fitted, tmp_path):
    one = records(
        gnomon("distill", "compare", "model.json", "a00", "a01", "--scores", "suite.csv", "--json")
    )[0]
    assert list(one) == [
        *("a", "b", "probability", "difference", "low", "high", "level", "verdict"),
    ]
    tasks = json.loads(fitted.read_text())["tasks"]
    for name, value in (("good", 4.0), ("bad", 0.5)):
        lines = [f"{name},{task},0,{value}" for task in tasks]
        (tmp_path / f"{name}.csv").write_text("algorithm,task,run,score\n" + "\n".join(lines))
    found = records(gnomon("suite", "compare", "model.json", "good.csv", "bad.csv", "--json"))[0]
    assert (found["verdict"], found["probability"] > 0.9) == ("good", True)
    status, _, err = gnomon("suite", "compare", "model.json", "suite.csv", "bad.csv")
    assert status == 2
    assert "suite.csv: expected one algorithm, found 30" in err


def test_what_to_run_next(gnomon, suite):
    found = records(suite("next", "--json"))
    assert {r["kind"] for r in found} == {"task"}
    assert len(found) == 8
    status, out, _ = gnomon("distill", "next", "suite.csv", "--transform", "identity")
    assert status == 0
    assert "new: 0 tasks" in out


def test_other_ways_and_reliability(suite, tmp_path):
    arguments = ("--size", "2", "--folds", "5", "--set", "mine=t1,t2", "--json")
    found = records(suite("baselines", *arguments))
    by_name = {r["method"]: r for r in found}
    assert by_name["mine"]["hindsight"]
    assert by_name["random"]["skill"] == 0
    status, _, err = suite("baselines", "--set", "t1")
    assert status == 2
    assert "expected NAME=u,v,w" in err
    pairs = records(suite("reliability", "--size", "2", "--figure", "said.svg", "--json"))
    assert sum(r["n_pairs"] for r in pairs) == 30 * 29 // 2
    assert (tmp_path / "said.svg").exists()


def test_items_are_chosen(gnomon, tmp_path):
    rng = np.random.default_rng(0)
    p = 1 / (1 + np.exp(-(rng.normal(size=(30, 1)) + rng.normal(size=40))))
    x = (rng.random((30, 40)) < p).astype(float)
    rows = {f"m{i:02}": [row] for i, row in enumerate(x)}
    write_scores(ScoreTable.from_arrays(rows), tmp_path / "items.csv")
    found = records(gnomon("suite", "items", "items.csv", "--choose", "12", "--json"))
    fields = ["method", "protocol", "error", "bias", "coverage", "half_width", "n_models"]
    assert list(found[0]) == fields
    (chosen,) = records(
        gnomon("suite", "items", "items.csv", "--choose", "12", "--no-errors", "--json")
    )
    assert len(chosen["items"]) == 12
    many = ("items.csv", "--units", "items")
    options = ("--size", "12", "--model", "m.json", "--page", "p.html", "--figure", "f.svg")
    again = records(gnomon("distill", *many, *options, "--json"))
    assert again == found
    page = (tmp_path / "p.html").read_text()
    assert "How the error falls with the number of items" in page
    assert "error, chosen for each model" in page
    first, *_ = records(gnomon("distill", "predict", "m.json", "items.csv", "--json"))
    assert (first["n_items"], first["value"]) == (40, pytest.approx(x[0].mean()))
    asked = records(gnomon("distill", "next", *many, "--model", "m.json", "--json"))
    assert len({one["item"] for one in asked}) == 10
    status, out, _ = gnomon("suite", "sizes", *many, "--gap", "0.3", "--figure", "sizes.svg")
    assert (status, "tell" in out) == (0, True)
    assert "gap that is told" in (tmp_path / "sizes.svg").read_text()
    status, out, err = gnomon("distill", *many, "--summary", "mean")
    assert (status, out) == (2, "")
    assert "summary is for tasks and not here" in err


def test_the_page_of_a_distillation_says_beside_what(suite, tmp_path, gnomon):
    options = ("--size", "2", "--folds", "5", "--page", "page.html")
    status, _, err = gnomon("distill", "suite.csv", "--transform", "identity", *options)
    assert status == 0, err
    page = (tmp_path / "page.html").read_text()
    assert "anchor points" in page
    assert "Beside what" in page
    assert "How the error falls with the number of tasks" in page
    assert "What less error costs" not in page
    costs = "\n".join(["task,cost", *(f"t{j},{1 + j}" for j in range(8))])
    (tmp_path / "costs.csv").write_text(costs)
    goal = ("--costs", "costs.csv", "--budget", "6", "--page", "page.html", "--folds", "3")
    assert gnomon("distill", "suite.csv", "--transform", "identity", *goal)[0] == 0
    priced = (tmp_path / "page.html").read_text()
    assert "What less error costs" in priced
    assert "nested relative error, %" in priced
    had = ("--have", "t1,t2", "--page", "page.html", "--folds", "3")
    assert gnomon("distill", "suite.csv", "--transform", "identity", *had)[0] == 0
    assert "already run" in (tmp_path / "page.html").read_text()


def test_few_algorithms_are_told_what_they_do_to_the_error(gnomon, tmp_path):
    rows = np.random.default_rng(0).normal(3, 1, (6, 8))
    table = ScoreTable.from_arrays({f"a{i}": [row] for i, row in enumerate(rows)})
    write_scores(table, tmp_path / "six.csv")
    status, out, err = gnomon("distill", "six.csv", "--size", "2")
    assert (status, out) == (2, "")
    assert "found 6: too few to choose tasks by; five Atari games chosen by 6 algorithms err" in err
    status, _, err = gnomon("distill", "six.csv", "--size", "2", "--folds", "3")
    assert status == 0
    assert "6 algorithms are few to choose tasks by: the error is" in err
    assert "five Atari games chosen by 6 algorithms err by 33 %" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--add", "2"), "--add says how many more than --have"),
        (("--target-error", "much"), "expected a share above 0, as 10% or 0.1; found 'much'"),
        (("--budget", "3"), "expected costs and a budget together"),
        (("--have", "t1,t99"), "unknown task 't99'"),
    ],
)
def test_goals_that_make_no_sense(gnomon, suite, arguments, said):
    status, _, err = gnomon("distill", "suite.csv", "--transform", "identity", *arguments)
    assert status == 2
    assert said in err
