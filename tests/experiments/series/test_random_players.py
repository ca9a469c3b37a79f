"""Random players on people's boards: as often right as chance has it, whatever may be tried."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gnomon.errors import ScoreDataError
from gnomon.experiments import measure_series, random_players, read_series
from recorded_people import RULE, our_player, write_player


def test_they_succeed_as_often_as_chance_has_it(tmp_path):
    write_player(tmp_path / "A01", our_player())
    (tmp_path / "hue.txt").write_text(RULE)
    series = read_series([tmp_path], trial_lists=tmp_path / "A01" / "lists")
    people = measure_series(series, rules=tmp_path, with_chances=True)
    rng = np.random.default_rng(0)
    found = random_players(people, n=200, rules=tmp_path, rng=rng)
    assert {one.key for one in found} == {"hue, at random"}
    assert not any(one.is_learned for one in found)
    dealt = [episode.board for episode in people[0].series.episodes]
    assert all([e.board for e in one.series.episodes] == dealt for one in found)
    # Every piece goes: the number of attempts for five of them, at chance 1/4, is 20 in the mean.
    assert {int(one.accepted.sum()) for one in found} == {5}
    attempts = np.array([one.accepted.size for one in found])
    assert abs(attempts.mean() - 20) < 4 * attempts.std() / np.sqrt(attempts.size)
    # Errors less those that chance lets expect are a martingale, wherever a board ends.
    excess = [
        float((~one.accepted).sum()) - sum(1 - c.of("random")[0] for c in one.chances)
        for one in found
    ]
    assert abs(np.mean(excess)) < 4 * np.std(excess) / np.sqrt(len(excess))
    unknown = [
        replace(one, series=replace(one.series, episodes=(replace(e, board=None),)))
        for one in people
        for e in one.series.episodes[:1]
    ]
    with pytest.raises(ScoreDataError, match="expected series whose boards are known"):
        random_players(unknown, rules=tmp_path, rng=rng)
