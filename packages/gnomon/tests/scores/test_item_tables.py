"""Tables of items: what they hold, in words and as arrays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.errors import ScoreDataError, UnknownNameError
from gnomon.scores import ScoreTable, normalize, read_scores, write_scores


def row(model, item, epoch, score, topic="x", status="ok"):
    return {"algorithm": model, "task": item, "run": epoch, "score": score} | {
        "topic": topic,
        "status": status,
    }


ROWS = [
    row("b", "q2", 2, 1.0, "y"),
    row("a", "q1", 1, 1.0),
    row("a", "q1", 2, 0.0, status="limit"),
    row("a", "q2", 1, None, "y", "error"),
    row("b", "q1", 1, None, status="limit"),
    row("a", "q3", 1, 1.0, "y"),
]


def table(rows=ROWS, **about):
    return ScoreTable(rows, units="items", cluster="topic", **about)


def test_a_table_of_items_says_what_it_holds_in_words_of_items():
    assert str(table(metric="match")).splitlines() == [
        "2 models x 3 items (2 clusters), 1 to 2 epochs; 2 samples without a score: "
        "1 error, 1 limit",
        "6 samples (match, higher is better); with a score despite its status: 1 limit",
        "no score in 3 of 6 cells (b on q1, b on q3, a on q2)",
    ]


def test_a_complete_table_is_two_lines():
    rows = [
        {k: v for k, v in row(m, i, 1, 1.0).items() if k != "status"} for m in "ab" for i in "cd"
    ]
    assert str(table(rows)).splitlines() == [
        "2 models x 2 items (1 cluster), 1 epoch",
        "4 samples (score, higher is better)",
    ]


@given(
    st.dictionaries(
        st.tuples(st.sampled_from("abc"), st.sampled_from("qrstu"), st.integers(0, 3)),
        st.none() | st.floats(-10, 10),
        min_size=1,
    ),
    st.randoms(),
)
def test_the_matrix_is_the_mean_of_epochs_in_any_order_of_rows(cells, random):
    rows = [row(*key, score) for key, score in cells.items()]
    random.shuffle(rows)
    scores = table(rows)
    found = scores.means()
    for i, model in enumerate(scores.algorithms):
        for j, item in enumerate(scores.tasks):
            runs = [x for (m, t, _), x in cells.items() if (m, t) == (model, item)]
            known = [x for x in runs if x is not None]
            expected = np.mean(known) if known else np.nan
            np.testing.assert_allclose(found[i, j], expected, atol=1e-12)


def test_units_and_clusters_are_kept(tmp_path):
    there = table(metric="match")
    kept = [there.select(algorithms=["a"]), there.select(where={"topic": "y"})]
    kept.append(normalize(there.select(tasks=["q1"]), "min-max"))
    for name in ("t.csv", "t.tsv", "t.parquet"):
        write_scores(there, tmp_path / name)
        kept.append(read_scores(tmp_path / name))
    for one in kept:
        assert (one.units, one.cluster, one.metric) == ("items", "topic", "match")
    assert str(kept[-1]) == str(kept[-3]) == str(there)


@pytest.mark.parametrize(
    ("rows", "about", "message"),
    [
        (
            [*ROWS, row("c", "q1", 1, 1.0, "z")],
            {"cluster": "topic"},
            "item 'q1', column 'topic': expected one cluster, found 'x' and 'z'",
        ),
        (
            [*ROWS, row("c", "q9", 1, 1.0, None)],
            {"cluster": "topic"},
            "item 'q9', column 'topic': expected one cluster, found none",
        ),
        (ROWS, {"cluster": "field"}, "no column 'field' of clusters; found topic, status"),
        (
            ROWS,
            {"cluster": "topic", "units": "tasks"},
            "clusters exist for items only: expected units 'items', found 'tasks'",
        ),
        (ROWS, {"units": "bits"}, "unknown units 'bits'"),
    ],
)
def test_what_is_no_table_of_items_is_refused(rows, about, message):
    with pytest.raises((ScoreDataError, UnknownNameError)) as caught:
        ScoreTable(rows, **({"units": "items"} | about))
    assert str(caught.value).startswith(message)


def test_a_cluster_may_be_told_by_one_model_alone():
    rows = [row("a", "q1", 1, 1.0), row("b", "q1", 1, 1.0, None)]
    assert "(1 cluster)" in str(table(rows))


def test_a_table_with_steps_has_no_means():
    steps = ScoreTable.from_arrays({"a": [[[1.0, 0.0]]]}, units="items")
    with pytest.raises(ScoreDataError, match="2 steps of each run"):
        steps.means()


def test_rows_are_looked_up_in_parts():
    """More rows than are looked up at a time: names in the order of their first row, clusters."""
    n = 40_000
    names = [f"q{(7 * i + 3) % n}" for i in range(n)]
    columns = {"algorithm": ["b"] * n + ["a"] * n, "task": names * 2, "score": [1.0] * 2 * n}
    topic = [int(name[1:]) // 10 for name in names]
    about = {"units": "items", "cluster": "topic"}
    table = ScoreTable(columns | {"topic": topic * 2}, **about)
    assert (table.algorithms, table.tasks[:2]) == (("b", "a"), ("q3", "q10"))
    assert f"({n // 10:,} clusters)" in str(table)
    assert not table.means().flags.writeable
    assert table.select(algorithms=["a"]).rows.tolist("task")[-1] == names[-1]
    with pytest.raises(ScoreDataError, match=f"item '{names[-1]}', .* expected one cluster"):
        ScoreTable(columns | {"topic": [*topic, *topic[:-1], -1]}, **about)
