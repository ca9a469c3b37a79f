"""The ranking verbs: records, tables, LaTeX, figures, and bad input."""

import json
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from gnomon.cli import app, main
from gnomon.scores import ScoreTable, write_scores


@pytest.fixture(scope="module")
def scores(tmp_path_factory):
    rng = np.random.default_rng(0)
    means = {"dqn_fast": 20, "tabular": 20.2, "uniform": 90}
    table = ScoreTable.from_arrays(
        {name: rng.poisson([m, 3 * m, 3.1 * m], (12, 3)) for name, m in means.items()},
        tasks=["clockwise", "b3", "b23"], metric="tce", higher_is_better=False,
    )  # fmt: skip
    path = tmp_path_factory.mktemp("ranking") / "scores.csv"
    write_scores(table, path)
    return path


def run(*arguments):
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def records(*arguments):
    return json.loads(run(*arguments, "--json"))["results"]


def test_rank_records_hold_ranks_and_tiers(scores):
    found = records("rank", scores)
    assert [r["name"] for r in found][2] == "uniform"
    assert found[2]["rank_low"] == found[2]["rank_high"] == 3
    assert found[0]["tiers"] == found[1]["tiers"] == [1]


def test_rank_prints_ranks_and_tiers(scores):
    text = run("rank", scores)
    assert "1 to 2   1" in text
    assert "Algorithms in the same tier are not significantly different." in text


def test_rank_by_task_puts_the_hardest_first(scores):
    found = records("rank", scores, "--by", "task")
    assert {r["name"] for r in found[:2]} == {"b3", "b23"}
    assert found[2]["name"] == "clockwise"


def test_rank_by_another_method(scores):
    found = records("rank", scores, "--method", "mean-rank")
    assert found[2]["value"] == 3.0
    assert found[2]["low"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["audit", "--resamples", "24"], "expected at least 25 resamples, found 24"),
    ],
)
def test_a_value_out_of_range_is_misuse(scores, arguments, message):
    verb, *options = arguments
    result = CliRunner().invoke(app, [verb, str(scores), *options], env={"COLUMNS": "200"})
    assert result.exit_code == 2
    assert message in result.output


@pytest.mark.parametrize("verb", ["rank"])
def test_a_scale_that_changes_nothing_is_said(scores, verb):
    result = CliRunner().invoke(app, [verb, str(scores), "--normalize", "min-max"])
    assert result.exit_code == 0
    assert "normalization does not change the ranks" in result.stderr


def test_latex_escapes_names(scores):
    comment, *lines = run("rank", scores, "--latex", "--level", 0.99).split("\n")
    assert comment == "% mean win probability, 99 % intervals"
    assert lines[0] == r"\begin{tabular}{lrlll}"
    assert lines[2] == r"algorithm & value & interval & rank & tier \\"
    assert lines[4].startswith(r"dqn\_fast & $")
    assert lines[4].endswith(r"]$ & 1--2 & 1 \\")


def own_scales(path):
    """Write scores of two games, the one in units, the other in thousands."""
    rng = np.random.default_rng(0)
    scores = {name: rng.normal([20, 60_000, 500], [1, 900, 9], (6, 3)) for name in ("dqn", "sac")}
    table = ScoreTable.from_arrays(scores, tasks=["Pong", "Atlantis", "Boxing"])
    write_scores(table, path)
    return path


@pytest.mark.parametrize("view", [("rank", "--by", "task")])
def test_tasks_with_scales_of_their_own_are_compared_aloud_or_normalised(tmp_path, view):
    path = own_scales(tmp_path / "games.csv")
    verb, *options = view
    asked = [verb, str(path), *options]
    assert "may not be on one scale" in CliRunner().invoke(app, asked).stderr
    found = CliRunner().invoke(app, [*asked, "--normalize", "min-max"])
    assert (found.exit_code, found.stderr) == (0, "")


def test_audit_prints_records_or_text(scores):
    found = records("audit", scores, "--resamples", 100)
    assert [*found[0]] == ["section", "name", "finding", "value"]
    assert "What would separate the first two?" in run("audit", scores, "--resamples", 100)
    assert "Scores normalised by min-max over 3 tasks" in run(
        "audit", scores, "--resamples", 50, "--normalize", "min-max"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--method", "kemeni"], "gnomon: unknown method 'kemeni'; did you mean 'kemeny'?"),
        (["--where", "algorithm=dqn_fast"], "gnomon: "),
    ],
)
def test_bad_input_is_one_line_and_status_2(scores, arguments, message, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["gnomon", "rank", str(scores), *arguments])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    printed = capsys.readouterr().err.strip()
    assert printed.startswith(message)
    assert "\n" not in printed


