"""What players conclude: equal boards, kinds of evidence, grades, causes of failure, tables."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import gohr
from gnomon.errors import GnomonError, ScoreDataError
from gohr.experiments import ExperimentConfig, RuleEntry, load_suite, run
from gohr.induction import (
    Conclusion,
    Induction,
    Outcome,
    RuleTrial,
    evidence,
    foretells,
    grade,
    ideal_conclusion,
    measure,
    outcome_of,
    outcomes_of_run,
    read_outcomes,
)
from gohr.people import Game, PlayedGame, PlaySession, transcript_text

SUITE = load_suite("gohr-basic")
NEARBY = RuleTrial(RuleEntry("nearby", "(*,*,*,*,Nearby)"))
CYCLE = RuleTrial(RuleEntry("cycle", "(1,*,*,*,0)\n(1,*,*,*,1)\n(1,*,*,*,2)\n(1,*,*,*,3)"))


def test_the_suite_has_four_groups_of_rules_with_their_words():
    sizes = {name: len(rules) for name, rules in SUITE.groups.items()}
    assert list(sizes.values()) == [6, 4, 14, 8]
    assert all(rule.rule_set.description for rule in SUITE.entries)


@pytest.mark.full
@pytest.mark.parametrize("rule", SUITE.entries, ids=lambda rule: rule.name)
def test_an_ideal_observer_solves_every_board_of_the_suite_after_ten(rule):
    trial = RuleTrial(rule)
    tests, log = trial.boards("test", 5), evidence(trial, "random", 10)
    graded = grade(Conclusion(ideal_conclusion(log, tests).plans), trial, tests, log)
    assert (graded.n_solved, graded.prefix) == (5, 1.0)


def test_boards_do_not_depend_on_the_condition_and_evidence_grows():
    trial = replace(CYCLE, number=1)
    assert not np.array_equal(trial.boards("test", 3), trial.boards("evidence", 3))
    for kind in ("random", "positive", "informative", "negative"):
        two, three = (evidence(trial, kind, n) for n in (2, 3))
        n = len(two.actions)
        assert np.array_equal(two.actions, three.actions[:n])
        assert np.array_equal(two.outcomes, three.outcomes[:n])
    assert np.array_equal(two.boards[0], trial.boards("evidence", 1)[0])


def test_each_kind_of_evidence_shows_what_it_says():
    assert set(evidence(CYCLE, "positive", 2).outcomes) == {0}
    refused = evidence(CYCLE, "negative", 2)
    assert 0 not in refused.outcomes
    assert set(np.count_nonzero(refused.boards, axis=1)) <= set(range(1, 10))
    log = evidence(CYCLE, "random", 2)
    begin = 0
    for n in log.n_attempts:  # no failure is repeated while the board is as it was
        failed = set()
        rows = slice(begin, begin := begin + n)
        for action, outcome in zip(log.actions[rows], log.outcomes[rows], strict=True):
            assert action not in failed
            failed = failed | {action} if outcome else set()


def test_the_attempts_of_another_player_are_checked_and_cut():
    log = evidence(NEARBY, "random", 3)
    assert len(evidence(NEARBY, log, 2).boards) == 2
    cut = evidence(NEARBY, log, 3, max_attempts=15)
    assert len(cut.actions) == cut.n_attempts.sum() == 15
    mastered = evidence(NEARBY, "positive", 2)
    assert len(evidence(NEARBY, mastered, 2, with_streak=False).actions) == 1
    wrong = replace(log, outcomes=np.where(log.outcomes == 4, 0, log.outcomes).astype(np.int8))
    with pytest.raises(ValueError, match="found other outcomes"):
        evidence(NEARBY, wrong, 2)


def test_a_stated_rule_is_asked_about_each_attempt_on_the_true_board():
    stated = {
        "right": "(*,*,*,*,Nearby)",
        "but for red": "(*,*,red,*,Remotest) (*,*,[black,blue,yellow],*,Nearby)",
        "top first": "(*,*,*,T,Nearby)",
    }
    logs = [evidence(replace(NEARBY, number=k), "random", 5) for k in range(8)]
    found = {
        name: np.mean([foretells(gohr.parse(text), log) for log in logs])
        for name, text in stated.items()
    }
    assert found["right"] == 1.0
    assert found["but for red"] == pytest.approx(0.86, abs=0.05)
    assert found["top first"] == pytest.approx(0.38, abs=0.05)


def test_a_conclusion_is_graded_strictly():
    tests, log = NEARBY.boards("test", 3), evidence(NEARBY, "random", 2)
    plans = ideal_conclusion(log, tests).plans

    def graded(*plans, stated=NEARBY.rule.text):
        return grade(Conclusion(plans, stated), NEARBY, tests, log)

    right = graded(*plans)
    assert (right.solved, right.states_rule, right.foretells, right.self_consistent) == (1,) * 4
    assert right.stuck == 0.0
    assert graded(plans[0], plans[1]).n_solved == 2  # a missing plan is not solved
    assert graded(plans[0], plans[1], [*plans[2], plans[2][0]]).n_solved == 2  # nor a long one
    late = graded(plans[0], plans[1], [*plans[2][:6], plans[2][0]])
    assert (late.n_solved, late.prefix) == (2, pytest.approx((2 + 6 / 9) / 3))
    prose = graded(*plans, stated="the nearest bucket")
    assert (prose.solved, prose.states_rule, prose.foretells) == (1.0, 0.0, 0.0)
    assert graded(*plans, stated="(*,*,*,*,Remotest)").self_consistent == 0.0
    assert graded(*plans, stated="(*,*,red,*,Nearby)").stuck == 1.0
    assert math.isnan(graded(*plans, stated=None).states_rule)


def outcomes(tester, *, n_attempts, n_remembered):
    """Return outcomes of a simulated player that infers ideally from what it remembers."""
    found = []
    for trial in map(RuleTrial, SUITE.entries[:12]):
        log = evidence(trial, tester, 5, max_attempts=n_attempts)
        tests = trial.boards("test", 3)
        remembered = evidence(trial, log, 5, max_attempts=n_remembered)
        conclusion = ideal_conclusion(remembered, tests) or Conclusion((None,) * 3)
        graded = grade(Conclusion(conclusion.plans), trial, tests, log)
        found.append(outcome_of("player", tester, trial, log, graded, tests, n_boards=5))
    return Induction(tuple(found))


def causes(found):
    return {loss.cause: loss.value for loss in found.losses()}


def test_simulated_players_are_diagnosed():
    at_random = causes(outcomes("random", n_attempts=14, n_remembered=14))
    without_errors = causes(outcomes("positive", n_attempts=9, n_remembered=9))
    for poor_tests in (at_random, without_errors):
        assert poor_tests["poor tests"] > 0.1
        assert poor_tests["poor inference"] == 0.0
    forgetful = causes(outcomes("informative", n_attempts=25, n_remembered=5))
    assert forgetful["poor tests"] == 0.0
    assert forgetful["poor inference"] > 0.3
    for found in (at_random, without_errors, forgetful):
        total = found["little evidence"] + found["poor tests"] + found["poor inference"]
        assert total == pytest.approx(found["all"])


def test_four_cells_are_who_made_the_attempts_and_who_concluded():
    shares = {"solved": 0.2, "ideal_on_same": 0.6, "ideal_on_own": 0.8}
    nothing = (math.nan,) * 4
    found = Induction(
        tuple(
            Outcome(
                "m", tester, f"r{rule}", "", 0, 5, 90, 5, n_solved, *nothing,
                shares["ideal_on_same"], shares["ideal_on_own"],
            )
            for rule in range(20)
            for tester, n_solved in (("own", 1), ("informative", 2))
        )
    )  # fmt: skip
    cells = {(one.tests_by, one.concluded_by): one.value for one in found.cells()}
    assert list(cells) == list(product(("player", "observer"), repeat=2))
    assert list(cells.values()) == pytest.approx([0.2, 0.6, 0.4, 0.8])
    losses = {loss.cause: loss.value for loss in found.losses().where(tester="own")}
    assert losses["poor inference"] == pytest.approx(0.6 - 0.2)
    assert losses["poor tests"] == pytest.approx(0.8 - 0.6)
    assert not Induction(tuple(one for one in found if one.tester != "own")).cells()


@pytest.mark.filterwarnings("ignore:mean of")
def test_learners_are_measured_saved_read_and_ranked(tmp_path):
    found = measure(["ideal", "uniform"], "gohr-paper", ["own", "random"], n_boards=[2], trials=2)
    assert len(found) == 2 * 4 * 2 * 2
    assert not [one for one in found if one.player == "ideal" and one.poor_inference]
    assert all(math.isnan(one.m_star) == (one.tester == "random") for one in found)
    found.write(tmp_path / "outcomes.csv")
    again = read_outcomes(tmp_path / "outcomes.csv")
    assert [repr(one) for one in again] == [repr(one) for one in found]
    assert [one.name for one in found.ranking()] == ["ideal", "uniform"]
    conditions = found.scores("tester")
    assert set(conditions.algorithms) == {"own", "random"}
    assert len(conditions.tasks) == 2 * 4 * 2  # players, rules and trials are paired
    with pytest.raises(GnomonError, match="unknown compared 'testers'"):
        found.scores("testers")
    said = " ".join(found.sentences())
    assert re.search(r"uniform solves 0 % \[0, \d+\] of the test boards \(evidence: random\)", said)
    assert "pools all answers" not in said
    with pytest.raises(GnomonError, match="plays without a program"):
        measure(["process"], "gohr-paper")
    with pytest.raises(GnomonError, match=r"^unknown learner 'idael'; did you mean 'ideal'"):
        measure(["idael"], "gohr-paper")
    with pytest.raises(GnomonError, match=r"^unknown tester 'owm'; did you mean 'own'"):
        measure(["ideal"], "gohr-paper", ["owm"])


def test_learners_of_a_run_conclude_after_its_first_boards(tmp_path):
    learners = ["ideal", "tabular_q", "rule_player"]
    config = ExperimentConfig("a run", ["clockwise", "nearby"], learners, trials=2, episodes=6)
    found = outcomes_of_run(run(config, tmp_path), 3, n_tests=2)
    own, informative = (found.where(tester=name) for name in ("own", "informative"))
    assert (len(own), len(informative)) == (3 * 2 * 2, 2 * 2 * 2)
    tested = {one.player: one.n_tests for one in found}
    assert tested == {"ideal": 2, "tabular_q": 2, "rule_player": 0}  # which is shown the rule
    concluded = [one for one in own if one.n_tests]
    for first, second in zip(concluded, informative, strict=True):
        assert first.n_attempts == second.n_attempts
        assert first.ideal_on_own == second.ideal_on_own == second.ideal_on_same
    losses = {(loss.player, loss.cause): loss.value for loss in own.losses()}
    assert losses["ideal", "all"] == losses["ideal", "poor inference"] == 0.0
    assert losses["tabular_q", "poor inference"] > 0.5
    assert losses["rule_player", "poor tests"] == 1.0  # no error, so nothing to learn from
    cells = {(x.tests_by, x.concluded_by): x.value for x in found.cells() if x.player == "ideal"}
    assert cells == dict.fromkeys(product(("player", "observer"), repeat=2), 1.0)
    parts = [losses["tabular_q", x] for x in ("little evidence", "poor tests", "poor inference")]
    assert sum(parts) == pytest.approx(losses["tabular_q", "all"])


def test_tables_of_the_reference_project_are_read(tmp_path):
    tables = {
        "runs.csv": "#path,rule,rule_set_conditions,won,trainEpisodes,trainMoves,testBoards\n"
        "seed-1/gemini-cw-seed1.txt,cw,ordL1:ccw,1,3,35,4/5\n"
        "seed-2/gemini-cw-seed2.txt,cw,,0,9,300,0/5\n",
        "aggregate.csv": 'playStateless,G3F,cw,,DDA;AA,10,"[25,Infinity(300),4]",25,7,t9-9,11,15,'
        "0.733\n",
        "random.csv": "#ruleSetName,seed,trainingEpisodes,trainingMoves,botClearedTestBoards,"
        "botAllTestBoards\ncw,6,5,121,4,5\n",
        "people.csv": "#ruleSetName,playerId,experimentPlan,trialListId,seriesNo,episodes,moves,"
        "trainingMoves,xFactor,botClearedTestBoards,botAllTestBoards\n"
        "cm_RBKY,p01,FDCL/basic,basic-01-A,0,2,31,22,4,5,5\n",
        "mastery.csv": "#ruleId,mStar10,mStar25\ncw,37,41\nccw,Infinity,Infinity\n",
    }
    for name, text in tables.items():
        (tmp_path / name).write_text(text)

    def read(name):
        return [
            (one.tester, one.trial, one.n_solved, one.n_tests, one.m_star)
            for one in read_outcomes(tmp_path / name)
        ]

    assert read("runs.csv") == [("own after ordL1:ccw", 1, 4, 5, 25), ("own", 2, 0, 5, math.inf)]
    assert [row[4] for row in read("aggregate.csv")[:3]] == [25, math.inf, 4]
    assert read("aggregate.csv")[3][2:4] == (11, 15)
    [said] = read_outcomes(tmp_path / "aggregate.csv").sentences()
    assert said.startswith("G3F solves 73 % of the test boards")
    assert "pools all answers to one request" in said
    assert read("random.csv")[0][:4] == ("random", 6, 4, 5)
    assert read("people.csv")[0][:4] == ("person p01", 0, 5, 5)
    assert [row[4] for row in read("mastery.csv")] == [36, math.inf]  # they count from one
    (tmp_path / "other.csv").write_text("agent,score\na,1\n")
    with pytest.raises(ScoreDataError, match="found the columns agent, score"):
        read("other.csv")
    (tmp_path / "bad.csv").write_text(tables["random.csv"].replace("4,5", "6,5"))
    with pytest.raises(ScoreDataError, match=r"bad\.csv, row 2: expected at most 5 boards solved"):
        read("bad.csv")


def test_transcripts_of_people_are_set_against_the_observer(tmp_path):
    games = []
    for number, name in enumerate(("clockwise", "nearby")):
        session = PlaySession(Game(name, str(gohr.load_rule(name)), seed=number, episodes=1))
        while session.state == "playing":  # a random player
            pieces = session.view().pieces
            made = len(session.attempts)
            session.attempt(pieces[7 * made % len(pieces)]["cell"], made % 4)
        games.append(PlayedGame("p1", "a", number, name, session))
    games.append(PlayedGame("p1", "a", 2, "forgotten", session))
    text, boards = transcript_text(games)
    (tmp_path / "transcript.csv").write_text(text)
    alone = read_outcomes(tmp_path / "transcript.csv")
    assert [math.isnan(one.ideal_on_same) for one in alone] == [True] * 3
    assert [one.n_attempts for one in alone] == [len(game.session.attempts) for game in games]
    (tmp_path / "boards.csv").write_text(boards)
    found = read_outcomes(tmp_path)
    assert [one.ideal_on_own for one in found][:2] == [1.0, 1.0]
    assert math.isnan(found[2].ideal_on_own)  # nothing says what that rule is
    assert [loss.cause for loss in found.losses()] == ["little evidence", "poor tests"]
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "nearby.txt").write_text("(*,*,*,*,Remotest)")
    with pytest.raises(ScoreDataError, match="p1 on nearby: "):
        read_outcomes(tmp_path)


def test_a_run_is_refused_with_the_call_that_measures_its_learners(tmp_path):
    (tmp_path / "run.sqlite").touch()
    with pytest.raises(ScoreDataError, match=r"found a run; outcomes_of_run\(Run.open"):
        read_outcomes(tmp_path)


def test_several_people_on_one_item_count_as_their_mean():
    nothing = (math.nan,) * 6
    found = [
        Outcome(player, "random", f"r{rule}", "", 0, 5, 90, 5, n_solved, *nothing)
        for rule in range(20)
        for player, solved in {"model": (4 - rule % 2,), "people": (5, 0, 1)}.items()
        for n_solved in solved
    ]
    values = {one.name: one.value for one in Induction(tuple(found)).ranking()}
    assert values == {"model": pytest.approx(0.7), "people": pytest.approx(0.4)}


def test_a_test_of_nothing_has_no_share():
    one = Outcome("m", "own", "cw", "", 0, 0, 0, 0, 0, *(math.nan,) * 6)
    assert math.isnan(one.solved)


def test_the_verb_prints_tables_and_writes_a_page(command):
    options = "--learner ideal --suite gohr-paper --trials 1 --boards 1"
    results = command(f"gohr induction {options} --out page.html --json").results
    causes = {row.get("cause") for row in results}
    assert causes >= {"little evidence", "poor tests", "poor inference"}
    cells = [row["value"] for row in results if "tests_by" in row]
    assert cells[:2] + cells[3:] == [1.0] * 3  # an observer concludes
    assert cells[2] is None  # not asked: --tester informative
    assert "Where players fail" in Path("page.html").read_text(encoding="utf-8")
    forecast = command("gohr induction --forecast --suite gohr-paper --json").results
    assert {row["condition"] for row in forecast} == {"own", "random"}
    for wrong in ("", "--learner ideal --tester radnom", "no-such-file.csv"):
        command(f"gohr induction {wrong}").assert_refused("gohr: ")
