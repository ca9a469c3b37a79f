"""Pulick et al. 2022, section 5: three claims on a linear DQN, in two readings of the text."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy import stats

from gnomon._io.tables import p_value
from gnomon.distill.atari.reproduction import Comparison
from gnomon.experiments import ExperimentConfig, RunFolder, load_experiment, run
from gnomon.plot.record import Figure
from gnomon.plot.style import default_settings
from gnomon.report.case_studies.case_study import CaseStudy, How
from gnomon.report.findings import Findings, findings_of
from gnomon.report.run_figures import difficulty_figures, trial_figure
from gnomon.stats import mann_whitney

#: What the paper's text leaves open, in the two readings that are tried.
READINGS: Mapping[str, Mapping[str, object]] = {
    "default": {},
    "goes on": {"plays_on": True, "actions": "all", "gamma": 1.0, "target_period": 40},
}
#: A curve is flat at its end if a late episode has less than this share of an early one's errors.
_FLAT = 0.05
#: Episodes at either end of a trial that are compared.
_ENDS = 20
#: The bound that the paper prints for the p-values of its one-sided tests.
_P = 0.002
SKEWED = "color-match"
#: Why a claim may not come out.
_NOT_FLAT = "the paper does not say what is flat: some trials still err, if more seldom"
_NOT_APART = "which neighbours are told apart depends on the reading"


def case_study(how: How) -> CaseStudy:
    """Return the paper's claims beside what comes out, and its figures 3, 4 and 5."""
    with ExitStack() as stack:
        folder = how.out
        if folder is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        found = {name: _findings(name, folder / "runs", how) for name in READINGS}
    return CaseStudy(
        "Pulick et al. 2022, section 5: a linear DQN on four rules of the Game of Hidden Rules",
        tuple(claim for name, one in found.items() for claim in _claims(name, one)),
        tuple(figure for name, one in found.items() for figure in _figures(name, one)),
        (
            "The paper prints figures without numbers, one p-value, and three claims. Its text "
            "leaves open what counts as an action, whether an episode goes on with reward 0 after "
            "the board is cleared, and the settings of the learner. Two readings are tried: the "
            "default of this package, and one in which all cells are actions, the episode goes "
            "on, gamma is 1 and the target network is renewed every 40 episodes.",
            f"A curve counts as flat if its last {_ENDS} episodes have at most {_FLAT:.0%} of the "
            f"errors of its first {_ENDS}.",
        ),
    )


def _findings(reading: str, runs: Path, how: How) -> Findings:
    """Play one reading, or take up the run of it that is there, and return its numbers."""
    config = _config(reading, how)
    folder = runs / config.name
    run(config, folder, workers=how.workers, progress=how.progress)
    return findings_of(RunFolder.open(folder), seed=how.seed)


def _config(reading: str, how: How) -> ExperimentConfig:
    return load_experiment(
        "paper-section-5",
        name=f"paper-section-5-{reading.replace(' ', '-')}",
        learners=[{"kind": "linear_dqn", **READINGS[reading]}],
        trials=how.trials,
        seed=how.seed,
    )


def _claims(reading: str, found: Findings) -> Iterator[Comparison]:
    (learner,) = found.learners
    played = found.of_learner(learner)
    where = f"section 5, reading: {reading}"
    flat = {rule: _flat_share(one.errors) for rule, one in played.items()}
    ours = ", ".join(f"{rule} {share:.0%}" for rule, share in flat.items())
    all_flat = min(flat.values()) == 1.0
    yield _claim(where, "curves that flatten", "all runs", ours, all_flat, _NOT_FLAT)
    skew = {rule: float(stats.skew(one.ends)) for rule, one in played.items()}
    ours = ", ".join(f"{rule} {value:.1f}" for rule, value in skew.items())
    heavy = skew[SKEWED] > 1.0 and min(skew.values()) < skew[SKEWED]
    yield _claim(where, "skewness of the terminal errors", f"heavy for {SKEWED}", ours, heavy)
    order = sorted(played, key=lambda rule: -float(np.median(played[rule].ends)))
    p = {
        f"{a} > {b}": mann_whitney(played[a].ends, played[b].ends, alternative="greater")[1]
        for a, b in pairwise(order)
    }
    ours = ", ".join(f"{pair} p {p_value(value, '= ')}" for pair, value in p.items())
    item = "one-sided tests in the order of the medians"
    yield _claim(where, item, f"p < {_P}", ours, max(p.values()) < _P, _NOT_APART)


def _claim(
    where: str, item: str, published: str, ours: str, holds: bool, otherwise: str = ""
) -> Comparison:
    return Comparison(where, item, published, ours, holds, "" if holds else otherwise)


def _flat_share(errors: np.ndarray) -> float:
    """Return the share of trials whose cumulated errors are flat at the end."""
    made = np.diff(errors, axis=1, prepend=0.0)
    early, late = made[:, :_ENDS].sum(axis=1), made[:, -_ENDS:].sum(axis=1)
    return float((late <= _FLAT * early).mean())


def _figures(reading: str, found: Findings) -> Iterator[Figure]:
    (learner,) = found.learners
    tail = reading.replace(" ", "-")
    with default_settings():
        drawn = [
            trial_figure(found, found.of_learner(learner)[SKEWED]),
            *difficulty_figures(found, learner),
        ]
    for figure in drawn:
        yield replace(figure, name=f"{figure.name}-{tail}", title=f"{figure.title} ({reading})")
