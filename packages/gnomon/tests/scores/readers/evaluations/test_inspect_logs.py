"""Logs of inspect: real ones to the digit, and what may be odd or wrong with one."""

import json
import re
import sys
import zipfile

import numpy as np
import pytest

from evaluation_logs import SHARED, head, sample, write_eval, write_json, write_zip
from gnomon.errors import DegenerateScoresWarning, GnomonError, ScoreDataError
from gnomon.results import noted
from gnomon.scores import read_scores

is_shared = pytest.mark.skipif(
    not SHARED.is_dir(), reason="the evaluation logs are not in the repository"
)
INSPECT = SHARED / "inspect"
BOTH = ("match", "length")
ODD = "ignore::gnomon.errors.DegenerateScoresWarning"


def item_means(table):
    return np.nanmean(table.means()[0])


@is_shared
def test_real_logs_give_the_means_that_inspect_gives():
    for name in ("capitals-strong", "capitals-weak"):
        for metric in BOTH:
            with noted() as notes:  # a mean that differs from the log's own is noted
                table = read_scores(INSPECT / f"{name}.eval", metric=metric)
            assert (len(table), notes) == (18, [])
            table = read_scores(INSPECT / f"{name}.json", metric=metric)
            odd = table.to_polars().filter(table.to_polars()["score"].is_nan())
            assert odd.select("task", "run", "status").rows() == [("capitals/3", 2, "error")]
            told = json.loads((INSPECT / f"{name}.json").read_text())["results"]
            (score,) = (one for one in told["scores"] if one["name"] == metric)
            mean = score["metrics"]["accuracy" if metric == "match" else "mean"]["value"]
            assert item_means(table) == pytest.approx(mean, abs=1e-12)


@is_shared
def test_a_real_log_that_ended_with_an_error():
    with pytest.warns(DegenerateScoresWarning, match="'error'.*4 of 4 samples"):
        table = read_scores(INSPECT / "boom-model.eval")
    assert table.to_polars()["status"].to_list() == ["ok", "ok", "error", "cancelled"]
    assert str(table).startswith(
        "1 model x 4 items, 1 epoch; 2 samples without a score: 1 cancelled, 1 error"
    )


@is_shared
def test_a_real_log_of_samples_that_met_a_limit():
    table = read_scores(INSPECT / "lim-model.json")
    assert table.to_polars()["status"].to_list() == ["limit", "limit"]
    assert table.to_polars()["score"].to_list() == [1.0, 1.0]


@is_shared
def test_a_real_log_of_scores_with_keys_clusters_and_tokens():
    path = INSPECT / "hidden_rule-model.eval"
    with pytest.raises(ScoreDataError, match="found errors_made/errors, errors_made/cleared, "):
        read_scores(path)
    table = read_scores(path, metric="errors", cluster="family", higher_is_better=False)
    assert item_means(table) == 9.0
    assert (table.rows.texts("family").names, table.run_counts.max()) == (("a", "b"), 2)
    assert table.to_polars()["reasoning_tokens"].to_list() == [30] * 8
    assert set(table.to_polars()["metrics.repeated"]) == {0.0}


@pytest.mark.parametrize("method", [93, zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED])
def test_an_archive_and_a_json_file_give_the_same_table(tmp_path, method):
    samples = [sample(i, epoch) for epoch in (1, 2) for i in (1, 2, 3)]
    first = read_scores(write_eval(tmp_path / "a.eval", samples, method=method, epochs=2, n=3))
    second = read_scores(write_json(tmp_path / "a.json", samples, epochs=2, n=3))
    assert first.to_polars().equals(second.to_polars())
    assert first.to_polars().columns == [
        *("algorithm", "task", "run", "score", "subtask", "status", "input", "input_hash"),
        *("input_tokens", "output_tokens", "total_tokens", "time_s", "working_time_s", "topic"),
    ]


def test_values_become_numbers(tmp_path):
    values = {1: "C", 2: "I", 3: "P", 4: "N", 5: True, 6: "yes", 7: 0.25, 8: "0.75"}
    path = write_json(tmp_path / "a.json", [sample(i, score=x) for i, x in values.items()])
    assert read_scores(path).to_polars()["score"].to_list() == [1, 0, 0.5, 0, 1, 1, 0.25, 0.75]