def test_audit_of_a_papers_table(tmp_path):
    rows = [(f"model-{m}", [50 + 8 * m + t % 5 for t in range(9)]) for m in range(3)]
    wide = tmp_path / "paper.csv"
    lines = [",".join([name, "MIT", *(f"{x}%" for x in row)]) for name, row in rows]
    head = ",".join(["Model", "Licence", *(f"t{t}" for t in range(9))])
    wide.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    result = CliRunner().invoke(app, ["audit", str(wide), "--resamples", "100"])
    assert result.exit_code == 0, result.output
    assert "Mean: model-2 > model-1 > model-0; same order as the ranks" in result.stdout
    notes = result.stdout.partition("\nNotes\n-----\n")[2]
    assert notes.count("the tasks are treated as a sample") == 1
    assert result.stderr == ""
    answer = CliRunner().invoke(app, ["audit", str(wide), "--json"])
    assert any("treated as a sample" in text for text in json.loads(answer.stdout)["warnings"])


VIEWS = (
    ("rank",),
    ("rank", "--latex"),
    ("rank", "--method", "kemeny"),
)


@pytest.fixture
def strange(tmp_path):
    """Names that are markup, mathematics, right to left, or much too long."""
    names = [
        "$x$ $\\frac{", "<b>&amp;\"", "na\u00efve \U0001f916", "a%b_c#d{e}~^\\",
        "\u05e9\u05dc", "o'neil, jr", "x" * 200, "-rf", "=1+1",
    ]  # fmt: skip
    rng = np.random.default_rng(0)
    scores = {name: rng.normal(i, 3, (4, 2)) for i, name in enumerate(names)}
    path = tmp_path / "strange.csv"
    write_scores(ScoreTable.from_arrays(scores, tasks=["$t_1$", "<t>"]), path)
    return path


def test_any_name_is_ranked_drawn_and_escaped(strange, tmp_path):
    for verb, *options in (*VIEWS, ("rank", "--by", "task")):
        run(verb, strange, *options)
    run("report", strange, "--out", tmp_path / "page")
    page = (tmp_path / "page" / "report.html").read_text(encoding="utf-8")
    assert "&lt;b&gt;&amp;amp;&#34;" in page
    assert "<b>" not in page


def printed(monkeypatch, capsys, *arguments):
    """Run the program; return its exit status and what it says on stderr."""
    monkeypatch.setattr(sys, "argv", ["gnomon", *map(str, arguments)])
    with pytest.raises(SystemExit) as stop:
        main()
    return stop.value.code, capsys.readouterr().err.strip()


def tidy(path, rows):
    path.write_text("algorithm,task,run,score\n" + "".join(f"{r}\n" for r in rows))
    return path


@pytest.mark.parametrize("view", VIEWS)
def test_no_view_orders_what_never_met(tmp_path, monkeypatch, capsys, view):
    path = tidy(tmp_path / "s.csv", ["a,x,0,1", "a,x,1,2", "b,y,0,1", "b,y,1,2"])
    verb, *options = view
    code, error = printed(monkeypatch, capsys, verb, path, *options)
    assert code == 2
    assert error == ("gnomon: expected two algorithms with scores on the same task, found none")


@pytest.mark.parametrize("view", [("rank", "--method", "bradley-terry")])
def test_groups_that_never_met_are_not_ordered_by_other_methods(
    tmp_path, monkeypatch, capsys, view
):
    verb, *options = view
    rows = [f"{a},{t},{r},{r}" for a, t in ("ax", "bx", "cy", "dy") for r in range(3)]
    code, error = printed(monkeypatch, capsys, verb, tidy(tmp_path / "s.csv", rows), *options)
    assert code == 2
    assert "expected names that are connected by shared tasks" in error
    assert "\n" not in error


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected"),
        ("algorithm,task,run,score\n", "expected rows of scores, found none"),
        ("algorithm,task,run,score\na,x,0,1\n", "expected at least two algorithms"),
        ("algorithm,task,run,score\na,x,0,\nb,x,0,\n", "all 2 scores are empty"),
        ("algorithm,task,run,score\na,x,0,inf\nb,x,0,1\n", "an infinite score needs"),
        ("algorithm,task,run,score\na,x,0,abc\n", "found 'abc'"),
        ("model,x,y\na,1,2\nb,2,z\n", "line 3, column 'y': expected a number, found 'z'"),
    ],
)
@pytest.mark.parametrize("verb", ["rank", "audit"])
def test_a_bad_table_is_one_line_and_status_2(tmp_path, monkeypatch, capsys, verb, text, message):
    path = tmp_path / "s.csv"
    path.write_text(text)
    code, error = printed(monkeypatch, capsys, verb, path)
    assert code == 2
    assert message in error
    assert "\n" not in error


def test_the_ranking_is_drawn_to_a_file(scores, tmp_path):
    drawn = tmp_path / "ranks.svg"
    assert "written to" in run("rank", scores, "--figure", drawn)
    assert "mean win probability" in drawn.read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--score", "skill"), "no row has metric = skill; found tce"),
        (("--level", "1e-300"), "expected a number between 0 and 1, not within 1e-06 of either"),
    ],
)
def test_what_a_score_file_does_not_hold_is_refused(scores, options, message):
    result = CliRunner().invoke(app, ["rank", str(scores), *options])
    assert result.exit_code != 0
    assert message in (str(result.exception) + result.output)
