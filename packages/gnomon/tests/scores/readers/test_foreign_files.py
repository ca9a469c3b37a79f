"""Files of other tools: ten that are read as they are meant, ten that are refused in one line."""

import re
from pathlib import Path

import numpy as np
import pytest

from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.scores import read_scores
from score_files import read_quietly
from score_tables import with_notes

CHART = (
    '"Step","dqn - wide - ret","dqn - wide - ret__MIN","dqn - wide - ret__MAX","ppo - ret",'
    '"ppo - ret__MIN","ppo - ret__MAX"\n"0","1.5","1","2","","",""\n'
    '"10","2.5","2","3","4","4","4"\n'
)
HISTORY = (
    "_step,_runtime,run,algo,env_id,ret,loss\n0,1,a,dqn,Pong,1,9\n1,2,a,dqn,Pong,,8\n"
    "2,3,a,dqn,Pong,3,7\n0,1,b,dqn,Pong,2,9\n"
)
RUNS = (
    '"Name","State","Runtime","env_id","exp_name","seed","ret"\n'
    '"dqn-0","finished","12","Pong","dqn","0","18.5"\n"dqn-1","crashed","3","Pong","dqn","1","NaN"\n'
)
MLFLOW = (
    '"Start Time","Duration","Run ID","Name","Status","algo","env_id","seed","ret"\n'
    '"2026","1.0s","a1","x","FINISHED","dqn","Pong","0","2"\n'
)
SEARCHED = (
    "run_id,experiment_id,status,metrics.ret,params.env_id,params.algo,params.seed\n"
    "a1,7,FINISHED,2.0,Pong,dqn,0\na2,7,FAILED,3.0,Pong,dqn,1\n"
)
METRICS = (
    '"Run","Run ID","metric","step","timestamp","value"\n"dqn_1","a1","ret","0","9","0"\n'
    '"dqn_1","a1","ret","10","9","1"\n"dqn_2","a2","ret","0","9","5"\n'
)
OPENRL = (
    ",org/rl/dqn ({}),org/rl/ppo ({'tag': ['v1', 'v2']})\nPong-v5,19.0 ± 0.7,20.0 ± 0.1\n"
    "Chess,nan ± nan,3.0 ± 1.0\n"
)
NAN = None

