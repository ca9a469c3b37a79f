"""Files of public boards, in their layouts."""

import json
import re
import sys

import pytest

from gnomon import compare
from gnomon.errors import DegenerateScoresWarning, GnomonError, ScoreDataError
from gnomon.scores import read_scores
from score_files import read_quietly, written
from score_tables import with_notes

HLE = """\
- dataset:
    id: cais/hle                  # a benchmark of the Hub
    task_id: {task}
  value: {value}
  date: 2025-01-15T10:30:00Z
  source:
    url: https://huggingface.co/org/model
    name: Model Card
"""


def test_results_of_models_on_hugging_face(tmp_path):
    for name, value in (("qwen", 20.9), ("glm", 22.1)):
        written(tmp_path / name / ".eval_results/hle.yaml", HLE.format(task="default", value=value))
        again = HLE.format(task="text", value=value + 20) + '  notes: "With tools"\n'
        written(tmp_path / name / ".eval_results/tools.yaml", again)
    table = read_quietly(tmp_path)
    assert table.algorithms == ("glm", "qwen")
    assert table.tasks == ("cais/hle", "cais/hle/text (With tools)")
    assert table.runs("qwen", "cais/hle").tolist() == [20.9]
    subset = "- dataset: {id: gpqa, config: diamond}\n  value: 0.4\n"  # an earlier layout
    written(tmp_path / "glm/.eval_results/gpqa.yaml", subset)
    assert "gpqa/diamond" in read_quietly(tmp_path).tasks
    written(tmp_path / "phi/.eval_results/gpqa.yaml", subset.replace("0.4", "78"))
    with pytest.warns(DegenerateScoresWarning, match="glm has 0.4 on gpqa.*a share among perc"):
        read_scores(tmp_path)
    one = tmp_path / "glm/.eval_results/hle.yaml"
    assert read_quietly(one).algorithms == read_quietly(one.parent).algorithms == ("glm",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- value: 20.9\n", "missing key 'dataset'"),
        ("- {dataset: {id: null}, value: 20.9}\n", "id: expected a name, found None"),
        (HLE.format(task="default", value="high"), "could not convert string to float: 'high'"),
        ("- dataset: {id: a\n", "expected YAML; while parsing"),
        ("- date: 2026-13-01\n", "expected YAML; month must be in 1..12"),
        ("[" * 1200, "expected YAML; maximum recursion"),
        (2 * HLE.format(task="default", value=1), "rows 1 and 2"),
    ],
)
def test_unclear_results_of_hugging_face_are_refused(tmp_path, text, said):
    with pytest.raises(ScoreDataError, match=said) as error:
        read_quietly(written(tmp_path / "m/.eval_results/a.yaml", text))
    assert "\n" not in str(error.value)


def test_the_package_for_yaml_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(GnomonError, match="pip install pyyaml"):
        read_quietly(written(tmp_path / "m/.eval_results/a.yaml", HLE.format(task="x", value=1)))


def mteb(task, **splits):
    return {
        "dataset_revision": "0fd18e",
        "evaluation_time": 45.4,
        "mteb_version": "1.12.41",
        "scores": {
            split: [
                {"accuracy": x, "hf_subset": at, "languages": ["eng-Latn"], "main_score": x}
                for at, x in parts.items()
            ]
            for split, parts in splits.items()
        },
        "task_name": task,
    }


