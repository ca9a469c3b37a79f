"""Write docs/gohr/results.md and its figures: ``python docs/make_results.py [FOLDER]``.

Everything is computed from the scores that come with the package; see make_measured_scores.py.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.patches import Rectangle

from gnomon.distillation import Distilled, distill, prepare
from gnomon.plot import Figure, new_drawing
from gnomon.plot.style import FULL_WIDTH, INK, LEVELS, MUTED, SERIES, SIZE, dress
from gnomon.ranking import Ranking, rank
from gnomon.scores import ScoreTable, load_scores, measured_provenance
from gnomon.stats import estimate
from gohr.rules import FAMILIES, rule_info

HERE = Path(__file__).parent
FULL, CORE, UNMASKED = "gohr-full", "gohr-core-sb3", "gohr-core-sb3-unmasked"
#: Under this rule nobody errs, so that there is no skill.
WITHOUT_ERRORS = "anything-goes"
#: One learner of each sort, with the settings that it has if nothing is said, or near them.
SHOWN = {
    "uniform": "uniform",
    "frugal": "frugal",
    "table-all-cells, learning_rate=0.5, gamma=0.0, initial_value=-0.75": "table, all cells",
    "table, learning_rate=0.25, gamma=0.5, initial_value=-0.75, epsilon_start=0.0": "table",
    "reinforce, learning_rate=0.1, baseline=mean": "reinforce",
    "dqn-all-cells": "dqn, all cells",
    "dqn, learning_rate=0.03, gamma=1.0": "dqn",
    "ideal": "ideal",
}
#: What a rule may look at, by the tags of the catalogue.
ELEMENTS = {
    "shape or colour": ("shape", "color"),
    "the cell": ("cell",),
    "where others lie": ("order",),
    "what went before": ("memory",),
    "how many went": ("count",),
    "one bucket only": ("one-bucket",),
}
N_RESAMPLES = 2000

TEXT = """# Results

What the learners of this project make of the suites. The scores come with Gnomon, so that every number
here can be computed again without playing:

<!-- run -->

```python
from gnomon.scores import load_scores

table = load_scores("gohr-full", "skill")
print(len(table.algorithms), "learners,", len(table.tasks), "rules")
```

<!-- output -->

```text
{n_learners} learners, {n_rules} rules
```

On the command line the name of the data set stands for a file, as in `gnomon rank gohr-full --score skill`.
This page is written by `python docs/make_results.py`.

## How they were made

<!-- not run: twenty minutes of two cores -->

```console
$ gohr run gohr-full-results --out full --workers 2
$ python docs/make_measured_scores.py gohr-full full
```

Gnomon {version}, {made}; config `{config}`. {n_learners} configurations of {n_kinds} kinds of in-process learners,
{trials} trials of 200 boards on each of the {n_rules} rules of `gohr-full-v1`. `rule_player` is not among them:
it is shown the rule and never errs.{stopped} Each trial has three scores: `tce`, `errors_to_learn` and
`skill`. Packed are the scores, not the attempts; who plays the experiment again gets the same ones.

`skill` is used below, since it means the same on every rule: 0 is chance, 1 is without errors, and below 0 is
worse than chance. Under `anything-goes` nobody errs, so there is no skill, and {n_scored} rules remain.

## Ranks

Mean skill over rules, with the 95 % interval of runs drawn again within each rule; and the rank by won pairs
(pairwise tests of P(X > Y) over rules) with its simultaneous 95 % interval. The intervals say how sure
the numbers are *on these rules*, with more trials; they do not speak of other rules. Mean and rank need not agree: a mean
is moved by the few rules under which a learner fails badly or does very well, and among won pairs all rules count alike.

{ranks}

* `ideal` was given a space of 22,000 rules that holds every rule of this suite. It is the floor of what can be known, not a
  competitor.
* A table with one number for each class of attempt does better here than the linear DQN with its 3,720 features. The
  features of the DQN say nothing of where a piece lies. Under a rule about cells it repeats what failed,
  and falls below chance; the table tries something else.
* Learners that may attempt empty cells pay for learning that those are no good.

## Difficulty by family

![Mean skill of eight learners on the rules of each family](../images/results/families.svg)

{families}

## Which element of a rule makes it hard

