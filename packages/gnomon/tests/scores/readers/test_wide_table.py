"""Wide tables of all makes: which column names the rows, and what is no task."""

import pytest

from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.scores import read_scores
from score_files import read_quietly, written
from score_tables import with_notes


def read(folder, text):
    """Return the table and what was said of it."""
    return with_notes(read_scores, written(folder / "board.csv", text), format="wide")


def test_names_are_found_by_their_heading(tmp_path):
    text = "rank,model,organization,params_b,MMLU,average,date\n1,x,A,7,70,70,2024\n2,y,A,9,60,60,"
    table, said = read(tmp_path, text + "2025\n")
    assert table.algorithms == ("x", "y")
    assert table.tasks == ("MMLU",)
    left_out = "rank, organization, params_b, average, date"
    assert said == [f"columns left out, since they are not tasks: {left_out}"]


def test_names_that_are_bold_lose_their_asterisks(tmp_path):
    table, _ = read(tmp_path, "Model,**Pong**,Qbert\n**DQN**,**1**,2\nA*,3,4\n")
    assert (table.algorithms, table.tasks) == (("DQN", "A*"), ("Pong", "Qbert"))
    assert table.runs("DQN", "Pong").tolist() == [1.0]


def test_a_column_of_signs_names_no_rows(tmp_path):
    text = "T,Model,Average,IFEval,#Params (B),Hub License\n🟢,x,9,80,7,MIT\n🟢,y,8,60,7,\n"
    table, _ = read(tmp_path, text)
    assert (table.algorithms, table.tasks) == (("x", "y"), ("IFEval",))


@pytest.mark.parametrize(
    "head", ["#,Modell,Math", "Rank,Modell,Math", "Id,Agent,Math", "Year (AD),Agent,Math"]
)
def test_a_rank_is_no_name(tmp_path, head):
    assert read(tmp_path, f"{head}\n1,x,5\n2,y,6\n")[0].algorithms == ("x", "y")


def test_a_benchmark_may_be_headed_as_names_are(tmp_path):
    table, _ = read(tmp_path, "Modell,Agent,Math\nx,5,6\ny,7,8\n")
    assert (table.algorithms, table.tasks) == (("x", "y"), ("Agent", "Math"))
    table, _ = read(tmp_path, "index,pong,chess\nx,5,6\ny,7,8\n")
    assert table.algorithms == ("x", "y")


@pytest.mark.parametrize("head", ["rank,model", "rank,Agent", "id,Name", "date,model"])
def test_a_name_that_stands_twice_is_said(tmp_path, head):
    path = written(tmp_path / "board.csv", f"{head},t1,t2\n1,A,1,2\n2,B,1,4\n3,A,3,4\n")
    with pytest.raises(ScoreDataError) as error:
        read_scores(path, format="wide")
    column = head.partition(",")[2]
    assert str(error.value) == (
        f"{path}, lines 2 and 4, column '{column}': expected a row for each name, found 'A' twice; "
        "several runs belong in a tidy file, with columns algorithm, task, run, score"
    )


@pytest.mark.parametrize(
    "text",
    [
        "nickname,rule_name,trial_id,errors\na,r,0,1\na,r,1,2\n",
        "env,seed,return,length\npong,0,1,2\nchess,0,2,3\n",
        "task,agent,outcome\npong,a,1\nchess,b,2\n",
        "task,result,note\npong,1,good\n",
        "task,mean,std,runs\npong,1,2,3\n",
        "task,dqn,score\npong,1,2\n",
    ],
)
def test_tidy_files_with_other_headings_are_none(tmp_path, text):
    with pytest.raises(ScoreDataError, match=r"missing columns? |; use |found means"):
        read_scores(written(tmp_path / "board.csv", text), format="wide")


