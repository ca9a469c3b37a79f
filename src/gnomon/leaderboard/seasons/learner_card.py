"""Learner cards: kind, organisation, training data, parameters, compute and code of an entry.

What stands on a card is what its owner says; nothing of it is checked, and the pages say so.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy.orm import Session

from gnomon.database.schema import Entry
from gnomon.leaderboard.accounts.audit_log import note
from gnomon.leaderboard.accounts.names import clean_link, clean_text
from gnomon.leaderboard.refusals import Conflict

Kind = Literal["baseline", "tabular", "linear", "neural", "language model", "symbolic", "other"]
#: What can be weighed against errors: fields of a card that are numbers.
Cost = Literal["parameters", "compute_hours"]


class LearnerCard(BaseModel):
    """What an owner says of a learner; what is left out is not known.

    Parameters
    ----------
    kind : str, optional
        How it learns: ``baseline`` for one that does not, ``tabular``, ``linear``, ``neural``,
        ``language model``, ``symbolic``, ``other``.
    organisation : str
        Who made it.
    training_data : str
        What it had seen before the season.
    parameters : int, optional
        How many numbers it learns, or had learned before.
    compute_hours : float, optional
        Hours of one device that training took before the season.
    hardware : str
        Which device.
    code : str
        Address of its source.

    Examples
    --------
    >>> LearnerCard(kind="linear", parameters=1296).filled
    {'kind': 'linear', 'parameters': 1296}
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    kind: Kind | None = None
    organisation: Annotated[str, Field(max_length=128)] = ""
    training_data: Annotated[str, Field(max_length=2000)] = ""
    parameters: Annotated[int, Field(ge=0, le=10**15)] | None = None
    compute_hours: Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)] | None = None
    hardware: Annotated[str, Field(max_length=200)] = ""
    code: Annotated[str, Field(max_length=500)] = ""

    @property
    def filled(self) -> dict[str, Any]:
        """The fields that say something."""
        return {name: value for name, value in self if value not in (None, "")}

    def cleaned(self) -> LearnerCard:
        """Return the card with its texts in normal form.

        Raises Refusal: a text cannot be shown, or the code is no web address.
        """
        return self.model_copy(
            update={
                # A name of one line: it is a choice in a list.
                "organisation": " ".join(clean_text(self.organisation, "organisation").split()),
                "training_data": clean_text(self.training_data, "training_data"),
                "hardware": clean_text(self.hardware, "hardware"),
                "code": clean_link(self.code, "code"),
            }
        )


def card_of(entry: Entry) -> LearnerCard:
    """Return the card of an entry."""
    return LearnerCard.model_validate(entry.card)


def change_card(session: Session, entry: Entry, card: LearnerCard, *, by: int) -> None:
    """Change what the card of an entry says; the log keeps which fields.

    Raises Refusal: the entry is withdrawn, or a text cannot be shown.
    """
    if entry.withdrawn_at is not None:
        raise Conflict(f"entry {entry.id} is withdrawn")
    before, entry.card = entry.card, card.cleaned().filled
    changed = [
        name for name in LearnerCard.model_fields if before.get(name) != entry.card.get(name)
    ]
    entry.season.touch()
    # Not what it said: who wants to be forgotten could not be taken out of the log.
    note(session, "card changed", "entry", entry.id, by=by, fields=changed)
