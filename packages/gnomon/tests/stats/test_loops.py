"""Loops of candidates: what is kept, how often wrongly, what it gains, and the state in a file."""

import json
import math

import numpy as np
import pytest

from gnomon.errors import DegenerateScoresWarning, GnomonError
from gnomon.stats import Loop


def night(loop, effects, rng, scale=1.0, sign=1.0):
    """Run what the loop asks for; return the true scores and the names of what was kept."""
    truth = {"main": 0.0}

    def run(name):
        loop.add(name, sign * (truth[name] + scale * rng.standard_t(3)))

    run("main")
    while asked := loop.decisions()[0].run:
        run(asked[0])
    kept = []
    for i, effect in enumerate(effects):
        truth[name := f"c{i}"] = truth[loop.baseline] + effect
        run(name)
        while asked := loop.decide(name).run:
            run(asked[0])
        kept += [name] if loop.baseline == name else []
    return truth, kept


def started(**options):
    loop = Loop(**options)
    for score in (0.50, 0.52, 0.49, 0.51):
        loop.add("main", score)
    return loop


def pairs(loop, name, score, n=40):
    """Run up to n more runs that the loop asks for: the candidate has one score, the others 0.5."""
    for i in range(n):
        asked = loop.decide(name).run
        if not asked or loop.decide(name).decision != "again":
            break
        loop.add(asked[0], score if asked[0] == name else 0.5 + 0.01 * (-1) ** i)


def test_the_loop_asks_for_its_baseline_first():
    loop = Loop()
    loop.add("main", 0.5)
    assert loop.decisions()[0].run == ("main",) * 3
    loop.add("wider", 0.9)
    found = loop.decide()
    assert (found.candidate, found.decision, found.run) == ("wider", "again", ("main",) * 3)


def test_a_worse_first_run_is_discarded_and_a_crash_too():
    loop = started()
    loop.add("wider", 0.48)
    assert loop.decide().decision == "discard"
    assert math.isnan(loop.decide().e_value)
    loop.add("deeper", 0.8)
    assert sorted(loop.decide().run) == ["deeper", "main"]
    loop.add("deeper", math.nan)
    assert loop.decide("deeper").decision == "discard"


def test_one_good_run_is_not_kept_and_many_are():
    loop = started()
    loop.add("lucky", 0.8)
    pairs(loop, "lucky", 0.49)
    assert loop.decide("lucky").decision == "discard"
    loop.add("better", 0.8)
    pairs(loop, "better", 0.8)
    found = loop.decide("better")
    assert found.decision == "keep"
    assert found.e_value >= 1.0 / found.error
    assert loop.baseline == "better"
    # The gain is unknown until fresh runs, three pairs with the first baseline, have measured it.
    assert math.isnan(found.value)
    for i in range(3):
        assert sorted(loop.decide("better").run) == ["better", "main"]
        loop.add("better", 0.7 + 0.01 * i)
        loop.add("main", 0.5)
    found = loop.decide("better")
    assert found.run == ()
    assert found.value == pytest.approx(0.21)
    assert found.low < 0.21 < found.high


def test_scores_that_never_vary_are_decided_by_their_signs():
    loop = Loop(familywise=True)
    for _ in range(4):
        loop.add("main", 0.5)
    loop.add("same", 0.5)
    assert loop.decide().decision == "discard"
    loop.add("better", 0.6)
    n = 0
    while loop.decide("better").decision == "again":
        loop.add("main", 0.5)
        loop.add("better", 0.6)
        n += 1
    assert n == math.ceil(-math.log2(loop.decide("better").error))
    for _ in range(3):
        loop.add("better", 0.6)
        loop.add("main", 0.5)
    assert loop.decide("better").value == pytest.approx(0.1)
    assert math.isnan(loop.decide("better").low)


def test_pairs_of_equal_scores_are_no_evidence():
    loop = Loop()
    for _ in range(4):
        loop.add("main", 0.5)
    loop.add("lucky", 0.6)
    for name in ("main", "lucky") * 8:
        loop.add(name, 0.5)
    assert loop.decide("lucky").e_value == 1.0
    while (found := loop.decide("lucky")).decision == "again":
        loop.add(found.run[0], 0.5)
    assert found.decision == "discard"


def test_further_runs_of_one_side_of_a_pair_are_left_out():
    loop, other = started(), started()
    for each in (loop, other):
        each.add("better", 0.8)
        each.add("better", 0.45)
    loop.add("better", 0.9)  # the unlucky run cannot be replaced
    for each in (loop, other):
        each.add("main", 0.5)
    assert loop.decide().e_value == other.decide().e_value < 1.0
    assert loop.decide().n_runs == 3


