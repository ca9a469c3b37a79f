"""Files that users brought: each is read right, or refused with the remedy."""

import json

import numpy as np
import pytest

import gnomon as gn
from evaluation_logs import head, sample
from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.scores import read_scores
from score_files import read_noting, read_quietly, written

ROWS = [("ppo", "maze", 0, 10.0), ("ppo", "maze", 1, 11.0), ("dqn", "maze", 0, 9.0)]


@pytest.mark.parametrize(
    "words",
    [
        ("agent", "environment", "seed", "return"),
        ("method", "env_id", "trial", "episode_return"),
        ("Policy", "Game", "Seed", "reward"),
        ("exp_name", "benchmark", "seed", "normalized_score"),
        ("exp_name", "env_id", "seed", "charts/episodic_return"),
        ("algo", "env", "seed", "rollout/ep_rew_mean"),
        ("algo", "dataset", "seed", "d4rl_normalized_score"),
        ("agent.name", "env.id", "trial", "metrics.return"),
    ],
)
def test_columns_under_usual_names(tmp_path, words):
    lines = [",".join(words), *(",".join(map(str, row)) for row in ROWS)]
    path = written(tmp_path / "scores.csv", "\n".join(lines) + "\n")
    assert read_quietly(path).runs("ppo", "maze").tolist() == [10.0, 11.0]
    frame = dict(zip(words, zip(*ROWS, strict=True), strict=True))
    assert read_quietly(frame).runs("dqn", "maze").tolist() == [9.0]


def test_a_text_is_never_a_score(tmp_path):
    path = written(tmp_path / "s.csv", "agent,env,seed,result,return\na,t,0,ok,1.5\n")
    assert read_quietly(path).runs("a", "t").tolist() == [1.5]


def test_one_run_of_each_cell_needs_no_column(tmp_path):
    path = written(tmp_path / "s.csv", "algorithm,task,score\nA,t,0.6\nA,u,0.4\nB,t,0.5\n")
    table = read_scores(path)
    assert table.runs("A", "t").tolist() == [0.6]
    path = written(tmp_path / "w.csv", "Model,Benchmark,Success_Rate\nA,t,0.6\nA,u,0.4\n")
    assert read_quietly(path).runs("A", "u").tolist() == [0.4]
    twice = written(tmp_path / "t.csv", "algorithm,task,score\nA,t,0.6\nA,t,0.4\n")
    with pytest.raises(ScoreDataError, match=r"lines 2 and 3.* no column of runs.*within_run"):
        read_scores(twice)
    assert read_scores(twice, within_run="mean").runs("A", "t").tolist() == [0.5]


RECORDS = [
    {"agent": "a", "env": "t", "seed": 0, "score": 1.0},
    {"agent": "a", "env": "t", "seed": 1, "score": 3.0},
]


@pytest.mark.parametrize(
    "content",
    [
        RECORDS,
        {"performances": RECORDS},
        {"results": RECORDS},
        {"columns": [*RECORDS[0]], "data": [[*row.values()] for row in RECORDS]},
        [{"agent": {"name": row["agent"]}, "env": {"id": row["env"]}, "seed": row["seed"],
          "metrics": {"return": row["score"]}} for row in RECORDS],
        {"meta": {"version": 1}, "data": {"rows": RECORDS}},
        {name: [row[name] for row in RECORDS] for name in RECORDS[0]},
        [{"config": {k: v for k, v in row.items() if k != "score"}, "score": row["score"]}
         for row in RECORDS],
    ],
)  # fmt: skip
def test_records_in_any_wrapping(tmp_path, content):
    path = written(tmp_path / "records.json", content)
    assert read_quietly(path).runs("a", "t").tolist() == [1.0, 3.0]


@pytest.mark.parametrize(
    "content",
    [
        {"a": [{"env": "t", "seed": 0, "score": 1.0}], "b": [{"env": "t", "seed": 0, "score": 2}]},
        {"a": {"t": 1.0}, "b": {"t": 2.0}},
    ],
)
def test_json_by_algorithm(tmp_path, content):
    table = read_quietly(written(tmp_path / "records.json", content))
    assert table.algorithms == ("a", "b")
    assert table.runs("b", "t").tolist() == [2.0]


def test_records_in_lines(tmp_path):
    plain = "\n".join(json.dumps(row) for row in RECORDS)
    quoted = "\n".join(json.dumps(json.dumps(row)) for row in RECORDS)
    listed = [{"agent": "a", "env": "t", "scores": [1.0, 3.0]}]
    with pytest.raises(ScoreDataError, match=r"row 1, column 'scores': expected a number, found"):
        read_quietly(written(tmp_path / "listed.json", listed))
    for text in (plain, quoted):
        path = written(tmp_path / "records.jsonl", text)
        assert read_quietly(path).runs("a", "t").tolist() == [1.0, 3.0]


