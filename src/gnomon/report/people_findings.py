"""People against learners on the same rules: the numbers of a report, each computed once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from gnomon._io.text_file import read_text
from gnomon.errors import GnomonError, ScoreDataError
from gnomon.experiments import (
    ExperimentConfig,
    MeasuredSeries,
    PlayedSeries,
    RuleEntry,
    RunFolder,
    measure_series,
    read_series,
    trials_of,
)
from gnomon.experiments.config.predefined_boards import PredefinedBoards
from gnomon.experiments.scoring.mastery import TARGET_STREAK, attempts_to_master
from gnomon.experiments.series.transcript_files import Guess, read_guesses
from gnomon.game.board import COLORS, SHAPES, Board, BoardSpec
from gnomon.game.outcomes import ACCEPTED, EMPTY_CELL, EPISODE_OVER
from gnomon.plot.curves import MedianCurve
from gnomon.ranking import TaskMasteries, mastery
from gnomon.report.participant_clusters import ParticipantClusters, participant_clusters
from gnomon.rules.catalogue import available_rules
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.bootstrap.medians import median_curve
from gnomon.stats.comparisons.rank_tests import holm, mann_whitney

PEOPLE = "people"
#: The players between whom all others should lie, and how many trials of each are played.
BOUNDS, _BOUND_TRIALS = ("ideal", "uniform"), 20
#: So many boards are compared that at most this share of people stopped before without mastery:
#: else the first one to leave would decide for all.
_MOST_LEFT_OUT = 0.2


@dataclass(frozen=True)
class AgainstPeople:
    """People against one learner on one rule, after equally many boards.

    Parameters
    ----------
    rule, learner : str
    n_people, n_trials : int
    share : float
        Share of pairs of a person and a trial of which the person made fewer errors; ties are one
        half.
    p_value, p_adjusted : float
        Of Mann and Whitney's two-sided test, and after Holm's correction over all of the report.

    Examples
    --------
    >>> AgainstPeople("clockwise", "dqn", 9, 20, 0.9, 0.001, 0.002).share
    0.9
    """

    rule: str
    learner: str
    n_people: int
    n_trials: int
    share: float
    p_value: float
    p_adjusted: float


@dataclass(frozen=True, eq=False)
class RuleFindings:
    """What people and learners did on one rule in their first boards.

    Parameters
    ----------
    rule : str
    n_boards : int
        So many are compared.
    n_left_out : int
        People who stopped before, without having mastered the rule.
    n_again : int
        Later series of people who had met the rule: a person counts once, as who is new to it.
    errors : mapping from player to numpy.ndarray of float, shape (n, n_boards)
        Cumulated errors; of ``people`` and of each learner.
    masteries : TaskMasteries
        A task is a player: the attempts of each before mastery.
    """

    rule: str
    n_boards: int
    n_left_out: int
    n_again: int
    errors: Mapping[str, FloatArray]
    masteries: TaskMasteries

    def curves(self, level: float) -> list[MedianCurve]:
        """Return the median curve of each player."""
        return [
            MedianCurve(name, *median_curve(errors, level=level), len(errors))
            for name, errors in self.errors.items()
        ]


@dataclass(frozen=True, eq=False)
class PeopleFindings:
    """All numbers of a report of people against learners.

    Parameters
    ----------
    measured : tuple of MeasuredSeries
        Every series of a person with an attempt.
    rules : tuple of RuleFindings
    against : tuple of AgainstPeople
    clusters : ParticipantClusters
    guesses : tuple of Guess
        What players thought the rule was.
    notices : tuple of str
        What was left out, and why.
    level : float
    seed : int
    """

    measured: tuple[MeasuredSeries, ...]
    rules: tuple[RuleFindings, ...]
    against: tuple[AgainstPeople, ...]
    clusters: ParticipantClusters
    guesses: tuple[Guess, ...]
    notices: tuple[str, ...]
    level: float
    seed: int

    @property
    def players(self) -> tuple[str, ...]:
        """The people, those who mastered most first."""
        learned: dict[str, int] = {}
        for one in self.measured:
            who = one.series.player
            learned[who] = learned.get(who, 0) + one.is_learned
        return tuple(sorted(learned, key=lambda who: (-learned[who], who)))


def people_findings(
    sources: Iterable[Path],
    runs: Sequence[RunFolder] = (),
    *,
    trial_lists: Path | None = None,
    target_streak: int | None = None,
    boards: int | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> PeopleFindings:
    """Compare people with learners, rule by rule, after equally many boards.

    Parameters
    ----------
    sources : iterable of Path
        Transcripts of a study, or folders of them, with guesses if there are any.
    runs : sequence of RunFolder
        Runs on rules of the same names. Where they lack ``ideal`` or ``uniform``, twenty trials of
        these are played: on boards like those of the run that has the rule, or else on the boards
        that people were dealt, on the text ``rules/NAME.txt`` of the study.
    trial_lists, target_streak
        As of :func:`gnomon.experiments.read_series` and :func:`gnomon.experiments.measure_series`.
    boards : int, optional
        How many boards to compare; if not given, as many as four in five played or had no need to,
        since they had mastered the rule.
    level : float
        Confidence level.
    seed : int
        Of trials and permutations.

    Raises
    ------
    ScoreDataError
        There is no attempt of a person.
    """
    places = list(sources)
    series = read_series(places, trial_lists=trial_lists)
    measured = measure_series(series, target_streak=target_streak, precedence="ignore")
    notices: list[str] = []
    streak = target_streak or TARGET_STREAK
    how = _Comparison(tuple(runs), boards, streak, seed, notices, tuple(places))
    found = [
        how.of_rule(rule, [one for one in measured if one.series.rule == rule])
        for rule in dict.fromkeys(one.series.rule for one in measured)
    ]
    rules = tuple(one for one in found if one is not None)
    return PeopleFindings(
        measured,
        rules,
        _against(rules),
        participant_clusters(_errors_per_board(measured), rng=np.random.default_rng(seed)),
        tuple(read_guesses(places)),
        tuple(notices),
        level,
        seed,
    )


def _episode_errors(series: PlayedSeries) -> list[int]:
    """Return the errors on each board."""
    return [
        sum(series.counts(attempt) and attempt.code != 0 for attempt in episode.attempts)
        for episode in series.episodes
    ]


@dataclass(frozen=True)
class _Comparison:
    """How people are compared with learners; ``notices`` gathers what is left out."""

    runs: tuple[RunFolder, ...]
    boards: int | None
    target: int
    seed: int
    notices: list[str]
    places: tuple[Path, ...] = ()

    def of_rule(self, rule: str, played: Sequence[MeasuredSeries]) -> RuleFindings | None:
        first: dict[str, MeasuredSeries] = {}
        for one in sorted(played, key=lambda one: one.series.number):
            first.setdefault(one.series.player, one)
        measured = list(first.values())
        n_again = len(played) - len(measured)
        lengths = [len(one.series.episodes) for one in measured]
        # Who mastered the rule need not have played them all.
        reach = sorted(
            max(lengths) if one.is_learned else n for n, one in zip(lengths, measured, strict=True)
        )
        n_boards = self.boards or reach[int(_MOST_LEFT_OUT * len(reach))]
        people = [
            _prolonged(_episode_errors(one.series), n_boards)
            for one, n in zip(measured, lengths, strict=True)
            if one.is_learned or n >= n_boards
        ]
        if not people:
            self.notices.append(f"{rule}: nobody played {n_boards} boards")
            return None
        cut = [_first(one.series, n_boards) for one in measured]
        again = measure_series(cut, target_streak=self.target, precedence="ignore")
        learners, rows = self._learners_of(rule, n_boards, [one.series for one in measured])
        rows = [*(_mastery_row(PEOPLE, one.m_star, one.at_least) for one in again), *rows]
        errors = {PEOPLE: np.array(people, dtype=np.float64), **learners}
        n_left_out = len(measured) - len(people)
        return RuleFindings(rule, n_boards, n_left_out, n_again, errors, _masteries(rows))

    def _learners_of(
        self, rule: str, n_boards: int, series: Sequence[PlayedSeries]
    ) -> tuple[dict[str, FloatArray], list[dict[str, Any]]]:
        """Return cumulated errors of each learner, and a row of mastery for each trial."""
        errors: dict[str, FloatArray] = {}
        rows: list[dict[str, Any]] = []
        for name, trials in self._outcomes(rule, n_boards, series).items():
            shortest = min(len(n_attempts) for _, n_attempts in trials)
            if shortest < n_boards:
                self.notices.append(
                    f"{name} on {rule}: left out, it played {shortest} of {n_boards} boards"
                )
                continue
            cut = [_first_boards(codes, lengths, n_boards) for codes, lengths in trials]
            errors[name] = np.array([curve for curve, _ in cut])
            for _, accepted in cut:
                m_star = attempts_to_master(accepted, target=self.target)
                rows.append(_mastery_row(name, m_star, _before_streak(accepted)))
        return errors, rows

    def _outcomes(
        self, rule: str, n_boards: int, series: Sequence[PlayedSeries]
    ) -> dict[str, list[tuple[Any, Any]]]:
        """Return the codes of attempts and the lengths of episodes, of each learner's trials."""
        found: dict[str, list[tuple[Any, Any]]] = {}
        config = None
        own = self._own_rule(rule)
        for run in self.runs:
            records = [r for r in run.trials() if r.rule == rule and r.status == "done"]
            theirs = [each.rule_set for each in run.config.rules if each.name == rule]
            if records and own and own[0].rule_set not in theirs:
                self.notices.append(
                    f"{run.path.name} on {rule}: left out, its rule of this name is another than "
                    "the study's"
                )
                continue
            config = run.config if records else config
            for record, trial in run.outcomes(records):
                # The run of a study is of people, too.
                of = f" of {run.config.name}" if record.learner == PEOPLE else ""
                played = found.setdefault(f"{record.learner}{of}", [])
                played.append((trial.outcomes, trial.n_attempts))
        for name in BOUNDS:
            if name not in found and (played := self._bound(name, rule, config, n_boards, series)):
                found[name] = played
        return found

    def _own_rule(self, rule: str) -> list[RuleEntry]:
        """Return the rule as the study has it, if it has its text."""
        texts = [place / "rules" / f"{rule}.txt" for place in self.places]
        return [RuleEntry(rule, read_text(path)) for path in texts if path.is_file()][:1]

    def _bound(
        self,
        name: str,
        rule: str,
        config: ExperimentConfig | None,
        n_boards: int,
        series: Sequence[PlayedSeries],
    ) -> list[tuple[Any, Any]]:
        """Play one who bounds the others, on boards like those of the run, or else on people's."""
        left_out = f"{name} on {rule}: left out, "
        own = self._own_rule(rule)
        if config is None and not own and rule not in available_rules():
            self.notices.append(
                f"{left_out}the rule is in no run, no library and no rules/ of the study"
            )
            return []
        entries = config.rules if config else own or [RuleEntry.named(rule)]
        try:
            dealt = {"horizon": config.horizon, "board": config.board} if config else _dealt(series)
            made = ExperimentConfig(
                "bounds", [x for x in entries if x.name == rule], [name], trials=_BOUND_TRIALS,
                episodes=n_boards, seed=self.seed, **dealt,
            )  # fmt: skip
            logs = [trial.play() for trial in trials_of(made)]
        except GnomonError as error:
            self.notices.append(f"{left_out}{error}")
            return []
        return [(log.outcomes, log.n_attempts) for log in logs]


