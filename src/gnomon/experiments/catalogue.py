"""The experiments that come with Gnomon, by name, and files of your own."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from gnomon.errors import UnknownNameError
from gnomon.experiments.config import ExperimentConfig

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


def load_experiment(name_or_path: str | Path) -> ExperimentConfig:
    """Return an experiment by its name in the library, or else by its file.

    Raises
    ------
    UnknownNameError
        If it is neither, with the nearest names.
    GnomonError
        As :meth:`ExperimentConfig.from_toml`.

    Examples
    --------
    >>> load_experiment("demo").episodes
    200
    """
    name = str(name_or_path)
    if name in available_experiments():
        text = (_library() / f"{name}.toml").read_text(encoding="utf-8")
        return ExperimentConfig.from_toml_text(text, file=name)
    if Path(name).is_file():
        return ExperimentConfig.from_toml(name)
    raise UnknownNameError("experiment or file", name, available_experiments())


def _library() -> resources.abc.Traversable:
    return resources.files("gnomon.experiments") / "library"