def test_samples_without_a_score_are_kept_and_none_is_zero(tmp_path):
    samples = [sample(1), sample(2, score=None), sample(3, score=float("nan"))]
    samples += [sample(4, score=None, limit="token"), sample(5, score=None, error="Boom()")]
    samples += [sample(6, invalidation={"author": "me"})]
    table = read_scores(write_json(tmp_path / "a.json", samples))
    status = ["ok", "unscored", "unscored", "limit", "error", "invalidated"]
    assert table.to_polars()["status"].to_list() == status
    assert table.to_polars()["score"].is_nan().to_list() == [False] + [True] * 5


def test_an_interrupted_log_gives_what_its_journal_has(tmp_path):
    every = [sample(i) for i in (1, 2, 3)]
    path = write_eval(tmp_path / "a.eval", every[:1], members=every, whole=False, n=4)
    with pytest.warns(DegenerateScoresWarning, match="'started': 3 of 4 samples"):
        table = read_scores(path)
    assert table.tasks == ("quiz/1", "quiz/2", "quiz/3")
    path = write_eval(tmp_path / "b.eval", every, whole=False, journal=False, n=3)
    with pytest.warns(DegenerateScoresWarning, match="3 of 3 samples are there"):
        assert len(read_scores(path)) == 3


def test_a_text_that_was_cut_in_the_summary_is_read_from_the_sample(tmp_path):
    long = "x" * 6000
    cut = f"{long[:5120]}...\n(content truncated)"
    full = [sample(1, text=long)]
    archive = write_eval(tmp_path / "a.eval", [sample(1, text=cut)], members=full, model="b")
    plain = write_json(tmp_path / "b.json", full)
    assert len(read_scores([archive, plain]).algorithms) == 2


def test_metadata_that_summaries_leave_out_is_read_from_samples(tmp_path):
    thin = [{k: v for k, v in sample(i).items() if k != "metadata"} for i in (1, 2)]
    path = write_eval(tmp_path / "a.eval", thin, members=[sample(1), sample(2)])
    assert "(2 clusters)" in str(read_scores(path, cluster="topic"))


def test_messages_are_texts_whatever_their_ids(tmp_path):
    def asked(mark):
        parts = [{"type": "text", "text": "See"}, {"type": "image", "image": mark}]
        return [{"id": mark, "role": "user", "content": parts}]

    for model in "ab":
        write_json(tmp_path / f"{model}.json", [sample(1, input=asked(model))], model=model)
    assert read_scores(tmp_path).to_polars()["input"].to_list() == ["user: See (Image)"] * 2


def test_another_text_under_one_name_is_no_pair(tmp_path):
    write_json(tmp_path / "a.json", [sample(1), sample(2)], model="a")
    write_json(tmp_path / "b.json", [sample(1, text="Other?"), sample(2)], model="b")
    message = (
        r"item 'quiz/1': expected the same input everywhere, found '.*\?' \(.\) and '.*\?' \(.\); "
        "1 item with different inputs: these are not the same items"
    )
    with pytest.raises(ScoreDataError, match=message):
        read_scores(tmp_path)
    with pytest.raises(ScoreDataError, match=message):
        read_scores([tmp_path / "a.json", tmp_path / "b.json"])


def test_two_logs_of_one_model_are_further_epochs_or_other_models(tmp_path):
    for name, heat in (("a", 0), ("b", 0), ("c", 1)):
        config = {"temperature": heat}
        write_json(tmp_path / f"{name}.json", [sample(1)], model_generate_config=config)
    with pytest.warns(DegenerateScoresWarning, match=r"b.json: another log of lab/a \(temp"):
        table = read_scores(tmp_path)
    assert table.algorithms == ("lab/a (temperature=0)", "lab/a (temperature=1)")
    assert table.run_labels("lab/a (temperature=0)", "quiz/1") == (1, 2)


@pytest.mark.filterwarnings(ODD)
def test_a_retry_does_not_count_samples_that_it_took_over(tmp_path):
    done = sample(1)
    write_json(tmp_path / "a.json", [done], status="cancelled")
    write_json(tmp_path / "b.json", [done, sample(2)])
    assert read_scores(tmp_path).to_polars().select("task", "run").rows() == [
        ("quiz/1", 1),
        ("quiz/2", 2),
    ]


@pytest.mark.filterwarnings(ODD)
def test_a_model_whose_samples_all_failed_stays(tmp_path):
    write_json(tmp_path / "a.json", [sample(1)], model="a")
    write_json(tmp_path / "b.json", [sample(1, score=None, error="Boom()")], model="b")
    assert "(b on quiz/1)" in str(read_scores(tmp_path))


