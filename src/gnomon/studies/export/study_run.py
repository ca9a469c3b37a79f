"""A study as a run folder: people are one learner, and each person plays one trial of a task."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gnomon.errors import DegenerateScoresWarning, NotCompilableError
from gnomon.experiments.config.config_entries import LearnerEntry, RuleEntry
from gnomon.experiments.config.experiment_config import ExperimentConfig
from gnomon.experiments.config.predefined_boards import RecordedBoards
from gnomon.experiments.folder.recorded_run import RecordedTrial, write_recorded_run
from gnomon.experiments.folder.run_folder import RunFolder
from gnomon.game.board import BoardSpec
from gnomon.learners.base import TrialLog
from gnomon.studies.export.transcript import PlayedGame, trial_log

#: What stands in the learner's seat.
_PEOPLE = LearnerEntry("person", "people")


class _Recording(NamedTuple):
    """A game as a trial of a task: the rule, after which conditions and how often it was met."""

    task: str
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
        Those of a player in the order of play. A game without an attempt is left out, or with a
        partner, for a trial is one learner's; and one whose boards no experiment can play, which a
        `DegenerateScoresWarning` tells.
    trials : mapping from player to int
        The number of each player's trials, from 0; the games of others are left out.

    Raises
    ------
    RunFolderError
        Something else is there.
    """
    told = [g for g in games if g.player in trials and g.session.game.seats is None]
    spec = _common_spec([game.session.game.board for game in told])
    found = list(_recordings(told, spec))
    if not found:
        return None
    texts = {one.task: one.game.session.game.rule_text for one in reversed(found)}
    boards = {task: [b""] * (1 + max(trials.values())) for task in texts}
    for one in found:
        boards[one.task][trials[one.game.player]] = one.log.boards.tobytes()
    config = ExperimentConfig.from_record(
        {
            "name": name,
            "rules": [RuleEntry(*each).to_record() for each in sorted(texts.items())],
            "learners": [_PEOPLE.to_record()],
            "trials": 1 + max(trials.values()),
            "episodes": max(len(one.log.boards) for one in found),
            "horizon": max(one.game.session.game.horizon for one in found),
            "board": {
                **spec.record(),
                **RecordedBoards(
                    tuple((k, tuple(v)) for k, v in boards.items()), spec.n_numbers
                ).to_record(),
            },
        },
        try_learners=False,
    )
    made = (
        RecordedTrial(
            _PEOPLE.name, one.task, trials[one.game.player], one.log,
            sum(attempt.reaction_s for attempt in one.game.session.attempts),
        )
        for one in found
    )  # fmt: skip
    return write_recorded_run(path, config, made)


def by_kind_of_board(games: Iterable[PlayedGame]) -> dict[str, list[PlayedGame]]:
    """Return games by the name of the run folder that can hold them.

    A run has one alphabet of pieces. Where a study has boards of several kinds, those whose pieces
    are pictures, or share cells, are a run each.
    """
    found: dict[str, list[PlayedGame]] = {}
    for game in games:
        spec = game.session.game.board
        name = "run" + "-pictures" * bool(spec.images) + "-crowded" * spec.crowded
        found.setdefault(name, []).append(game)
    return found if len(found) != 1 else {"run": next(iter(found.values()))}


def _recordings(games: Sequence[PlayedGame], spec: BoardSpec) -> Iterable[_Recording]:
    """Yield each game with an attempt as a trial of a task."""
    met: dict[tuple[str, str], int] = {}
    for game in games:
        if not game.session.attempts:
            continue
        terms = game.session.game.terms
        task = game.rule + (" (train)" if terms.train else " (test)" if terms.test else "")
        n_before = met.get((game.player, task), 0)
        met[game.player, task] = n_before + 1
        try:
            log = trial_log(game.session, spec)
        except NotCompilableError as error:
            warnings.warn(
                f"{game.player} on {task}: left out of the run folder: {error}",
                DegenerateScoresWarning,
                stacklevel=2,
            )
            continue
        yield _Recording(f"{task}, again {n_before}" if n_before else task, game, log)


def _common_spec(specs: Sequence[BoardSpec]) -> BoardSpec:
    """Return one board of which all others, of one kind, are: their pieces, shapes and colours."""
    if len(set(specs)) <= 1:
        return specs[0] if specs else BoardSpec()
    crowded = specs[0].crowded
    least, most = np.array([spec.pieces for spec in specs]).T
    pieces = int(least.min()), int(most.max())
    if specs[0].images:
        images = {name: found for spec in specs for name, found in spec.images.items()}
        return BoardSpec(pieces, images=images, crowded=crowded)
    shapes, colors = (
        tuple(dict.fromkeys(name for spec in specs for name in getattr(spec, field)))
        for field in ("shape_palette", "color_palette")
    )
    return BoardSpec(pieces, 0, 0, shapes, colors, crowded=crowded)
