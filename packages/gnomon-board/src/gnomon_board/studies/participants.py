"""Participants of a study: joining, the pages before and after play, leaving, the next series.

A participant is identified by a key, which is in the address of the participant's page and in a
cookie, so that the invitation leads back to that page. Series ``n`` is played with the key
``KEY.n``.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from gnomon_board.errors import Conflict, Missing, NotAllowed
from gnomon_board.schema import PlayAttempt, PlaySession, Study, StudyAnswer, StudyAssignment, now
from gnomon_board.studies.induction import series_game
from gnomon_board.studies.plan import StudyPlan, checked_answers
from gnomon_board.studies.play import begin_game, end_study, rebuild_game
from gnomon_board.tokens import digest_of

#: The steps after the consent, in this order; pages that the plan does not have are skipped.
Step = Literal["instructions", "quiz", "play", "demographics", "end"]


def find_invitation(session: Session, key: str) -> Study:
    """Return the study of an invitation's key, open or closed."""
    study = session.scalar(select(Study).where(Study.invitation == digest_of(key)))
    if study is None:
        raise Missing("there is no such invitation")
    return study


def find_player(session: Session, key: str) -> StudyAssignment:
    """Return the player of a key; raises Missing if there is none."""
    found = session.scalar(select(StudyAssignment).where(StudyAssignment.key == digest_of(key)))
    if found is None:
        raise Missing("there is no such player")
    return found


def join(
    session: Session,
    study: Study,
    query: Mapping[str, str] | None = None,
    *,
    held: str = "",
    agent: str = "",
) -> str:
    """Add a participant who agreed, and return the key, or the key ``held`` by a cookie if it fits.

    ``query`` are the parameters of the invitation's address; the plan lists those to store.
    ``agent`` is the browser's ``User-Agent``.
    """
    plan = StudyPlan.from_record(study.plan)
    # Simultaneous requests are processed one after the other.
    session.get_one(Study, study.id, with_for_update=True)
    if returning(session, study, query or {}, held):
        return held
    if study.is_closed:
        raise NotAllowed("this study is over")
    counts = player_counts(session, study)
    key, kept = secrets.token_urlsafe(24), plan.recruitment.kept(query or {})
    session.add(
        StudyAssignment(
            study_id=study.id,
            key=digest_of(key),
            player=f"{study.name}-{len(counts) + 1:04d}",
            rule_list=next_list(list(plan.lists), counts),
            identifiers=kept,
            identity=_identity_of(study, plan, kept),
            browser=browser_of(agent),
            device=device_of(agent),
        )
    )
    return key


def returning(session: Session, study: Study, query: Mapping[str, str], held: str) -> bool:
    """Return whether the holder of a key joined by this invitation with the same identifier.

    An identifier is not secret, so it gives no access to what was begun in another browser.
    """
    plan = StudyPlan.from_record(study.plan)
    identity = _identity_of(study, plan, plan.recruitment.kept(query))
    if identity is None:
        return False
    known = session.scalar(
        select(StudyAssignment.key).where(
            StudyAssignment.study_id == study.id, StudyAssignment.identity == identity
        )
    )
    if known is not None and known != digest_of(held):
        raise Conflict(
            "You have begun this study in another browser. Continue there, or at the address of "
            "your page in the study."
        )
    return known is not None


def _identity_of(study: Study, plan: StudyPlan, kept: Mapping[str, str]) -> str | None:
    """Return the hash of a participant's identifier; None if there is none."""
    name = plan.recruitment.identity
    if name is None or name not in kept:
        return None
    return hashlib.sha256(f"{study.id} {kept[name]}".encode()).hexdigest()


#: Patterns of browsers; an earlier one may also match the later ones.
_BROWSERS = {
    "Edge": r"Edg\w*/(\d+)",
    "Opera": r"OPR/(\d+)",
    "Samsung Internet": r"SamsungBrowser/(\d+)",
    "Firefox": r"(?:Firefox|FxiOS)/(\d+)",
    "Chrome": r"(?:Chrome|CriOS)/(\d+)",
    "Safari": r"Version/(\d+)\S* .*Safari/",
}
_SYSTEMS = {
    "Android": "Android",
    "iOS": "iPhone|iPad",
    "Windows": "Windows",
    "macOS": "Macintosh",
    "ChromeOS": "CrOS",
    "Linux": "Linux",
}


def browser_of(agent: str) -> str:
    """Return name and version of a browser, ``other`` for an unknown one."""
    found = ((name, re.search(pattern, agent)) for name, pattern in _BROWSERS.items())
    return next((f"{name} {version[1]}" for name, version in found if version), "other")


def device_of(agent: str) -> str:
    """Return the kind and the system of a device; Apple's tablets identify as computers."""
    is_tablet = re.search("iPad|Tablet", agent) or ("Android" in agent and "Mobile" not in agent)
    kind = "tablet" if is_tablet else "phone" if "Mobile" in agent else "computer"
    found = (name for name, pattern in _SYSTEMS.items() if re.search(pattern, agent))
    return f"{kind}, {next(found, 'other')}"


#: Seconds without any action after which a player who has not finished counts as gone.
ACTIVE_S = 3600.0


@dataclass(frozen=True, slots=True)
class PlayerCount:
    """A player of a study; ``counts``: whether the player has finished, or is active."""

    player: StudyAssignment
    n_attempts: int
    counts: bool


