"""People against learners: equal numbers of boards, tests, groups, guesses, and the page."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from gnomon.cli import app
from gnomon.errors import ScoreDataError
from gnomon.experiments import ExperimentConfig, measure_series, read_series, run
from gnomon.experiments.series.transcript_files import read_guesses
from gnomon.game.outcomes import ACCEPTED
from gnomon.report import report_html
from gnomon.report.participant_clusters import participant_clusters
from gnomon.report.people_findings import PEOPLE, _Comparison, _dealt, people_findings, run_folders
from gnomon.report.people_page import people_report
from gnomon.stats import mann_whitney
from recorded_people import RULE, our_player, write_player


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Return a folder of three players, and a run on their rule with boards of three pieces."""
    folder = tmp_path_factory.mktemp("study")
    for name in ("A01", "A02", "A03"):
        player = our_player(name)
        # A board of one player is no board of another.
        player |= {key: _own(player, key, name) for key in ("transcripts", "boards")}
        player["episodes"] = [
            episode | {"episodeId": f"{episode['episodeId'][:-3]}{name}"}
            for episode in player["episodes"]
        ]
        write_player(folder / name, player)
        guesses = "#playerId,trialListId,seriesNo,ruleId,episodeNo,episodeId,guess,guessConfidence"
        (folder / name / "guesses.csv").write_text(f'{guesses}\n{name},one,0,hue,1,x,"it, <b>",4\n')
    for table in ("PlayerInfo.csv", "Episode.csv"):
        lines = []
        for i, name in enumerate(("A01", "A02", "A03")):
            path = folder / name / table
            # Each player has a number of its own in the two tables.
            head, *rows = path.read_text().replace("\n7,", f"\n{7 + i},").splitlines()
            lines += [row.replace(",7,", f",{7 + i},") for row in rows]
            path.unlink()
        (folder / table).write_text("\n".join([head, *lines, ""]))
    config = ExperimentConfig(
        "machines", [{"name": "hue", "text": RULE}], ["frugal"], trials=4, episodes=3
    )
    return folder, run(config, folder / "run").folder


def _own(player, key, name):
    return player[key].replace("AAAAAA", f"AAA{name}").replace("BBBBBB", f"BBB{name}")


@pytest.fixture(scope="module")
def findings(study):
    folder, made = study
    with pytest.MonkeyPatch.context() as patch:
        # The ideal learner takes four seconds to think of its rules.
        patch.setattr("gnomon.report.people_findings.BOUNDS", ("uniform",))
        return people_findings(
            [folder], [made], trial_lists=folder / "A01" / "lists", target_streak=3, seed=1
        )


def test_people_and_learners_are_compared_after_as_many_boards(study, findings):
    [one] = findings.rules
    assert (one.rule, one.n_boards, one.n_left_out) == ("hue", 2, 0)
    assert one.errors[PEOPLE].tolist() == [[3, 3]] * 3
    assert {name: errors.shape for name, errors in one.errors.items()} == {
        PEOPLE: (3, 2), "frugal": (4, 2), "uniform": (20, 2),
    }  # fmt: skip
    assert one.masteries.where(task=PEOPLE)[0].n_learned == 3
    for row in findings.against:
        wins, p = mann_whitney(one.errors[row.learner][:, -1], one.errors[PEOPLE][:, -1])
        assert (row.share, row.p_value) == (wins / (3 * row.n_trials), p)
        assert row.p_adjusted >= row.p_value
    uniform = next(row for row in findings.against if row.learner == "uniform")
    assert uniform.share == 1


def test_the_page_says_it_and_escapes_what_people_wrote(findings):
    page = people_report(findings, "study")
    assert [section.title for section in page.sections] == [
        "People and learners", "hue", "People one by one", "What people thought",
    ]  # fmt: skip
    html = report_html(page)
    assert "it, &lt;b&gt;" in html
    assert "<b>&#34;" not in html
    assert "hue: 3 of 3 (29% to 100%) within 2 boards." in html
    assert "at least six participants with two rules each are needed" in html
    assert findings.guesses[0].confidence == 4


def test_a_guess_stands_beside_the_errors_of_its_series(findings, tmp_path):
    """The same rule twice, with the same words: two guesses, and errors of each series."""
    one = next(each for each in findings.measured if each.series.player == "A01")
    quick = replace(one, series=replace(one.series, number=1), accepted=one.accepted[-4:])
    head = "#playerId,trialListId,seriesNo,ruleId,episodeNo,episodeId,guess,guessConfidence"
    lines = [f"A01,one,{number},hue,1,x,by colour,4" for number in (0, 1, 1)]
    (tmp_path / "guesses.csv").write_text("\n".join([head, *lines, ""]))
    told = replace(findings, measured=(one, quick), guesses=tuple(read_guesses([tmp_path])))
    table = people_report(told, "study").sections[-1].tables[0]
    assert [row[:3] for row in table.rows] == [("hue", "A01", "3"), ("hue", "A01", "0")]


