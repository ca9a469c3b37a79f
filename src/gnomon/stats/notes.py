"""Warnings of scores that do not allow what was asked, kept as the notes of a page."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from gnomon.errors import DegenerateScoresWarning

__all__ = ["noted"]


@contextmanager
def noted() -> Iterator[list[str]]:
    """Keep the texts of degenerate scores' warnings, each once; other warnings go on their way.

    The list is filled when the block ends.

    Examples
    --------
    >>> with noted() as notes:
    ...     warnings.warn("one run only", DegenerateScoresWarning)
    >>> notes
    ['one run only']
    """
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DegenerateScoresWarning)
        yield notes
    for warning in caught:
        if issubclass(warning.category, DegenerateScoresWarning):
            notes.append(str(warning.message))
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
    notes[:] = dict.fromkeys(notes)
