"""A study as run folders: people are one learner, and each person plays one trial of a task.

Cooperative partners are one player, as in the reference system: their trial has the attempts of
both. Each of two adversaries has a trial with the attempts of both as well, since without the
other's it could not be played again; only the player's own are scored.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from gnomon.studies.export.transcript import PlayedGame, attempt_counts, trial_log

#: By how people played, what stands in the learner's seat, and what its run folder ends in.
_LEARNERS = {
    "alone": ("people", ""),
    "cooperative": ("pairs", "-cooperative"),
    "adversarial": ("adversaries", "-adversarial"),
    "cooperative-bot": ("people with a bot", "-cooperative-bot"),
    "adversarial-bot": ("people against a bot", "-adversarial-bot"),
}


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
        Those of a player in the order of play, all of one kind (:func:`by_kind`). A game without an
        attempt is left out; and one whose boards no experiment can play, which a
        `DegenerateScoresWarning` tells.
    trials : mapping from player to int
        The number of each player's trials, from 0; of a cooperative pair, that of player 0. Others
        have no trials, nor has a pair with one of them.

    Raises
    ------
    RunFolderError
        Something else is there.
    """
    games = [game for game in games if any(who in trials for _, who in game.people)]
    spec = _common_spec([game.session.game.board for game in games])
    found = list(_recordings(games, trials, spec))
    if not found:
        return None
    people = LearnerEntry("person", _LEARNERS[games[0].kind][0])
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
                **RecordedBoards(
                    tuple((k, tuple(v)) for k, v in boards.items()), spec.n_numbers
                ).to_record(),
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


def by_kind(games: Iterable[PlayedGame]) -> dict[str, list[PlayedGame]]:
    """Return games by the name of the run folder that can hold them.

    A run has one alphabet of pieces, and one kind of player. Where a study has several kinds,
    boards of pictures are a run of their own, those whose pieces share cells, and games with a
    partner or against one. Series whose pieces are more than one alphabet holds go to ``run-2``,
    and so on.
    """
    found: dict[str, list[PlayedGame]] = {}
    alphabets: dict[str, list[BoardSpec]] = {}
    for game in games:
        spec = game.session.game.board
        kind = "run" + "-pictures" * bool(spec.images) + "-crowded" * spec.crowded
        kind += _LEARNERS[game.kind][1]
        names = (kind if n == 1 else f"{kind}-{n}" for n in itertools.count(1))
        name = next(each for each in names if _fit([*alphabets.get(each, ()), spec]))
        if spec not in alphabets.setdefault(name, []):
            alphabets[name].append(spec)
        found.setdefault(name, []).append(game)
    return found if len(found) != 1 else {"run": next(iter(found.values()))}


def _recordings(
    games: Sequence[PlayedGame], trials: Mapping[str, int], spec: BoardSpec
) -> Iterator[_Recording]:
    """Yield each game with an attempt as a trial of a task, or as one of each adversary."""
    met: Counter[tuple[str, str]] = Counter()
    for game in games:
        if not game.session.attempts:
            continue
        people, apart = game.people, game.kind.startswith("adversarial")
        if not apart:
            people = ((None, game.player),) if all(who in trials for _, who in people) else ()
        terms = game.session.game.terms
        task = game.rule + (" (train)" if terms.train else " (test)" if terms.test else "")
        for seat, who in people:
            n_before = met[who, task]
            met[who, task] += 1
            if who not in trials:
                continue
            try:
                log = trial_log(game.session, spec, seat)
            except NotCompilableError as error:
                warnings.warn(
                    f"{who} on {task}: left out of the run folder: {error}",
                    DegenerateScoresWarning,
                    stacklevel=2,
                )
                continue
            if log.own is not None and not log.own.any():
                continue
            again = f"{task}, again {n_before}" if n_before else task
            yield _Recording(again, trials[who], game, log)


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
    shapes, colors = _palettes(specs)
    return BoardSpec(pieces, 0, 0, shapes, colors, crowded=crowded)


def _palettes(specs: Iterable[BoardSpec]) -> list[tuple[str, ...]]:
    """Return the shapes and the colours of all boards; pictures are shapes of one colour."""
    both = zip(*((spec.shape_palette, spec.color_palette) for spec in specs), strict=True)
    return [tuple(dict.fromkeys(itertools.chain(*palettes))) for palettes in both]


def _fit(specs: Sequence[BoardSpec]) -> bool:
    """Whether all boards can have one alphabet: a piece is a byte of a row of codes."""
    return len(set(specs)) == 1 or math.prod(map(len, _palettes(specs))) < 256