def _dealt(series: Iterable[PlayedSeries]) -> dict[str, Any]:
    """Return the boards that people were dealt, in a random order for each trial, and the horizon.

    Where no file tells them, the default board. A board is cut off after as many attempts as
    anybody made on one, and not before 100.
    """
    episodes = [episode for one in series for episode in one.episodes]
    horizon = max([100, *(len(episode.attempts) for episode in episodes)])
    boards = [Board(episode.board) for episode in episodes if episode.board]
    if not boards:
        return {"horizon": horizon}
    pieces = [piece for board in boards for piece in board.pieces]
    sizes = [len(board.pieces) for board in boards]
    spec = BoardSpec(
        pieces=(min(sizes), max(sizes)),
        shapes=0,
        colors=0,
        shape_palette=_palette(SHAPES, (piece.shape for piece in pieces)),
        color_palette=_palette(COLORS, (piece.color for piece in pieces)),
        images={piece.image: piece.properties or {} for piece in pieces if piece.image},
        crowded=any(len({p.pos for p in board.pieces}) < len(board.pieces) for board in boards),
    )
    codes = tuple(board.codes(spec).tobytes() for board in boards)
    return {"horizon": horizon, "board": spec, "predefined": PredefinedBoards(codes, "random")}


def _palette(usual: Sequence[str], seen: Iterable[str | None]) -> Sequence[str]:
    """Return the usual names, if none but these are seen; else those that are."""
    names = sorted({name for name in seen if name})
    return usual if set(names) <= set(usual) else names