def test_a_folder_says_which_files_are_no_logs(tmp_path):
    write_json(tmp_path / "a.json", [sample(1)])
    (tmp_path / "listing.json").write_text("{}")
    with pytest.warns(DegenerateScoresWarning, match=r"1 file left out.*not logs: listing\.json"):
        assert len(read_scores(tmp_path)) == 1


def test_models_get_names(tmp_path):
    for model in ("x", "y"):
        write_json(tmp_path / f"{model}.json", [sample(1)], model=model)
    named = read_scores({"small": tmp_path / "x.json", "large": tmp_path / "y.json"})
    assert named.algorithms == ("small", "large")


def two_scorers(**scores):
    values = {name: {"value": value} for name, value in scores.items()}
    return [sample(1) | {"scores": values}]


def test_wrong_logs_are_told(tmp_path):
    path = tmp_path / "a.json"
    whole = json.dumps(head() | {"samples": [sample(1)]})
    cases = [
        (
            two_scorers(a="C", b=1),
            {},
            "expected one score; found a and b: choose one, as in metric='a'",
        ),
        (two_scorers(a="C"), {"metric": "b"}, "no score 'b'; found a"),
        (two_scorers(a="Rome"), {}, "score 'a' is not one number per item: found the text 'Rome'"),
        (two_scorers(a=[0.1, 2]), {}, "score 'a' is not one number per item: found a list"),
        ([], {}, "expected scores of samples; found none in a.json"),
        ([sample(1), sample(1)], {}, "found algorithm lab/a, task quiz/1, run 1 twice"),
        (two_scorers(a=1), {"cluster": "field"}, "no column 'field' of clusters; found subtask"),
        (two_scorers(a=1), {"where": {"topic": "z"}}, "no row has topic = z; found t1"),
        (two_scorers(a=1), {"columns": {"task": "x"}}, "the format 'inspect' has no columns to"),
        (whole[:-3], {}, "a.json: expected JSON; it is cut off"),
        (whole[:-80], {}, "a.json: expected JSON; it is cut off"),
        (whole.replace('"samples": [', "samples: ["), {}, "a.json: expected JSON; Expecting prop"),
    ]
    for content, options, message in cases:
        if isinstance(content, str):
            path.write_text(content)
        else:
            write_json(path, content)
        with pytest.raises((ScoreDataError, GnomonError), match=re.escape(message)):
            read_scores(path, **options)


def test_damaged_archives_are_told(tmp_path):
    path = tmp_path / "a.eval"
    write_eval(path, [sample(1)])
    whole = path.read_bytes()
    at = whole.index(b"header.json") + len(b"header.json") + 12
    broken = whole[:at] + bytes(60) + whole[at + 60 :]
    for content, message in (
        (whole[:-40], "a.eval: expected a log in a ZIP file; it is not one, or truncated"),
        (b"", "expected a log in a ZIP file; it is not one, or truncated"),
        (broken, "a.eval, header.json: the compressed data are damaged"),
    ):
        path.write_bytes(content)
        with pytest.raises(ScoreDataError, match=re.escape(message)):
            read_scores(path)
    write_zip(path, {"header.json": b"[]"}, zipfile.ZIP_STORED)
    with pytest.raises(ScoreDataError, match=r"header.json: expected a JSON object, found list"):
        read_scores(path)
    write_zip(path, {"_journal/start.json": b"{}"}, zipfile.ZIP_STORED)
    with pytest.raises(ScoreDataError, match=r"expected a log of inspect with eval\.model"):
        read_scores(path)
    write_zip(path, {"notes.txt": b"{}"}, zipfile.ZIP_STORED)
    with pytest.raises(ScoreDataError, match=r"expected a log of inspect with header\.json"):
        read_scores(path)


def test_without_zstandard_the_extra_is_named(tmp_path, monkeypatch):
    path = write_eval(tmp_path / "a.eval", [sample(1)])
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(
        GnomonError, match=r"compressed with Zstandard.*pip install 'gnomon\[evals\]'"
    ):
        read_scores(path)
    plain = write_eval(tmp_path / "b.eval", [sample(1)], method=zipfile.ZIP_DEFLATED)
    assert len(read_scores(plain)) == 1
