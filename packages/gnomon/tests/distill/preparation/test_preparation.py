"""From a table to a matrix; summary scores."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import trim_mean

from gnomon.distillation import Preparation, search_subsets, transform_of
from gnomon.distillation.preparation.summaries import half_summaries, summarize
from gnomon.errors import DegenerateScoresWarning, ScoreDataError, UnknownNameError
from gnomon.scores import ScoreTable


def table(**rows):
    tasks = [f"t{i}" for i in range(len(next(iter(rows.values()))))]
    return ScoreTable.from_arrays({name: [row] for name, row in rows.items()}, tasks=tasks)


SCORES = table(b=[0, 10, 90], a=[99, 999, np.nan], c=[1, 2, 3])


def test_rows_and_columns_are_in_order():
    data = Preparation(transform="identity").apply(SCORES)
    assert data.algorithms == ("a", "b", "c")
    assert data.tasks == ("t0", "t1", "t2")
    assert data.x == pytest.approx(
        np.array([[99, 999, np.nan], [0, 10, 90], [1, 2, 3]]), nan_ok=True
    )
    assert data.target.tolist() == [549.0, 10.0, 2.0]
    assert data.complete_tasks() == ("t0", "t1")


def test_filters_come_in_order_and_are_recorded():
    preparation = Preparation(
        transform="identity", least_tasks=3, least_summary=5.0, least_algorithms=1, exclude=("t1",)
    )
    data = preparation.apply(SCORES)
    assert data.algorithms == ("b",)
    assert data.candidates == ("t0", "t2")
    assert "2 with at least 3 tasks" in data.record
    assert "1 with a summary above 5" in data.record


def test_a_banned_algorithm_is_gone():
    with pytest.warns(DegenerateScoresWarning, match="1 task left out, all scores are the same"):
        data = Preparation(banned=("b",)).apply(SCORES)
    assert data.algorithms == ("a", "c")
    assert len(data.candidates) == len(data.tasks) - 1


def test_a_task_with_few_algorithms_still_counts_in_the_summary():
    data = Preparation(transform="identity", least_algorithms=3).apply(SCORES)
    assert data.candidates == ("t0", "t1")
    assert data.target[1] == 10.0


def test_normalisation_and_its_reverse():
    references = {"t0": (0.0, 50.0), "t1": (2.0, 1002.0), "t2": (-1.0, 99.0)}
    data = Preparation(references=references).apply(SCORES)
    assert data.x[0, 0] == pytest.approx(np.log10(1 + 198))
    for j, task in enumerate(data.tasks):
        raw = data.restore(task, data.x[:, j])
        expected = SCORES.runs("a", task)
        if expected.size:
            assert raw[0] == pytest.approx(expected[0])


def test_scores_below_random_become_zero():
    ends = dict.fromkeys(SCORES.tasks, (50.0, 60.0))
    with pytest.warns(DegenerateScoresWarning, match=r"the transform log takes \d+% of the scores"):
        data = Preparation(references=ends).apply(SCORES)
    assert data.x[1, 0] == 0.0


def test_a_logit_takes_proportions_alone():
    table = ScoreTable.from_arrays({"a": [[0.5, 1.5]], "b": [[0.2, 0.3]]}, tasks=["u", "v"])
    with pytest.raises(
        ScoreDataError, match=r"from 0 to 1 for the transform logit; found 1.5 of a"
    ):
        Preparation(transform="logit").apply(table)


def test_a_summary_that_nobody_exceeds():
    with pytest.raises(ScoreDataError, match="summary is above 1e\\+09; the greatest is"):
        Preparation(least_summary=1e9).apply(SCORES)


def test_equal_summaries_are_told_with_their_cause(make_scores):
    data = make_scores(20, 3)
    clipped = replace(data, target=np.zeros(20), transform=transform_of("log"))
    with pytest.raises(
        ScoreDataError, match="all 20 have 0: the transform log gives all scores up to 0"
    ):
        search_subsets(clipped, 2)


def test_runs_are_averaged_before_or_after_the_transform():
    two = ScoreTable.from_arrays({"a": [[0, 9], [99, 9]]}, tasks=["u", "v"])
    assert Preparation().apply(two).x[0, 0] == pytest.approx(np.log10(1 + 49.5))
    after = Preparation(runs="transformed", summary="mean").apply(two)
    assert after.x[0, 0] == pytest.approx(1.0)
    assert after.target[0] == pytest.approx(np.log10(1 + 54))


def test_groups_come_from_a_column():
    rows = [
        {"algorithm": a, "task": "t", "run": 0, "score": s, "paper": p}
        for a, s, p in (("x", 1, "one"), ("y", 2, "two"))
    ]
    known = ScoreTable.from_records(rows)
    assert Preparation(group_by="paper").apply(known).groups == ("one", "two")
    with pytest.raises(UnknownNameError, match="unknown column 'papers'; did you mean 'paper'"):
        Preparation(group_by="papers").apply(known)


def test_the_smoothed_target_depends_on_the_seed_alone():
    first, again = Preparation().apply(SCORES), Preparation().apply(SCORES)
    assert np.array_equal(first.smoothed, again.smoothed)


def test_references_must_fit():
    with pytest.raises(ScoreDataError, match="of some task; all are without reference scores: t0"):
        Preparation(references={"t9": (0, 1)}).apply(SCORES)
    same = dict.fromkeys(SCORES.tasks, (3.0, 3.0))
    with pytest.raises(ScoreDataError, match=r"reference scores of t0: .* differ, both are 3"):
        Preparation(references=same).apply(SCORES)
    empty = {t: (float("nan"), 3.0) for t in SCORES.tasks}
    with pytest.raises(ScoreDataError, match="reference scores of t0: expected numbers"):
        Preparation(references=empty).apply(SCORES)


def test_a_table_of_answers_gets_a_hint():
    rng = np.random.default_rng(0)
    answers = {f"m{i}": [rng.integers(0, 2, 8)] for i in range(9)}
    with pytest.warns(DegenerateScoresWarning, match="0 or 1: a task that is a single item"):
        Preparation(transform="identity").apply(ScoreTable.from_arrays(answers))


def test_tasks_without_references_are_left_out():
    known = dict.fromkeys(SCORES.tasks[1:], (0.0, 1.0))
    with pytest.warns(DegenerateScoresWarning, match="1 task left out, without .* scores: t0"):
        prepared = Preparation(references=known).apply(SCORES)
    alone = Preparation(references=known).apply(SCORES.select(tasks=list(SCORES.tasks[1:])))
    assert prepared.tasks == alone.tasks == SCORES.tasks[1:]
    assert np.array_equal(prepared.target, alone.target)


def test_unknown_names_are_errors():
    with pytest.raises(UnknownNameError, match="unknown algorithm 'z'"):
        Preparation(banned=("z",)).apply(SCORES)
    with pytest.raises(UnknownNameError, match="unknown task 't9'"):
        Preparation(exclude=("t9",)).apply(SCORES)
    with pytest.raises(UnknownNameError, match="unknown summary 'medain'; did you mean 'median'"):
        Preparation(summary="medain").apply(SCORES)
    with pytest.raises(UnknownNameError, match="unknown transform 'logg'; did you mean 'log'"):
        Preparation(transform="logg").apply(SCORES)


def test_nothing_left_is_an_error():
    with pytest.raises(ScoreDataError, match="at least 4 tasks; the fullest has 3"):
        Preparation(least_tasks=4).apply(SCORES)
    with pytest.raises(ScoreDataError, match="every one is missing"):
        Preparation().apply(table(a=[np.nan, np.nan]))


def test_infinite_scores_are_missing_and_said_to_be():
    with pytest.warns(DegenerateScoresWarning, match="1 censored or infinite"):
        data = Preparation().apply(
            ScoreTable.from_records(
                [
                    {"algorithm": "a", "task": "u", "run": 0, "score": 1.0, "censored": False},
                    {"algorithm": "a", "task": "v", "run": 0, "score": 5.0, "censored": True},
                    {"algorithm": "b", "task": "v", "run": 0, "score": 5.0, "censored": False},
                ]
            )
        )
    assert np.isnan(data.x[0, 1])


def test_several_steps_are_refused():
    steps = ScoreTable.from_arrays({"a": [[[1.0, 2.0]]]}, tasks=["t"])
    with pytest.raises(ScoreDataError, match="2 steps"):
        Preparation().apply(steps)


def test_the_atari_data(paper):
    assert paper.x.shape == (62, 57)
    assert np.isnan(paper.x).sum() == 173
    assert len(paper.candidates) == 56
    assert "surround" not in paper.candidates
    assert len(paper.complete_tasks()) == 35
    assert len(set(paper.groups)) == 31
    assert np.corrcoef(paper.smoothed, paper.target)[0, 1] > 0.997


LOG = transform_of("log")
RNG = np.random.default_rng(0)
Z = RNG.exponential(100, size=(6, 21))
Z[0, :4] = np.nan


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("median", np.median),
        ("mean", np.mean),
        ("iqm", lambda z: trim_mean(z, 0.25)),
        ("mean_log", lambda z: 10 ** np.log10(1 + z).mean() - 1),
        ("above_human", lambda z: 100 * (z > 100).mean()),
    ],
)
def test_each_summary_is_that_of_the_tasks_at_hand(name, expected):
    rows = [expected(row[~np.isnan(row)]) for row in Z]
    assert summarize(Z, name, LOG) == pytest.approx(rows)


def test_a_function_of_ones_own():
    assert summarize(Z, lambda z: z.max(axis=-1), LOG) == pytest.approx(np.nanmax(Z, axis=1))


def test_an_algorithm_without_scores_has_no_summary():
    assert np.isnan(summarize(np.full((1, 3), np.nan), "median", LOG)).all()


def test_halves_of_equal_scores_are_the_summary():
    z = np.full((2, 10), 99.0)
    rng = np.random.default_rng(0)
    assert half_summaries(z, "median", LOG, rng=rng) == pytest.approx([2.0, 2.0])


def test_halves_do_not_look_at_other_rows():
    def smooth(z):
        return half_summaries(z, "median", LOG, rng=np.random.default_rng(1))

    changed = Z.copy()
    changed[1:] *= 7
    assert smooth(changed)[0] == smooth(Z)[0]