The catalogue says of each rule what it looks at. A linear model of skill with these elements as factors tells
the effect of each with the others held fixed: skill with the element less skill without it. Rules
are drawn again within families for the 95 % intervals, {n_resamples:,} times: they speak of rules *like* these.

![Effect of each element on the skill of six learners](../images/results/elements.svg)

{elements}

{shared}

The elements are not independent in the catalogue: most rules about the past are about buckets too. And a main effect
is a mean over rules; no interaction is fitted.

## Five rules for ninety

Which five rules tell the mean skill over all {n_scored}? The learners are the rows, without `ideal`, which was given the
answers: {n_rows} rows. The subset was searched by the procedure `paper` (see [fewer tasks](../gnomon/distill.md)):

{subset}

![Mean skill as the five rules foretell it, and as it was measured](../images/results/five-rules.svg)

| error of the five rules | root mean square | R² |
| --- | --- | --- |
| the rules chosen and judged on the same learners | {cv_rmse:.3f} | {cv_r2:.3f} |
| judged on learners that the choice had not seen (ten folds) | {nested_rmse:.3f} | {nested_r2:.3f} |
| judged on a kind of learner that the choice had not seen | {kind_rmse:.3f} | {kind_r2:.3f} |

The last line is the honest one for a new sort of learner. The rows are relatives: {n_tables} of {n_rows} are tables with other
settings, so ten folds always leave a sibling in. The choice is not stable either: in the ten folds the most
frequent rules were {frequent}.

{sb3}"""


def lines(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Lay out a table in Markdown."""
    rule = ["---"] * len(header)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [header, rule, *rows])


def mean_skill(table: ScoreTable) -> dict[tuple[str, str], float]:
    """Return the mean skill of each learner on each rule."""
    return {
        (learner, rule): float(np.mean(table.runs(learner, rule)))
        for learner in table.algorithms
        for rule in table.tasks
    }


def rank_rows(table: ScoreTable, ranking: Ranking) -> list[list[str]]:
    """Return a row a learner: its settings, mean skill, rank and the interval of that."""
    found = estimate(table, ["mean"], n_resamples=N_RESAMPLES, rng=np.random.default_rng(0))
    estimates = {estimate.algorithm: estimate for estimate in found}
    rows = []
    for place, one in enumerate(ranking, start=1):
        e, name = estimates[one.name], one.name
        between = f"{decimal(e.value, 3)} [{decimal(e.low, 3)}, {decimal(e.high, 3)}]"
        rows.append([str(place), f"`{name}`", between, f"{one.rank_low} to {one.rank_high}"])
    return rows


def family_means(
    skill: dict[tuple[str, str], float], rules: Sequence[str]
) -> npt.NDArray[np.float64]:
    """Return the mean skill of each shown learner (columns) on each family (rows), hardest first."""
    of = {rule: rule_info(rule).family for rule in rules}
    return np.array([
        [np.mean([skill[name, rule] for rule in rules if of[rule] == family]) for name in SHOWN]
        for family in FAMILIES
    ])  # fmt: skip


def decimal(value: float, digits: int = 2) -> str:
    """Return a number with a real minus, and none before nothing."""
    return f"{round(float(value), digits) + 0.0:.{digits}f}".replace("-", "−")


def family_figure(means: npt.NDArray[np.float64], counts: Counter[str]) -> Figure:
    """Draw a square for each family and learner, the darker the better."""
    order = np.argsort(means[:, 2:-1].mean(axis=1))
    families = [list(FAMILIES)[i] for i in order]
    cells = means[order]
    drawing = new_drawing(FULL_WIDTH * 0.78, 0.8 + 0.36 * len(families))
    ax = dress(drawing.subplots())
    for row, column in np.ndindex(*cells.shape):
        value = cells[row, column]
        level = int(np.searchsorted([0.05, 0.35, 0.7], value))
        ax.add_patch(
            Rectangle((column - 0.47, row - 0.45), 0.94, 0.9, color=LEVELS[level], linewidth=0)
        )
        ax.text(
            column, row, decimal(value), ha="center", va="center",
            fontsize=SIZE - 0.5, color="#ffffff" if level == 3 else INK,
        )  # fmt: skip
    ax.set_xlim(-0.5, cells.shape[1] - 0.5)
    ax.set_ylim(len(families) - 0.5, -0.5)
    ax.set_yticks(range(len(families)), [f"{f} ({counts[f]})" for f in families])
    ax.set_xticks(range(len(SHOWN)), [name.replace(", ", ",\n") for name in SHOWN.values()])
    ax.xaxis.tick_top()
    ax.tick_params(axis="both", length=0, labelcolor=INK, labelsize=SIZE)
    ax.spines["bottom"].set_visible(False)
    rows = tuple(
        {"family": family} | dict(zip(SHOWN.values(), map(float, cell), strict=True))
        for family, cell in zip(families, cells, strict=True)
    )
    alt = "A grid of mean skills, families by learners."
    return Figure("families", "Difficulty by family", "", alt, drawing, rows)


