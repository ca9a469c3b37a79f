"""The two files that come of a study: the transcript, and the scores."""

from __future__ import annotations

import io
from pathlib import Path

from sqlalchemy.orm import Session

from gnomon._io.atomic_file import write_atomically
from gnomon.database.play_tables import Study
from gnomon.leaderboard.refusals import Conflict
from gnomon.studies.kept_studies import games_of
from gnomon.studies.transcript import play_scores, transcript_text

__all__ = ["scores_text", "study_transcript", "write_study"]


def study_transcript(session: Session, study: Study) -> str:
    """Return every attempt, in the detailed format of the reference game server."""
    return transcript_text(games_of(session, study))


def scores_text(session: Session, study: Study) -> str:
    """Return the scores as a tidy table in CSV: players as algorithms, rules as tasks.

    Raises
    ------
    Conflict
        Nobody has played yet.
    """
    games = games_of(session, study)
    if not any(game.session.attempts for game in games):
        raise Conflict("nobody has played yet")
    out = io.BytesIO()
    play_scores(games).frame.write_csv(out)
    return out.getvalue().decode()


def write_study(session: Session, study: Study, folder: Path) -> list[Path]:
    """Write both files into a folder, and return their paths."""
    texts = {
        f"{study.name}-transcript.csv": study_transcript(session, study),
        f"{study.name}-scores.csv": scores_text(session, study),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        write_atomically(folder / name, text.encode())
    return [folder / name for name in texts]
