"""Figures of few and of many algorithms: nothing is cut off, and no legend lies on a curve."""

import warnings
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest
from matplotlib.text import Text

import gnomon as gn

#: How scores are made from a normal draw.
SCORES = {
    "negative": lambda x: x - 9.0,
    "huge": lambda x: 2e8 * (x + 4.0),
    "equal": lambda x: np.full(x.shape, 3.0),
    "tailed": lambda x: np.exp(2.0 * x),
}
FIGURES = {
    "estimate": lambda t: gn.estimate(t),
    "per task": lambda t: gn.estimate(t, "mean", per_task=True),
    "compare": lambda t: gn.compare(t, *t.algorithms[:2]),
    "compare all": lambda t: gn.compare(t, metrics="probability_of_improvement", n_resamples=50),
    "profile": lambda t: gn.profile(t, n_resamples=50),
    "curves": lambda t: gn.curves(_along_steps(t), ["mean", "iqm"], n_resamples=25),
    "plan": lambda t: gn.plan(t.select(algorithms=t.algorithms[:5])),
    "rank": lambda t: gn.rank(t),
}


def table(kind, n_algorithms, n_tasks=4):
    draws = np.random.default_rng(0)
    return gn.ScoreTable.from_arrays(
        {
            f"agent {i}" if i % 3 else f"agent {i} with settings of its own": SCORES[kind](
                draws.normal(3.0 + 0.2 * i, 1.0, (4, n_tasks))
            )
            for i in range(n_algorithms)
        }
    )


def _along_steps(one):
    scores = {name: np.array([one.runs(name, t) for t in one.tasks]).T for name in one.algorithms}
    grown = {name: x[..., None] * np.linspace(0.2, 1.0, 6) for name, x in scores.items()}
    return gn.ScoreTable.from_arrays(grown)


def texts(drawing):
    return [t for t in drawing.findobj(Text) if t.get_visible() and t.get_text().strip()]


def assert_legible(drawing, what):
    drawing.draw_without_rendering()
    page = drawing.bbox.padded(1.5)
    for text in texts(drawing):
        box = text.get_window_extent()
        inside = page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1
        # Ticks beyond the limits of an axis have labels that are not drawn.
        assert inside or _beyond_limits(drawing, text), (what, text.get_text(), box.extents)
    named = [ax.xaxis.label for ax in drawing.axes if ax.get_xlabel()]
    scales = [label.get_window_extent() for label in named]
    assert not any(a.overlaps(b) for a, b in combinations(scales, 2)), (what, named[0].get_text())
    heads = {ax.get_title("left") for ax in drawing.axes} - {""}
    boxes = [t.get_window_extent() for t in texts(drawing) if t.get_text() in heads]
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2)), (what, heads)
    for ax in drawing.axes:
        for legend in (*filter(None, [ax.get_legend()]), *drawing.legends):
            box = legend.get_window_extent()
            assert box.x0 >= ax.get_window_extent().x1 or box.y1 <= ax.get_window_extent().y0, what
        labels = [t for t in ax.get_xticklabels() if t.get_text() and not t.get_rotation()]
        boxes = sorted((t.get_window_extent() for t in labels), key=lambda box: box.x0)
        assert all(a.x1 <= b.x0 + 0.5 for a, b in pairwise(boxes)), what


def _beyond_limits(drawing, text):
    for ax in drawing.axes:
        for axis, ends in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
            for tick in axis.get_major_ticks():
                if text in (tick.label1, tick.label2):
                    return not min(ends) <= tick.get_loc() <= max(ends)
    return False


def assert_all_legible(kind, n_algorithms, names=FIGURES):
    for name in names:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            drawing = FIGURES[name](table(kind, n_algorithms)).figure().drawing
        assert_legible(drawing, (kind, n_algorithms, name))


@pytest.mark.parametrize("kind", SCORES)
def test_figures_of_two_are_legible(kind):
    assert_all_legible(kind, 2, ["estimate", "compare", "profile", "curves"])


def test_a_long_name_of_the_scale_stays_below_its_panel():
    scores = replace(table("tailed", 3), metric="return of an episode, random-human normalised")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_legible(FIGURES["estimate"](scores).figure().drawing, "estimate")


@pytest.mark.parametrize(("n_algorithms", "n_tasks"), [(20, 5), (20, 2)])
def test_curves_of_long_names_on_many_tasks_are_legible(n_algorithms, n_tasks):
    draws = np.random.default_rng(0)
    long = "soft actor-critic with prioritised replay, layer norm and returns of n steps"
    names = [f"{i:02d} {long}" for i in range(n_algorithms)]
    whole = gn.curves({name: draws.normal(0.0, 1.0, (2, 3, 6)) for name in names}, "mean")
    tasks = [f"environments-of-a-long-suite/level-{t}-v5 (sticky actions)" for t in range(n_tasks)]
    each = (replace(curve, task=task) for task in tasks for curve in whole)
    found = type(whole)(tuple(each), whole.settings)
    figure = found.figure()
    assert figure.wide
    assert_legible(figure.drawing, n_algorithms)
    heads = [ax.get_title("left") for ax in figure.drawing.axes]
    assert all(f"level-{t}-v5" in head for t, head in enumerate(heads))
    shown = [text.get_text() for text in figure.drawing.legends[0].get_texts()]
    assert len({*shown}) == n_algorithms


@pytest.mark.full
def test_of_more_than_twenty_lines_the_first_are_drawn():
    assert_all_legible("negative", 24, ["estimate", "profile", "curves"])
    figure = gn.profile(table("negative", 24)).figure()
    assert "The first 20 of 24 are drawn." in figure.caption
    assert len(figure.drawing.axes[0].get_legend().get_texts()) == 20


@pytest.mark.full
@pytest.mark.parametrize(
    ("kind", "n_algorithms"),
    [("huge", 8), ("tailed", 20)],
)
def test_each_figure_is_legible(kind, n_algorithms):
    assert_all_legible(kind, n_algorithms)


def test_a_series_has_one_style_in_every_figure():
    scores = table("negative", 8)
    profile = gn.profile(scores).plot().axes[0]
    curves = gn.curves(_along_steps(scores), "mean", n_resamples=25).plot().axes[0]
    colors = [{line.get_label(): line.get_color() for line in ax.lines} for ax in (profile, curves)]
    panel = gn.estimate(scores, "mean").plot().axes[0]
    names = [label.get_text().replace("\n", " ") for label in panel.get_yticklabels()]
    dots = {names[int(line.get_ydata()[0])]: line.get_color() for line in panel.lines}
    for name in scores.algorithms:
        assert colors[0][name] == colors[1][name] == dots[name]
