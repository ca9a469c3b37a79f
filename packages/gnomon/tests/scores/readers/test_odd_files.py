"""Files as spreadsheets, data frames, trackers and trainers write them: read right, or refused."""

import io
import json

import pytest

from gnomon.errors import ScoreDataError
from score_files import read_quietly, written

pd = pytest.importorskip("pandas")

HEADER = "algorithm,task,run,score\n"
ROWS = "ppo,pong,0,1.5\nppo,pong,1,2.5\n"
FRAME = pd.read_csv(io.StringIO(HEADER + ROWS))
CURVE = "algorithm,task,run,{},score\nppo,pong,0,1,9\nppo,pong,0,2,1.5\nppo,pong,1,2,2.5\n"


def read(folder, name, content, **options):
    return read_quietly(written(folder / name, content), **options)


RIGHT = {
    "index of keys.csv": FRAME.set_index(["algorithm", "task", "run"]).to_csv(),
    "index twice.csv": pd.read_csv(io.StringIO(FRAME.to_csv())).to_csv(),
    "bom.csv": "\ufeffsep=;\r\n" + (HEADER + ROWS).replace(",", ";").replace("\n", ";;\r\n"),
    "pong.csv": "agent,seed,reward\nppo,0,1.5\nppo,1,2.5\n",
    "ppo.tsv": "env_id\tseed\tglobal_step\tepisodic_return\npong\t0\t8\t1.5\npong\t1\t8\t2.5\n",
    "excel.csv": " Algorithm ,Task,Seed #,Score (%)\nppo,pong,0,1.5\nppo,pong,1,2.5\n",
    "nothing.csv": HEADER + ROWS + "".join(f"ppo,pong,{x},{x}\n" for x in ("N/A", "#N/A", "-")),
    "wandb.csv": '"Name","State","env_id","exp_name","seed","charts/episodic_return"\n'
    '"a","finished","pong","ppo","1","1.5"\n"b","finished","pong","ppo","2","2.5"\n',
    "sizes.tsv": (HEADER + ROWS)
    .replace(",", "\t")
    .replace("score", "score\thidden")
    .replace(".5", ".5\t64,64"),
    "lines.json": FRAME.to_json(orient="records", lines=True),
    **{f"{x}.json": FRAME.to_json(orient=x) for x in ("columns", "table")},
    **{
        f"{step}.csv": CURVE.format(step)
        for step in ("Env Steps", "frames", "timesteps_total", "iteration", "num_env_steps")
    },
}


@pytest.mark.parametrize("name", RIGHT)
def test_files_of_many_tools_are_read(tmp_path, name):
    assert read(tmp_path, name, RIGHT[name]).last_step().runs("ppo", "pong").tolist() == [1.5, 2.5]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (
            {"algorithm": "a", "task": "t", "run": 1, "score": [1]},
            "2, column 'score': expected a n",
        ),
        (["a", "t", 1, 2.0], "2: expected an object as in row 1, found ['a', 't', 1, 2.0]"),
        (5, "2: expected an object as in row 1, found 5"),
    ],
)
def test_a_bad_row_of_a_list_in_json_is_named(tmp_path, row, said):
    rows = [{"algorithm": "a", "task": "t", "run": 0, "score": 1.0}, row]
    with pytest.raises(ScoreDataError) as error:
        read(tmp_path, "rows.json", json.dumps(rows))
    assert f"rows.json, row {said}" in str(error.value)


def test_a_success_may_be_true_or_false(tmp_path):
    table = read(tmp_path, "s.csv", "agent,env,seed,success\nppo,pong,0,True\nppo,pong,1,false\n")
    assert table.runs("ppo", "pong").tolist() == [1.0, 0.0]
    both = "agent,env,seed,iteration,global_step,success,return\n"
    rows = "ppo,pong,0,1,10,0,2.5\nppo,pong,0,2,20,1,3.5\n"
    table = read(tmp_path, "b.csv", both + rows)
    assert table.curves("ppo", "pong")[0].tolist() == [10, 20]
    assert table.last_step().runs("ppo", "pong").tolist() == [3.5]


@pytest.mark.parametrize(
    ("text", "scores"),
    [
        ("model,item,correct,\nppo,pong,True,good\nppo,ant,False,\n", [1.0, 0.0]),
        ("model,,pong,ant\nppo,ours,85%,90%\n", [85.0, 90.0]),
        ("model,,pong,,ant\nppo,ours,0.5 ± 0.1,new,0.6\n", [0.5, 0.6]),
    ],
)
def test_columns_of_notes_without_a_heading_are_left_out(tmp_path, text, scores):
    table = read(tmp_path, "notes.csv", text)
    assert [table.runs("ppo", task).item() for task in ("pong", "ant")] == scores


REFUSED = {
    "sheet.xlsx": (b"PK\3\4", "pandas.read_excel"),
    "frame.feather": (b"ARROW1\0", "pass the data frame"),
    "table.md": ("| algorithm | score |\n", "copy the table to a CSV file"),
    "scores.pkl": ("x", "run code when they are opened"),
    "eval_results.yaml": ("- value: 20.9\n", r"folder \.eval_results: write records in JSON"),
    "archive.zip": (b"PK\3\4", "unpack it first"),
    "thousands.csv": (HEADER + 'ppo,pong,0,"1,234.5"\n', "no comma between thousands"),
    "partly.csv": (HEADER + "ppo,pong,0,85%\nppo,pong,1,0.8\n", "line 2, .* found '85%'"),
    "headings.csv": (",pong,pong\n,s0,s1\nppo,1,2\n", r"one row of headings, found 2: .*stack"),
    "spans.csv": ("x;ppo;;dqn;\nseed;pong;ant;pong;ant\n0;1;2;3;4\n", "one row of headings"),
    "rates.csv": ("algorithm,pong,pong\nppo,85%,90%\n", "found 'pong' twice"),
    "step.csv": ("algorithm;task;step;score\nppo;pong;0,5;1\n", "'0,5': write a point"),
    "rating.tsv": ("model\titem\trating\tn\nppo\tq\t0,5\t7\n", "'0,5': write a point"),
    "commas.csv": ("algorithm;pong;ant\nppo;1,234;97,5\n", "'1,234': write a point"),
    "melted.csv": (
        "algorithm,variable,value\nppo,pong,1\nppo,ant,2\n",
        "missing column 'task'",
    ),
    "results.tsv": ("commit\tval_bpb\tstatus\na1\t0.9\tkeep\n", "runs of a research loop"),
    "unicode text.txt": ((HEADER + ROWS).encode("utf-16"), "save the file as CSV UTF-8"),
    "some wide.csv": ("algorithm,pong\nppo,50%\ndqn,0.6\n", "found '50%' and '0.6'"),
    "large.json": ('{"ppo": {"pong": [1, 1%s]}}' % ("0" * 400), "numbers of at most 1e308"),
    "many.csv": (",".join(f"c{i}" for i in range(30_000)) + "\n" + "1," * 29_999 + "1\n", "c0"),
    "values.json": (FRAME.to_json(orient="values"), "the nearest format is records"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_other_files_are_refused_with_the_cause(tmp_path, name):
    content, said = REFUSED[name]
    with pytest.raises(ScoreDataError, match=said) as error:
        read(tmp_path, name, content)
    assert "\n" not in str(error.value)
