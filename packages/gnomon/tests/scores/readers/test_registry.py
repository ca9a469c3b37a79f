"""Which reader recognises a source, which options it takes, and how readers are added."""

import json
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from gnomon.errors import GnomonError, ScoreDataError, UnknownNameError
from gnomon.scores import Reader, ScoreTable, Source, available_readers, read_scores
from gnomon.scores.readers import registry

TIDY = "algorithm,task,run,score,half\na,t,0,1.0,x\na,t,1,2.0,y\n"
STEP = {"step_count": 0, "return": [3.0]}
MONITOR = '#{"t_start": 0.0}\nr,l,t\n1.5,10,0.1\n'

#: A source in each format, as files to write.
SOURCES = {
    "tidy": {"scores.csv": TIDY},
    "wide": {"paper.csv": "model,pong,chess\na,1,2\nb,3,4\n"},
    "lm-eval": {"a/results_1.json": json.dumps({"results": {"arc": {"acc,none": 0.3}}})},
    "marl-eval": {"m.json": json.dumps({"env": {"task": {"qmix": {"s0": {"step_0": STEP}}}}})},
    "monitors": {"ppo/ant/0/monitor.csv": MONITOR},
    "arrays": {"spr.json": json.dumps({"Alien": [1.0, 2.0]})},
    "wandb-chart": {"chart.csv": '"Step","dqn - return","dqn - return__MIN"\n"0","1","1"\n'},
    "tracker-table": {"runs.csv": '"Name","State","algo","return"\n"dqn-0","finished","dqn","1"\n'},
    "openrlbenchmark": {"o.csv": ",org/rl/dqn ({})\nPong-v5,19.0 ± 0.7\n"},
    "tensorboard-csv": {"tb.csv": "Wall time,Step,Value\n1.5,0,59.3\n"},
    "items": {"items.csv": "model,item,correct\na,q1,1\n"},
    "inspect": {"a.json": json.dumps({"eval": {"model": "a", "task": "t"}, "samples": []})},
    "lm-eval-samples": {"samples_t_1.jsonl": json.dumps({"doc_id": 0, "metrics": []})},
    "helm": {"per_instance_stats.json": "[]"},
    "votes": {"votes.csv": "model_a,model_b,winner\na,b,model_a\n"},
    "board": {"b.json": json.dumps([{"question_id": "q", "pass@1": 0.5, "graded_list": [True]}])},
    "every-eval": {"e.json": json.dumps({"model_info": {"id": "m"}, "evaluation_results": []})},
    "mteb": {"t.json": json.dumps({"task_name": "t", "scores": {}, "mteb_version": "2"})},
    "summaries": {"means.csv": "agent,env,mean,std,n\na,t,1,2,3\n"},
    "hugging-face": {"m/.eval_results/a.yaml": "- value: 1\n"},
    "game-log": {"results.csv": "#.nickname,rule_name,trial_id\n"},
    "run-folder": {"run.json": "{}"},
}
FOLDERS = {"lm-eval", "monitors", "run-folder"}


def source(folder, name):
    for path, text in SOURCES[name].items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder if name in FOLDERS else folder / next(iter(SOURCES[name]))


def readers(name, recognises=lambda source: source.ending == ".csv"):
    return Reader(name, "a test", recognises, lambda *_: ScoreTable.from_arrays({name: [[1.0]]}))


@pytest.fixture
def added(monkeypatch):
    """Let packages name readers, as entry points do."""
    points = []
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: points)
    registry._readers.cache_clear()
    yield points
    registry._readers.cache_clear()


def point(target, name="theirs"):
    return EntryPoint(name, target, registry.GROUP)


def test_each_format_is_recognised_by_its_own_reader(tmp_path):
    for name in SOURCES:
        if name == "run-folder":
            continue  # packages/gohr/tests/experiments/test_score_readers.py reads a real one
        path = Source(source(tmp_path / name, name))
        strong = [r.name for r in registry._readers() if not r.is_general and r.recognises(path)]
        assert strong in ([], [name]), name
        assert registry.recognised(path, registry.ReadRequest()).name == name
    assert set(available_readers()) == {*SOURCES, "dataset", "evaluations"}


