"""Choice of binary items: the response model against theory, and every method on one protocol."""

import numpy as np
import pytest

import gnomon as gn
from gnomon.distill import ItemSuite, choose_items, fit_items, item_sizes, next_items, reliability
from gnomon.distill.items.answers import item_matrix
from gnomon.distill.items.held_out import held_items, ridge
from gnomon.errors import ScoreDataError, UnknownNameError
from gnomon.scores import ScoreTable


def answers(n=80, n_items=150, seed=0):
    rng = np.random.default_rng(seed)
    slope = np.exp(rng.normal(0, 0.5, n_items))
    p = 1 / (1 + np.exp(-(slope * rng.normal(size=(n, 1)) + rng.normal(0, 1.5, n_items))))
    return (rng.random((n, n_items)) < p).astype(float)


def table_of(x):
    return ScoreTable.from_arrays({f"m{i:03}": [row] for i, row in enumerate(x)})


def test_parameters_are_found_again():
    rng = np.random.default_rng(1)
    slope, intercept = rng.uniform(0.5, 2.0, 40), rng.normal(0, 1.2, 40)
    p = 1 / (1 + np.exp(-(slope * rng.normal(size=(3000, 1)) + intercept)))
    model = fit_items((rng.random(p.shape) < p).astype(float))
    assert np.corrcoef(model.slope, slope)[0, 1] > 0.95
    assert np.abs(model.intercept - intercept).max() < 0.35


def test_all_items_seen_leave_nothing_open():
    x = answers()
    model = fit_items(x)
    shares, variance = model.shares(np.arange(150), x)
    assert shares == pytest.approx(x.mean(axis=1))
    assert np.abs(variance).max() < 1e-12


def test_adaptive_looks_at_what_it_chose_alone():
    model = fit_items(answers())
    row = answers(seed=5)[0]
    items, seen = model.adaptive(row, 12)
    other = 1.0 - row
    other[items] = row[items]
    again, _ = model.adaptive(other, 12)
    assert (items == again).all()
    assert (seen == row[items]).all()


def test_methods_stand_on_one_protocol():
    found = choose_items(table_of(answers()), 20, folds=4)
    folds = {one.method: one for one in found.where(protocol="folds")}
    assert folds.keys() == {one.method for one in found.where(protocol="better")}
    assert all(one.n_models == 80 for one in folds.values())
    for name in ("stratified, p-IRT", "adaptive, p-IRT", "correlated, p-IRT"):
        assert folds[name].error < folds["random, mean"].error
    assert folds["stratified, p-IRT"].error < folds["null (mean of the training)"].error / 2
    better = {one.method: one for one in found.where(protocol="better")}
    assert better["correlated, ridge"].bias < -8 < better["correlated, p-IRT"].bias
    assert len(set(found.items)) == 20
    assert choose_items(table_of(answers()), 20, folds=4) == found


def test_bad_tables_are_told():
    with pytest.raises(ScoreDataError, match="at least 20 models to fit items to, found 10"):
        item_matrix(table_of(answers(10)))
    with pytest.raises(ScoreDataError, match="expected answers from 0 to 1, found 7"):
        item_matrix(table_of(answers() * 7))
    with pytest.raises(ScoreDataError, match="expected from 10 to 149 items, found 5"):
        choose_items(table_of(answers()), 5)
    with pytest.raises(ScoreDataError, match="expected one of random, anchors"):
        choose_items(table_of(answers()), 20, method="best")
    found = choose_items(table_of(answers(30)), 20, compare=False)
    assert "with fewer than 50" in found.warnings[-1]


def test_lists_name_no_item_twice():
    x = answers()
    for method in ("random", "anchors", "irt-anchors", "correlated", "stratified"):
        found = choose_items(table_of(x), 30, method=method, compare=False)
        assert len({*found.items}) == 30, method
        assert choose_items(table_of(x), 30, method=method, compare=False).items == found.items


def test_ridge_is_that_of_its_penalty():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 4)), rng.normal(size=60)
    said = ridge(x, y, x)
    middle = x - x.mean(axis=0)
    penalties = np.linalg.svd(middle)[1]
    fits = [
        y.mean()
        + middle
        @ np.linalg.solve(middle.T @ middle + k * np.mean(penalties**2) * np.eye(4), middle.T @ y)
        for k in 10.0 ** np.linspace(-2, 4, 13)
    ]
    assert min(np.abs(fit - said).max() for fit in fits) < 1e-10