#: File, options, and its rows: algorithm, task, run, (step,) score.
RIGHT = {
    "a chart": (
        CHART,
        {},
        [("dqn - wide", "file", 0, 0, 1.5), ("dqn - wide", "file", 0, 10, 2.5),
         ("ppo", "file", 0, 10, 4.0)],
    ),
    "a history": (
        HISTORY,
        {"metric": "ret"},
        [("dqn", "Pong", "a", 0, 1.0), ("dqn", "Pong", "a", 2, 3.0), ("dqn", "Pong", "b", 0, 2.0)],
    ),
    "runs": (RUNS, {}, [("dqn", "Pong", 0, 18.5), ("dqn", "Pong", 1, NAN)]),
    "runs that diverged, with the last step of each": (
        RUNS.replace('"ret"', '"ret","_step"')
        .replace('"18.5"', '"18.5","900"').replace('"NaN"', '"Infinity","40"'),
        {},
        [("dqn", "Pong", 0, 18.5), ("dqn", "Pong", 1, NAN)],
    ),
    "runs with settings and several scores": (
        "Name,State,exp_name,env_id,seed,lr,losses/value,charts/episodic_return\n"
        "a,finished,dqn,Pong,0,0.1,5,18.5\n",
        {},
        [("dqn", "Pong", 0, 18.5)],
    ),
    "rows without a name": (
        "dqn,ppo\n1,2\n3,4\n",
        {"columns_are": "algorithms"},
        [("dqn", "file", 0, 1.0), ("dqn", "file", 1, 3.0), ("ppo", "file", 0, 2.0),
         ("ppo", "file", 1, 4.0)],
    ),
    "the runs page of MLflow": (MLFLOW, {}, [("dqn", "Pong", 0, 2.0)]),
    "searched runs": (SEARCHED, {}, [("dqn", "Pong", 0, 2.0), ("dqn", "Pong", 1, NAN)]),
    "a metric's history": (
        METRICS,
        {"run_names": "{algorithm}_{run}"},
        [("dqn", "file", 1, 0, 0.0), ("dqn", "file", 1, 10, 1.0), ("dqn", "file", 2, 0, 5.0)],
    ),
    "openrlbenchmark": (
        OPENRL,
        {},
        [("dqn", "Pong-v5", 0, 19.0), ("dqn", "Chess", 0, NAN),
         ("ppo ({'tag': ['v1', 'v2']})", "Pong-v5", 0, 20.0),
         ("ppo ({'tag': ['v1', 'v2']})", "Chess", 0, 3.0)],
    ),
    "seeds by algorithm": (
        "seed,dqn,ppo\n3,1,2\n4,5,\n",
        {"columns_are": "algorithms"},
        [("dqn", "file", 3, 1.0), ("dqn", "file", 4, 5.0), ("ppo", "file", 3, 2.0),
         ("ppo", "file", 4, NAN)],
    ),
    "runs as headings": (
        "model,seed 1,seed 2\na,1,2\n",
        {},
        [("a", "file", "seed 1", 1.0), ("a", "file", "seed 2", 2.0)],
    ),
    "steps by run": (
        "step,r1,r2\n0,1,2\n10,3,\n",
        {"columns_are": "runs"},
        [("file", "file", "r1", 0, 1.0), ("file", "file", "r1", 10, 3.0),
         ("file", "file", "r2", 0, 2.0)],
    ),
    "usual headings": (
        "agent,env_id,seed,eval/return,eval/length\na,pong,0,1,9\n",
        {"metric": "eval/return"},
        [("a", "pong", 0, 1.0, 9)],
    ),
    "TensorBoard": (
        "Wall time,Step,Value\n3,10,7.5\n1,0,1\n2,10,2\n",
        {},
        [("file", "file", 0, 0, 1.0), ("file", "file", 0, 10, 7.5)],
    ),
    "a table of tasks as rows without a heading": (
        ",dqn,ppo\npong,1,2\n",
        {"columns_are": "algorithms"},
        [("dqn", "pong", 0, 1.0), ("ppo", "pong", 0, 2.0)],
    ),
}  # fmt: skip