def monitor(returns, *, cut=""):
    rows = "".join(f"{score},10,{i}\n" for i, score in enumerate(returns))
    return f'#{{"t_start": 0.0, "env_id": "Env-v0"}}\nr,l,t\n{rows}{cut}'


def test_the_score_of_a_run_is_the_mean_of_its_last_episodes(tmp_path):
    written(tmp_path / "good/Env-v0/0/monitor.csv", monitor([100.0] * 99 + [0.0]))
    written(tmp_path / "bad/Env-v0/0/monitor.csv", monitor([0.0] * 99 + [100.0]))
    table, said = read_noting(tmp_path)
    last = table.last_step()
    assert last.runs("good", "Env-v0").tolist() == [99.0]
    assert last.runs("bad", "Env-v0").tolist() == [1.0]
    assert "mean return of its last 100 episodes" in said
    assert "fewer (2 runs; the shortest has 100)" in read_noting(tmp_path, window=200)[1]
    short = read_quietly(tmp_path, window=1).last_step()
    assert short.runs("good", "Env-v0").tolist() == [0.0]
    at_end = read_quietly(tmp_path, window=2, at=1000)  # averaged once
    assert at_end.runs("good", "Env-v0").tolist() == [50.0]


@pytest.mark.filterwarnings("ignore:1 run ended earlier")
@pytest.mark.parametrize("window", [1, 2, 100])
def test_no_score_lies_between_two_episodes(tmp_path, window):
    written(tmp_path / "a/Env-v0/0/monitor.csv", monitor([5.0] * 3))  # ends at step 30
    uneven = monitor([0.0, 100.0, 0.0, 100.0]).replace(",10,", ",12,")  # ends at 12, 24, 36, 48
    written(tmp_path / "a/Env-v0/1/monitor.csv", uneven)
    table = gn.scores.at_common_step(read_quietly(tmp_path, window=window))
    expected = 100.0 if window == 1 else 50.0
    assert table.runs("a", "Env-v0").tolist() == [5.0, expected]


def test_monitors_of_the_zoo_cut_off_and_empty(tmp_path):
    written(tmp_path / "ppo-Env-v0/0.monitor.csv", monitor([1.0, 3.0], cut="5.0,1"))
    written(tmp_path / "ppo-Env-v0/1.monitor.csv", monitor([2.0]))
    written(tmp_path / "dqn-Env-v0/0.monitor.csv", monitor([]))
    table, said = read_noting(tmp_path)
    assert table.last_step().runs("ppo", "Env-v0").tolist() == [2.0, 2.0]
    assert "the last line is cut off" in said
    assert "no finished episode in 1 file" in said


def test_episodes_are_averaged_on_request_and_never_runs(tmp_path):
    lines = [f"ppo,ant,0,{i},{i}" for i in range(5)] + [f"ppo,ant,1,{i},{i + 10}" for i in range(5)]
    path = written(tmp_path / "e.csv", "algorithm,task,seed,episode,score\n" + "\n".join(lines))
    with pytest.raises(ScoreDataError, match=r"within_run='mean'\) averages the rows"):
        read_quietly(path)
    table = read_quietly(path, within_run="mean")
    assert table.runs("ppo", "ant").tolist() == [2.0, 12.0]
    assert "episode" not in table.attributes


@pytest.mark.parametrize("lost", [[(400, -999), (500, -999)], [(450, -9)], [(600, -1)]])
def test_steps_that_a_restart_discarded(tmp_path, lost):
    steps = [(0, 0), (100, 10), *lost, (200, 20), *lost, (350, 35), (400, 40), (500, 50)]
    scalars = "".join(f"{at}.0,{step},{value}\n" for at, (step, value) in enumerate(steps))
    written(tmp_path / "logs/ppo/ant/0.csv", "Wall time,Step,Value\n" + scalars)
    table, said = read_noting(tmp_path / "logs")
    assert table.curves("ppo", "ant")[1].tolist() == [[0, 10, 20, 35, 40, 50]]
    assert "restarted from an earlier step" in said
    rows = "".join(f"ppo,0,{at},{step},{value}\n" for at, (step, value) in enumerate(steps))
    header = "algo,seed,_step,global_step,charts/episodic_return\n"
    path = written(tmp_path / "tracker.csv", header + rows)
    table, said = read_noting(path)  # W&B's own count of its rows gives way to the steps of the run
    assert "left out that a restart" in said
    assert table.last_step().runs("ppo", "tracker").tolist() == [50.0]


