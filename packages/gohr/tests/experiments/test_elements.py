"""Which element of a rule makes it harder: ratios, tests and censoring against known truths."""

import html
import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import gohr
from gnomon.errors import UnknownNameError
from gohr.errors import ConfigError
from gohr.experiments import Trials, compare_trials, elements, score, tag_effects

RULES = [
    {"name": "base", "text": "(*,*,red,*,0) (*,*,black,*,1) (*,*,blue,*,2) (*,*,yellow,*,3)"},
    {
        "name": "shape",
        "text": "(*,star,*,*,0) (*,triangle,*,*,1) (*,square,*,*,2) (*,circle,*,*,3)",
    },
    {"name": "order", "text": "# tags: order\n(*,*,*,L1,0)"},
    {"name": "free", "text": "# tags: any\n(*,*,*,*,*)"},
]


def learned(errors):
    return Trials(np.asarray(errors, float), np.ones(len(errors), bool))


def censored(errors):
    return Trials(np.asarray(errors, float), np.zeros(len(errors), bool))


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A run of a learner that learns some of the rules, and of one that learns none."""
    learners = [{"kind": "linear_dqn", "name": "dqn", "actions": "occupied"}, "uniform"]
    config = gohr.ExperimentConfig(
        "elements", RULES, learners, trials=8, episodes=200, baseline="base"
    )
    return gohr.run(config, tmp_path_factory.mktemp("elements"))


def test_a_row_for_each_learner_and_other_rule(played):
    found = elements(played)
    assert [(e.learner, e.rule) for e in found] == [
        (learner, rule) for learner in ("dqn", "uniform") for rule in ("shape", "order", "free")
    ]
    assert found.settings["baseline"] == "base"
    table = score(played, "tce")
    row = found.where(learner="dqn", rule="shape")[0]
    runs = [table.runs("dqn", rule) for rule in ("shape", "base")]
    if row.n_learned == 8:
        assert row.ratio == pytest.approx(np.median(runs[0]) / np.median(runs[1]))
    order = found.where(learner="dqn", rule="order")[0]
    assert (order.bound, order.high, order.n_learned) == ("at least", np.inf, 0)
    assert order.low > 2.0
    assert order.p_adjusted < 0.01
    assert "order (≥ " in found.sentences()[0]


def test_what_nobody_learned_is_not_compared(played):
    found = elements(played).where(learner="uniform")
    order = found.where(rule="order")[0]
    assert np.isnan([order.ratio, order.low, order.high, order.difference]).all()
    assert np.isnan([order.ease_ratio, order.p_value]).all()
    free = found.where(rule="free")[0]
    assert (free.ratio, free.bound) == (0.0, "at most")
    assert any("no trial of uniform learned base" in w for w in elements(played).warnings)


def test_uncensored_trials_give_the_textbook_numbers():
    rng = np.random.default_rng(3)
    a, b = rng.gamma(4.0, 30.0, 25), rng.gamma(4.0, 20.0, 30)
    found = compare_trials(learned(a), learned(b))
    assert found.ratio == pytest.approx(np.median(a) / np.median(b))
    assert found.difference == pytest.approx(np.median(a) - np.median(b))
    peer = stats.mannwhitneyu(a, b, alternative="greater", method="asymptotic")
    assert found.p_value == pytest.approx(peer.pvalue)
    assert found.ease_ratio == pytest.approx(1.0 - peer.statistic / (25 * 30))
    boot = stats.bootstrap(
        (a, b), lambda x, y, axis: np.median(x, axis=axis) / np.median(y, axis=axis),
        method="percentile", n_resamples=9999, rng=5,
    ).confidence_interval  # fmt: skip
    assert [found.low, found.high] == pytest.approx([*boot], rel=0.04)


def test_the_median_of_censored_trials_is_that_of_the_product_limit_estimate():
    rng = np.random.default_rng(4)
    errors, events = rng.gamma(4.0, 30.0, 40), rng.random(40) < 0.7
    one = learned(np.full(40, 2.0))
    found = compare_trials(Trials(errors, events), one)
    data = stats.CensoredData(uncensored=errors[events], right=errors[~events])
    peer = stats.ecdf(data).sf
    assert 2.0 * found.ratio == peer.quantiles[peer.probabilities <= 0.5][0]


def test_a_bound_is_never_an_estimate():
    base, hard = learned(np.arange(10.0, 20.0)), censored(np.arange(30.0, 40.0))
    up, down = compare_trials(hard, base), compare_trials(base, hard)
    assert (up.bound, down.bound) == ("at least", "at most")
    assert (up.high, down.low, down.difference_low) == (np.inf, 0.0, -np.inf)
    assert up.ease_ratio == 0.0
    # A trial that was given up early says nothing of one that took longer.
    early = compare_trials(censored(np.arange(1.0, 9.0)), base)
    assert early.ease_ratio == 0.5
    assert early.p_value > 0.4


def test_trials_stopped_at_other_numbers_of_errors_are_no_harder():
    # One of 15 trials learned the baseline, when 8 of them and all 15 on the rule were at risk.
    base = Trials(np.arange(284.0, 299.0), np.arange(15) == 7)
    found = compare_trials(censored(np.full(15, 3000.0)), base)
    assert found.p_value == pytest.approx(8 / 23)
    rng, refused = np.random.default_rng(0), 0
    for _ in range(200):
        errors = np.exp(5.0 + 0.4 * rng.normal(size=(2, 60)))
        limits = np.exp(0.2 * rng.normal(size=(2, 60))) * [[180.0], [75.0]]
        a, b = (Trials(np.minimum(e, c), e <= c) for e, c in zip(errors, limits, strict=True))
        refused += compare_trials(a, b, n_resamples=1).p_value <= 0.05
    assert refused <= 20  # 10 expected; ranks of Gehan's scores refuse 36


def test_the_test_of_censored_trials_is_that_of_sums_by_hand():
    # At 1, 2 and 3 errors one trial learned, of 2 and 2, 2 and 1, 1 and 1 at risk: weights 4, 3, 2.
    a, b = Trials(np.array([2.0, 5.0]), np.array([True, False])), learned([1.0, 3.0])
    # The weighted number of trials of a is 3; at most as many if none of its trials learned at 1,
    # and not both at 2 and 3.
    assert compare_trials(a, b).p_value == pytest.approx(1 / 2 * (1 - 2 / 3 * 1 / 2))


def test_a_baseline_without_errors_and_medians_that_none_reached_are_put_in_words(played):
    one = compare_trials(learned(np.arange(10.0, 20.0)), learned(np.zeros(10)))
    some = Trials(np.full(10, 50.0), np.arange(10) < 2)
    two = compare_trials(Trials(np.full(10, 900.0), np.zeros(10, bool)), some)
    for element, words in ((one, "14 errors more"), (two, "not estimable")):
        e = replace(element, learner="a", rule="r", baseline="b", p_adjusted=0.01)
        table = replace(elements(played), records=(e,))
        assert words in table.sentences()[0]
        assert "nan" not in str(table)


def test_few_trials_have_no_interval():
    found = compare_trials(learned([4, 5, 6]), learned([1, 2, 3]))
    assert found.ratio == 2.5
    assert np.isnan([found.low, found.difference_high]).all()


def test_tags_multiply_errors(tmp_path):
    buckets = ["0", "1", "[0,1]", "[1,2]", "2", "3", "[2,3]", "[3,0]"]
    tags = ["", "", "a", "a", "b", "b", "a, b", "a, b"]
    texts = [f"# tags: {t}\n(*,*,*,*,{b})" for t, b in zip(tags, buckets, strict=True)]
    rules = [{"name": f"r{i}", "text": text} for i, text in enumerate(texts)]
    config = gohr.ExperimentConfig("tags", rules, ["uniform", "frugal"], trials=3, episodes=4)
    run = gohr.run(config, tmp_path)
    found = tag_effects(run)
    table = score(run, "tce")
    y = [np.log1p(np.median(table.runs("uniform", rule["name"]))) for rule in rules]
    has_a = np.array([0, 0, 1, 1, 0, 0, 1, 1])
    peer = np.mean(np.array(y)[has_a == 1]) - np.mean(np.array(y)[has_a == 0])  # balanced
    one = found.where(tag="a", learner="uniform", versus="")[0]
    assert np.log(one.ratio) == pytest.approx(peer)
    assert one.low < one.ratio < one.high
    assert tag_effects(run, ["a"]).where(versus="frugal")[0].n_tagged == 4
    with_a, without = (np.array(y)[has_a == n] for n in (1, 0))
    error = np.sqrt(with_a.var(ddof=1) / 4 + without.var(ddof=1) / 4)  # Welch's
    alone = tag_effects(run, ["a"]).where(learner="uniform", versus="")[0]
    reach = stats.t.ppf(0.975, 6) * error
    assert np.log([alone.low, alone.high]) == pytest.approx([peer - reach, peer + reach])
    with pytest.raises(UnknownNameError, match=r"tag 'c'.*a, b"):
        tag_effects(run, ["c"])
    assert "Elements over all rules" in gohr.report(run, tmp_path / "page.html").read_text()
    both = found.where(tag="a", learner="uniform", versus="frugal")[0]
    other = found.where(tag="a", learner="frugal", versus="")[0]
    assert both.ratio == pytest.approx(one.ratio / other.ratio)


def test_wrong_baselines_are_refused(played, tmp_path):
    with pytest.raises(UnknownNameError, match=r"baseline 'bas'.*'base'"):
        elements(played, "bas")
    with pytest.raises(UnknownNameError, match="baseline"):
        gohr.ExperimentConfig("x", ["clockwise"], ["uniform"], baseline="nearby")
    config = gohr.ExperimentConfig("x", ["clockwise"], ["uniform"], trials=1, episodes=1)
    alone = gohr.run(config, tmp_path)
    with pytest.raises(ConfigError, match="expected a baseline"):
        elements(alone)
    with pytest.raises(ConfigError, match="found the baseline alone"):
        elements(alone, "clockwise")


def test_the_baseline_is_kept_and_decides_no_attempt(played):
    with_it, without = (
        gohr.ExperimentConfig("x", ["clockwise", "nearby"], ["uniform"], baseline=b)
        for b in ("nearby", None)
    )
    assert with_it.hash == without.hash
    assert gohr.Run.open(played.path).config.baseline == "base"


def test_the_verb_and_the_report_give_the_same_numbers(played, command, tmp_path):
    said = command(f"gohr elements {played.path} --json")
    answer = json.loads(said.out)
    assert answer["results"] == elements(played).as_records()
    tagged = command(f"gohr elements {played.path} --tag order --json")
    tags = tag_effects(played, ["order"]).as_records()
    assert json.loads(tagged.out)["results"] == answer["results"] + tags
    assert "too few rules for an interval of the tags order" in tagged.out
    assert answer["results"][1]["high"] is None
    page = html.unescape(gohr.report(played, tmp_path / "page.html").read_text())
    for row in elements(played).rows():
        assert f">{row['ratio']}<" in page
