"""A smaller set of items in use: the share of all items that a new model solves, and what next."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import NormalDist

import numpy as np
import polars as pl

from gnomon._io.atomic_file import write_atomically
from gnomon._version import __version__
from gnomon.distill.items.held_out import Scales, estimates_of
from gnomon.distill.items.response_model import I64, NORMAL, ItemModel
from gnomon.errors import ScoreDataError, UnknownNameError, listed
from gnomon.results import FieldRecord, Results
from gnomon.scores.table import FloatArray, ScoreTable

_FORMAT = "gnomon item suite"
#: Fewer answers were not measured.
LEAST_ITEMS = 10


@dataclass(frozen=True)
class ItemForecast(FieldRecord):
    """What a few items say of the share of all items that a model solves.

    Parameters
    ----------
    algorithm : str
    value, low, high : float
        The share and its interval, from 0 to 1. The interval is NaN without scales, and where the
        model may be better than all of a training of fewer than 30.
    level : float
    n_items : int
        How many were answered.
    verdict : str
        Why the estimate is to be doubted; empty if nothing speaks against it.

    Examples
    --------
    >>> ItemForecast("mine", 0.62, 0.57, 0.67, 0.9, 100, "").as_record()["n_items"]
    100
    """

    algorithm: str
    value: float
    low: float
    high: float
    level: float
    n_items: int
    verdict: str


@dataclass(frozen=True, eq=False, repr=False)
class ItemForecasts(Results[ItemForecast]):
    """What a few items say of each model of a table."""

    columns = ("algorithm", "value", "low", "high", "n_items", "verdict")


@dataclass(frozen=True)
class NextItem(FieldRecord):
    """An item that a model has not answered yet.

    Parameters
    ----------
    item : str
    information : float
        Fisher information that it is expected to give of the model's ability.
    solved : float
        The probability that the model solves it.
    """

    item: str
    information: float
    solved: float


@dataclass(frozen=True, eq=False, repr=False)
class NextItems(Results[NextItem]):
    """What to ask one model next, best first, and whether to stop.

    Parameters
    ----------
    now : ItemForecast
    target : float
        Half width of the 90 % interval at which to stop.

    Examples
    --------
    >>> now = ItemForecast("mine", 0.62, 0.60, 0.64, 0.9, 100, "")
    >>> NextItems((), now=now, target=0.03).stop
    True
    """

    now: ItemForecast = field(kw_only=True)
    target: float = field(kw_only=True)

    @property
    def half_width(self) -> float:
        """Half the width of the interval now."""
        return (self.now.high - self.now.low) / 2

    @property
    def stop(self) -> bool:
        """Whether the interval is as narrow as was asked for, from so many items as were tried."""
        return self.now.n_items >= LEAST_ITEMS and self.half_width <= self.target

    @property
    def notes(self) -> tuple[str, ...]:
        """What is known now, and whether to stop."""
        one = self.now
        advice = "stop: the target is reached" if self.stop else "go on with the first of the list"
        if not self.stop and one.n_items < LEAST_ITEMS:
            advice += f"; no stop before {LEAST_ITEMS} items"
        interval = f"[{one.low:.3f}, {one.high:.3f}], 90 % interval of half width "
        interval = one.verdict if math.isnan(one.low) else f"{interval}{self.half_width:.3f}"
        return (
            f"{one.algorithm}: {one.n_items} items answered, share of all {one.value:.3f} "
            f"{interval}; target {self.target:g}: {advice}",
            "each model is asked other items: compare estimates, not raw shares",
        )


@dataclass(frozen=True, eq=False)
class ItemSuite:
    """The items of an evaluation, the few of them that are chosen, and what these tell of all.

    Parameters
    ----------
    items, chosen : tuple of str
        All items, and the list to use.
    response : ItemModel
        Of all items.
    scales : mapping from {"list", "adaptive"} to Scales
        Of intervals from the list, and from items chosen one by one; empty if not calibrated.
    n_models : int
        That it was fitted to.

    Examples
    --------
    >>> model = ItemModel(np.ones(40), np.linspace(-2, 2, 40))
    >>> names = tuple(f"q{j:02}" for j in range(40))
    >>> suite = ItemSuite(names, names[::3], model, {"list": Scales(2.0, 2.5, 2.0, 0.9)}, 80)
    >>> suite.estimate({name: 1.0 for name in names[::3]}).verdict
    'at least the lower end: too much solved to tell how much more'
    """

    items: tuple[str, ...]
    chosen: tuple[str, ...]
    response: ItemModel
    scales: Mapping[str, Scales] = field(default_factory=dict)
    n_models: int = 0

    def estimate(
        self, answers: Mapping[str, float], *, algorithm: str = "new", level: float = 0.9
    ) -> ItemForecast:
        """Return the share of all items that a model solves, with its interval.

        The interval has the scale of the list where the whole list is answered, else the wider of
        both scales.

        Parameters
        ----------
        answers : mapping from item to float
            From 0 to 1; any items of the evaluation. NaN is no answer.
        algorithm : str
            The model's name.
        level : float
            Of the interval.

        Raises
        ------
        ScoreDataError
            An answer is not from 0 to 1, or the level is not between 0 and 1.
        UnknownNameError
            There is no such item.
        """
        if not 0 < level < 1:
            raise ScoreDataError(f"expected a level between 0 and 1, found {level:g}")
        seen, x = self._seen(answers)
        values, *spread, top = estimates_of(self.response, seen, x[np.newaxis])
        factor = NormalDist().inv_cdf((1 + level) / 2) / NORMAL
        value, m = float(values[0]), len(self.items)
        kinds = self._scales_of(answers)
        above = any(one.above(values, spread[0])[0] for one in kinds)
        refused = any(one.refused(values, spread[0])[0] for one in kinds)
        half = max((float(one.half_widths(values, *spread)[0]) for one in kinds), default=math.nan)
        low = max(value - half * factor, x.sum() / m)
        most = 1 - (1 - x).sum() / m
        high = most if above and top[0] else min(value + half * factor, most)
        if refused or math.isnan(half):
            low = high = math.nan
        best = max((one.best for one in self.scales.values()), default=1.0)
        verdict = "may be better than all models of the training" if high > best else ""
        if above and top[0]:
            verdict = "at least the lower end: too much solved to tell how much more"
        if refused:
            verdict = f"no interval: may be better than all of {self.n_models} models, too few"
        if len(seen) < LEAST_ITEMS:
            verdict = f"fewer than {LEAST_ITEMS} items: not measured"
        return ItemForecast(algorithm, value, low, high, level, len(seen), verdict)

    def _seen(self, answers: Mapping[str, float]) -> tuple[I64, FloatArray]:
        """Return the places of the items with an answer, and the answers."""
        place = {item: j for j, item in enumerate(self.items)}
        known = {item: float(v) for item, v in answers.items() if not math.isnan(v)}
        for item, value in known.items():
            if item not in place:
                raise UnknownNameError("item", item, self.items)
            if not 0 <= value <= 1:
                raise ScoreDataError(f"expected an answer from 0 to 1, found {value:g} on {item}")
        seen = np.array([place[item] for item in known], dtype=np.int64)
        return seen, np.array([*known.values()])

    def _scales_of(self, answers: Mapping[str, float]) -> tuple[Scales, ...]:
        """Return the scales of the list if all of it is answered, else those of both kinds."""
        kinds = self.scales
        if "list" in kinds and all(not math.isnan(answers.get(i, math.nan)) for i in self.chosen):
            return (kinds["list"],)
        return tuple(kinds.values())

    def predict(self, scores: ScoreTable, *, level: float = 0.9) -> ItemForecasts:
        """Return the estimate of each model of a table that has answers to some of the items."""
        found = [
            self.estimate(answers_of(scores, name), algorithm=name, level=level)
            for name in scores.algorithms
        ]
        warned = tuple(
            f"{one.algorithm}: {one.verdict}" for one in found if one.n_items < LEAST_ITEMS
        )
        return ItemForecasts(tuple(found), {"level": level, "version": __version__}, warned)

    def next_items(
        self,
        answers: Mapping[str, float],
        *,
        algorithm: str = "new",
        target: float = 0.03,
        most: int = 10,
    ) -> NextItems:
        """Return the items to ask a model next, by Fisher information at what is known of it.

        Parameters
        ----------
        answers : mapping from item to float
            Those that the model has given; none at first.
        algorithm : str
            Its name.
        target : float
            Half width of the 90 % interval at which to stop.
        most : int
            How many to list.

        Raises
        ------
        ScoreDataError
            The target is not above 0; or as :meth:`estimate`.

        Examples
        --------
        >>> model = ItemModel(np.array([0.5, 2.0, 1.0]), np.zeros(3))
        >>> suite = ItemSuite(("u", "v", "w"), (), model, {"adaptive": Scales(1.7, 1.7, 1.7, 1.0)})
        >>> [one.item for one in suite.next_items({"u": 1.0})]
        ['v', 'w']
        """
        if not target > 0:
            raise ScoreDataError(f"expected a target half width above 0, found {target:g}")
        seen, x = self._seen(answers)
        worth = self.response.information_now(seen, x)
        worth[seen] = -np.inf
        solved = self.response.probabilities() @ self.response.abilities(seen, x[np.newaxis])[0]
        order = np.argsort(-worth, kind="stable")[: min(most, len(self.items) - len(seen))]
        found = [NextItem(self.items[j], float(worth[j]), float(solved[j])) for j in order]
        now = self.estimate(answers, algorithm=algorithm)
        settings = {"target": target, "n_models": self.n_models, "version": __version__}
        return NextItems(tuple(found), settings, now=now, target=target)

    def next_of(
        self, scores: ScoreTable, algorithm: str, *, target: float = 0.03, most: int = 10
    ) -> NextItems:
        """Return :meth:`next_items` of a model of a table; it has no answer if it is not there."""
        own = answers_of(scores, algorithm) if algorithm in scores.algorithms else {}
        return self.next_items(own, algorithm=algorithm, target=target, most=most)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all that prediction needs to a JSON file; it appears complete or not at all."""
        record = {
            "format": _FORMAT,
            "version": __version__,
            "n_models": self.n_models,
            "chosen": self.chosen,
            "scales": {kind: asdict(one) for kind, one in self.scales.items()},
            "items": self.items,
            "slope": self.response.slope.tolist(),
            "intercept": self.response.intercept.tolist(),
        }
        text = json.dumps(record, ensure_ascii=False, allow_nan=False)
        write_atomically(Path(path), (text + "\n").encode())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ItemSuite:
        """Return what :meth:`save` has written.

        Raises
        ------
        ScoreDataError
            The file holds no such suite.
        """
        try:
            record = json.loads(Path(path).read_text(encoding="utf-8"))
            if record["format"] != _FORMAT:
                raise ValueError(f"found {listed([str(record['format'])])}")
            model = ItemModel(np.array(record["slope"]), np.array(record["intercept"]))
            if not len(record["items"]) == len(model.slope) == len(model.intercept):
                raise ValueError("items and parameters differ in number")
            n_models = int(record["n_models"])
            told = {kind: {"n_models": n_models} | one for kind, one in record["scales"].items()}
            scales = {kind: Scales(**one) for kind, one in told.items()}
            names = tuple(record["items"]), tuple(record["chosen"])
            return cls(*names, model, scales, n_models)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ScoreDataError(f"{path}: expected a {_FORMAT!r} as JSON; {error}") from None

    @staticmethod
    def is_file(path: str | os.PathLike[str]) -> bool:
        """Return whether a file begins as :meth:`save` writes it."""
        try:
            with Path(path).open("rb") as file:
                return f'"format": "{_FORMAT}"'.encode() in file.read(100)
        except OSError:
            return False


def answers_of(scores: ScoreTable, algorithm: str) -> dict[str, float]:
    """Return the mean answer of a model to each item that it has answered."""
    rows = scores.last_step().to_frame()
    rows = rows.filter(rows["algorithm"] == algorithm).drop_nulls("score").drop_nans("score")
    means = rows.group_by("task", maintain_order=True).agg(pl.col("score").mean())
    return dict(zip(means["task"], means["score"], strict=True))
