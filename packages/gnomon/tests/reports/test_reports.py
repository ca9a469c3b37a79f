"""One call reports on a table of scores, or on a file that holds one."""

import csv
import os
import re

import numpy as np
import pytest

import gnomon as gn
from gnomon.errors import GnomonError
from gnomon.reports import report
from gnomon.results import noted
from gnomon.scores import ScoreTable, write_scores

PARTS = ["estimates", "ranks", "tasks", "profile", "table", "metrics"]


def table_of(n_algorithms, n_tasks=3, n_runs=4):
    rng = np.random.default_rng(0)
    return ScoreTable.from_arrays(
        {f"a{i:02}": rng.normal(i, 1, (n_runs, n_tasks)) for i in range(n_algorithms)}
    )


def sections_of(page):
    return re.findall(r'<section class="part" id="([^"]+)"', page.read_text())


def rows_of(page, name):
    return list(csv.DictReader((page.parent / "tables" / f"{name}.csv").read_text().splitlines()))


def figures_of(page):
    return re.findall(r'<figure id="figure-([^"]+)"', page.read_text())


def test_a_table_has_estimates_ranks_tasks_profiles_and_an_audit(tmp_path):
    page = report(table_of(4), tmp_path / "out", n_resamples=50)
    assert page == tmp_path / "out" / "report.html"
    assert sections_of(page)[: len(PARTS)] == PARTS
    assert {"estimates", "profiles-run-score", "improvement", "rank-intervals"} <= {
        *figures_of(page)
    }
    for name in figures_of(page):
        assert (page.parent / "figures" / f"{name}.csv").read_text().count("\n") > 1
        assert (page.parent / "figures" / f"{name}.svg").is_file()


def test_a_file_is_reported_as_its_table(tmp_path):
    table = table_of(3)
    write_scores(table, tmp_path / "scores.csv")
    page = report(tmp_path / "scores.csv", tmp_path / "from-file", n_resamples=50)
    assert "<h1>scores.csv</h1>" in page.read_text()
    assert "pointwise for win probabilities and simultaneous for ranks" in page.read_text()
    assert sections_of(page) == sections_of(report(table, tmp_path / "table", n_resamples=50))


def test_a_page_alone_holds_its_numbers_and_names_no_file(tmp_path):
    page = report(table_of(2), str(tmp_path / "page.html"), n_resamples=50)
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    text = page.read_text()
    assert "figures/" not in text
    assert text.count("data:text/csv,") == len(figures_of(page)) + 3
    assert text.count("data:text/x-tex,") == 3


def test_a_table_that_cannot_be_ranked_says_so(tmp_path):
    page = report(table_of(1), tmp_path, n_resamples=50)
    assert "cannot be ranked" in page.read_text()
    assert "profiles-run-score" in figures_of(page)


def test_many_algorithms_are_numbers_and_no_picture(tmp_path):
    page = report(table_of(31, n_tasks=1, n_runs=2), tmp_path, n_resamples=25)
    assert figures_of(page) == ["rank-intervals"]


def test_steps_are_drawn_and_the_last_one_is_ranked(tmp_path):
    rng = np.random.default_rng(1)
    rows = [
        {"algorithm": a, "task": t, "run": r, "step": s, "score": s + rng.normal()}
        for a in ("dqn", "sac")
        for t in ("pong", "qbert")
        for r in range(3)
        for s in (1, 2, 3)
    ]
    page = report(ScoreTable(rows), tmp_path, n_resamples=50)
    assert "curves" in sections_of(page)
    assert {"curves", "curves-per-task"} <= {*figures_of(page)}


def test_the_notes_of_reading_curves_are_on_the_page(tmp_path):
    rows = [f"{a},t,{r},{10 * s},{r}" for a in "ab" for r in range(3) for s in range(3 - (r < 1))]
    path = tmp_path / "curves.csv"
    path.write_text("\n".join(["agent,env,seed,step,return", *rows]))
    with noted():
        page = report(path, tmp_path / "page.md", n_resamples=50).read_text()
    assert "columns 'agent', 'env', 'seed' and 'return' are read as" in page
    assert "2 runs ended earlier than the others" in page


