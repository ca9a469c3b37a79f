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

from gnomon.distillation import PaperProcedure, distill, nested_error, prepare
from gnomon.distillation.distilled import Distilled
from gnomon.distillation.validation import HeldOut
from gnomon.plot import Figure
from gnomon.plot.style import FULL_WIDTH, INK, LEVELS, MUTED, SERIES, SIZE, dress, new_drawing
from gnomon.ranking import Ranking, rank
from gnomon.scores import ScoreTable, load_scores
from gnomon.scores.datasets import measured_provenance
from gnomon.stats import estimate
from gohr.experiments.rule_tags import TagEffects, tag_effects_of
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
#: What a rule may depend on, and whether it leaves a choice of buckets.
TAGS_SHOWN = ("shape", "color", "cell", "order", "memory", "count", "one-bucket")
N_RESAMPLES = 2000

TEXT = """# Results

Scores of the learners on the suites of hidden rules. They come with Gnomon, so that every number on this page can be
computed again without playing:

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

On the command line the name of the data set takes the place of a file: `gnomon rank gohr-full --score skill`.
This page is written by `python docs/make_results.py`.

## How the scores were made

<!-- not run: twenty minutes of two cores -->

```console
$ gohr run gohr-full-results --out full --workers 2
$ python docs/make_measured_scores.py gohr-full full
```

Gnomon {version}, {made}; configuration `{config}`. {n_learners} configurations of {n_kinds} kinds of learners,
{trials} trials of 200 boards on each of the {n_rules} rules of `gohr-full-v1`, without `rule_player`, which is
shown the rule and never errs.{stopped} Each trial has three scores: `tce`, `errors_to_learn` and `skill`.

Most of this page uses `skill`, which has the same meaning on every rule: 0 is chance, 1 is no errors, and below 0 is
worse than chance. Under `anything-goes` no attempt fails, so that skill is undefined; {n_scored} rules remain.

## Which rules are hard

![Mean skill of eight learners on the rules of each family](../images/results/families.svg)

The number of rules is in brackets beside each family. {families}

## Which element makes a rule hard

`gohr elements` on this run, with the tags {tags}: the factor by which a tag multiplies the median
errors of a learner, other tags equal, with 95 % intervals over rules. Filled: significantly different from 1 (Holm's
correction).

![Factor of each tag for six learners](../images/results/elements.svg)

{costs}

The same in Python:

<!-- run -->

```python
from gohr.experiments import tag_effects

errors = load_scores("gohr-full", "tce").select(algorithms=["frugal", "ideal"])
print(tag_effects(errors, ["cell", "order", "memory", "count"]).where(tag="order"))
```

<!-- output -->

```text
...
```

## Ranks

For one learner of each kind, the mean skill over rules with its 95 % interval, and the simultaneous 95 % interval of its rank among all
learners, from comparisons of all pairs; `gnomon rank gohr-full --score skill` prints the others. The intervals describe these rules with more
trials, not other rules. The two columns may disagree: a few rules on which a learner fails badly move its mean, while every rule
counts equally in the rank.

{ranks}

* `ideal` was given a space of rules that contains every rule of this suite. It is an upper bound.
* A table with one number for each class of attempt does better here than the linear DQN with its 3,720 features, none of which
  describes the position of a piece. Under a rule about cells the DQN repeats what failed and falls below chance.
* Learners that may attempt empty cells make errors until they have learned to avoid them.

## Five rules for ninety

The five rules that best predict the mean skill over all {n_scored}, found by the procedure `paper` of
[`gnomon distill`](../gnomon/distill.md) from {n_rows} learners (all but `ideal`):

{subset}

![Mean skill predicted from the five rules, and measured](../images/results/five-rules.svg)

| error of the five rules | root mean square | R² |
| --- | --- | --- |
| on the learners that chose the rules | {cv_rmse:.3f} | {cv_r2:.3f} |
| on learners not used for the choice (ten folds) | {nested_rmse:.3f} | {nested_r2:.3f} |
| on kinds of learners not used for the choice | {kind_rmse:.3f} | {kind_r2:.3f} |

The last line applies to a new kind of learner: {n_tables} of the {n_rows} learners are tables with different settings, so that each of the ten
folds leaves similar learners in. The choice is not stable: the most frequent rules in the ten folds were {frequent}.

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
    """Return a row for each shown learner: its settings, mean skill and the interval of its rank."""
    found = estimate(table, ["mean"], n_resamples=N_RESAMPLES, rng=np.random.default_rng(0))
    estimates = {estimate.algorithm: estimate for estimate in found}
    rows = []
    shown = (one for one in ranking if one.name in SHOWN)
    for one in sorted(shown, key=lambda one: one.rank_low):
        e = estimates[one.name]
        between = f"{decimal(e.value, 3)} [{decimal(e.low, 3)}, {decimal(e.high, 3)}]"
        rows.append([f"`{one.name}`", between, f"{one.rank_low} to {one.rank_high}"])
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


def cost_text(found: TagEffects) -> str:
    """Return a sentence for each tag that is significantly harder for most learners that learn."""
    said = []
    learners = list(dict.fromkeys(e.learner for e in found))[1:]
    for tag in TAGS_SHOWN:
        own = [e for e in found.where(tag=tag) if e.learner in learners]
        sure = [e for e in own if e.p_adjusted <= 0.05 and e.ratio > 1.0]
        if len(sure) >= 3:
            least, most = (pick(sure, key=lambda e: e.ratio) for pick in (min, max))
            said.append(
                f"`{tag}` multiplies the errors by {least.ratio:.2g} ({least.learner}) to "
                f"{most.ratio:.2g} ({most.learner})"
            )
    return (
        f"Among the learners that learn, {'; '.join(said)}. `frugal` only avoids repeating an attempt: its "
        "hard rules are those that permit few attempts."
    )


def subset_figure(best: Distilled, names: Sequence[str], kinds: Sequence[str]) -> Figure:
    """Draw the predictions of the nested validation against what was measured."""
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
    ax.set_ylabel("predicted from five rules, on other folds")
    dress(ax, grid="both")
    ax.legend(frameon=False, fontsize=SIZE - 0.5, labelcolor=INK, loc="upper left")
    rows = tuple(
        {"learner": n, "kind": k, "measured": float(t), "predicted": float(p)}
        for n, k, t, p in zip(names, kinds, truth, predicted, strict=True)
    )
    alt = "A dot for each learner, close to the diagonal."
    return Figure("five-rules", "Five rules for ninety", "", alt, drawing, rows)


def five_rules(table: ScoreTable) -> tuple[Distilled, HeldOut, Figure]:
    """Return the subset with its errors in folds, predictions of each kind, and the figure."""
    rows = table.select(algorithms=[name for name in table.algorithms if name != "ideal"])
    ready = prepare(rows, transform="identity", summary="mean", group_by="kind")
    folds = distill(ready, procedure="paper")[0]
    kinds = nested_error(ready, PaperProcedure(), 5, outer="groups", rng=np.random.default_rng(0))
    return folds, kinds, subset_figure(folds, ready.algorithms, ready.groups)


def errors_of(held: HeldOut) -> tuple[float, float]:
    """Return the root mean square of the residuals, and their R²."""
    mse = np.nanmean(held.residuals**2)
    return float(np.sqrt(mse)), float(1.0 - mse / held.target[~np.isnan(held.residuals)].var())


def sb3_text(skill: dict[tuple[str, str], float]) -> str:
    """Return the section on Stable-Baselines3's algorithms, beside two learners of this project."""
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
        "gohr-core-sb3-unmasked --out unmasked` plays `A2C` and `DQN`, which take no masks; three trials per rule, "
        f"{n_trials} in all. Mean skill, beside two learners of this project on the same rules:\n\n"
        + lines(head, rows)
        + "\n\n`MaskablePPO` observes the contents of each cell. It learns rules about cells, which the two learners of this project cannot, "
        "but hardly learns in so few boards which pieces are alike. `A2C` and `DQN` may attempt empty cells and did not learn: "
        f"of at most 20,000 attempts per trial, {least:,.0f} to {most:,.0f} failed on average. "
        "Three trials show only large differences, and the settings were not tuned.\n"
    )