def test_a_format_may_be_named(tmp_path):
    path = tmp_path / "scores.txt"
    path.write_text("model,pong\na,1\n")
    assert read_scores(path, format="wide").tasks == ("pong",)
    assert read_scores(str(path), format="wide").algorithms == ("a",)
    with pytest.raises(UnknownNameError, match="unknown format of scores 'wyde'; did you mean 'wi"):
        read_scores(path, format="wyde")


def test_a_file_that_two_readers_recognise_is_refused(tmp_path, added, monkeypatch):
    path = source(tmp_path, "wide")
    for name in ("one", "two"):
        monkeypatch.setattr(registry, f"_{name}", readers(name), raising=False)
        added.append(point(f"gnomon.scores.readers.registry:_{name}", name))
    with pytest.raises(ScoreDataError) as error:
        read_scores(path)
    assert str(error.value) == (
        f"{path}: recognised as 'one' and 'two'; expected one format: "
        f"choose it, as in read_scores({str(path)!r}, format='one')"
    )
    assert read_scores(path, format="two").algorithms == ("two",)


def test_a_reader_of_another_package_comes_before_general_ones(tmp_path, added, monkeypatch):
    path = source(tmp_path, "wide")
    monkeypatch.setattr(registry, "_one", readers("one"), raising=False)
    added.append(point("gnomon.scores.readers.registry:_one"))
    assert read_scores(path).algorithms == ("one",)
    assert read_scores(path, format="wide").algorithms == ("a", "b")


def test_a_reader_that_cannot_be_loaded_is_named(tmp_path, added):
    added.append(point("gnomon.nowhere:READER"))
    with pytest.raises(
        GnomonError, match=r"the reader gnomon\.nowhere:READER cannot be loaded: No"
    ):
        read_scores(source(tmp_path, "wide"))


def test_an_option_that_means_nothing_in_a_format_is_refused(tmp_path):
    for name, option, said in [
        ("monitors", {"metric": "r"}, "has no scores to choose from"),
        ("lm-eval", {"where": {"area": "x"}}, "has no columns to select rows by"),
        ("game-log", {"columns": {"step": "episode"}}, "has no columns to name"),
        ("arrays", {"columns": {"task": "game"}}, "has no columns to name"),
    ]:
        path = source(tmp_path / name, name)
        with pytest.raises(ScoreDataError, match=f"the format '{name}' {said}"):
            read_scores(path, **option)
    with pytest.raises(ScoreDataError, match="the format 'dataset' has no columns to select rows"):
        read_scores("gohr-full", where={"kind": "uniform"})


def test_a_direction_that_the_source_knows_otherwise_is_refused():
    assert not read_scores("gohr-full", higher_is_better=False).higher_is_better
    with pytest.raises(ScoreDataError, match="gohr-full: lower is better there; expected no other"):
        read_scores("gohr-full", higher_is_better=True)


def test_what_is_no_source_is_told_in_one_line(tmp_path):
    (tmp_path / "binary.csv").write_bytes(b"\x89PNG\r\n\x1a\n\x00\xff")
    (tmp_path / "broken.json").write_text('{"a": ')
    (tmp_path / "list.json").write_text("[1, 2]")
    (tmp_path / "nothing").mkdir()
    for name, said in {
        "binary.csv": ", line 1: expected UTF-8 text, found the byte 0x89",
        "broken.json": "expected JSON; ",
        "list.json": "expected scores in JSON of a known format, found [1, 2]; ",
        "nothing": "expected scores in a known format (arrays, board, ",
        "nowhere.csv": "expected a file of scores; there is none",
        "nowhere": "expected a file of scores; there is none",
    }.items():
        with pytest.raises(ScoreDataError) as error:
            read_scores(tmp_path / name)
        text = str(error.value)
        assert text.removeprefix(str(tmp_path / name)).removeprefix(": ").startswith(said), name
        assert "\n" not in text, name


def test_the_readers_of_this_package_are_all_named():
    modules = {name.partition(":")[0].rpartition(".")[2] for name in registry.BUILT_IN}
    for path in Path(registry.__file__).parent.glob("*.py"):
        if "import Reader" in path.read_text():
            assert path.stem in modules