def design(rules: Sequence[str]) -> npt.NDArray[np.float64]:
    """Return, for each rule, 1 and whether it has each element."""
    tags = [set(rule_info(rule).tags) for rule in rules]
    return np.array([[1.0, *(bool(own & set(e)) for e in ELEMENTS.values())] for own in tags])


def effects(
    skill: dict[tuple[str, str], float], rules: Sequence[str], rng: np.random.Generator
) -> npt.NDArray[np.float64]:
    """Return value, low and high of each effect, shape (learners, elements, 3)."""
    x = design(rules)
    y = np.array([[skill[name, rule] for name in SHOWN] for rule in rules])
    families = np.array([rule_info(rule).family for rule in rules])
    groups = [np.flatnonzero(families == family) for family in FAMILIES]
    drawn = []
    for _ in range(N_RESAMPLES):
        rows = np.concatenate([rng.choice(group, group.size) for group in groups])
        drawn.append(np.linalg.lstsq(x[rows], y[rows], rcond=None)[0][1:])
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    value = np.linalg.lstsq(x, y, rcond=None)[0][1:]
    return np.stack([value, low, high], axis=-1).transpose(1, 0, 2)


def effect_figure(found: npt.NDArray[np.float64]) -> Figure:
    """Draw a panel for each learner but the first and the last, which never vary."""
    drawing = new_drawing(0.74 * FULL_WIDTH, 4.4)
    axes = drawing.subplots(2, 3, sharex=True, sharey=True).ravel()
    for ax, name, one in zip(axes, list(SHOWN.values())[1:-1], found[1:-1], strict=True):
        dress(ax, grid="x")
        ax.axvline(0, color=MUTED, linewidth=0.8)
        for row, (value, low, high) in enumerate(one):
            sure = low > 0 or high < 0
            color = SERIES[0] if value > 0 else SERIES[1]
            ax.plot([low, high], [row, row], color=color if sure else MUTED, linewidth=1.6)
            ax.plot(value, row, "o", markersize=5, color=color if sure else "#ffffff",
                    markeredgecolor=color if sure else MUTED)  # fmt: skip
        ax.set_title(name, loc="left", fontsize=SIZE + 0.5, color=INK)
        ax.set_ylim(len(ELEMENTS) - 0.4, -0.6)
        ax.set_yticks(range(len(ELEMENTS)), list(ELEMENTS))
        ax.tick_params(axis="y", labelcolor=INK)
    drawing.supxlabel("skill with the element less skill without it", fontsize=SIZE, color=MUTED)
    rows = tuple(
        {"learner": name, "element": element, "value": float(v), "low": float(a), "high": float(b)}
        for name, one in zip(SHOWN.values(), found, strict=True)
        for element, (v, a, b) in zip(ELEMENTS, one, strict=True)
    )
    alt = "Dots with intervals: the effect of six elements on six learners."
    return Figure("elements", "Which element makes it hard", "", alt, drawing, rows, wide=True)


def element_table(found: npt.NDArray[np.float64]) -> str:
    """Return the effects as a table, with the tags that each element stands for."""
    rows = []
    for column, (element, tags) in enumerate(ELEMENTS.items()):
        named = f"{element} ({', '.join(f'`{tag}`' for tag in tags)})"
        cells = [" ".join([decimal(v), f"[{decimal(a)}, {decimal(b)}]"])
                 for v, a, b in found[1:-1, column]]  # fmt: skip
        rows.append([named, *cells])
    return lines(["element", *list(SHOWN.values())[1:-1]], rows)