def test_results_of_mteb(tmp_path):
    folder = tmp_path / "results"
    for model, more in (("org__large", 0.1), ("org__small", 0.0)):
        place = folder / model / "13f0"
        written(place / "model_meta.json", {"name": "x"})
        written(place / "Banking.json", mteb("Banking", test={"default": 0.5 + more}))
        written(place / "Mass.json", mteb("Mass", test={"en": 0.25 + more, "de": 0.75 + more}))
        both = {"test": {"default": float("nan")}, "validation": {"default": 0.3 + more}}
        written(place / "AFQMC.json", mteb("AFQMC", **both))
    table = read_quietly(folder)
    assert table.algorithms == ("org/large", "org/small")
    means = {task: table.runs("org/small", task).item() for task in table.tasks}
    assert means == pytest.approx({"Banking": 0.5, "Mass": 0.5, "AFQMC": 0.3})
    assert read_quietly(folder, where={"subset": "de"}).tasks == ("Mass",)
    with pytest.warns(DegenerateScoresWarning, match="the mean is over the splits test and valid"):
        read_scores(folder / "org__small/13f0/AFQMC.json")
    written(folder / "org__small/other/Banking.json", mteb("Banking", test={"default": 0.7}))
    assert read_quietly(folder).algorithms == ("org/large", "org/small (13f0)", "org/small (other)")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (mteb("x", test={"default": None}), "expected a file of MTEB; a value has another type"),
        (mteb("x") | {"scores": [0.5]}, "expected a file of MTEB; a value has another type"),
        (mteb("x", test={"default": float("nan")}), "expected scores of MTEB, found none"),
    ],
)
def test_unclear_results_of_mteb_are_refused(tmp_path, content, said):
    with pytest.raises(ScoreDataError, match=said) as error:
        read_quietly(written(tmp_path / "m/r/x.json", content))
    assert "\n" not in str(error.value)


def test_evaluations_of_live_code_bench(tmp_path):
    records = [
        {
            "question_title": "A",
            "question_id": f"abc30{i}_a",
            "platform": "atcoder",
            "difficulty": level,
            "code_list": ["print(1)", "print(2)"],
            "graded_list": graded,
            "pass@1": sum(graded) / 2,
        }
        for i, (level, graded) in enumerate([("easy", [True, True]), ("hard", [True, False])])
    ]
    for model in "ab":
        path = written(tmp_path / model / "Scenario.codegeneration_2_0.2_eval_all.json", records)
    table = read_quietly(path, where={"difficulty": "hard"})
    assert table.means().tolist() == [[0.5]]  # pass@1
    assert read_quietly(tmp_path).algorithms == ("a", "b")
    for wrong, said in ((True, "another type"), ([["x"]], "not one number per item")):
        path = written(tmp_path / "wrong.json", [records[0] | {"graded_list": wrong}])
        with pytest.raises(ScoreDataError, match=said):
            read_quietly(path)


def right(*answers):
    return {str(i): {"correct": x} for i, x in enumerate(answers)}


def solved(*ids, **about):
    return {"total_instances": 4, "resolved_ids": ids, "unresolved_ids": ["c", "d"], **about}


def passing(**shares):
    bad, good = {"base_status": "fail", "plus_status": "fail"}, {"base_status": "pass"}
    solutions = [good | {"plus_status": "pass"}], [good | {"plus_status": "fail"}], [bad], [bad]
    stated = {score: {"pass@1": share} for score, share in shares.items()}
    return {"eval": {f"HumanEval/{i}": x for i, x in enumerate(solutions)}, "pass_at_k": stated}


def graded(*shares):
    return [{"question_id": i, "graded_list": [True, False], "pass@1": x} for i, x in shares]


@pytest.mark.parametrize(
    ("same", "other", "what"),
    [
        ({"accuracy": 66.67, "details": right(True, True, False)},
         {"accuracy": 70.0, "details": right(True, True, False)},
         "accuracy is 70 there, and the samples give 66.6667"),
        (solved("a", "b", resolved_instances=2), solved("a", "b", resolved_instances=3),
         "the share of resolved_instances is 0.75 there, and the samples give 0.5"),
        (passing(base=0.5, plus=0.25), passing(base=0.5, plus=0.5),
         "pass@1 of plus is 0.5 there, and the samples give 0.25"),
        (graded(("p", 0.5), ("q", 0.5)), graded(("p", 0.5), ("q", 1.0)),
         "the mean of pass@1 is 0.75 there, and the samples give 0.5"),
    ],
)  # fmt: skip
def test_a_published_number_that_items_do_not_give_is_named(tmp_path, same, other, what):
    metric = "plus" if isinstance(same, dict) and "eval" in same else None
    path = tmp_path / "m.json"
    notes = with_notes(read_scores, written(path, same), metric=metric)[1]
    assert not [text for text in notes if "there, and" in text]
    with pytest.warns(DegenerateScoresWarning, match=f"^m.json: {re.escape(what)}$"):
        read_scores(written(path, other), metric=metric)