def _first(series: PlayedSeries, n: int) -> PlayedSeries:
    return replace(series, episodes=series.episodes[:n])


def _prolonged(errors: Sequence[int], n: int) -> FloatArray:
    """Return cumulated errors on n boards: none on boards after mastery that were not played."""
    padded = np.zeros(n)
    padded[: min(n, len(errors))] = errors[:n]
    return np.cumsum(padded)


def _first_boards(codes: Any, lengths: Any, n: int) -> tuple[FloatArray, Any]:
    """Return cumulated errors on the first boards, and whether each attempt was a success.

    Attempts on empty cells, which people cannot make, do not count.
    """
    episode = np.repeat(np.arange(len(lengths)), lengths)
    counts = (codes != EPISODE_OVER) & (codes != EMPTY_CELL) & (episode < n)
    wrong = np.bincount(episode[counts & (codes != ACCEPTED)], minlength=n)[:n]
    return np.cumsum(wrong).astype(np.float64), codes[counts] == ACCEPTED


def _before_streak(accepted: Any) -> int:
    failures = np.flatnonzero(~accepted)
    return int(failures[-1]) + 1 if failures.size else 0


def _mastery_row(who: str, m_star: float, at_least: int) -> dict[str, Any]:
    censored = math.isinf(m_star)
    return {
        "algorithm": who, "task": who, "score": m_star, "censored": censored, "at_least": at_least,
    }  # fmt: skip


