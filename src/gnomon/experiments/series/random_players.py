"""Simulated random players on the boards of people's series: what chance alone would have done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from gnomon.errors import ScoreDataError
from gnomon.experiments.series.measured_series import MeasuredSeries, find_rules, measure_series
from gnomon.experiments.series.played_series import PlayedEpisode, PlayedSeries
from gnomon.experiments.series.transcript_files import RecordedAttempt
from gnomon.game.board import N_BUCKETS, Board
from gnomon.game.outcomes import IN_PROGRESS
from gnomon.game.reference import ReferenceGame
from gnomon.rules.syntax import RuleSet

#: A player who knows nothing is not taken to have learned by a lucky streak of fewer.
_STREAK = 300


def random_players(
    measured: Sequence[MeasuredSeries],
    *,
    n: int = 3,
    rules: Path | None = None,
    rng: np.random.Generator,
) -> tuple[MeasuredSeries, ...]:
    """Let random players play the boards of each series, to measure people against.

    An attempt is any piece that is left, into any bucket; where the page let nobody try what cannot
    be moved, any piece that can. Each board is played until it is cleared or stuck.

    Parameters
    ----------
    measured : sequence of MeasuredSeries
        Of those without boards there are none.
    n : int
        So many players for each series.
    rules : Path, optional
        As of :func:`gnomon.experiments.measure_series`.
    rng : numpy.random.Generator

    Returns
    -------
    tuple of MeasuredSeries
        With chances; the rule of each is called ``RULE, at random``.

    References
    ----------
    The reference curves of the reference system, of three random players for each series.

    Examples
    --------
    >>> from gnomon.game import Piece
    >>> episode = PlayedEpisode("e", (), (Piece(0, 8, "STAR", "RED"),))
    >>> one = MeasuredSeries(
    ...     PlayedSeries("p1", "anything-goes", 0, (episode,)), np.array([True]), 0.0, True, None
    ... )
    >>> found = random_players([one], n=2, rng=np.random.default_rng(0))
    >>> [(each.key, each.accepted.tolist()) for each in found]
    [('anything-goes, at random', [True]), ('anything-goes, at random', [True])]
    """
    rule_of = find_rules(rules)
    found: list[MeasuredSeries] = []
    for one in measured:
        series = one.series
        if any(episode.board is None for episode in series.episodes):
            continue
        rule_set = rule_of(series.rule)
        made = [
            replace(series, player=f"random {k}", mover=None, episodes=played)
            for k in range(n)
            for played in [tuple(_played(series, rule_set, rng))]
        ]
        again = measure_series(
            made, rules=rules, target_streak=_STREAK, precedence="ignore", with_chances=True
        )
        found += [_renamed(each, one) for each in again]
    if not found:
        raise ScoreDataError(
            "expected series whose boards are known, for random players; found none"
        )
    return tuple(found)


def _played(
    series: PlayedSeries, rule_set: RuleSet, rng: np.random.Generator
) -> Iterator[PlayedEpisode]:
    for episode in series.episodes:
        game = ReferenceGame(rule_set, Board(tuple(episode.board or ())))
        made: list[RecordedAttempt] = []
        while game.finish == IN_PROGRESS:
            pieces = list(game.pieces)
            if series.only_movable:
                movable = {piece_id for piece_id, _ in game.legal_moves()}
                pieces = [piece for piece in pieces if piece.id in movable]
            piece, bucket = pieces[rng.integers(len(pieces))], int(rng.integers(N_BUCKETS))
            code = game.attempt(piece.id, bucket)
            made.append(
                RecordedAttempt(
                    "random", episode.name, len(made), "", 0, piece.id, piece.pos, bucket, code,
                    "simulated", {},
                )
            )  # fmt: skip
        yield PlayedEpisode(episode.name, tuple(made), episode.board)


def _renamed(random: MeasuredSeries, person: MeasuredSeries) -> MeasuredSeries:
    series = replace(random.series, rule=f"{person.series.rule}, at random")
    return replace(random, series=series, preceding=person.preceding)
