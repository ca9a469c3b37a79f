"""A study as run folders: people are one learner, and each person plays one trial of a task."""

from __future__ import annotations

import itertools
import math
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gnomon.errors import DegenerateScoresWarning
from gohr import BoardSpec, ExperimentConfig, RunFolder
from gohr.errors import NotCompilableError
from gohr.experiments import (
    LearnerEntry,
    RecordedBoards,
    RecordedTrial,
    RuleEntry,
    write_recorded_run,
)
from gohr.learners import TrialLog
from gohr.people import PlayedGame, attempt_counts, trial_log


class _Recording(NamedTuple):
    """A game as a trial of a task: the rule, after which conditions and how often it was met."""

    task: str
    trial: int
    game: PlayedGame
    log: TrialLog


def write_study_run(
    path: Path, name: str, games: Iterable[PlayedGame], trials: Mapping[str, int]
) -> RunFolder | None:
    """Write the games of a study as a run folder, and return it; None if nothing was tried.

    Parameters
    ----------
    path : Path
        Where nothing is, or an older run of the same study.
    name : str
        The name of the study.
    games : iterable of PlayedGame
        Those of a player in the order of play, all of one folder (:func:`by_run_folder`). A game
        without an attempt is left out, and so is one whose boards no experiment can play; a
        `DegenerateScoresWarning` reports it.
    trials : mapping from player to int
        The number of each player's trials, from 0. Other players have no trials.

    Raises
    ------
    RunFolderError
        Something else is there.
    """
    games = [game for game in games if game.player in trials]
    spec = _common_spec([game.session.game.board for game in games])
    found = list(_recordings(games, trials, spec))
    if not found:
        return None
    people = LearnerEntry("person", "people")
    texts = {one.task: one.game.session.game.rule_text for one in reversed(found)}
    boards = {task: [b""] * (1 + max(trials.values())) for task in texts}
    for one in found:
        boards[one.task][one.trial] = one.log.boards.tobytes()
    config = ExperimentConfig.from_record(
        {
            "name": name,
            "rules": [RuleEntry(*each).to_record() for each in sorted(texts.items())],
            "learners": [people.to_record()],
            "trials": 1 + max(trials.values()),
            "episodes": max(len(one.log.boards) for one in found),
            "horizon": max(one.game.session.game.horizon for one in found),
            "board": {
                **spec.record(),
                **RecordedBoards(tuple((k, tuple(v)) for k, v in boards.items())).to_record(),
            },
        },
        try_learners=False,
    )
    made = (
        RecordedTrial(
            people.name, one.task, one.trial, one.log,
            sum(attempt.reaction_s for attempt in one.game.session.attempts),
            attempt_counts(one.game.session),
        )
        for one in found
    )  # fmt: skip
    return write_recorded_run(path, config, made)


def by_run_folder(games: Iterable[PlayedGame]) -> list[tuple[str, list[PlayedGame]]]:
    """Return games by the name of the run folder that can hold them.

    A run has one alphabet of fewer than 256 pieces. Series that do not fit into ``run`` go to
    ``run-2``, and so on.
    """
    found: dict[str, list[PlayedGame]] = {}
    alphabets: dict[str, list[BoardSpec]] = {}
    for game in games:
        spec = game.session.game.board
        names = ("run" if n == 1 else f"run-{n}" for n in itertools.count(1))
        name = next(each for each in names if _fit([*alphabets.get(each, ()), spec]))
        if spec not in alphabets.setdefault(name, []):
            alphabets[name].append(spec)
        found.setdefault(name, []).append(game)
    return list(found.items())


def _recordings(
    games: Sequence[PlayedGame], trials: Mapping[str, int], spec: BoardSpec
) -> Iterator[_Recording]:
    """Yield each game with an attempt as a trial of a task."""
    met: Counter[tuple[str, str]] = Counter()
    for game in games:
        if not game.session.attempts:
            continue
        terms = game.session.game.terms
        task = game.rule + (" (train)" if terms.train else " (test)" if terms.test else "")
        n_before = met[game.player, task]
        met[game.player, task] += 1
        try:
            log = trial_log(game.session, spec)
        except NotCompilableError as error:
            warnings.warn(
                f"{game.player} on {task}: left out of the run folder: {error}",
                DegenerateScoresWarning,
                stacklevel=2,
            )
            continue
        again = f"{task}, again {n_before}" if n_before else task
        yield _Recording(again, trials[game.player], game, log)


def _common_spec(specs: Sequence[BoardSpec]) -> BoardSpec:
    """Return one board of which all others are: their pieces, shapes and colours."""
    if len(set(specs)) <= 1:
        return specs[0] if specs else BoardSpec()
    least, most = np.array([spec.pieces for spec in specs]).T
    shapes, colors = _palettes(specs)
    return BoardSpec((int(least.min()), int(most.max())), 0, 0, shapes, colors)


def _palettes(specs: Iterable[BoardSpec]) -> list[tuple[str, ...]]:
    """Return the shapes and the colours of all boards."""
    both = zip(*((spec.shape_palette, spec.color_palette) for spec in specs), strict=True)
    return [tuple(dict.fromkeys(itertools.chain(*palettes))) for palettes in both]


def _fit(specs: Sequence[BoardSpec]) -> bool:
    """Whether all boards can have one alphabet: a piece is a byte of a row of codes."""
    return len(set(specs)) == 1 or math.prod(map(len, _palettes(specs))) < 256