@pytest.mark.full
def test_intervals_cover_models_like_the_old_and_better_ones():
    names, covered = ["stratified, p-IRT", "adaptive, p-IRT"], {}
    for seed in range(8):
        for one in choose_items(table_of(answers(100, 300, seed)), 30):
            if one.method in names:
                covered.setdefault((one.method, one.protocol), []).append(one.coverage)
    for name in names:
        assert 0.86 < np.mean(covered[name, "folds"]) < 0.95
        assert np.mean(covered[name, "better"]) > 0.85


def test_a_saved_list_predicts_with_an_interval(tmp_path):
    x = answers(100, 200, 3)
    found = choose_items(table_of(x[:-1]), 40)
    found.model.save(tmp_path / "items.json")
    model = ItemSuite.load(tmp_path / "items.json")
    assert ItemSuite.is_file(tmp_path / "items.json")
    names = [f"task_{j}" for j in range(200)]
    answered = {name: x[-1, names.index(name)] for name in found.items}
    said = model.estimate(answered)
    assert said == found.model.estimate(answered)
    assert abs(said.value - x[-1].mean()) < 0.1
    assert 0 < said.high - said.low < 0.3
    narrow = model.estimate(answered, level=0.5)
    assert narrow.high - narrow.low < said.high - said.low
    whole = model.estimate(dict(zip(names, x[-1], strict=True)))
    assert whole.value == pytest.approx(x[-1].mean())
    assert whole.high - whole.low < 1e-9
    table = table_of(x[-2:])
    assert [one.n_items for one in model.predict(table)] == [200, 200]
    with pytest.raises(UnknownNameError, match="unknown item 'task_999'"):
        model.estimate({"task_999": 1.0})
    with pytest.raises(ScoreDataError, match="an answer from 0 to 1, found 2 on task_1"):
        model.estimate({"task_1": 2.0})
    (tmp_path / "other.json").write_text('{"format": "other"}')
    with pytest.raises(
        ScoreDataError, match=r"other\.json: expected a 'gnomon item suite' as JSON"
    ):
        ItemSuite.load(tmp_path / "other.json")
    solved = dict.fromkeys(found.items, 1.0)
    free = model.estimate(solved)
    assert free.verdict == "at least the lower end: too much solved to tell how much more"
    assert (free.low < free.value, free.high) == (True, 1.0)
    bounded = model.estimate(solved | dict.fromkeys(found.items[:3], 0.0))
    assert bounded.verdict == "may be better than all models of the training"
    assert bounded.high < 1.0 - 3 / 200
    assert "fewer than 10 items" in model.estimate({"task_1": 1.0}).verdict


def test_few_models_have_no_interval_beyond_them():
    x = answers(60, 60, 2)
    order = np.argsort(x.mean(axis=1))
    for n_models, given in ((24, False), (40, True)):
        model = choose_items(table_of(x[order[:n_models]]), 18, method="correlated").model
        solved = {item: float(i % 6 > 0) for i, item in enumerate(model.chosen)}
        best, none = model.estimate(solved), model.estimate(dict.fromkeys(solved, 0.0))
        assert none.low <= none.value <= none.high
        assert none.verdict == ""
        assert np.isfinite(best.high) == np.isfinite(best.low) == given
        refused = best.verdict == "no interval: may be better than all of 24 models, too few"
        assert refused != given
        whole = model.estimate(dict.fromkeys(model.items, 1.0))
        assert (whole.low, whole.high) == (1.0, 1.0)
        after = model.next_items(solved, target=0.9)
        assert (after.stop, "nan" in after.notes[0]) == (given, False)


@pytest.mark.full
def test_the_smallest_set_tells_the_gap_that_it_says():
    table = table_of(answers(100, 300, 1))
    found = item_sizes(table, 0.15)
    told = [one.detectable for one in found]
    assert told == sorted(told, reverse=True)
    least = next(one for one in found if one.n_items == found.least)
    assert least.detectable <= 15
    # Pairs differ by the gap or more, so that more of them are told apart than the power says.
    assert least.power > 0.8
    assert max(one.wrong for one in found) < 0.025
    assert (
        choose_items(table, gap=0.15, compare=False).items
        == choose_items(table, found.least, compare=False).items
    )
    assert item_sizes(table, 0.15, method="adaptive").least <= found.least
    assert found == item_sizes(table, 0.15)
    with pytest.raises(
        ScoreDataError, match=r"no list of up to 100 items tells a gap of 0\.1 point"
    ):
        choose_items(table, gap=0.001)
    with pytest.raises(ScoreDataError, match="expected gap between 0 and 1, found 5"):
        item_sizes(table, 5.0)
    with pytest.raises(UnknownNameError, match="unknown method 'best'"):
        item_sizes(table, 0.1, method="best")