#: File, options, and what is said of it behind its name.
WRONG = {
    "lines of groups": (
        '"Step","exp_name: dqn - ret","exp_name: dqn - ret__MIN"\n"0","1","0"\n',
        {}, ": expected a line for each run, found means of groups (exp_name: dqn)",
    ),
    "lines of two metrics": (
        '"Step","dqn - ret","dqn - loss"\n"0","1","2"\n',
        {}, ": expected one metric of the lines; found ret and loss: choose one, as in metric=",
    ),
    "lines that may be runs": (
        '"Step","dqn-1 - ret","dqn-2 - ret"\n"0","1","2"\n',
        {}, ": dqn-1, dqn-2 may be runs of 'dqn' or algorithms with one run each; ",
    ),
    "a pattern that does not fit": (
        '"Step","dqn - ret"\n"0","1"\n', {"run_names": "{algorithm}_{run}"},
        ": expected names of runs like {algorithm}_{run}, found 'dqn'",
    ),
    "two columns of algorithms": (
        RUNS.replace('"Runtime"', '"algo"'), {},
        ": columns 'algo' and 'exp_name' may both be the algorithm; choose one, as in read_scores(",
    ),
    "two columns of steps": (
        HISTORY.replace("_runtime", "global_step").replace("loss", "env_step"), {"metric": "ret"},
        ": columns 'global_step' and 'env_step' may both be the step; choose one, as in read_",
    ),
    "two scores": (HISTORY, {}, ": expected one score; found ret and loss: choose one"),
    "a setting, and scores that diverged": (
        "Name,State,algo,env_id,seed,rate,ret\na,finished,ppo,Ant,1,0.1,Infinity\n"
        "b,finished,ppo,Ant,2,0.1,3\n",
        {}, ": expected one score; found rate and ret: choose one, as in metric='rate'",
    ),
    "a learning rate": (
        RUNS.replace('"ret"', '"ret","config.lr"').replace('"18.5"', '"18.5","0.1"')
        .replace('"NaN"', '"NaN","0.2"'),
        {"metric": "lr"}, ": column 'config.lr' is a setting of runs, not a score",
    ),
    "a discount": (
        "agent,env,seed,gamma,return\na,t,0,0.9,1\n", {"columns": {"score": "gamma"}},
        ": column 'gamma' is a setting of runs, not a score",
    ),
    "a score that is none": (
        RUNS, {"metric": "return"}, ": no column 'return' to read as the score; with numbers: ret",
    ),
    "seeds by what": (
        "seed,dqn,ppo\n0,1,2\n", {},
        ": beside 'seed' the columns dqn, ppo may be algorithms or tasks; use read_scores('FILE'",
    ),
    "tasks or scores": (
        "agent,seed,return,length\na,0,1,2\n", {},
        ": beside 'agent' and 'seed' the columns return, length may be tasks, or different scores",
    ),
    "steps by what": (
        "global_step,dqn,ppo\n0,1,2\n", {},
        ": beside 'global_step' the columns dqn, ppo may be algorithms or runs; use read_",
    ),
    "numbers as headings": (
        "model,0,1\na,1,2\n", {}, ": beside 'model' the columns 0, 1 may be runs or tasks; use ",
    ),
    "no heading": (
        ",pong,chess\na,1,2\n", {}, ": the first column has no heading: rows may be algorithms and",
    ),
    "one curve": (
        "step,return\n0,1\n10,2\n", {},
        ": beside 'step' the column return may be that of an algorithm or of a run; use read_",
    ),
    "rows of numbers": (
        "x,y,z\n0,1,2\n1,2,3\n", {},
        ": no column names the rows, and 'x' holds numbers: read_scores('FILE', columns_are='algor",
    ),
    "steps that repeat": (
        "algorithm,task,run,episode,score\na,t,0,0,1\na,t,0,10,2\n", {},
        ", lines 2 and 3, column 'run': expected one row for each algorithm, task, run; found alg",
    ),
    "a text in a chart": (
        '"Step","dqn - ret"\n"0","high"\n', {},
        ", line 2, column 'dqn - ret': expected a number, found 'high'",
    ),
    "a step that is none": (
        '"Step","dqn - ret"\n"","1"\n', {},
        ", line 2, column 'Step': expected a number, found nothing",
    ),
    "a cell too few": (
        ",org/rl/dqn ({}),org/rl/ppo ({})\nPong,1 ± 1\n", {},
        ", line 2: expected a task and 2 cells, found 2 fields",
    ),
}  # fmt: skip


def test_files_of_other_tools_are_read_as_they_are_meant(tmp_path):
    path = tmp_path / "file.csv"
    for name, (text, options, rows) in RIGHT.items():
        path.write_text(text)
        table = read_quietly(path, **options)
        found = [tuple(NAN if x != x else x for x in row) for row in table.to_polars().rows()]
        assert found == rows, name


def test_files_with_two_readings_are_refused_in_one_line(tmp_path):
    path = tmp_path / "file.csv"
    for name, (text, options, said) in WRONG.items():
        path.write_text(text)
        with pytest.raises(ScoreDataError) as error:
            read_quietly(path, **options)
        assert str(error.value).startswith(f"{path}{said}".replace("FILE", str(path))), name
        assert "\n" not in str(error.value)