def test_a_table_for_papers_has_the_best_of_each_task_in_bold(tmp_path):
    table = table_of(3)
    page = report(table, tmp_path, n_resamples=50, title="Three agents")
    assert "<h1>Three agents</h1>" in page.read_text()
    assert len(rows_of(page, "tasks")) == 9
    latex = (tmp_path / "tables" / "tasks.tex").read_text()
    assert latex.count(r"\textbf{") == 3
    assert latex.startswith(r"\begin{tabular}{lrrr}")


def test_scores_of_two_algorithms_with_one_run_stay_as_they_are(tmp_path):
    rows = [[0.5, 0.7, 0.6]], [[0.4, 0.6, 0.7]]
    page = report(gn.ScoreTable.from_arrays({"a": rows[0], "b": rows[1]}), tmp_path, n_resamples=50)
    assert page.read_text().count("[–]") == 4 * 2 + 3 * 2 + 2  # cells and captions
    shown = rows_of(page, "estimates")
    (value,) = [r["value"] for r in shown if (r["algorithm"], r["metric"]) == ("a", "mean")]
    assert float(value) == pytest.approx(0.6)


def test_pairs_that_cannot_be_tested_are_said_to_be_untested(tmp_path):
    single = gn.ScoreTable.from_arrays(
        {name: [[x]] for name, x in zip("abc", (2, 5, 3), strict=True)}
    )
    text = report(single, tmp_path / "page.md", n_resamples=50).read_text()
    assert "b, c or a may be the best of 3 algorithms: no pair could be tested." in text
    assert "b is ahead of c by 2 (interval not estimable; not tested)" in text
    assert "**How much of the order may be noise?** No pair could be tested." in text
    assert ", not significantly" not in text


def test_the_first_card_names_the_winner_when_low_scores_are_good(tmp_path):
    rng = np.random.default_rng(0)
    errors = {"good": rng.normal(2, 1, (5, 4)), "poor": rng.normal(9, 1, (5, 4))}
    table = gn.ScoreTable.from_arrays(errors, higher_is_better=False)
    text = report(table, tmp_path / "page.md", n_resamples=50).read_text()
    assert "good is significantly better than poor." in text
    assert re.search(r"good is better than poor by [67]\.\d+", text)


def test_single_scores_with_gaps_show_what_is_noise_and_the_next_score_to_add(tmp_path):
    rng = np.random.default_rng(1)
    scores = {f"a{i}": rng.normal(i / 5, 1, 30) for i in range(4)}
    rows = [
        {"algorithm": name, "task": f"t{t:02}", "run": 0, "score": 10.0 ** (t % 9) * x}
        for name, values in scores.items()
        for t, x in enumerate(values)
    ]
    # One of the first two lacks a task with equal scores and one without.
    rows = [row | {"score": 1.0} if row["task"] == "t05" else row for row in rows]
    rows = [row for row in rows if row["algorithm"] != "a3" or row["task"] not in ("t05", "t20")]
    table = ScoreTable(rows)
    text = report(table, tmp_path / "page.md", n_resamples=50).read_text()
    with noted():
        ranking = gn.rank(table)
    assert "a3" in ranking.names[:2]
    unsure = 6 - int(ranking.separated.sum()) // 2
    assert f"and {unsure} of all 6 pairs ({unsure / 6:.0%}) are not significantly diff" in text
    assert f"with the present 28 tasks; {np.ceil(ranking.needed):,.0f} would separate" in text
    assert "Next score to add: a3 on t20 (only one of the two has scores on 2 tasks)" in text


def test_equal_scores_are_said_to_be_equal(tmp_path):
    table = gn.ScoreTable.from_arrays({name: np.ones((3, 2)) for name in "ab"})
    text = report(table, tmp_path / "page.md", n_resamples=50).read_text()
    assert "No: mean, median and iqm give the same order as the ranking." in text
    assert "by 0 (interval not estimable), not significantly (p &gt; 0.99)." in text


@pytest.mark.full
def test_the_same_source_and_seed_give_the_same_bytes(tmp_path):
    pages = [report(table_of(3), tmp_path / name, n_resamples=50).parent for name in "ab"]
    files = [
        {path.relative_to(page): path.read_bytes() for path in page.rglob("*.*")} for page in pages
    ]
    assert files[0] == files[1]