@pytest.mark.full
def test_items_are_asked_until_the_interval_is_narrow():
    x = answers(120, 300, 2)
    names = [f"task_{j}" for j in range(300)]
    model = choose_items(table_of(x[1:]), 40).model
    known = {}
    for _ in range(200):
        found = model.next_items(known, algorithm="m", target=0.06)
        if found.stop:
            break
        known[found[0].item] = x[0, names.index(found[0].item)]
    assert 10 <= len(known) < 120
    assert found.half_width <= 0.06
    assert abs(found.now.value - x[0].mean()) < 0.09
    assert "stop: the target is reached" in str(found)
    other = next_items(table_of(x), "new", target=0.06)
    assert not other.stop
    assert "no stop before 10 items" in str(other)
    assert len({one.item for one in other}) == 10
    with pytest.raises(ScoreDataError, match="target half width above 0, found 0"):
        next_items(table_of(x), target=0)


def test_an_item_without_an_answer_is_not_chosen():
    x = answers()
    x[5, :100] = np.nan
    chosen = fit_items(x).chosen_adaptively(x, 20)
    assert chosen[5].min() >= 100
    assert (
        "100 answers missing of 12000 (m005 100)"
        in choose_items(table_of(x), 20, compare=False).warnings[0]
    )


def test_odd_models_are_named_with_what_they_do_to_the_error():
    x = answers(60, 300, 4)
    x[7] = x[3]
    x[9] = np.where(np.arange(300) % 60 == 0, 1 - x[4], x[4])
    x[11] = 1 - x[12]
    told = choose_items(table_of(x), 30).warnings
    assert any(t.startswith("2 models a copy or nearly (m007 of m003, m009 of m004)") for t in told)
    assert any("1 model against the order of difficulty (m011): stratified" in t for t in told)
    assert all(" points, without " in t for t in told if "errs by" in t)
    few = choose_items(table_of(answers(40, 300, 4)), 30).warnings
    assert any("40 models" in t and "from half as many models by" in t for t in few)


def test_degenerate_tables():
    x = answers()
    with pytest.raises(ScoreDataError, match="fit items to, found 1: simulated, 100 items chosen"):
        gn.distill(ScoreTable.from_arrays({"one": [x[0]]}, units="items"))
    with pytest.raises(ScoreDataError, match="expected models that differ"):
        choose_items(table_of(np.ones_like(x)), 20)
    dull = x.copy()
    dull[:, :135] = 1.0
    dull[:, 60:120] = 0.0
    with pytest.raises(ScoreDataError, match="at least 20 items whose answers differ, found 15"):
        choose_items(table_of(dull), 20)
    half = x.copy()
    half[:, :60] = 1.0
    half[:, 60:90] = 0.0
    found = choose_items(table_of(half), 20)
    assert "90 items that all models answer alike" in found.warnings[0]
    assert not {f"task_{j}" for j in range(90)} & {*found.items}
    wild = x.copy()
    wild[3, 4] = 900.0
    with pytest.raises(ScoreDataError, match="found 900 of m003 on task_4; this one moves"):
        choose_items(table_of(wild), 20)


def test_the_verb_of_tasks_takes_items():
    table = ScoreTable.from_arrays(
        {f"m{i:03}": [row] for i, row in enumerate(answers())}, units="items"
    )
    found = gn.distill(table, size=20)
    assert found == choose_items(table, 20)
    assert not gn.distill(table, size=20, procedure="anchors", nested="none")
    with pytest.raises(ScoreDataError, match="summary is for tasks and not here"):
        gn.distill(table, size=20, summary="mean")
    with pytest.raises(ScoreDataError, match="gap is for items, found tasks"):
        gn.distill(table_of(answers()), gap=0.1)
    with pytest.raises(ScoreDataError, match="reliability is of tasks"):
        reliability(table, size=20, nested="folds")
    assert next_items(table).half_width == gn.distill.next_steps(table, "new").half_width


def test_better_models_are_predicted_from_the_worse_alone():
    x = answers(100, 300, 6)
    order = np.argsort(x.mean(axis=1))
    split = [(order[:50], order[50:])]
    names = ["stratified, p-IRT"]
    found = held_items(x, 30, split, np.random.default_rng(0), names)["stratified, p-IRT"]
    y = x.copy()
    y[order[50:]] = 1 - y[order[50:]]
    other = held_items(y, 30, split, np.random.default_rng(0), names)["stratified, p-IRT"]
    assert (found.best == other.best).all()
    assert (found.value != other.value).any()