def inspect_log(scores, **results):
    samples = [sample(i, score=x, uuid=f"u{i}") for i, x in enumerate(scores)]
    return head(n=None) | {"samples": samples} | results


def test_copies_of_a_log_that_disagree_are_refused(tmp_path):
    written(tmp_path / "log.json", inspect_log("CCI"))
    written(tmp_path / "log-scored.json", inspect_log("CII"))
    with pytest.raises(ScoreDataError, match="same samples with different scores"):
        read_quietly(tmp_path)
    written(tmp_path / "log-scored.json", inspect_log("CCI"))
    table, said = read_noting(tmp_path)
    assert len(table) == 3
    assert "3 samples left out" in said


def test_results_of_a_log_that_disagree_are_named(tmp_path):
    told = {"name": "match", "scorer": "match", "reducer": "pass_at_4",
            "metrics": {"accuracy": {"value": 0.95}}}  # fmt: skip
    path = written(tmp_path / "a.json", inspect_log("CI", results={"scores": [told]}))
    said = read_noting(path)[1]
    assert "0.95" in said
    assert "pass_at_4" in said
    assert "metrics='pass@4' estimates it" in said
    path = written(tmp_path / "b.json", inspect_log("C", results={"total_samples": 79}))
    assert "79 samples" in read_noting(path)[1]
    failed = inspect_log("", error={"message": "no key"}) | {"status": "error"}
    with pytest.raises(ScoreDataError, match="no key"):
        read_quietly(written(tmp_path / "c.json", failed))


def test_a_standard_error_of_zero_beside_a_share(tmp_path):
    results = {"t": {"acc,none": 14 / 307, "acc_stderr,none": 0.0}}
    content = {"results": results, "n-samples": {"t": {"original": 307, "effective": 307}}}
    table, said = read_noting(written(tmp_path / "results_1.json", content))
    assert table.to_records()[0]["stderr"] == pytest.approx(0.01193, abs=1e-4)
    assert "standard error" in said
    with pytest.warns(DegenerateScoresWarning, match="intervals come from the standard errors"):
        (found,) = gn.estimate(table, "mean")
    assert (found.low, found.high) == pytest.approx((0.0221, 0.0691), abs=1e-3)
    other = {"results": {"t": {"exact_match,none": 0.25, "exact_match_stderr,none": 0.01}}}
    assert read_quietly(written(tmp_path / "results_3.json", other)).runs("results_3", "t") == [
        0.25
    ]
    results["t"] = {"acc,none": 0.0, "acc_stderr,none": 0.0}  # nothing right: the error may be 0
    table, said = read_noting(written(tmp_path / "results_2.json", content))
    assert (table.to_records()[0]["stderr"], said) == (0.0, "")


@pytest.mark.parametrize("heading", ["item", "question", "Instance ID"])
def test_items_in_rows(tmp_path, heading):
    path = written(tmp_path / "s.csv", f"{heading},gpt-4,claude\nq1,1,0\nq2,1,1\n")
    table = read_quietly(path)
    assert table.units == "items"
    assert table.algorithms == ("gpt-4", "claude")


def test_arrows_in_headings(tmp_path):
    table = read_quietly(written(tmp_path / "s.csv", "Model,PPL ↓,WER ↓\nm1,3.1,2.5\nm2,4.2,2.6\n"))
    assert not table.higher_is_better
    assert table.tasks == ("PPL", "WER")
    mixed, said = read_noting(
        written(tmp_path / "t.csv", "Model,PPL ↓,ACC ↑\nm1,3.1,2.5\nm2,4,2\n")
    )
    assert mixed.runs("m1", "PPL").tolist() == [-3.1]
    assert mixed.runs("m1", "ACC").tolist() == [2.5]
    assert "opposite sign" in said
    latex = "Method,FID $\\downarrow$,IS $\\uparrow$\nm1,3.1,2.5\nm2,4,2\n"
    mixed = read_quietly(written(tmp_path / "x.csv", latex))
    assert mixed.runs("m1", "FID").tolist() == [-3.1]
    assert mixed.tasks == ("FID", "IS")
    path = written(tmp_path / "y.csv", "algorithm,task,run,loss ↓\na,t,0,3.2\na,t,1,2.9\n")
    assert not read_quietly(path, columns={"score": "loss ↓"}).higher_is_better