def test_one_who_leaves_does_not_decide_how_many_boards_are_compared(study, monkeypatch):
    """Of five people one stopped after a board, and one had mastered the rule there."""
    monkeypatch.setattr("gnomon.report.people_findings.BOUNDS", ("uniform",))
    folder, made = study
    series = read_series([folder], trial_lists=folder / "A01" / "lists")[0]
    boards = (series.episodes * 4)[:4]
    everybody = [
        replace(series, player=f"p{i}", episodes=boards[:n]) for i, n in enumerate((4, 3, 3, 1, 1))
    ]
    measured = [
        replace(one, is_learned=i == 4)
        for i, one in enumerate(measure_series(everybody, precedence="ignore"))
    ]
    how = _Comparison((made,), None, 10, 0, [])
    # A person counts once: who met the rule before knows it.
    again = [replace(one, series=replace(one.series, number=3)) for one in measured[:2]]
    found = how.of_rule("hue", [*again, *measured])
    assert (found.n_boards, found.n_left_out, found.n_again) == (3, 1, 2)
    assert found.masteries.where(task=PEOPLE)[0].n == 5
    assert found.errors[PEOPLE].shape == (4, 3)
    assert how.notices == []


def test_without_a_run_the_bounds_play_the_boards_of_people(study, tmp_path, monkeypatch):
    """Two and three pieces, not the nine of the default."""
    monkeypatch.setattr("gnomon.report.people_findings.BOUNDS", ("uniform",))
    folder, _ = study
    series = read_series([folder], trial_lists=folder / "A01" / "lists")
    how = _Comparison((), None, 3, 0, [], (folder / "A01",))
    trials = how._outcomes("hue", 4, series)["uniform"]
    pieces = {
        int((board == ACCEPTED).sum())
        for codes, lengths in trials
        for board in np.split(codes, np.cumsum(lengths)[:-1])
    }
    assert (len(trials), pieces, how.notices) == (20, {2, 3}, [])
    # Nor is a run compared whose rule of this name is another.
    other = [{"name": "hue", "text": "(*,*,*,*,0)"}]
    config = ExperimentConfig("other", other, ["frugal"], trials=1, episodes=4)
    how = replace(how, runs=(run(config, tmp_path / "other").folder,))
    assert list(how._outcomes("hue", 4, series)) == ["uniform"]
    assert how.notices == [
        "other on hue: left out, its rule of this name is another than the study's"
    ]
    # Boards that no file tells are those of the default.
    bare = [replace(e, board=None) for one in series for e in one.episodes]
    assert _dealt([replace(series[0], episodes=tuple(bare))]) == {"horizon": 100}


def test_people_of_a_run_stand_beside_those_of_the_study(study, tmp_path, monkeypatch):
    monkeypatch.setattr("gnomon.report.people_findings.BOUNDS", ())
    folder, _ = study
    learner = {"kind": "frugal", "name": "people"}
    config = ExperimentConfig(
        "pilot", [{"name": "hue", "text": RULE}], [learner], trials=2, episodes=2
    )
    made, lists = run(config, tmp_path / "run").folder, folder / "A01" / "lists"
    [one] = people_findings([folder], [made], trial_lists=lists).rules
    assert {name: len(errors) for name, errors in one.errors.items()} == {
        PEOPLE: 3, "people of pilot": 2,
    }  # fmt: skip


def test_more_boards_leave_out_who_stopped_before(study):
    folder, made = study
    lists = folder / "A01" / "lists"
    found = people_findings([folder], [made], trial_lists=lists, target_streak=9, boards=3)
    assert found.rules == ()
    assert found.notices == ("hue: nobody played 3 boards",)
    with pytest.raises(ScoreDataError, match="expected a run folder to compare with; found none"):
        run_folders([folder / "nothing"])


@pytest.mark.full
def test_the_verb_writes_the_page(study, tmp_path):
    folder, made = study
    lists, page = folder / "A01" / "lists", tmp_path / "p.html"
    command = f"report {folder} --with {made.path} --trial-lists {lists} --out {page}"
    said = CliRunner().invoke(app, command.split())
    assert said.exit_code == 0, said.exception
    text = page.read_text()
    assert "People against each learner" in text
    assert "ideal" in text
    wrong = CliRunner().invoke(app, f"report {made.path} --with {made.path}".split())
    assert "expected transcripts of people, for --with; found none" in str(wrong.exception)


def players(rng, n, separate):
    """Return players of two kinds, each good at other rules; or all alike."""
    kinds = np.arange(n) % 2 if separate else np.zeros(n, dtype=int)
    means = np.array([[5.0, 5, 40, 40], [40, 40, 5, 5]])
    return {
        f"p{i}": {f"r{j}": float(rng.poisson(means[k, j])) for j in range(4) if rng.random() < 0.9}
        for i, k in enumerate(kinds)
    }


def test_groups_of_participants_are_found_where_they_are():
    rng = np.random.default_rng(0)
    found = participant_clusters(players(rng, 20, separate=True), rng=rng)
    assert found.p_value <= 0.01
    groups = [found.group_of[f"p{i}"] for i in range(20)]
    assert len(set(groups[::2])) == len(set(groups[1::2])) == 1
    assert groups[0] != groups[1]
    alone = participant_clusters({"p": {"r": 1.0, "s": 2.0}}, rng=rng)
    assert np.isnan(alone.p_value)


@pytest.mark.full
def test_groups_are_seldom_found_where_there_are_none():
    rng = np.random.default_rng(0)
    n = 25
    found = [participant_clusters(players(rng, 14, separate=False), rng=rng) for _ in range(n)]
    assert np.mean([x.p_value <= 0.05 for x in found]) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / n)