def shared_text(found: npt.NDArray[np.float64]) -> str:
    """Say which elements make a rule harder for each of the learners that learn."""
    low = (found[2:-1, :, 2] < 0).all(axis=0)
    worst = [list(ELEMENTS)[i] for i in np.flatnonzero(low)]
    free = [list(ELEMENTS)[i] for i in np.flatnonzero(~low)]
    return (
        f"What makes a rule harder for every learner that learns, with the interval below 0: {', '.join(worst)}. "
        f"Not so for all of them: {', '.join(free)}. `frugal` learns nothing and `uniform` less; for `ideal` "
        "every rule of the space is as good as known, so that no element matters by more than 0.01."
    )


def subset_figure(best: Distilled, names: Sequence[str], kinds: Sequence[str]) -> Figure:
    """Draw the predictions of the nested validation against what was measured."""
    assert best.nested is not None
    truth = best.nested.target
    predicted = truth + best.nested.residuals[0]
    drawing = new_drawing(4.9, 4.4)
    ax = dress(drawing.subplots())
    ends = [min(truth.min(), predicted.min()) - 0.03, max(truth.max(), predicted.max()) + 0.03]
    ax.plot(ends, ends, color=MUTED, linewidth=0.8)
    for i, kind in enumerate(dict.fromkeys(kinds)):
        own = np.array(kinds) == kind
        ax.plot(
            truth[own], predicted[own], "os^Dv"[i % 5], color=SERIES[i % 6], label=kind,
            markersize=5.5, markeredgecolor="#ffffff", markeredgewidth=0.6,
        )  # fmt: skip
    ax.set_xlim(*ends)
    ax.set_ylim(*ends)
    ax.set_xlabel("mean skill, as measured on all rules")
    ax.set_ylabel("foretold by five rules, in folds not seen")
    dress(ax, grid="both")
    ax.legend(frameon=False, fontsize=SIZE - 0.5, labelcolor=INK, loc="upper left")
    rows = tuple(
        {"learner": n, "kind": k, "measured": float(t), "foretold": float(p)}
        for n, k, t, p in zip(names, kinds, truth, predicted, strict=True)
    )
    alt = "A dot for each learner, close to the diagonal."
    return Figure("five-rules", "Five rules for ninety", "", alt, drawing, rows)


def five_rules(table: ScoreTable) -> tuple[Distilled, Distilled, Figure]:
    """Return the subset with its errors in folds, and by kind, and the figure."""
    rows = table.select(algorithms=[name for name in table.algorithms if name != "ideal"])
    ready = prepare(rows, transform="identity", summary="mean", group_by="kind")
    folds, kinds = (
        distill(ready, procedure="paper", nested=nested)[0] for nested in ("folds", "groups")
    )
    return folds, kinds, subset_figure(folds, ready.algorithms, ready.groups)


def errors_of(found: Distilled) -> tuple[float, float]:
    """Return the root mean square of the nested residuals, and their R²."""
    assert found.nested is not None
    return float(np.sqrt(np.nanmean(found.nested.residuals**2))), found.nested.r2


def sb3_text(skill: dict[tuple[str, str], float]) -> str:
    """Return what came of Stable-Baselines3's algorithms, beside two learners of this project."""
    tables = [load_scores(CORE, "skill"), load_scores(UNMASKED, "skill")]
    measured = [(table, learner) for table in tables for learner in table.algorithms]
    others = ("reinforce, learning_rate=0.1, baseline=mean", "dqn, learning_rate=0.03, gamma=1.0")
    rows = [
        [f"`{rule}`"]
        + [decimal(table.runs(learner, rule).mean()) for table, learner in measured]
        + [decimal(skill[name, rule]) for name in others]
        for rule in tables[0].tasks
    ]
    head = ["rule", *(f"`{learner}`" for _, learner in measured), "`reinforce`", "`dqn`"]
    n_trials = sum(measured_provenance(name)["n_trials"] for name in (CORE, UNMASKED))
    errors = load_scores(UNMASKED, "tce")
    means = [errors.runs(a, rule).mean() for a in errors.algorithms for rule in errors.tasks]
    least, most = min(means), max(means)
    return (
        "## Stable-Baselines3\n\n`gohr run gohr-core-sb3 --out sb3` plays `MaskablePPO` on `gohr-core-v1`, and `gohr run "
        "gohr-core-sb3-unmasked --out unmasked` plays `A2C` and `DQN`, which take no masks; three trials a rule, "
        f"{n_trials} in all. Mean skill; beside it two learners of this project on the same rules:\n\n"
        + lines(head, rows)
        + "\n\n`MaskablePPO` sees what lies in each cell. So it learns rules about cells, which are beyond this project's two, "
        "and hardly, in so few boards, which of the pieces are alike. `A2C` and `DQN` may attempt empty cells too, and did not learn: "
        f"of at most 20,000 attempts a trial, {least:,.0f} to {most:,.0f} failed, on average of a rule's three trials. "
        "Three trials tell large differences only, and the settings were not tuned.\n"
    )