def player_counts(session: Session, study: Study) -> list[PlayerCount]:
    """Return all players of a study in the order of arrival."""
    played = {
        assignment: (n, last)
        for assignment, n, last in session.execute(
            select(StudyAssignment.id, func.count(PlayAttempt.id), func.max(PlayAttempt.at))
            .join(PlaySession, PlaySession.assignment_id == StudyAssignment.id)
            .join(PlayAttempt, PlayAttempt.session_id == PlaySession.id)
            .where(StudyAssignment.study_id == study.id)
            .group_by(StudyAssignment.id)
        )
    }
    at = now()
    query = select(StudyAssignment).where(StudyAssignment.study_id == study.id)
    found = []
    for player in session.scalars(query.order_by(StudyAssignment.id)):
        n, last = played.get(player.id, (0, player.created_at))
        active = (at - last).total_seconds() < ACTIVE_S
        stays = player.excluded_at is None and not player.has_left
        counts = stays and (active or (player.finished_at is not None and n > 0))
        found.append(PlayerCount(player, n, counts))
    return found


def next_list(names: Sequence[str], players: Iterable[PlayerCount]) -> str:
    """Return the list with the fewest players that count; ties are random."""
    counts = dict.fromkeys(names, 0)
    for each in players:
        if each.counts and each.player.rule_list in counts:
            counts[each.player.rule_list] += 1
    least = min(counts.values())
    return secrets.choice([name for name in names if counts[name] == least])


# -- pages before and after play -------------------------------------------------------------------


def steps_of(plan: StudyPlan) -> list[tuple[Step, int]]:
    """Return the pages after the consent, each with its number among those of its kind."""
    found: list[tuple[Step, int]] = [("instructions", i) for i in range(len(plan.instructions))]
    found += [("quiz", 0)] if plan.quiz else []
    found.append(("play", 0))
    found += [("demographics", 0)] if plan.demographics else []
    return [*found, ("end", 0)]


def step_of(player: StudyAssignment, plan: StudyPlan) -> tuple[Step, int]:
    """Return the current step of a player."""
    if player.has_left:
        return "end", 0
    steps = steps_of(plan)
    step = steps[min(player.step, len(steps) - 1)]
    if step[0] == "play" and player.ending == "finished":
        return steps[min(player.step + 1, len(steps) - 1)]
    return step


def take_step(
    session: Session, player: StudyAssignment, step: Step, given: Mapping[str, str]
) -> tuple[str, ...]:
    """Store the answers to a page, and move to the next page.

    A page sent twice is stored once; the page of a quiz carries the number of earlier tries
    (:func:`quiz_tries`). Return the questions of a quiz with wrong answers; the player then stays,
    or is screened out after the last try.
    """
    # Simultaneous requests are processed one after the other.
    session.refresh(player, with_for_update=True)
    plan = StudyPlan.from_record(player.study.plan)
    here, number = at = step_of(player, plan)
    if here == "quiz":
        number = quiz_tries(session, player, plan)
    if here != step or str(number) != given.get("page", str(number)):
        return ()
    wrong: tuple[str, ...] = ()
    if step == "quiz" and plan.quiz is not None:
        answers = checked_answers(plan.quiz.questions, given)
        _keep(session, player, step, answers)
        wrong = plan.quiz.wrong(answers)
        if wrong and number + 1 >= plan.quiz.tries:
            end_study(player, plan, "screened out")
    elif step == "demographics":
        _keep(session, player, step, checked_answers(plan.demographics, given))
    if step in ("instructions", "quiz", "demographics") and not wrong:
        player.step = steps_of(plan).index(at) + 1
    return wrong


def quiz_tries(session: Session, player: StudyAssignment, plan: StudyPlan) -> int:
    """Return the number of times that a player has answered the quiz."""
    if plan.quiz is None:
        return 0
    query = select(func.count(StudyAnswer.id)).where(
        StudyAnswer.assignment_id == player.id, StudyAnswer.page == "quiz"
    )
    return (session.scalar(query) or 0) // len(plan.quiz.questions)


def _keep(session: Session, player: StudyAssignment, page: str, answers: Mapping[str, str]) -> None:
    session.add_all(
        StudyAnswer(assignment_id=player.id, page=page, name=name, text=text)
        for name, text in answers.items()
    )


def leave(session: Session, player: StudyAssignment) -> None:
    """End a study for a player who leaves."""
    session.refresh(player, with_for_update=True)
    if player.ending:
        raise Conflict("this study is over for you")
    end_study(player, StudyPlan.from_record(player.study.plan), "left")


# -- series ----------------------------------------------------------------------------------------


def prepare_game(session: Session, player: StudyAssignment) -> None:
    """Draw the boards of the next series, before the write that begins it: it may take seconds."""
    plan = StudyPlan.from_record(player.study.plan)
    if player.n_played < len(plan.lists[player.rule_list]) and not player.has_left:
        series_game(session, player, plan, player.n_played, "")


def next_game(session: Session, player: StudyAssignment, key: str) -> str | None:
    """Return the key of the game to play now, which is begun if necessary; None after the last.

    ``key`` is that of the player. A game that is over is left after its guess.
    """
    # A form sent twice at the same time creates one game.
    session.refresh(player, with_for_update=True)
    plan = StudyPlan.from_record(player.study.plan)
    if step_of(player, plan)[0] in ("instructions", "quiz"):
        raise Conflict("expected a player who has gone through the pages before play")
    if player.has_left:
        return None
    listed = plan.lists[player.rule_list]
    for series in range(max(player.n_played - 1, 0), len(listed)):
        row = session.scalar(
            select(PlaySession).where(
                PlaySession.assignment_id == player.id, PlaySession.series == series
            )
        )
        if row is None:
            # Players see a series by its number only.
            shown = f"Puzzle {series + 1}"
            game, evidence = series_game(session, player, plan, series, shown)
            begin_game(session, player, series, listed[series].rule, game, evidence)
        elif row.state == "ended" and not rebuild_game(session, row).guess_due:
            continue
        return f"{key}.{series}"
    return None
