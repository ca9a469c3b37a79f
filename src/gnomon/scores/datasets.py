"""Named public tables of scores: fetched once from their authors, checked by hash, and cached.

A folder named by the environment variable ``GNOMON_DATA`` is looked in first, as
``$GNOMON_DATA/<data set>/<file>``; else the files are downloaded at a fixed commit into the cache
(``$XDG_CACHE_HOME/gnomon`` or ``~/.cache/gnomon``). Either way their sha256 must be the known one.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from gnomon._io.atomic_file import write_atomically
from gnomon.errors import ScoreDataError, UnknownNameError
from gnomon.scores.measured import MEASURED, load_measured
from gnomon.scores.table import ScoreTable

__all__ = ["DATASETS", "Dataset", "References", "dataset_file", "load_references", "load_scores"]

#: Random and human score of each task: what 0 and 100 mean after normalisation.
References = Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class Dataset:
    """A public table of scores: where its files are, and what they must be.

    Parameters
    ----------
    name : str
        Also the name of the folder below ``GNOMON_DATA``.
    url : str
        Where the files are, at a fixed commit.
    sha256 : mapping from file name to hexadecimal digest
    source, licence : str
        Whose it is.
    """

    name: str
    url: str
    sha256: Mapping[str, str]
    source: str
    licence: str


_ATARI5 = Dataset(
    name="atari5",
    url="https://raw.githubusercontent.com/maitchison/Atari-5/"
    "118cad542c94bc6e57181bb259a17d020e0a330f/",
    sha256={
        "dataset.csv": "c78cf8e4db9c46c639caeed204b2bd6168bdfe404a3993eb09c0a7b733af44f7",
        "Atari-Human.csv": "96bf8a49f30d83fa490ea2cc2400181ef9ce35a2c708d5c24b133d3c913be5f5",
    },
    source="Aitchison, Sweetser and Hutter 2022, github.com/maitchison/Atari-5",
    licence="MIT",
)

DATASETS: Mapping[str, Dataset] = {_ATARI5.name: _ATARI5}


def load_scores(name: str, metric: str | None = None) -> ScoreTable:
    """Return the scores of a public data set, or of one that comes with Gnomon, as a table.

    ``atari5`` holds the raw scores of 62 algorithms on up to 57 Atari games, as published by their
    authors, with the attributes ``group`` (the paper that they came from; its collection where the
    title is blank) and ``year``. Four scores were collected twice: they are runs 0 and 1.
    ``gohr-full``, ``gohr-core-sb3`` and ``gohr-core-sb3-unmasked`` are this project's own
    measurements, with several scores of each trial; see
    :func:`gnomon.scores.measured.load_measured`.

    Parameters
    ----------
    name : str
        One of :data:`DATASETS` or of :data:`gnomon.scores.measured.MEASURED`.
    metric : str, optional
        Which score of a trial, where there are several.

    Raises
    ------
    UnknownNameError
        There is no such data set, or no such score in it.
    ScoreDataError
        It is neither at hand nor to be fetched, or its files are not what they should be.
    """
    if name in MEASURED:
        return load_measured(name, metric)
    if metric is not None:
        raise ScoreDataError(f"{name}: expected no name of a score, for it has one; found {metric}")
    path = dataset_file(name, "dataset.csv")
    raw = pl.read_csv(path, infer_schema=False)
    title = pl.col("Paper Title").fill_null("").str.strip_chars()
    rows = raw.select(
        algorithm=pl.col("Algorithm"),
        task=pl.col("Game"),
        run=pl.int_range(pl.len()).over("Algorithm", "Game"),
        score=pl.col("Score").cast(pl.Float64),
        group=pl.when(title == "").then(pl.col("Source")).otherwise(title),
        year=pl.col("Date").cast(pl.Float64).cast(pl.Int64),
    )
    about = DATASETS[name]
    return ScoreTable.from_frame(rows, provenance=(f"{name}: {about.source} ({about.licence})",))


def load_references(name: str) -> dict[str, tuple[float, float]]:
    """Return the random and the human score of each task of a public data set.

    Parameters
    ----------
    name : str
        One of :data:`DATASETS`.

    Returns
    -------
    dict from task to (random, human)

    Raises
    ------
    UnknownNameError, ScoreDataError
        As :func:`load_scores`.
    """
    raw = pl.read_csv(dataset_file(name, "Atari-Human.csv"), infer_schema=False)
    numbers = raw.select("Game", pl.col("Random", "Human").cast(pl.Float64))
    # The scores name games by their letters alone ("icehockey"), this file does not.
    letters = [re.sub("[^a-z]", "", game.lower()) for game in numbers["Game"]]
    return dict(zip(letters, numbers.select("Random", "Human").iter_rows(), strict=True))


def dataset_file(name: str, file: str) -> Path:
    """Return the path of a checked file of a data set, fetching it if need be.

    Parameters
    ----------
    name, file : str
        A data set, and one of its files.

    Raises
    ------
    UnknownNameError
        There is no such data set, or no such file in it.
    ScoreDataError
        The file cannot be had, or is not what it should be.
    """
    if name not in DATASETS:
        raise UnknownNameError("data set", name, (*DATASETS, *MEASURED))
    about = DATASETS[name]
    if file not in about.sha256:
        raise UnknownNameError(f"file of {name}", file, about.sha256)
    folder = os.environ.get("GNOMON_DATA")
    if folder:
        path = Path(folder) / name / file
        if not path.is_file():
            raise ScoreDataError(f"{path}: expected a file of {name}, as GNOMON_DATA says; none")
        _check(path.read_bytes(), about.sha256[file], str(path))
        return path
    path = _cache() / name / about.sha256[file][:12] / file
    if not path.is_file():
        _fetch(about.url + file, about.sha256[file], path)
    return path


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "gnomon"


def _fetch(url: str, sha256: str, path: Path) -> None:
    """Download a file, check it, and only then give it its name."""
    import http.client
    import urllib.request

    try:
        with urllib.request.urlopen(url, timeout=30) as reply:
            data: bytes = reply.read()
    except (OSError, http.client.HTTPException) as error:  # URLError is an OSError
        reason = getattr(error, "reason", error)
        raise ScoreDataError(
            f"{url}: cannot be fetched ({reason}); "
            "set GNOMON_DATA to a folder that holds <data set>/<file>"
        ) from None
    _check(data, sha256, url)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, data)


def _check(data: bytes, sha256: str, where: str) -> None:
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        raise ScoreDataError(f"{where}: expected sha256 {sha256[:12]}..., found {found[:12]}...")
