"""Aitchison et al. 2022, Atari-5: every number that the paper prints."""

from __future__ import annotations

from gnomon.distill.atari.reproduction import reproduce
from gnomon.report.case_studies.case_study import CaseStudy, How


def case_study(how: How) -> CaseStudy:
    """Return the paper's numbers beside ours."""
    return CaseStudy(
        "Aitchison, Sweetser and Hutter 2022: Atari-5, distilling the Arcade Learning Environment",
        tuple(reproduce()),
        text=("Models are least squares without intercept on complete rows, as in the paper.",),
    )
