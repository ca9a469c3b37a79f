"""Data sets of scores by name: published ones, and those that come with Gnomon.

Published ones are fetched once from their authors, checked by their hash, and cached. A folder
named by the environment variable ``GNOMON_DATA`` is looked in first, as
``$GNOMON_DATA/<data set>/<file>``; else the files are downloaded at a fixed commit into the cache
(``$XDG_CACHE_HOME/gnomon`` or ``~/.cache/gnomon``).

This project's own measurements are two files each beside this one: ``NAME.npz``, arrays with an
entry for each trial, and ``NAME.json``, the experiment, the hash of its config and the versions.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
from collections import Counter
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.errors import ScoreDataError, UnknownNameError
from gnomon.scores.columns import Column, Rows, Texts
from gnomon.scores.readers.registry import Reader
from gnomon.scores.table import ScoreTable
from gnomon.scores.tidy import Origin, tidy_rows
from gnomon.text_files import write_atomically

#: Where the files of Atari-5 are, at a fixed commit, and their hashes.
_URL = (
    "https://raw.githubusercontent.com/maitchison/Atari-5/118cad542c94bc6e57181bb259a17d020e0a330f/"
)
_SHA256 = {
    "dataset.csv": "c78cf8e4db9c46c639caeed204b2bd6168bdfe404a3993eb09c0a7b733af44f7",
    "Atari-Human.csv": "96bf8a49f30d83fa490ea2cc2400181ef9ce35a2c708d5c24b133d3c913be5f5",
}

#: The published data set, and this project's own measurements, each with what is in it.
PUBLISHED = {"atari5": "62 algorithms on up to 57 Atari games, raw scores as published"}
MEASURED = {
    "gohr-full": "42 learners on the 90 rules of gohr-full-v1, 20 trials each",
    "gohr-induction": "six learners on the 24 rules of gohr-induction-v1 and as many variants, "
    "10 trials each",
    "gohr-core-sb3": "MaskablePPO on the 15 rules of gohr-core-v1, 3 trials",
    "gohr-core-sb3-unmasked": "A2C and DQN, which take no masks, on the same 15 rules, 3 trials",
}


def available_datasets() -> dict[str, str]:
    """Return the names that :func:`load_scores` knows, each with what is in it.

    Examples
    --------
    >>> list(available_datasets())
    ['atari5', 'gohr-full', 'gohr-induction', 'gohr-core-sb3', 'gohr-core-sb3-unmasked']
    """
    return PUBLISHED | MEASURED


def load_scores(name: str, metric: str | None = None) -> ScoreTable:
    """Return the scores of a named data set: a published one, or one that comes with Gnomon.

    ``atari5`` holds the raw scores of 62 algorithms on up to 57 Atari games, as published by their
    authors, with the attributes ``group`` (the paper that they came from; its collection where the
    title is blank) and ``year`` (ours where theirs is blank). Four scores were collected twice:
    they are runs 0 and 1.

    ``gohr-full``, ``gohr-induction`` and the two ``gohr-core-sb3`` are this project's own
    measurements: learners as algorithms, rules as tasks, with the attribute ``kind`` of the
    learner. Each trial has the scores ``tce`` (the one if none is named), ``errors_to_learn`` and
    ``skill``, as :mod:`gohr.experiments.scoring` defines them; an undefined
    skill, on a rule under which no error is possible, is a missing run.

    Parameters
    ----------
    name : str
        One of :func:`available_datasets`.
    metric : str, optional
        Which score of a trial, where there are several.

    Raises
    ------
    UnknownNameError
        There is no such data set, or no such score in it.
    ScoreDataError
        It is not available and cannot be downloaded, or a checksum differs.

    Examples
    --------
    >>> table = load_scores("gohr-full", "skill")
    >>> len(table.algorithms), len(table.tasks), table.higher_is_better
    (42, 90, True)
    """
    if name in MEASURED:
        return _measured(name, metric or "tce")
    if name not in PUBLISHED:
        raise UnknownNameError("data set", name, available_datasets())
    if metric is not None:
        raise ScoreDataError(
            f"{name}: expected no name of a score, since it has one; found {metric}"
        )
    records = []
    n_runs: Counter[tuple[str, str]] = Counter()
    text = dataset_file("dataset.csv").read_text(encoding="utf-8")
    for row in csv.DictReader(io.StringIO(text, newline="")):
        algorithm, task = row["Algorithm"], row["Game"]
        group = row["Paper Title"].strip() or row["Source"]
        year = row["Date"] or _YEARS.get(algorithm) or _YEARS.get(group)
        records.append(
            {
                "algorithm": algorithm,
                "task": task,
                "run": n_runs[algorithm, task],
                "score": float(row["Score"] or "nan"),
                "group": group,
                "year": year and int(float(year)),
            }
        )
        n_runs[algorithm, task] += 1
    source = "Aitchison, Sweetser and Hutter 2022, github.com/maitchison/Atari-5 (MIT)"
    return ScoreTable(records, provenance=(f"{name}: {source}",))


#: Years that the data set leaves blank, by algorithm or by the collection that scores come from.
_YEARS = {"NEAT": 2014, "INCREASE": 2015, "Nature DQN": 2015, "Human Ref": 2015, "BOOTDQN": 2016}
_YEARS |= {"RAINBOW (fixed)": 2017, "DRLQR": 2017, "REACTOR": 2017, "SEED": 2019, "LASER": 2019}
_YEARS |= {"NGU": 2020, "REVISITING": 2020}


def _measured(name: str, metric: str) -> ScoreTable:
    """Return one score of each trial of a data set that comes with this package."""
    about = measured_provenance(name)
    if metric not in about["metrics"]:
        raise UnknownNameError(f"metric of {name}", metric, about["metrics"])
    data = (_folder() / f"{name}.npz").read_bytes()
    _check(data, about["sha256"], name)
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        score = arrays[metric].astype(np.float64)
        columns: dict[str, Column] = {
            kind: Texts.merged(arrays[kind].astype(np.int32), arrays[f"{kind}_names"].tolist())
            for kind in ("algorithm", "task", "run", "kind")
        }
    columns["score"] = score
    if metric == "errors_to_learn":  # -1 where the learner never learned the rule
        columns["censored"] = score < 0.0
        columns["score"] = np.where(score < 0.0, np.inf, score)
    return ScoreTable(
        tidy_rows(Rows(columns), Origin(name), {}),
        metric=metric,
        unit=about["metrics"][metric]["unit"],
        higher_is_better=about["metrics"][metric]["higher_is_better"],
        provenance=(
            f"{name}: experiment {about['experiment']}, config {about['config_hash'][:16]}, "
            f"gnomon {about['gnomon']}",
        ),
    )


def measured_provenance(name: str) -> dict[str, Any]:
    """Return how a measured data set was made: experiment, config hash, versions, metrics."""
    text = (_folder() / f"{name}.json").read_text(encoding="utf-8")
    about: dict[str, Any] = json.loads(text)
    return about


def dataset_file(file: str) -> Path:
    """Return the path of a checked file of Atari-5, fetching it if need be."""
    folder = os.environ.get("GNOMON_DATA")
    if folder:
        path = Path(folder, "atari5", file)
        if not path.is_file():
            raise ScoreDataError(
                f"{path}: expected a file of atari5 in the folder GNOMON_DATA; found none"
            )
        _check(path.read_bytes(), _SHA256[file], str(path))
        return path
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    path = Path(base, "gnomon", "atari5", _SHA256[file][:12], file)
    if not path.is_file():
        _fetch(_URL + file, _SHA256[file], path)
    return path


def _folder() -> resources.abc.Traversable:
    return resources.files("gnomon.scores") / "data"


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


READER = Reader(
    "dataset",
    "the name of a data set, unless there is such a file",
    recognises=lambda source: (
        str(source.path) in available_datasets() and not (source.is_file or source.is_folder)
    ),
    read=lambda source, wanted: load_scores(str(source.path), wanted.metric),
    takes=frozenset({"metric"}),
)
