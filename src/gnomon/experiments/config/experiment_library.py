"""The experiments that come with Gnomon, by name, and files of your own."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Any

from gnomon.errors import ConfigError, UnknownNameError
from gnomon.experiments.config.experiment_config import ExperimentConfig
from gnomon.experiments.config.suites import available_suites
from gnomon.rules.catalogue import available_rules

__all__ = ["available_experiments", "load_experiment"]


def available_experiments() -> tuple[str, ...]:
    """Return the names of the experiments that come with Gnomon, in alphabetical order.

    Examples
    --------
    >>> "demo" in available_experiments()
    True
    """
    names = (path.name for path in _library().iterdir())
    return tuple(sorted(n.removesuffix(".toml") for n in names if n.endswith(".toml")))


def load_experiment(name_or_path: str | Path, **changes: Any) -> ExperimentConfig:
    """Return an experiment by its name in the library, or by its file; or one on a suite or a rule.

    Parameters
    ----------
    name_or_path : str or Path
        The name of an experiment, the path of a TOML file, or, with ``learners`` among the changes,
        the name of a suite or a rule.
    **changes
        Fields of the config file to be used in place of its own.

    Raises
    ------
    UnknownNameError
        If it is none of these, with the nearest names.
    GnomonError
        As :meth:`ExperimentConfig.from_toml`.

    Examples
    --------
    >>> load_experiment("demo", trials=3).trials
    3
    >>> load_experiment("gohr-core", learners=["uniform"]).n_trials
    300
    """
    name = str(name_or_path)
    if name in available_experiments():
        text = (_library() / f"{name}.toml").read_text(encoding="utf-8")
        return ExperimentConfig.from_toml_text(text, file=name, changes=changes)
    if Path(name).is_file() and Path(name).suffix == ".toml":
        return ExperimentConfig.from_toml(name, changes=changes)
    if name in (*available_suites(), *available_rules()) or Path(name).is_file():
        if "learners" not in changes:
            raise ConfigError(f"{name!r} says what is played, not by whom: name the learners")
        return ExperimentConfig.from_record({"name": name, "rules": [name]} | changes)
    known = (*available_experiments(), *available_suites(), *available_rules())
    raise UnknownNameError("experiment or file", name, known)


def _library() -> resources.abc.Traversable:
    return resources.files("gnomon.experiments") / "library"
