"""Files of scores for tests, and reading without or with the texts of warnings."""

from __future__ import annotations

import json

from gnomon.scores import read_scores
from score_tables import with_notes


def written(place, content):
    """Write a text, bytes, or JSON to a file, and return its place."""
    place.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        place.write_bytes(content)
    else:
        text = content if isinstance(content, str) else json.dumps(content)
        place.write_text(text, encoding="utf-8")
    return place


def read_quietly(source, **options):
    """Return the table of a source."""
    return with_notes(read_scores, source, **options)[0]


def read_noting(source, **options):
    """Return the table of a source, and the texts of its warnings as one."""
    table, said = with_notes(read_scores, source, **options)
    return table, " | ".join(said)