def stopped_text(about: dict[str, Any]) -> str:
    """Say so if the run was stopped before its end."""
    if about["n_trials"] == about["n_trials_planned"]:
        return ""
    n_pairs = len(about["learners"]) * len(load_scores(FULL).tasks)
    planned = about["n_trials_planned"] // n_pairs
    return f" The experiment has {planned} trials; these are the ones that were played."


def page(folder: Path) -> str:
    """Write the figures, and return the text of the page."""
    about, whole = measured_provenance(FULL), load_scores(FULL, "skill")
    rules = [rule for rule in whole.tasks if rule != WITHOUT_ERRORS]
    table = whole.select(tasks=rules)
    skill = mean_skill(table)
    ranking = rank(table)
    means = family_means(skill, rules)
    counts = Counter(rule_info(rule).family for rule in rules)
    found = effects(skill, rules, np.random.default_rng(0))
    folds, kinds, picture = five_rules(table)
    for figure in (family_figure(means, counts), effect_figure(found), picture):
        figure.write(folder / f"{figure.name}.svg")
    assert folds.nested is not None
    weights = zip(folds.model.tasks, folds.model.weights, strict=True)
    frequent = list(folds.nested.frequencies().items())[:3]
    by_kind = Counter(learner["kind"] for learner in about["learners"])
    return TEXT.format(
        n_learners=len(whole.algorithms),
        n_rules=len(whole.tasks),
        n_kinds=len(by_kind),
        version=about["gnomon"],
        made=about["made"],
        config=about["config_hash"][:16],
        trials=len(whole) // len(whole.algorithms) // len(whole.tasks),
        stopped=stopped_text(about),
        n_scored=len(rules),
        ranks=lines(["", "learner", "mean skill", "rank"], rank_rows(table, ranking)),
        families=family_text(means),
        elements=element_table(found),
        shared=shared_text(found),
        n_resamples=N_RESAMPLES,
        n_rows=len(whole.algorithms) - 1,
        subset=lines(
            ["rule", "what it asks", "weight"],
            [[f"`{t}`", rule_info(t).sentence, f"{w:.2f}"] for t, w in weights],
        ),
        cv_rmse=folds.cv_mse**0.5,
        cv_r2=folds.r2,
        nested_rmse=errors_of(folds)[0],
        nested_r2=errors_of(folds)[1],
        kind_rmse=errors_of(kinds)[0],
        kind_r2=errors_of(kinds)[1],
        n_tables=by_kind["tabular_q"],
        frequent=" and ".join(f"`{task}` ({share:.0%})" for task, share in frequent),
        sb3=sb3_text(skill),
    )


def family_text(means: npt.NDArray[np.float64]) -> str:
    """Say which families are hardest and easiest for the learners that learn."""
    learning = means[:, 2:-1].mean(axis=1)
    order = np.argsort(learning)
    names = [f"`{list(FAMILIES)[i]}` ({decimal(learning[i])})" for i in order]
    hard, easy = ", ".join(names[:3]), ", ".join(names[:-4:-1])
    return (
        "In brackets beside each family is how many of its rules are counted. For the learners that "
        f"learn, neither given the space of rules nor without memory, the hardest are {hard}; the "
        f"easiest {easy}."
    )


if __name__ == "__main__":
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    pictures = out / "images" / "results"
    pictures.mkdir(parents=True, exist_ok=True)
    text = page(pictures)
    (out / "gohr").mkdir(exist_ok=True)
    (out / "gohr" / "results.md").write_text(text, encoding="utf-8")