def _masteries(rows: list[dict[str, Any]]) -> TaskMasteries:
    numbered = [row | {"run": number} for number, row in enumerate(rows)]
    return mastery(ScoreTable.from_records(numbered, metric="m_star", higher_is_better=False))


def _against(rules: Sequence[RuleFindings]) -> tuple[AgainstPeople, ...]:
    made: list[tuple[str, str, int, int, float, float]] = []
    for found in rules:
        people = found.errors[PEOPLE][:, -1]
        for name, errors in found.errors.items():
            if name != PEOPLE:
                wins, p = mann_whitney(errors[:, -1], people)
                share = wins / (len(people) * len(errors))
                made.append((found.rule, name, len(people), len(errors), share, p))
    adjusted = holm([one[-1] for one in made])
    return tuple(AgainstPeople(*one, float(p)) for one, p in zip(made, adjusted, strict=True))


def _errors_per_board(measured: Iterable[MeasuredSeries]) -> dict[str, dict[str, float]]:
    """Return of each player the errors a board on each rule, over all series on it."""
    sums: dict[str, dict[str, list[int]]] = {}
    for one in measured:
        of_player = sums.setdefault(one.series.player, {})
        of_player.setdefault(one.series.rule, []).extend(_episode_errors(one.series))
    return {
        who: {rule: sum(errors) / len(errors) for rule, errors in of_player.items()}
        for who, of_player in sums.items()
    }


def run_folders(paths: Iterable[Path]) -> list[RunFolder]:
    """Open the runs to compare with.

    Raises ScoreDataError: a path is no run folder.
    """
    found = []
    for path in paths:
        if not path.is_dir():
            raise ScoreDataError(f"{path}: expected a run folder to compare with; found none")
        found.append(RunFolder.open(path))
    return found
