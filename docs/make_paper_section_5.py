"""Write docs/gohr/paper-section-5.md: ``python docs/make_paper_section_5.py PAPER SWEEP``.

PAPER and SWEEP are the run folders of ``gohr run paper-section-5`` and of
``gohr run paper-section-5-sweep``, which take minutes.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from gnomon.scores import ScoreTable
from gnomon.stats import difficulty_order, median_interval
from gohr.experiments import RunFolder, score

HERE = Path(__file__).parent
N_RESAMPLES = 50_000
SETTINGS = ("actions", "plays_on", "gamma", "learning_rate", "target_period")

TEXT = """# Section 5 of the paper, and what it depends on

Pulick et al. (2022) let a linear DQN learn four sample rules, 100 trials of 200 boards each, at
most 100 attempts a board, and order the rules by the errors that it made. Their text leaves
choices open (see [the learner](learners.md#linear_dqn)) and their figures carry no numbers. So
this page cannot say whether it agrees with them. It says what comes out, and how far that depends
on the open choices.

This page is written by `python docs/make_paper_section_5.py p5 p5-sweep`, from two runs:

<!-- not run: minutes -->

```console
$ gohr run paper-section-5 --out p5 --workers 2
$ gohr report p5
$ gohr run paper-section-5-sweep --out p5-sweep --workers 2
```

The report has the figures: all curves with the density of their ends (figure 3 of the paper),
medians with 95 % intervals from 50,000 bootstrap resamples (figure 4), box plots on a broken axis
(figure 5), the table of one-sided U tests, and the order.

## With the choices of this project

All cells as actions, an episode ends when its board is cleared, `gamma` 1, `learning_rate` 0.03,
a new target network every 10 episodes. {paper_trials} trials of each rule:

{paper}

The order of difficulty, hardest first: {order}. Between neighbours `>` says that the two are
separated at 5 % by two-sided Mann-Whitney tests with Holm's correction over all six pairs, `=`
that they are not.

## With other choices

Every combination of {n_values}: {n_learners} learners, {sweep_trials} trials of each on each
rule.

{orders}

* With all 144 attempts allowed, empty cells included, `b23-then-b01` and `b3-then-b1` are nowhere
  separated as harder than one of the other two, and which of the other two is hardest hangs on the rest. With a target network renewed
  every 40 episodes it is `color-match` wherever the two are separated (8 of 12 combinations);
  renewed every 5 episodes, at `gamma` 1, it is `clockwise` wherever they are (4 of 6).
* With occupied cells only, and an end when the board is cleared, `b23-then-b01` is the easiest in
  all 18 combinations, `color-match` the hardest in 16 and not separated from the hardest in 2;
  `clockwise` and `b3-then-b1` are separated in 4.
* With occupied cells only, and going on after the board is cleared, `clockwise` is the hardest in
  13 of 18, and `b3-then-b1` is nowhere separated from `b23-then-b01` as the harder one.

So an order of these four rules is a statement about a learner with all its settings, and not
about the rules alone.

## Every combination

The median of the terminal cumulated errors, with its 95 % interval (percentiles of the bootstrap
over trials, computed exactly).

{rows}
"""


def median(table: ScoreTable, learner: str, rule: str) -> str:
    """Return a median with its interval."""
    runs = table.runs(learner, rule)
    value, low, high = median_interval(runs, level=0.95)
    return f"{value:,.0f} [{low:,.0f}, {high:,.0f}]"


def order_of(table: ScoreTable, learner: str) -> str:
    """Return the rules, hardest first, with ``=`` where nothing separates neighbours."""
    order = difficulty_order({rule: table.runs(learner, rule) for rule in table.tasks})
    text = f"`{order.names[0]}`"
    for a, b in zip(order.names, order.names[1:], strict=False):
        tied = any(a in group and b in group for group in order.groups)
        text += f" {'=' if tied else '>'} `{b}`"
    return text


def lines(header: list[str], rows: list[list[str]]) -> str:
    """Lay out a table in Markdown."""
    rule = ["---"] * len(header)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [header, rule, *rows])


def page(paper: RunFolder, sweep: RunFolder) -> str:
    """Return the text of the page."""
    one, many = score(paper), score(sweep)
    (learner,) = one.algorithms
    rules = list(one.tasks)
    rows, counted = [], Counter()
    for entry in sweep.config.learners:
        settings = [str(entry.params[name]).lower() for name in SETTINGS]
        order = difficulty_order({rule: many.runs(entry.name, rule) for rule in rules})
        first = next(group for group in order.groups if order.names[0] in group)
        hardest = ", ".join(f"`{rule}`" for rule in sorted(first))
        counted[settings[0], settings[1], hardest] += 1
        rows.append([*settings, *(median(many, entry.name, r) for r in rules)])
        rows[-1].append(order_of(many, entry.name))
    counts = sorted(counted.items(), key=lambda item: (item[0][:2], -item[1]))
    tidy = "`actions`, `plays_on`, `gamma`, `learning_rate` and `target_period` below"
    return TEXT.format(
        paper_trials=paper.config.trials,
        paper=lines(
            ["rule", "median errors, 95 % interval"],
            [[f"`{r}`", median(one, learner, r)] for r in rules],
        ),
        order=order_of(one, learner),
        n_values=tidy,
        n_learners=len(sweep.config.learners),
        sweep_trials=sweep.config.trials,
        orders=lines(
            ["actions", "goes on", "hardest, or not separated from it", "combinations"],
            [[f"`{a}`", p, hardest, str(n)] for (a, p, hardest), n in counts],
        ),
        n_resamples=N_RESAMPLES,
        rows=lines([*SETTINGS, *(f"`{r}`" for r in rules), "order"], rows),
    )


if __name__ == "__main__":
    text = page(RunFolder.open(sys.argv[1]), RunFolder.open(sys.argv[2]))
    (HERE / "gohr" / "paper-section-5.md").write_text(text, encoding="utf-8")