def test_what_a_refusal_names_is_taken(tmp_path):
    path = tmp_path / "file.csv"
    for name, options, n_rows in [
        ("lines of two metrics", {"metric": "ret"}, 1),
        ("lines that may be runs", {"run_names": "{algorithm}-{run}"}, 2),
        ("lines that may be runs", {"run_names": "{algorithm}"}, 2),
        ("two columns of algorithms", {"columns": {"algorithm": "algo"}}, 2),
        ("two columns of steps", {"metric": "ret", "columns": {"step": "global_step"}}, 3),
        ("seeds by what", {"columns_are": "tasks"}, 2),
        ("steps by what", {"columns_are": "algorithms"}, 2),
        ("numbers as headings", {"columns_are": "tasks"}, 2),
        ("no heading", {"columns_are": "tasks"}, 2),
        ("one curve", {"columns_are": "runs"}, 2),
        ("rows of numbers", {"columns_are": "algorithms"}, 6),
        ("rows of numbers", {"columns": {"step": "x"}, "columns_are": "runs"}, 4),
        ("rows of numbers", {"columns": {"algorithm": "x"}, "columns_are": "tasks"}, 4),
        ("tasks or scores", {"metric": "return"}, 1),
        ("steps that repeat", {"columns": {"step": "episode"}}, 2),
    ]:
        path.write_text(WRONG[name][0])
        assert len(read_quietly(path, **options)) == n_rows, (name, options)


def test_what_is_left_out_is_said(tmp_path):
    path = tmp_path / "file.csv"
    for text, said in [
        (CHART, "2 lines of a chart, which holds samples of the curves, perhaps smoothed"),
        (RUNS, r"1 run did not finish \(crashed\): kept as missing, dqn-1$"),
        (
            OPENRL,
            "deviations are left out, since openrlbenchmark does not state the number of runs",
        ),
        (RUNS.replace('"env_id"', '"x"'), "no column names the task"),
    ]:
        path.write_text(text)
        assert any(re.search(said, note) for note in with_notes(read_scores, path)[1]), said


def test_scalars_of_tensorboard_in_files_of_their_own_are_of_one_task(tmp_path):
    for run in (1, 2):
        path = tmp_path / f"run-PPO_{run}-tag-eval_return.csv"
        path.write_text("Wall time,Step,Value\n1,0,1\n")
        with pytest.warns(
            DegenerateScoresWarning, match=f"no task: read as task '{tmp_path.name}'"
        ):
            table = read_scores(path)
        assert (table.algorithms, table.tasks) == ((f"PPO_{run}",), (tmp_path.name,))
        (key,) = read_quietly(path, run_names="{algorithm}_{run}").to_polars().rows()
        assert key[:3] == ("PPO", tmp_path.name, run)


TRACKERS = Path(__file__).parents[5] / ".." / "shared" / "data" / "evals" / "trackers"


@pytest.mark.skipif(
    not TRACKERS.is_dir(), reason="the exports of trackers are not in the repository"
)
def test_real_exports():
    runs = read_quietly(TRACKERS / "wandb_runs.csv")
    assert (len(runs), int(runs.to_polars()["score"].is_nan().sum())) == (4, 1)
    assert runs.runs("dqn", "Pong-v5").tolist() == [18.5, 19.5]
    chart = read_quietly(TRACKERS / "wandb_chart.csv")
    assert chart.algorithms == ("dqn-0", "dqn - wide")
    assert chart.to_polars()["score"].to_list() == [1.5, 2.5, 2.0, 4.0]
    scores = [
        sorted(read_quietly(TRACKERS / f"mlflow_{name}.csv").runs("dqn", "Pong").tolist())
        for name in ("runs", "search_runs")
    ]
    assert scores == [[2.0, 3.0]] * 2
    steps, curves = read_quietly(TRACKERS / "evaluations.npz").curves("evaluations", "evaluations")
    assert steps.tolist() == [64, 128, 192, 256]
    assert curves.shape == (1, 4)
    assert curves[0, 0] == 364.0
    table = read_quietly(TRACKERS / "openrlbenchmark.csv")
    assert (len(table.algorithms), table.tasks) == (2, ("Pong-v5", "Breakout-v5"))
    assert np.isnan(table.effective_scores).tolist() == [False, True, False, False]
    assert read_quietly(TRACKERS / "monitor.csv").tasks == ("CartPole-v1",)