def test_candidates_at_the_same_time_share_no_run_of_the_baseline():
    loop = started()
    loop.add("a", 0.8)
    loop.add("b", 0.8)
    loop.add("a", 0.8)
    loop.add("b", 0.8)
    loop.add("main", 0.5)
    assert loop.decide("a").e_value > 1.0 == loop.decide("b").e_value
    loop.add("main", 0.5)
    assert loop.decide("b").e_value > 1.0


@pytest.mark.parametrize("familywise", [False, True])
def test_false_keeps_are_rare_where_none_is_better(familywise):
    """Equal candidates with heavy-tailed noise: 60 loops of 60; the bound is 5 or 10 % of loops."""
    false = n_runs = 0
    for seed in range(60):
        loop = Loop(familywise=familywise)
        false += bool(night(loop, np.zeros(60), np.random.default_rng(seed))[1])
        n_runs += len(loop.runs)
    assert false <= 4
    assert n_runs < 2.0 * 60 * 60


def test_better_candidates_are_kept_and_their_gain_is_not_inflated():
    claimed, true, covered = [], [], []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        loop = Loop()
        truth, kept = night(loop, np.where(rng.random(60) < 0.2, 3.0, -0.5), rng)
        for name in kept:
            found = loop.decide(name)
            claimed.append(found.value)
            true.append(truth[name])
            covered.append(found.low <= truth[name] <= found.high)
        assert truth[loop.baseline] > 0.0
    assert np.mean(claimed) == pytest.approx(np.mean(true), rel=0.05)
    assert np.mean(covered) > 0.9


def test_errors_of_the_tests_sum_to_the_error_and_grow_with_the_lead():
    loop = started(familywise=True)
    for i in range(30):
        loop.add(f"c{i}", 0.9)
        pairs(loop, f"c{i}", 0.3)
    errors = [one.error for one in loop.decisions()[1:] if not math.isnan(one.error)]
    assert len(errors) > 3
    assert errors == sorted(errors, reverse=True)
    assert sum(errors) < 0.05
    first = {}
    for score in (0.54, 0.55, 0.9):
        loop = started()
        loop.add("better", score)
        first[score] = loop.decide().error
    assert first[0.54] < first[0.55] < first[0.9]


@pytest.mark.parametrize("familywise", [False, True])
def test_a_keep_leaves_more_error_to_the_next_test(familywise):
    given = []
    for score in (0.9, 0.3):  # the candidate is kept, or it is not
        loop = started(familywise=familywise)
        loop.add("first", 0.9)
        pairs(loop, "first", score)
        while asked := loop.decide("first").run:
            loop.add(asked[0], score)
        loop.add("next", 2.0)
        given.append(loop.decide("next").error)
    assert given[0] > given[1]


def test_low_scores_have_their_direction():
    effects = [0.0, 4.0, -1.0, 4.0]
    high, low = Loop(), Loop(higher_is_better=False)
    night(high, effects, np.random.default_rng(1))
    night(low, effects, np.random.default_rng(1), sign=-1.0)
    assert str(high.decisions()) == str(low.decisions())
    assert high.decisions().latest.decision in ("keep", "discard")


def test_the_state_survives_in_a_file(tmp_path):
    state = tmp_path / "state.json"
    loop = Loop(familywise=True, error=0.02)
    night(loop, [5.0, 0.0, -1.0], np.random.default_rng(2))
    loop.add("crashed", math.nan)
    loop.to_file(state)
    again = Loop.from_file(state)
    assert again.decisions().as_records() == loop.decisions().as_records()
    assert (again.familywise, again.error) == (True, 0.02)
    text = state.read_text()
    for damaged in (text[:-9], "[]", "{}", text.replace('"gnomon_loop": 2', '"gnomon_loop": 1')):
        state.write_text(damaged)
        with pytest.raises(GnomonError, match="expected the state of a loop"):
            Loop.from_file(state)


