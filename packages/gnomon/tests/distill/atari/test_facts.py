"""Atari facts."""

import pytest

from gnomon.distillation import predict
from gnomon.distillation.atari import (
    NAMED_SUBSETS,
    game_models,
    game_of,
    published_constants,
    published_models,
    published_table,
)
from gnomon.errors import ScoreDataError, UnknownNameError
from gnomon.scores import ScoreTable


@pytest.mark.parametrize(
    ("written", "game"),
    [
        ("Battle Zone", "battlezone"),
        ("BattleZoneNoFrameskip-v4", "battlezone"),
        ("ALE/BattleZone-v5", "battlezone"),
        ("Pong-ramDeterministic-v4", "pong"),
        ("atari_pong", "pong"),
        ("H.E.R.O.", "hero"),
        ("Ms. Pac-Man", "mspacman"),
        ("Montezuma's Revenge", "montezumarevenge"),
        ("montezuma_revenge", "montezumarevenge"),
        ("James Bond 007", "jamesbond"),
        ("Up'n Down", "upndown"),
        ("Q*bert", "qbert"),
        ("Yar's Revenge", "yarsrevenge"),
        ("DoubleDdunk", "doubledunk"),
    ],
)
def test_names_however_written(written, game):
    assert game_of(written) == game


def test_every_printed_name_is_known():
    for row in published_table("table12"):
        assert game_of(row["name"]) == row["game"]


def test_unknown_games_are_errors():
    with pytest.raises(UnknownNameError, match="unknown Atari game 'pongg'; did you mean 'pong'"):
        game_of("Pongg")


def test_sizes():
    assert len(published_constants()) == 57
    assert {name: len(m.tasks) for name, m in published_models().items()} == {
        "Atari-1": 1,
        "Atari-3": 3,
        "Atari-5": 5,
        "Atari-10": 10,
        "Atari-3-Val": 3,
        "Atari-5-Val": 5,
    }
    assert len(game_models("Atari-5")) == len(game_models("Atari-10")) == 57
    assert len(NAMED_SUBSETS) == 6
    for games in NAMED_SUBSETS.values():
        assert set(games) <= set(published_constants())


def test_the_score_of_random_is_zero():
    raw = {game: ends[0] for game, ends in published_constants().items()}
    table = ScoreTable.from_arrays({"random": [[*raw.values()]]}, tasks=[*raw])
    with pytest.warns(match="outside the range"):  # No algorithm of the training is that bad.
        values = [predict(name, table)[0].value for name in published_models()]
    assert values == pytest.approx([0.0] * 6)


def test_a_score_by_hand():
    runs = ScoreTable.from_arrays({"mine": [[8049.0], [2292.35]]}, tasks=["NameThisGame-v5"])
    (one,) = predict("atari-1", runs)
    assert one.value == pytest.approx(51**0.9976 - 1)


def test_a_published_set_needs_its_games():
    table = ScoreTable.from_arrays({"mine": [[3.0]]}, tasks=["pong"])
    with pytest.raises(ScoreDataError, match="expected an algorithm with scores on battlezone"):
        predict("atari-5", table)
    twice = ScoreTable.from_arrays({"mine": [[3.0, 4.0]]}, tasks=["pong", "ALE/Pong-v5"])
    with pytest.raises(ScoreDataError, match=r"expected each game once; .* is pong again"):
        predict("atari-5", twice)
