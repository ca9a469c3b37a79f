"""The manifest of a run folder: which format, version and experiment it is of, as a JSON file."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from gnomon.errors import GnomonError, RunFolderError
from gnomon.experiments.config.experiment_config import NOT_PLAYED, ExperimentConfig

#: Counts up when the layout changes so that older programs cannot read it.
FORMAT = 2

#: The file that makes a folder a run folder.
MANIFEST = "gnomon-run.json"
CONFIG = "config.json"


def manifest_of(config: ExperimentConfig, version: str) -> dict[str, Any]:
    """Return what the manifest says of a run that a version of Gnomon begins now."""
    return {
        "format": FORMAT,
        "gnomon": version,
        "config_hash": config.hash,
        "revealed_to": config.revealed_to,
        "attempts_on_empty_cells": "recorded",
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }


def json_bytes(value: Any) -> bytes:
    """Return a value as the bytes of a JSON file."""
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def read_json(path: Path) -> dict[str, Any]:
    """Read an object from a JSON file; RunFolderError if it is none."""
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        what = str(error)
    else:
        if isinstance(value, dict):
            return value
        what = f"expected an object, found {type(value).__name__}"
    raise RunFolderError(f"{path}: damaged: {what}; {may_be_mended(path.parent)}")


def may_be_mended(folder: Path) -> str:
    """Return what to do about a run folder of which a file is damaged."""
    return f"gnomon repair {folder} may mend it"


def config_of(path: Path, manifest: Mapping[str, Any]) -> ExperimentConfig:
    """Read the experiment of a run, which is the one that the manifest has the hash of."""
    values = read_json(path / CONFIG)
    try:
        config = ExperimentConfig.from_record(values, try_learners=False)
    except GnomonError as error:
        what = str(error).splitlines()[0]
    else:
        if config.hash == manifest.get("config_hash"):
            return config
        what = "not the experiment that the run began with"
    raise RunFolderError(f"{path / CONFIG}: {what}; {may_be_mended(path)}")


def difference(there: ExperimentConfig, here: ExperimentConfig) -> str:
    """Return the first field in which two experiments differ, in words."""
    for name, found in there.to_record().items():
        wanted = here.to_record().get(name)
        if found != wanted and name not in NOT_PLAYED:
            if name == "learners" and (changed := _changed_learner(there, here)):
                return changed
            short = isinstance(found, int | str)
            return f"{name} {found!r} there, {wanted!r} here" if short else f"its {name} differ"
    return "the same fields"


def _changed_learner(there: ExperimentConfig, here: ExperimentConfig) -> str | None:
    """Say whose version differs, if that is the first difference of the learners."""
    for found, wanted in zip(there.learners, here.learners, strict=False):
        if found != wanted:
            if replace(found, version=wanted.version) != wanted:
                break
            return f"learner {found.name!r} is {found.version} there, {wanted.version} here"
    return None