def test_new_rows_of_a_results_table_are_read(tmp_path):
    table, state = tmp_path / "results.tsv", tmp_path / "state.json"
    head = "commit\tval_bpb\tmemory_gb\tstatus\tdescription\n"
    rows = 'a1\t0.99\t44.0\tkeep\tthe "baseline\nb2\t0.000000\t0.0\tcrash\tdouble width\n'
    table.write_text(head + rows + "c3\t0.9")
    loop = Loop(higher_is_better=False)
    with pytest.warns(DegenerateScoresWarning, match="the last line is incomplete"):
        assert loop.read(table) == 2
    loop.to_file(state)
    table.write_text(head + rows + "c3\t0.98\t44.0\tkeep\t\n")
    loop = Loop.from_file(state)
    assert loop.read(table) == 1
    assert loop.read(table.parent / "." / ".." / tmp_path.name / table.name) == 0
    assert loop.runs[0] == ("a1", 0.99)
    assert math.isnan(loop.runs[1][1])
    assert loop.runs[2] == ("c3", 0.98)
    changed = head + rows.replace("0.99", "0.98") + "c3\t0.98\t44.0\tkeep\t\nd4\t0.9\t1\t\t\n"
    for text in (head, changed):
        table.write_text(text)
        with pytest.raises(GnomonError, match="expected the 3 runs read before to be unchanged"):
            loop.read(table)


def test_runs_that_could_not_be_added_are_read_again(tmp_path, monkeypatch):
    table = tmp_path / "results.csv"
    table.write_text("name,score\nmain,1\n")
    loop = Loop()
    with monkeypatch.context() as patch:
        patch.setattr(loop, "add", lambda name, score: {}[name])
        with pytest.raises(KeyError):
            loop.read(table)
    assert loop.read(table) == 1


def test_a_copy_of_a_file_of_runs_is_refused(tmp_path):
    table, copy = tmp_path / "a.tsv", tmp_path / "b.tsv"
    table.write_text("name\tscore\nmain\t1\nc\t2\n")
    copy.write_text(table.read_text() + "d\t3\n")
    loop = Loop()
    assert loop.read(table) == 2
    with pytest.raises(GnomonError, match=r"found the 2 runs read before from .*a\.tsv"):
        loop.read(copy)
    assert len(loop.runs) == 2
    copy.write_text("name\tscore\nmain\t1\nc\t3\n")
    assert loop.read(copy) == 2


def test_json_lines_are_read(tmp_path):
    file = tmp_path / "runs.jsonl"
    lines = [{"candidate": "main", "score": 1}, {"candidate": "a", "score": None}]
    file.write_text("\n".join(map(json.dumps, lines)))
    loop = Loop()
    assert loop.read(file) == 2
    assert loop.decide().decision == "discard"
    file.write_text("\n".join(map(json.dumps, lines)) + '\n{"candidate": "b", "sco')
    with pytest.warns(DegenerateScoresWarning, match="incomplete"):
        assert loop.read(file) == 0


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.tsv", "a\tb\n1\t2\n", "line 2: expected a candidate named candidate, commit or name"),
        ("a.tsv", "commit\tloss\n1\t2\n", "found commit, loss; name it by"),
        (
            "a.csv",
            "name,score\nx,high\n",
            "line 2: expected a finite number as score, found 'high'",
        ),
        ("a.csv", "name,score\n,1\n", "expected the name of a candidate"),
        ("a.jsonl", "[1]\n", "line 1: expected a JSON object"),
        ("a.jsonl", '{"candidate": \n{}\n', "line 1: expected a JSON object"),
    ],
)
def test_a_line_that_is_no_run_is_refused(tmp_path, name, text, words):
    (tmp_path / name).write_text(text)
    loop = Loop()
    with pytest.raises(GnomonError, match=words):
        loop.read(tmp_path / name)
    assert loop.runs == []


def test_bad_arguments_are_refused():
    loop = Loop()
    with pytest.raises(GnomonError, match="none"):
        loop.decisions()
    with pytest.raises(GnomonError, match="unknown candidate"):
        loop.decide("a")
    with pytest.raises(GnomonError, match="a finite score"):
        loop.add("a", math.inf)
    with pytest.raises(TypeError, match="score"):
        loop.add("a", "high")
    with pytest.raises(ValueError, match="between 0 and 1"):
        Loop(error=2.0)


def test_a_loop_is_shown():
    loop = Loop()
    _, kept = night(loop, [6.0, 0.0, 6.0, -1.0], np.random.default_rng(3))
    found = loop.decisions()
    text = str(found)
    assert len(found) == 5
    assert f"4 candidates, {len(kept)} kept" in text
    assert "Expected share of false keeps: 10 % at most" in text
    assert text.endswith(str(loop.decide()))
    figure = found.figure()
    assert len(figure.rows) == 5
    assert "<svg" in figure.svg
    assert kept[0] in figure.svg
