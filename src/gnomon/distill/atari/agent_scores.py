"""Atari-5 score of an agent, estimates of its other games, and a case study of a paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from gnomon.distill.atari.facts import (
    HINDSIGHT,
    game_models,
    human_normalized,
    measured_errors,
    published_constants,
    published_models,
    published_table,
)
from gnomon.errors import ScoreDataError, UnknownNameError
from gnomon.results import FieldRecord, Results
from gnomon.scores.table import ScoreTable

#: Raw scores of each agent by game, names however written; or a table whose tasks are games.
Agents = ScoreTable | Mapping[str, Mapping[str, float]]
#: Section 8 of the paper, in our words.
_ADVICE = (
    "Compare Atari-5 scores with Atari-5 scores only, not with medians of 57 games.",
    "Tune on Atari-3-Val, and keep Atari-5 for the results.",
    "Atari-5 says little of hard exploration: give those games one by one.",
)


@dataclass(frozen=True)
class AtariScore(FieldRecord):
    """The estimate of a 57-game median from a published subset.

    Parameters
    ----------
    algorithm, model : str
    value, low, high : float
        Percent of human, with a 90 % interval for an algorithm published later than the models.
    games : tuple of str
    error : float
        Mean size of the relative error on 22 algorithms that are not in the paper's data.
    """

    algorithm: str
    model: str
    value: float
    games: tuple[str, ...]
    low: float
    high: float
    error: float


@dataclass(frozen=True, eq=False, repr=False)
class AtariScores(Results[AtariScore]):
    """Estimates of 57-game medians, with the published ones beside them and the paper's advice.

    Examples
    --------
    >>> found = score({"mine": {"Name This Game": 8049.0}})
    >>> found.to_frame()["games"].to_list()
    [['namethisgame']]
    """

    columns = ("algorithm", "model", "value", "low", "high", "error", "games")

    @property
    def notes(self) -> tuple[str, ...]:
        """Published scores, which games err less than the published ones, and the advice."""
        rows = published_table("table3")
        published = (f"published: {r['algorithm']:12} Atari-5 {r['atari5']}" for r in rows)
        measured = measured_errors()
        others = (
            f"{name}: error {measured[name].error:.1%}; {', '.join(measured[name].others)} "
            f"{measured[name].others_error:.1%}"
            for name in dict.fromkeys(one.model for one in self)
        )
        head = "error on 22 algorithms that are not in the paper's data, beside as many games that"
        return (
            *published,
            f"{head} gnomon distill atari5 chooses:",
            *others,
            f"intervals: {HINDSIGHT:g} times what the sets err by on the data that they were "
            "chosen by; they hold 0.86 to 1.00 of the 22",
            *_ADVICE,
        )


def score(agents: Agents) -> AtariScores:
    """Return the Atari-5 score of agents, and those of the other published subsets they have.

    Parameters
    ----------
    agents : ScoreTable, or mapping from agent to a mapping from game to raw score
        Names of games however written; several runs count by their mean, the last step of each.

    Raises
    ------
    ScoreDataError
        No agent has the games of a published subset.
    UnknownNameError
        A name is not a game.

    Examples
    --------
    >>> found = score({"mine": {"Name This Game": 8049.0}})
    >>> [(one.model, round(one.value)) for one in found]
    [('Atari-1', 99)]
    """
    named = raw_scores(agents).items()
    found = tuple(one for name, raw in named for one in atari_scores(raw, algorithm=name))
    if not found:
        needed = ", ".join(published_models()["Atari-5"].tasks)
        raise ScoreDataError(f"expected scores on the games of a published set: {needed}")
    return AtariScores(found)


def atari_scores(
    scores: Mapping[str, float], *, algorithm: str = "agent", models: Sequence[str] | None = None
) -> list[AtariScore]:
    """Return the Atari-5 score of an agent, and those of the other published subsets it has.

    Parameters
    ----------
    scores : mapping from game to raw score
        Names however written.
    algorithm : str
        What to call it.
    models : sequence of str, optional
        Which published models; all that the scores suffice for, if not given.

    Raises
    ------
    UnknownNameError
        A name is not a game, or a wanted model lacks a score.

    Examples
    --------
    >>> human = {game: ends[1] for game, ends in published_constants().items()}
    >>> [f"{s.model} {s.value:.0f}" for s in atari_scores(human, models=["Atari-5"])]
    ['Atari-5 85']
    """
    normalized = human_normalized(scores)
    results = []
    for name, model in published_models().items():
        if models is None and not set(model.tasks) <= set(normalized):
            continue
        if models is None or name in models:
            told = model.estimate(normalized)
            ends, error = (told.low, told.high), measured_errors()[name].error
            results.append(AtariScore(algorithm, name, told.value, model.tasks, *ends, error))
    return results


@dataclass(frozen=True)
class GameEstimate(FieldRecord):
    """The estimate of a game that an agent has no score on.

    Parameters
    ----------
    algorithm, model, game : str
    value : float
        Percent of human.
    raw : float
        In points of the game.
    """

    algorithm: str
    model: str
    game: str
    value: float
    raw: float


@dataclass(frozen=True, eq=False, repr=False)
class GameEstimates(Results[GameEstimate]):
    """Estimates of all games that agents have no score on."""


def games(agents: Agents) -> GameEstimates:
    """Estimate all other games from Atari-10, or from Atari-5, of the agents that have one.

    Parameters
    ----------
    agents
        As :func:`score` takes them.

    Examples
    --------
    >>> human = {game: ends[1] for game, ends in published_constants().items()}
    >>> five = {game: human[game] for game in published_models()["Atari-5"].tasks}
    >>> len(games({"mine": five}))
    52
    """
    records = []
    for name, raw in raw_scores(agents).items():
        normalized = human_normalized(raw)
        for subset in ("Atari-10", "Atari-5"):
            if set(published_models()[subset].tasks) <= set(normalized):
                for game, model in game_models(subset).items():
                    if game not in normalized:
                        value = model.estimate(normalized).value
                        random, human = published_constants()[game]
                        points = random + value / 100 * (human - random)
                        records.append(GameEstimate(name, subset, game, value, points))
                break
    return GameEstimates(tuple(records))


def raw_scores(agents: Agents) -> Mapping[str, Mapping[str, float]]:
    """Return the raw scores of each agent by game."""
    if not isinstance(agents, ScoreTable):
        return agents
    table = agents.last_step()
    return {
        name: {task: float(table.runs(name, task).mean()) for task in table.tasks_of(name)}
        for name in table.algorithms
    }


@dataclass(frozen=True)
class StudiedAlgorithm(FieldRecord):
    """True and estimated summary of an algorithm, and the relative error of the estimate.

    Parameters
    ----------
    algorithm : str
    summary, estimate, relative_error : float
    scale : str
        ``raw``, or the baseline that summary and estimate are shares of.
    """

    algorithm: str
    summary: float
    estimate: float
    relative_error: float
    scale: str


@dataclass(frozen=True, eq=False, repr=False)
class CaseStudy(Results[StudiedAlgorithm]):
    """What would have changed (section 7 of the Atari-5 paper).

    Each algorithm as it is, then each relative to the baseline.

    Parameters
    ----------
    baseline : str
    mean_error : float
    mean_rescaled_error : float
        Relative to the baseline, of all others.
    inversions : tuple of pairs of str
        Pairs in another order by the estimates than by the summaries.

    Examples
    --------
    >>> study = case_study(["dqn", "ppo"], summaries=[80.0, 120.0], estimates=[90.0, 84.0])
    >>> study.baseline, study.inversions
    ('ppo', (('dqn', 'ppo'),))
    """

    baseline: str = field(kw_only=True)
    mean_error: float = field(kw_only=True)
    mean_rescaled_error: float = field(kw_only=True)
    inversions: tuple[tuple[str, str], ...] = field(kw_only=True)

    @property
    def algorithms(self) -> tuple[StudiedAlgorithm, ...]:
        """The algorithms as they are."""
        return self[: len(self) // 2]

    @property
    def rescaled(self) -> tuple[StudiedAlgorithm, ...]:
        """The algorithms relative to the baseline."""
        return self[len(self) // 2 :]

    @property
    def notes(self) -> tuple[str, ...]:
        """Mean errors and inversions."""
        swapped = ", ".join(f"{a} and {b}" for a, b in self.inversions) or "none"
        rescaled = 100 * self.mean_rescaled_error
        return (
            f"mean error {100 * self.mean_error:.1f} %; inversions: {swapped}",
            f"relative to {self.baseline}: mean error {rescaled:.1f} %",
        )


def case_study(
    names: Sequence[str],
    summaries: Sequence[float],
    estimates: Sequence[float],
    *,
    baseline: str | None = None,
) -> CaseStudy:
    """Compare estimates from a subset with the true summaries of some algorithms.

    Parameters
    ----------
    names : sequence of str
    summaries, estimates : sequence of float
    baseline : str, optional
        What to rescale to; the algorithm with the best summary if not given.

    Returns
    -------
    CaseStudy

    Raises
    ------
    ScoreDataError
        The baseline has a score of 0, so nothing can be relative to it.
    UnknownNameError
        The baseline is none of the algorithms.

    Examples
    --------
    Tables 4 and 5 of the paper:

    >>> names = ["C51", "IQN", "C2D", "Rainbow"]
    >>> study = case_study(names, [109, 129, 133, 147], [96, 95, 111, 118])
    >>> round(study.mean_error, 3), study.inversions, study.baseline
    (0.186, (('C51', 'IQN'),), 'Rainbow')
    """
    if baseline is not None and baseline not in names:
        raise UnknownNameError("algorithm", baseline, names)
    best = names[max(range(len(names)), key=lambda i: summaries[i])]
    base = best if baseline is None else baseline
    k = list(names).index(base)
    if not (summaries[k] and estimates[k]):
        raise ScoreDataError(
            f"expected a baseline whose scores are not 0; {base} has {summaries[k]:g} and "
            f"{estimates[k]:g}"
        )
    plain = tuple(
        _studied(n, s, e, "raw") for n, s, e in zip(names, summaries, estimates, strict=True)
    )
    scaled = tuple(
        _studied(n, s / summaries[k], e / estimates[k], base)
        for n, s, e in zip(names, summaries, estimates, strict=True)
    )
    others = [a.relative_error for a in scaled if a.algorithm != base]
    inversions = tuple(
        (a.algorithm, b.algorithm)
        for a, b in combinations(plain, 2)
        if (a.summary - b.summary) * (a.estimate - b.estimate) < 0
    )
    return CaseStudy(
        (*plain, *scaled),
        {"baseline": base},
        baseline=base,
        mean_error=sum(a.relative_error for a in plain) / len(plain),
        mean_rescaled_error=sum(others) / len(others) if others else float("nan"),
        inversions=inversions,
    )


def _studied(name: str, summary: float, estimate: float, scale: str) -> StudiedAlgorithm:
    error = abs(estimate - summary) / abs(summary) if summary else float("nan")
    return StudiedAlgorithm(name, float(summary), float(estimate), error, scale)
