"""The page: complete, alone, well formed, the same each time, and safe with any name."""

import errno
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest

from gohr.experiments import ExperimentConfig, Run, run, trials_of
from gohr.rules import available_rules
from gohr.run_page import report
from runs import fail

VOID = {"meta", "link", "br", "hr", "img", "input"}


class Page(HTMLParser):
    """Checks that every element is closed in turn, and gathers ids, links and text."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.targets, self.tags, self.words = [], [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)
        self._note(tag, attrs)

    def handle_startendtag(self, tag, attrs):
        self._note(tag, attrs)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.words.append(data)

    def _note(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id"]
        self.targets += [value for name, value in attrs if name in ("href", "src", "xlink:href")]

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


@pytest.fixture(scope="module")
def written(run_folder, tmp_path_factory):
    out = tmp_path_factory.mktemp("report")
    return report(run_folder.path, out)


@pytest.fixture(scope="module")
def page(written):
    return Page(written.read_text())


def test_ids_are_unique_and_links_lead_somewhere(page, written):
    assert len(page.ids) == len(set(page.ids))
    for target in page.targets:
        if target.startswith("#"):
            assert target[1:] in page.ids
        else:
            assert (written.parent / target).is_file()
    drawn = {ref for _, attrs in page.tags for v in attrs.values() if v for ref in _urls(v)}
    assert drawn
    assert drawn <= set(page.ids)


def _urls(value):
    return re.findall(r"url\(#([^)]+)\)", value)


def test_the_page_stands_alone(page, written):
    tags = {tag for tag, _ in page.tags}
    assert not tags & {"script", "link", "img", "iframe"}
    assert "@import" not in written.read_text()
    assert {"main", "nav", "header", "figure", "figcaption", "table", "caption"} <= tags


def test_every_figure_has_words_and_files(page, written):
    names = [a["id"].removeprefix("figure-") for t, a in page.tags if t == "figure"]
    assert len(names) == len(set(names)) >= 12
    for name in names:
        assert (written.parent / "figures" / f"{name}.svg").is_file()
        assert (written.parent / "figures" / f"{name}.csv").read_text().count("\n") > 1
        assert f"{name}-alt" in page.ids


def test_hostile_names_are_text(page):
    assert "A <b>bold</b> run" in page.text
    assert "<script>alert('&')</script>" in page.text
    assert "again & again" in page.text
    assert ("b", {}) not in page.tags


def test_it_begins_with_the_answers(page):
    text = page.text
    assert text.index("Which rule is hardest?") < text.index("Median terminal cumulated error")
    assert "uniform made most errors on b3-then-b1" in text
    assert "rule_player makes fewer errors than uniform on all 2 rules" in text
    assert "Each statement is based on 6 trials" in text


def test_it_says_what_a_reader_must_know(page):
    text = page.text
    assert "rule_player was shown what the rule permits (reveal)" in text
    assert "attempts on empty cells" in text
    for fact in ("horizon 100 attempts", "episodes 12 in a trial", "seed of the run 0"):
        assert fact in text
    assert "played by gohr" in text
    assert "not estimable" in text.lower()


def test_a_run_and_its_path_give_the_same_bytes(written, run_folder, tmp_path):
    again = report(run_folder, tmp_path)
    for path in written.parent.rglob("*.*"):
        assert (again.parent / path.relative_to(written.parent)).read_bytes() == path.read_bytes()


def test_one_trial_without_errors(lonely_folder, tmp_path):
    page = Page(report(lonely_folder.path, tmp_path).read_text())
    assert "rule_player played clockwise alone: median 0 [not estimable] errors." in page.text
    assert "Which learner is better?" not in page.text
    assert "Fewer than five trials" in page.text


PAIR = ("uniform", "b3-then-b1")


def test_failed_and_missing_trials_are_named(lonely_folder, run_folder, tmp_path):
    folder = Run.create(tmp_path / "run", run_folder.config)
    owed = [t for t in trials_of(run_folder.config) if (t.learner.name, t.rule.name) == PAIR][:6]
    for trial in owed:
        fail(folder, trial, f"ValueError: number {trial.number}")
    page = Page(report(folder.path).read_text())
    assert "No trial is done yet" in page.text
    assert "6 trials failed and are left out: trial 0 of uniform on b3-then-b1" in page.text
    assert "and 1 more." in page.text
    assert "30 trials not played yet" in page.text


def test_a_run_with_some_pairs_missing(run_folder, tmp_path):
    shutil.copytree(run_folder.path, tmp_path / "run")
    folder = Run.open(tmp_path / "run")
    for record in folder.trials():
        if (record.learner, record.rule) == ("again & again", "b3-then-b1"):
            fail(folder, record)
    page = Page(report(folder.path).read_text())
    assert "6 trials failed" in page.text


def test_a_level_is_between_0_and_1(run_folder, tmp_path):
    with pytest.raises(ValueError, match="expected a level between 0 and 1, found 95"):
        report(run_folder.path, tmp_path, level=95)


def test_a_report_that_cannot_be_written_leaves_nothing(lonely_folder, tmp_path, monkeypatch):
    write = Path.write_bytes

    def full(path: Path, data: bytes) -> int:
        if path.name == "report.html":
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space left on device") as error:
        report(lonely_folder.path, tmp_path / "new" / "report")
    assert error.value.filename == str(tmp_path / "new" / "report")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.full
def test_long_names_leave_room_for_what_is_drawn(tmp_path):
    """A drawing without room for its axes is a warning, which is an error here."""
    name = "a name that somebody thought was a very good idea, and 狐 could not disagree"
    formula = r"a $\frac$ of $x$"
    rules = [
        {"name": name, "text": "(*,*,*,*,0)"},
        {"name": formula, "text": "(*,*,*,*,1)"},
        *list(available_rules())[:6],
    ]
    learners = ["uniform", {"kind": "frugal", "name": f"{name}; learning_rate=0.03"}]
    config = ExperimentConfig(name, rules, learners, trials=2, episodes=5)
    folder = run(config, tmp_path / "run")
    page = report(folder.path)
    assert page.read_text().count(name) > 10
    assert formula in (page.parent / "figures" / "boxes-1-uniform.svg").read_text()
    assert "…" in (page.parent / "figures" / "boxes-1-uniform.svg").read_text()


def test_it_shows_where_learners_fail_if_they_are_to_conclude(run_folder, tmp_path):
    text = Page(report(run_folder, tmp_path / "page.html", conclude_after=2).read_text()).text
    assert "What did they conclude after 2 boards, and where did they fail?" in text
    assert re.search(r"uniform solves \d+ % \[\d+, \d+\] of the test boards \(evidence: own", text)
    assert "Where players fail" in text
    shares = r"again & again( [01]\.\d\d \[-?\d\.\d\d, \d\.\d\d\]){4}"
    assert re.search(f"observer's attempts, observer concludes.*{shares}", text)