def test_reports_of_the_leaderboard_of_swe_bench_are_read_together(tmp_path):
    board = tmp_path / "lite"
    for system, won, none in (("a", ["p", "q"], ["x"]), ("b", ["q", "r"], [])):
        report = {"no_generation": none, "no_logs": [], "resolved": won}
        path = written(board / system / "results/results.json", report)
    table = read_quietly(board)  # unresolved instances have no names there
    (a, b), items = table.means(), table.tasks
    assert (len(items), a.sum(), b.sum()) == (300, 2, 2)
    won = [task.rpartition("/")[2] for task, x, y in zip(items, a, b, strict=True) if x != y]
    assert sorted(won) == ["p", "r"]
    with pytest.raises(ScoreDataError, match="2 of 300 instances; give the folder"):
        read_quietly(path)
    few = {"total_instances": 2, "resolved_ids": ["p"]}
    written(tmp_path / "mixed/lite.json", few)
    written(tmp_path / "mixed/other.json", few | {"resolved_ids": ["q", "r"]})
    with pytest.raises(ScoreDataError, match=r"expected reports on the same 2 instances"):
        read_quietly(tmp_path / "mixed")
    with pytest.raises(ScoreDataError, match="expected total_instances"):
        read_quietly(written(tmp_path / "x.json", report))
    each = {"p": {"cost": 0.7, "resolved": True}, "q": {"cost": 0.1, "resolved": False}}
    table = read_quietly(written(tmp_path / "mini/per_instance_details.json", each))
    assert (table.algorithms, table.means().tolist()) == (("mini",), [[1, 0]])
    with pytest.raises(ScoreDataError, match="a known board, found none"):
        read_scores(written(tmp_path / "none.json", {}), format="board")
    whole = {"total_instances": 1, "resolved_ids": ["p"]}
    assert read_quietly(written(tmp_path / "gpt-4.1.json", whole)).algorithms == ("gpt-4.1",)


def test_details_of_opencompass_name_model_and_dataset(tmp_path):
    for model in "ab":
        written(tmp_path / model / "gsm8k.json", {"accuracy": 50.0, "details": right(True, False)})
    table = read_quietly(tmp_path)
    assert (table.algorithms, table.tasks) == (("a", "b"), ("gsm8k/0", "gsm8k/1"))


def test_results_of_every_eval_ever(tmp_path):
    for dataset, low in (("mmlu", False), ("latency", True)):
        for model in ("gemma", "qwen"):
            one = {
                "evaluation_name": "English",
                "source_data": {"dataset_name": dataset},
                "metric_config": {"lower_is_better": low},
                "score_details": {"score": 0.5},
            }
            content = {"model_info": {"id": model}, "evaluation_results": [one]}
            written(tmp_path / dataset / "lab" / model / "0e7e.json", content)
    table = read_quietly(tmp_path / "mmlu")
    assert (table.algorithms, table.tasks) == (("gemma", "qwen"), ("mmlu/English",))
    assert not read_quietly(tmp_path / "latency").higher_is_better
    plain = content | {"evaluation_results": [one | {"source_data": ["https://a.org"]}]}
    assert read_quietly(written(tmp_path / "old.json", plain)).tasks == ("English",)
    written(tmp_path / "mmlu/other.json", content)
    with pytest.raises(ScoreDataError, match="higher is better on some tasks"):
        read_quietly(tmp_path / "mmlu")
    assert read_quietly(tmp_path / "mmlu", where={"dataset": "mmlu"}).tasks == ("mmlu/English",)


