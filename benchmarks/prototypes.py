"""Figures of prototypes of these methods, on the same table, to stand beside ours in the notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from benchmarks.record import Measurement

_COVER = {
    "10": (10.8, 0.96, 28),
    "paper": (10.7, 0.97, 29),
    "third": (13.4, 0.92, 30),
    "next": (15.1, 0.98, 45),
    "later 2015": (28.3, 0.98, 104),
    "later 2016": (33.0, 0.95, 103),
    "later 2017": (51.7, 0.96, 114),
    "later 2018": (29.2, 1.00, 132),
    "later 2019": (11.9, 1.00, 44),
    "below 150": (53.1, 0.89, 108),
    "below 200": (17.5, 1.00, 130),
    "below 300": (38.4, 1.00, 201),
    "below 600": (18.3, 1.00, 105),
    "above 100": (15.8, 0.95, 36),
}
#: What the prototypes found, by the name of the measurement.
PROTOTYPES = {
    **{f"{name}: error": f"{error}" for name, (error, _, _) in _COVER.items()},
    **{
        f"{name}: cover of 90 %": f"{cover:.2f}, half width {half} %"
        for name, (_, cover, half) in _COVER.items()
    },
    "pairs, 10: Brier score": "0.037; .62 .74 .74 .91 .97 .99 1.00",
    "pairs, paper: Brier score": "0.037; .50 .77 .77 .88 .97 1.00 1.00",
    "pairs, third: Brier score": "0.047; .55 .58 .70 .88 .93 .97 1.00",
    "pairs, all later cuts: Brier score": "0.069; .62 .82 .87 .93 .99 1.00 1.00",
    "pairs, third, one known in full: Brier score": "0.031, 95.4% right",
    "33% missing at random, posterior draws: error": "14.1, target 7.5",
    "33% missing at random, observed median: error": "13.4, target 12.4",
    "33% missing at random, low rank: error": "15.3, target 10.0",
    "33% missing at random, column mean: error": "16.2, target 23.7",
    "48% missing at random, posterior draws: error": "18.2, target 9.9",
    "48% missing at random, observed median: error": "17.5, target 16.6",
    "48% missing at random, low rank: error": "16.8, target 14.3",
    "48% missing at random, column mean: error": "22.6, target 34.4",
    "63% missing at random, posterior draws: error": "20.2, target 14.3",
    "63% missing at random, observed median: error": "20.1, target 21.6",
    "63% missing at random, low rank: error": "21.4, target 18.2",
    "63% missing at random, column mean: error": "29.5, target 45.2",
    "33% missing by lists, posterior draws: error": "13.9, target 9.1",
    "33% missing by lists, observed median: error": "15.6, target 13.2",
    "33% missing by lists, low rank: error": "14.9, target 9.8",
    "33% missing by lists, column mean: error": "20.5, target 25.1",
    "45% missing by lists, posterior draws: error": "14.4, target 12.0, of 48%",
    "45% missing by lists, observed median: error": "15.9, target 15.7, of 48%",
    "45% missing by lists, low rank: error": "15.8, target 13.4, of 48%",
    "45% missing by lists, column mean: error": "24.6, target 36.4, of 48%",
    "58% missing by lists, posterior draws: error": "21.4, target 15.2, of 62%",
    "58% missing by lists, observed median: error": "19.9, target 20.7, of 62%",
    "58% missing by lists, low rank: error": "27.0, target 18.3, of 62%",
    "58% missing by lists, column mean: error": "33.4, target 41.9, of 62%",
    "10, budget 2: error": "20.7; by the gain alone 22.6, adaptive 21.7, random 53",
    "10, budget 4: error": "14.8; by the gain alone 15.5, adaptive 16.3, random 45",
    "third, budget 2: error": "21.0; by the gain alone 22.8",
    "third, budget 4: error": "18.1; by the gain alone 17.6",
    "factor, folds: error": "10.7",
    "best single tasks, folds: error": "13.9",
    "Atari-5, folds: error": "13.4",
    "ours, as chosen on all, folds: error": "10.5",
    "anchor points, folds: error": "22.7",
    "random, folds: error": "24.5",
    "none: the median, folds: error": "72",
    "factor, group-folds: error": "13.5",
    "best single tasks, group-folds: error": "16.2",
    "Atari-5, group-folds: error": "13.6",
    "ours, as chosen on all, group-folds: error": "10.6",
    "anchor points, group-folds: error": "26.2",
    "random, group-folds: error": "27.1",
    "none: the median, group-folds: error": "76",
    "factor, time: error": "15.1",
    "best single tasks, time: error": "20.2",
    "Atari-5, time: error": "15.9",
    "ours, as chosen on all, time: error": "14.5",
    "anchor points, time: error": "19.3",
    "random, time: error": "31.8",
    "none: the median, time: error": "94",
    "tasks, 10, random sets: error of five": "88 57 42 31 22 20 16 12",
    "tasks, 10, the order of Atari-5: error of five": "30 17 15 12.8",
    "tasks, 10, a set of each number: error of five": "25 17.8 14.3 10.7 10.4 12.2 10.5 10.2",
    "tasks, 10, one by one from the first: error of five": "27 20 15.4 13.9 11.2 8.7 8.0 6.6",
    "tasks, 10, five as a set, then one by one: error of five": "10.7 11.2 10.5 7.5 7.8",
    "tasks, third, random sets: error of five": "73 59 49 28 23 19 15 13",
    "tasks, third, a set of each number: error of five": "34 20 22 13.7 14.1 12.7 10.6 8.9",
    "tasks, third, one by one from the first: error of five": "34 29 21 20 15.7 12.4 8.5 8.5",
    "tasks, third, five as a set, then one by one: error of five": "13.7 11.3 11.8 10.8 8.5",
    **{
        f"stop, {name}, half width {half}%: within it": found
        for half, *both in (
            (40, "1.00, 5.3 tasks, error 10.6", "0.98, 5.7 tasks, error 13.8"),
            (30, "0.93, 6.5 tasks, error 10.4", "0.88, 6.6 tasks, error 13.5"),
            (25, "0.95, 8.3 tasks, error 9.4", "0.84, 8.2 tasks, error 13.0"),
            (20, "0.93, 10.2 tasks, error 8.3", "0.86, 11.1 tasks, error 11.4"),
            (15, "0.88, 14.8 tasks, error 7.6", "0.83, 15.1 tasks, error 9.7"),
        )
        for name, found in zip(("10", "third"), both, strict=True)
    },
    # 10, 30, 100 and 300 items of "six subjects"; 10, 30 and 100 of its newest models; and of
    # "one ability".
    "400 models, 30 of 1,000: random, mean": "11.8 6.8 3.4 1.9; 11.1 6.5 3.3; 12.3 6.9 3.4",
    "400 models, 30 of 1,000: random, p-IRT": "7.4 5.2 2.8 1.6; 7.6 5.1 2.7; 8.0 5.0 2.7",
    "400 models, 30 of 1,000: random, gp-IRT": "8.1 5.4 2.9 1.6; 7.7 5.4 2.9; 8.6 5.3 2.8",
    "400 models, 30 of 1,000: random, ridge": "6.5 4.8 3.0 1.8; 11.0 7.9 4.5; 8.1 5.2 3.1",
    "400 models, 30 of 1,000: anchors, mean": "11.3 9.7 6.3 3.3; 9.1 7.6 6.3; 9.9 9.2 5.7",
    "400 models, 30 of 1,000: anchors, p-IRT": "6.8 5.4 2.9 1.5; 6.3 4.9 2.7; 6.8 4.7 2.8",
    "400 models, 30 of 1,000: anchors, gp-IRT": "7.4 5.7 3.0 1.6; 5.8 4.8 2.8; 7.1 5.1 2.9",
    "400 models, 30 of 1,000: correlated, ridge": "4.4 2.9 2.2 1.4; 7.7 5.6 4.1; 5.4 4.1 2.7",
    "400 models, 30 of 1,000: correlated, p-IRT": "4.7 2.8 1.9 1.2; 4.8 2.9 1.9; 5.2 3.5 2.1",
    "400 models, 30 of 1,000: stratified, p-IRT": "4.8 3.3 2.1 1.3; 4.6 2.9 1.7; 5.1 3.5 2.1",
    "400 models, 30 of 1,000: adaptive, p-IRT": "3.9 2.5 1.8 -; 3.4 2.4 1.6; 4.0 2.8 2.0",
}


def beside(found: Iterable[Measurement]) -> Iterator[Measurement]:
    """Yield measurements, those of a prototype with its figures in the note."""
    for one in found:
        known = PROTOTYPES.get(one.name)
        yield one if known is None else replace(one, note=f"{one.note}; prototype: {known}")