def stopped_text(about: dict[str, Any]) -> str:
    """Return a sentence if the run was stopped before its end."""
    if about["n_trials"] == about["n_trials_planned"]:
        return ""
    n_pairs = len(about["learners"]) * len(load_scores(FULL).tasks)
    planned = about["n_trials_planned"] // n_pairs
    return f" The experiment has {planned} trials; the run was stopped early."


def page(folder: Path) -> str:
    """Write the figures, and return the text of the page."""
    about, whole = measured_provenance(FULL), load_scores(FULL, "skill")
    rules = [rule for rule in whole.tasks if rule != WITHOUT_ERRORS]
    table = whole.select(tasks=rules)
    skill = mean_skill(table)
    ranking = rank(table)
    means = family_means(skill, rules)
    counts = Counter(rule_info(rule).family for rule in rules)
    learning = [name for name in SHOWN if name not in ("uniform", "ideal")]
    errors = load_scores(FULL, "tce").select(algorithms=learning, tasks=rules)
    found = tag_effects_of(
        {SHOWN[a]: {rule: errors.runs(a, rule) for rule in rules} for a in learning},
        {rule: set(rule_info(rule).tags) for rule in rules},
        TAGS_SHOWN,
    ).where(versus="")
    folds, kinds, picture = five_rules(table)
    for figure in (family_figure(means, counts), picture):
        figure.write(folder / f"{figure.name}.svg")
    found.figure().write(folder / "elements.svg")
    weights = zip(folds.model.tasks, folds.model.weights, strict=True)
    chosen = folds.nested.chosen
    frequent = Counter(task for tasks in chosen for task in tasks).most_common(3)
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
        ranks=lines(["learner", "mean skill", "rank"], rank_rows(table, ranking)),
        families=family_text(means),
        tags=", ".join(f"`{tag}`" for tag in TAGS_SHOWN),
        costs=cost_text(found),
        n_rows=len(whole.algorithms) - 1,
        subset=lines(
            ["rule", "what it asks", "weight"],
            [[f"`{t}`", rule_info(t).sentence, f"{w:.2f}"] for t, w in weights],
        ),
        cv_rmse=folds.cv_mse**0.5,
        cv_r2=folds.r2,
        nested_rmse=errors_of(folds.nested)[0],
        nested_r2=errors_of(folds.nested)[1],
        kind_rmse=errors_of(kinds)[0],
        kind_r2=errors_of(kinds)[1],
        n_tables=by_kind["tabular_q"],
        frequent=", ".join(f"`{task}` ({n / len(chosen):.0%})" for task, n in frequent),
        sb3=sb3_text(skill),
    )


def family_text(means: npt.NDArray[np.float64]) -> str:
    """Say which families are hardest and easiest for the learners that learn."""
    learning = means[:, 2:-1].mean(axis=1)
    order = np.argsort(learning)
    names = [f"`{list(FAMILIES)[i]}` ({decimal(learning[i])})" for i in order]
    hard, easy = ", ".join(names[:3]), ", ".join(names[:-4:-1])
    return (
        f"For the learners that learn (not `uniform`, `frugal` or `ideal`), the hardest families are {hard}; "
        f"the easiest are {easy}."
    )


if __name__ == "__main__":
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    pictures = out / "images" / "results"
    pictures.mkdir(parents=True, exist_ok=True)
    text = page(pictures)
    (out / "gohr").mkdir(exist_ok=True)
    (out / "gohr" / "results.md").write_text(text, encoding="utf-8")
