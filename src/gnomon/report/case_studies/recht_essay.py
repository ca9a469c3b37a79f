"""Recht 2018: performance profiles of DQN and of handcrafted features on Atari."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Literal

from gnomon.distill.atari.reproduction import Comparison
from gnomon.plot.record import Figure
from gnomon.plot.style import default_settings
from gnomon.report.case_studies.case_study import CaseStudy, How, data_file
from gnomon.scores import SummaryTable, read_summaries
from gnomon.stats import Profiles, profile

_WHERE = "arXiv 1709.06009, tables 8 and 9"
_FILE = "scores/machado2018_mean_std.csv"
SHALLOW, DEEP = "Sarsa(lambda)+Blob-PROST", "DQN"
#: The degrees of freedom of Welch's test, by their names in :func:`gnomon.stats.profile`.
Formula = Literal["as_published", "welch"]
FORMULAS: Mapping[Formula, str] = {
    "as_published": "his degrees of freedom",
    "welch": "the textbook's",
}
#: Thresholds at which his formula and the textbook's are printed beside each other.
_AT = {"p = .05": 1.301, "p = .01": 2.0}


def case_study(how: How) -> CaseStudy:
    """Return the essay's two claims, and its profiles by both formulas."""
    equal, unequal = _profiles(200_000_000), _profiles(10_000_000)
    return CaseStudy(
        "Recht 2018: benchmarking machine learning with performance profiles",
        (*_claims(equal, unequal), *_at_thresholds()),
        tuple(_figures(equal, unequal)),
        (
            "The essay prints no numbers, only figures and what they show. The distance of a "
            "method from the best one of a game is minus the decimal logarithm of a one-sided "
            "Welch p-value. The published notebook divides by n, not by n squared, in the degrees "
            "of freedom, which makes tails too heavy; both readings are given.",
            "Blob-PROST has 24 runs of each game, DQN five.",
        ),
    )


def _profiles(deep_frames: int) -> dict[Formula, Profiles]:
    """Return profiles of both algorithms by the notebook's formula and by the textbook's."""
    return {df: profile(_two(deep_frames), "likelihood", df=df) for df in FORMULAS}


def _two(deep_frames: int) -> SummaryTable:
    table = read_summaries(data_file(_FILE, _WHERE), keep_apart="frames")
    two = table.select([f"{SHALLOW} 200000000", f"{DEEP} {deep_frames}"])
    return replace(two, algorithms=(f"{SHALLOW}, 200M", f"{DEEP}, {deep_frames // 10**6}M"))


def _claims(
    equal: dict[Formula, Profiles], unequal: dict[Formula, Profiles]
) -> Iterator[Comparison]:
    for df, found in equal.items():
        a, b = (one.value for one in found)
        crossed = bool((a > b).any() and (b > a).any())
        ours = "they cross" if crossed else "they do not cross"
        item = f"200 against 200 million frames, {FORMULAS[df]}"
        yield Comparison("essay, figure 1", item, "they cross", ours, crossed)
    for df, found in unequal.items():
        a, b = (one.value for one in found)
        apart = bool((a >= b).all() and (a > b).any())
        ours = f"{SHALLOW} above" if apart else "not apart"
        item = f"200 against 10 million frames, {FORMULAS[df]}"
        yield Comparison("essay, figure 2", item, f"{SHALLOW} above", ours, apart)


def _at_thresholds() -> Iterator[Comparison]:
    """Give the share of games at two thresholds by his formula, and by the textbook's."""
    for words, tau in _AT.items():
        shares = (_at(200_000_000, df, tau) for df in FORMULAS)
        for name, theirs, own in zip((SHALLOW, DEEP), *shares, strict=True):
            published, ours = f"{theirs:.3f}", f"{own:.3f}"
            yield Comparison(
                "notebook's formula",
                f"share of games within {words}, {name}",
                published,
                ours,
                published == ours,
                "ours has Welch and Satterthwaite's degrees of freedom",
            )


def _at(deep_frames: int, df: Formula, tau: float) -> list[float]:
    return [float(one.value[0]) for one in profile(_two(deep_frames), "likelihood", [tau], df=df)]


def _figures(equal: dict[Formula, Profiles], unequal: dict[Formula, Profiles]) -> Iterator[Figure]:
    with default_settings():
        for title, found in (("200 against 200", equal), ("200 against 10", unequal)):
            for df, profiles in found.items():
                name = f"profile-{title.replace(' ', '-')}-{df.replace('_', '-')}"
                yield replace(
                    profiles.figure(), name=name, title=f"{title} million frames, {FORMULAS[df]}"
                )
