"""Atari facts."""

import pytest

from gnomon.distill.atari import (
    NAMED_SUBSETS,
    game_models,
    game_of,
    human_normalized,
    published_constants,
    published_models,
    published_table,
)
from gnomon.distill.atari.agent_scores import atari_scores
from gnomon.errors import UnknownNameError


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
    with pytest.warns(match="outside the range"):  # No algorithm of the training is that bad.
        assert [s.value for s in atari_scores(raw)] == pytest.approx([0.0] * 6)


def test_a_score_by_hand():
    raw = {"Name This Game": 2292.35 + 0.5 * (8049.0 - 2292.35)}
    score = atari_scores(raw)[0]
    assert score.model == "Atari-1"
    assert score.value == pytest.approx(51**0.9976 - 1)
    assert human_normalized(raw)["namethisgame"] == pytest.approx(50.0)


def test_a_wanted_model_needs_its_games():
    with pytest.raises(UnknownNameError, match="unknown score for task 'battlezone'"):
        atari_scores({"pong": 3.0}, models=["Atari-5"])
