"""Scores of random play and of people on Atari games, for human-normalised scores.

They are the 57 pairs of table 12 of Aitchison, Sweetser and Hutter, *Atari-5: Distilling the Arcade
Learning Environment down to Five Games* (2022).
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from functools import cache
from importlib import resources

__all__ = ["atari_baselines", "atari_name"]


@cache
def atari_baselines() -> Mapping[str, tuple[float, float]]:
    """Return the scores (random, human) of each game, by its name as :func:`atari_name` gives it.

    Examples
    --------
    >>> atari_baselines()["pong"]
    (-20.71, 14.6)
    """
    text = resources.files("gnomon.scores").joinpath("atari_baselines.csv").read_text("utf-8")
    rows = csv.DictReader(text.splitlines())
    return {atari_name(row["game"]): (float(row["random"]), float(row["human"])) for row in rows}


def atari_name(task: str) -> str:
    """Return the bare name of a game, however it is written.

    Examples
    --------
    >>> [atari_name(t) for t in ("ALE/MsPacman-v5", "MsPacmanNoFrameskip-v4", "ms_pacman")]
    ['mspacman', 'mspacman', 'mspacman']
    """
    name = task.rsplit("/", 1)[-1]
    name = re.sub(r"(NoFrameskip|Deterministic)?-v\d+$", "", name)
    return re.sub(r"[^a-z0-9]", "", name.lower())