@pytest.mark.parametrize("head", ["env", "Environment", "game", "Dataset", "benchmark", "task"])
def test_a_transposed_table_is_read_the_right_way_round(tmp_path, head):
    text = f"{head},DQN,PPO,Average\npong,1,2,1.5\nchess,3,-,3\nMean,2,2,2\n"
    table, said = read(tmp_path, text)
    assert (table.algorithms, table.tasks) == (("DQN", "PPO"), ("pong", "chess"))
    assert table.runs("DQN", "chess").tolist() == [3]
    assert said == [
        f"column '{head}' names tasks: rows are read as tasks, columns as algorithms",
        "columns left out, since they are not algorithms: Average",
        "rows left out, since they are not tasks: Mean",
    ]
    with pytest.raises(ScoreDataError, match=r"lines 2 and 3, .* found 'pong' twice"):
        read_scores(
            written(tmp_path / "board.csv", f"{head},DQN,PPO\npong,1,2\npong,3,4\n"), format="wide"
        )


@pytest.mark.parametrize("cell", ["2 ± 1", "2 +/- 1", "2 (0.1)", "**2** (0.1)", r"2 \pm 0.1"])
def test_deviations_are_left_out_aloud(tmp_path, cell):
    table, said = read(tmp_path, f"model,pong\na,{cell}\nb,3*\n")
    assert table.runs("a", "pong").tolist() == [2]
    assert table.runs("b", "pong").tolist() == [3]
    assert len(said) == 1
    assert said[0].startswith("deviations are left out: each cell is read as one number, and")


def test_a_column_of_seeds_is_no_task(tmp_path):
    (tmp_path / "dump.csv").write_text("model,seed,SEED,pong\nA,1,70.5,2\nA,2,71.5,4\n")
    with pytest.raises(ScoreDataError, match="columns SEED, pong may be tasks, or different sc"):
        read_scores(tmp_path / "dump.csv")
    table = read_scores(tmp_path / "dump.csv", columns_are="tasks")
    assert table.tasks == ("SEED", "pong")
    assert table.runs("A", "pong").tolist() == [2, 4]


@pytest.mark.parametrize("head", ["model,lr", "model,seed,lr"])
def test_a_learning_rate_is_no_task(tmp_path, head):
    path = written(tmp_path / "board.csv", f"{head},pong,ant\na{',1' * head.count(',')},2,3\n")
    with pytest.warns(DegenerateScoresWarning, match="columns left out, since they are .*: lr"):
        table = read_scores(path, columns_are="tasks" if "seed" in head else None)
    assert table.tasks == ("pong", "ant")


def test_what_tells_of_a_model_is_no_task(tmp_path):
    head = "eval,Average \u2b06\ufe0f,Hub \u2764\ufe0f,#Params (B),CO\u2082 cost (kg),IFEval"
    path = written(tmp_path / "board.csv", f"{head},Rank of words\na,9,1,7,1,5,6\nb,8,3,7,3,4,7\n")
    with pytest.warns(
        DegenerateScoresWarning, match="they are not tasks: Average .*, Hub .*, #Params"
    ):
        table = read_scores(path)
    assert table.tasks == ("IFEval", "Rank of words")


def test_a_number_in_a_name_makes_it_a_task(tmp_path):
    path = written(tmp_path / "board.csv", "model,hub1,hub 2,Total (3)\na,1,2,3\nb,3,4,7\n")
    with pytest.warns(DegenerateScoresWarning, match=r"they are not tasks: Total \(3\)"):
        table = read_scores(path)
    assert table.tasks == ("hub1", "hub 2")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("model,pong,chess\na,1,2\n\nb,x7,3\n", "line 4, column 'pong'"),
        ("game,pong,chess\nmean,x,1\na,1,2\nb,x7,3\n", "line 4, column 'pong'"),
    ],
)
def test_a_wrong_cell_is_named(tmp_path, text, place):
    path = written(tmp_path / "board.csv", text)
    with pytest.raises(ScoreDataError) as error:
        read_quietly(path)
    assert str(error.value) == f"{path}, {place}: expected a number, found 'x7'"


def test_a_table_without_numbers_holds_no_scores(tmp_path):
    for text in ("name\na\n", "name,licence\na,MIT\n", "name,pong\n"):
        with pytest.raises(ScoreDataError, match="missing columns 'algorithm', 'task'"):
            read_scores(written(tmp_path / "board.csv", text))