@pytest.fixture
def nothing_computed(monkeypatch):
    """Whatever computes a report fails the test."""

    def compute(*_: object, **__: object) -> None:
        raise AssertionError("computed before the folder was tried")

    monkeypatch.setattr("gnomon.reports.scores_page.scores_report", compute)


def test_a_place_is_checked_before_anything_is_computed(tmp_path, nothing_computed, monkeypatch):
    source = table_of(2)
    for name in ("file", "scores-report"):
        (tmp_path / name).write_text("precious")
    (tmp_path / "with-page" / "report.html").mkdir(parents=True)
    (tmp_path / "folder.md").mkdir()
    for name in ("figures", "tables"):
        (tmp_path / f"with-{name}").mkdir()
        (tmp_path / f"with-{name}" / name).write_text("precious")
    before = sorted(tmp_path.rglob("*"))
    monkeypatch.chdir(tmp_path)
    for out, why in {
        None: "scores-report: expected a folder to write to; it is a file",
        "file": "expected a folder to write to; it is a file",
        "file/page.html": "expected a folder to write to; there is none",
        "page.pdf": "expected a folder, or a name that ends in .html or .md",
        "nowhere/page.md": "expected a folder to write to; there is none",
        "folder.md": "expected the name of a page to write; it is a folder",
        "with-page": "exists and is not part of a report",
        "file/below": "Not a directory",
        "with-figures": "File exists",
        "with-tables": "File exists",
        "/proc/self/nowhere": "No such file or directory",
        "/proc/self/page.html": "No such file or directory",
    }.items():
        with pytest.raises((GnomonError, OSError), match=why) as error:
            report(source, out)
        assert "\n" not in str(error.value)
    with pytest.raises(AssertionError, match="computed"):
        report(source, "new/folder")
    assert sorted(tmp_path.rglob("*")) == before


def test_a_folder_without_permission_is_told_before_anything_is_computed(
    tmp_path, nothing_computed
):
    tmp_path.chmod(0o555)
    if os.access(tmp_path, os.W_OK):
        pytest.skip("root may write to a folder without permissions; run as another user")
    for out in ("page.html", "new", "."):
        with pytest.raises(PermissionError):
            report(table_of(2), tmp_path / out)


@pytest.mark.full
def test_a_disk_without_room_is_told_before_anything_is_computed(small_disk, nothing_computed):
    (small_disk / "fill").write_bytes(bytes(1_000_000))
    with pytest.raises(OSError, match=r"No space left on device: .*out"):
        report(table_of(2), small_disk / "out")
    with pytest.raises(OSError, match="No space left on device"):
        report(table_of(2), small_disk / "page.html")
    assert [path.name for path in small_disk.iterdir()] == ["fill"]


def test_files_of_others_stay_and_those_of_an_earlier_report_do_not(tmp_path):
    (tmp_path / "mine" / "tables").mkdir(parents=True)
    notes = [tmp_path / "mine" / name for name in ("notes.txt", "tables/notes.csv")]
    for path in notes:
        path.write_text("my notes")
    page = report(table_of(3), tmp_path / "mine", n_resamples=50)
    assert "improvement" in figures_of(page)
    assert report(table_of(2), tmp_path / "mine", n_resamples=50) == page
    files = [path for path in (tmp_path / "mine").rglob("*") if path.is_file()]
    names = {str(path.relative_to(tmp_path / "mine")) for path in {*files} - {page, *notes}}
    assert names == {*re.findall(r'href="((?:figures|tables)/[^"]+)"', page.read_text())}
    estimates = next((tmp_path / "mine" / "tables").glob("*.csv"))
    for name in ("report.html", f"tables/{estimates.name}"):
        foreign = tmp_path / "other" / name
        foreign.parent.mkdir(parents=True, exist_ok=True)
        foreign.write_text("my own")
        with pytest.raises(GnomonError, match=f"{name} exists and is not part of a report"):
            report(table_of(2), tmp_path / "other", n_resamples=50)
        assert [path for path in (tmp_path / "other").rglob("*") if path.is_file()] == [foreign]
        assert foreign.read_text() == "my own"
        foreign.unlink()