def test_results_of_benchmarks_of_code(tmp_path):
    one = [{"base_status": "pass", "plus_status": "fail"}, {"base_status": "pass"}]
    path = written(tmp_path / "e.json", {"eval": {"HumanEval/0": one}})
    assert read_quietly(path, metric="base").means().tolist() == [[1.0]]
    assert read_quietly(path, metric="plus").to_records()[0]["score"] == 0.0
    turns = [{"question_id": 1, "model": "m", "turn": t, "score": s} for t, s in ((1, 8), (2, -1))]
    path = written(tmp_path / "mt.jsonl", "\n".join(map(json.dumps, turns)))
    assert [row["score"] for row in read_quietly(path).to_records()] == [8.0, None]
    sample = {"sample_id": "s1", "model_id": "m", "evaluation": {"score": 1.0}}
    assert read_quietly(written(tmp_path / "ev.jsonl", json.dumps(sample))).algorithms == ("m",)
    two = [sample | {"evaluation_name": name} for name in ("gpqa", "mmlu")]
    path = written(tmp_path / "ev.jsonl", "\n".join(map(json.dumps, two)))
    assert read_quietly(path).tasks == ("gpqa/s1", "mmlu/s1")


def test_votes(tmp_path):
    rows = "m1,m2,model_a\nm1,m3,tie\nm2,m3,model_b\nm1,m2,tie (bothbad)\n"
    table = read_quietly(written(tmp_path / "v.csv", "model_a,model_b,winner\n" + rows))
    assert table.units == "items"
    assert len(table) == 8
    wins = {row["algorithm"]: row["score"] for row in table.to_records() if "1" in row["task"]}
    assert wins == {"m1": 1.0, "m2": 0.0}
    with pytest.raises(ScoreDataError, match="line 2, column 'winner'"):
        read_quietly(written(tmp_path / "w.csv", "model_a,model_b,winner\na,b,c\n"))


def test_folders_of_arrays(tmp_path):
    for name in ("dqn", "ppo"):
        np.save(tmp_path / f"{name}.npy", np.ones((3, 2)))
    assert read_quietly(tmp_path).run_counts.tolist() == [[3, 3], [3, 3]]
    np.savez(tmp_path / "a.npz", pong=[1.0, 2.0], ant=[3.0])
    table = read_quietly(tmp_path / "a.npz")
    assert table.runs("a", "pong").tolist() == [1.0, 2.0]


def test_rows_are_selected_by_the_names_of_the_file(tmp_path):
    path = written(tmp_path / "s.csv", "algo,env,seed,return\na,t,0,1\na,u,0,2\n")
    for name in ("env", "task"):
        assert read_quietly(path, where={name: "u"}).rows.tolist("score") == [2.0]
    with pytest.raises(
        ScoreDataError, match=r"no column 'game' to select by; found algo, env, seed"
    ):
        read_quietly(path, where={"game": "u"})


def test_questions_that_are_right_or_wrong_are_items(tmp_path):
    text = "model,question,{}\na,q,1\na,r,0\nb,q,1\nb,r,1\n"
    right, rated = (written(tmp_path / f"{x}.csv", text.format(x)) for x in ("correct", "score"))
    assert read_quietly(right).units == "items"
    with pytest.raises(ScoreDataError, match=r"columns=\{'item': 'question'\} if these are items"):
        read_scores(rated)
    assert read_quietly(rated, columns={"item": "question"}).units == "items"
    assert read_quietly(rated, columns={"task": "question"}).units == "tasks"


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([("x", "t", i, (i // 2) * 0.37) for i in range(8)], "a seed used twice"),
        ([("x", f"t{t}", i, 1.5 * t + i % 3) for t in range(4) for i in range(4)], "runs 0 and 3"),
        ([(a, "t", i, i * 0.7) for a in ("ppo", "dqn") for i in range(4)], "a copy of the other"),
        ([("a", "dog_trot", 0, 1), ("b", "dog-trot", 0, 2)], "differ only in spelling"),
        ([(a, "t", 0, i) for i, a in enumerate(("SAC", "Sac", "SAC+"))],
         "the algorithms 'SAC' and 'Sac' differ only in spelling"),
        ([("a", "t", i, i % 2) for i in range(6)] + [("b", "t", i, 1) for i in range(6)], None),
    ],
)  # fmt: skip
def test_copies_and_names_spelt_in_two_ways_are_reported(tmp_path, rows, said):
    lines = [",".join(map(str, row)) for row in rows]
    path = written(tmp_path / "s.csv", "\n".join(["algorithm,task,run,score", *lines]))
    found = read_noting(path)[1]
    assert found == "" if said is None else said in found