def judged(preference, at=1):
    return {
        "instruction": f"Question {at}",
        "output_1": "a",
        "generator_1": "gpt4_1106_preview",
        "output_2": "b",
        "generator_2": "yi-34b",
        "dataset": "koala",
        "annotator": "weighted_alpaca_eval_gpt4_turbo",
        "preference": preference,
    }


def test_annotations_of_alpaca_eval(tmp_path):
    content = [judged(x, i) for i, x in enumerate([1.0, 1.75, 0.0, None])]
    table = read_quietly(written(tmp_path / "annotations.json", content), cluster="dataset")
    assert table.algorithms == ("yi-34b",)
    assert [row["score"] for row in table.to_records()] == [0.0, 0.75, 0.5, None]
    for wrong in ({"preference": 2.5}, {"preference": "yes"}, {"generator_2": None}):
        with pytest.raises(ScoreDataError, match="another type"):
            read_quietly(written(tmp_path / "annotations.json", [judged(1.5) | wrong]))


def pair(one, two):
    return {"question_id": 81, "model_1": "a", "model_2": "b", "g1_winner": one, "g2_winner": two,
            "judge": ["gpt-4", "pair-v2"], "turn": 1}  # fmt: skip


def lines(*records):
    return "\n".join(map(json.dumps, records))


def test_judgments_of_mt_bench_on_pairs(tmp_path):
    found = [pair("model_1", "model_1"), pair("model_1", "model_2"), pair("error", "tie")]
    path = written(tmp_path / "gpt-4_pair.jsonl", lines(*found, pair("tie", "tie")))
    table, notes = with_notes(read_scores, path)
    assert "1 vote without a verdict" in notes[0]
    wins = [row["score"] for row in table.to_records() if row["algorithm"] == "a"]
    assert wins == [1.0, 0.5, 0.5]  # two verdicts that disagree are a tie
    with pytest.raises(ScoreDataError, match=r"expected winners of MT-bench: .* found None and"):
        read_quietly(written(tmp_path / "x.jsonl", lines(pair(None, "A"))))
    with pytest.raises(ScoreDataError, match="expected a file of a judge"):
        read_quietly(written(tmp_path / "x.jsonl", lines(pair("tie", ["tie"]))))


def test_games_of_arena_hard(tmp_path):
    games = [{"score": "B>>A", "judgment": {}}, {"score": None}]
    record = {"uid": "1", "model": "m", "baseline": "o3", "games": games}
    both = {"uid": "2", "games": [{"score": "A<<B"}, {"score": "A>B"}]}
    none = {"uid": "3", "games": [None, {"score": "A<B"}]}
    table = read_quietly(written(tmp_path / "m.jsonl", lines(record, record | both, record | none)))
    wins = sorted(row["score"] for row in table.to_records() if row["algorithm"] == "m")
    assert wins == [0, 1, 1, 1]
    with pytest.warns(DegenerateScoresWarning, match="cluster='question' makes the 3 questions"):
        compare(table)
    for wrong in ({"score": "A wins"}, {"judgment": {}}):
        path = written(tmp_path / "x.jsonl", lines(record | {"games": [wrong]}))
        with pytest.raises(ScoreDataError, match="games of Arena-Hard with a score such as A>B"):
            read_quietly(path)
    for others in ([record | {"games": None}], [record, "x"]):
        with pytest.raises(ScoreDataError, match="expected a file of a judge"):
            read_quietly(written(tmp_path / "x.json", others))


def test_two_files_of_votes_are_read_together(tmp_path):
    text = "model_a,model_b,winner\na,b,model_a\na,b,both bad\n"
    files = [written(tmp_path / f"{name}.csv", text) for name in ("may", "june")]
    assert len(read_quietly(files)) == 8
