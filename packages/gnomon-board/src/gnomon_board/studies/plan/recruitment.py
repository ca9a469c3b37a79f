"""Recruitment: identifiers in the address, completion codes, and where a participant is sent."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Annotated, Literal
from urllib.parse import quote

from pydantic import Field

from gohr.people import Part

#: How a participant has ended.
Ending = Literal["finished", "left", "screened out"]

_ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # nothing that looks like something else
_Parameter = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,63}$")]


class Completion(Part):
    """What a participant gets at the end: a code, and an address to go to.

    Without a ``code`` each participant gets one of their own. In ``url``, ``{code}`` and the name
    of an identifier in braces stand for their values.
    """

    code: Annotated[str, Field(max_length=64)] = ""
    # What a browser says of itself must not choose the host that it is sent to.
    url: Annotated[
        str, Field(max_length=2000, pattern=r"^($|https?://[^\s{}/?#\\]+([/?#][^\s]*)?$)")
    ] = ""


class Recruitment(Part):
    """Which parameters of the invitation's address are kept, and what is given at the end.

    ``identity`` is the parameter by which a participant is known again: who comes a second time
    goes on where the first visit ended.

    Examples
    --------
    >>> plan = Recruitment(identity="PROLIFIC_PID", parameters=["STUDY_ID"])
    >>> plan.kept({"PROLIFIC_PID": "5f3a", "STUDY_ID": "s1", "token": "secret"})
    {'PROLIFIC_PID': '5f3a', 'STUDY_ID': 's1'}
    """

    identity: _Parameter | None = None
    parameters: Annotated[tuple[_Parameter, ...], Field(max_length=20)] = ()
    finished: Completion | None = None
    left: Completion | None = None
    screened_out: Completion | None = None

    def kept(self, query: Mapping[str, str]) -> dict[str, str]:
        """Return the parameters of an address that are kept, cut to 200 characters."""
        wanted = dict.fromkeys([*([self.identity] if self.identity else []), *self.parameters])
        return {name: query[name][:200] for name in wanted if query.get(name)}

    def completion(self, ending: Ending) -> Completion | None:
        """Return what an ending gives; without a plan for one that is not finished, nothing."""
        return {
            "finished": self.finished,
            "left": self.left,
            "screened out": self.screened_out,
        }[ending]


def completion_code(completion: Completion | None) -> str:
    """Return the code of a participant: the plan's, or a new one."""
    if completion is None:
        return ""
    return completion.code or "".join(secrets.choice(_ALPHABET) for _ in range(8))


def completion_address(
    completion: Completion | None, code: str, identifiers: Mapping[str, str]
) -> str:
    """Return where a participant is sent, empty for nowhere.

    Examples
    --------
    >>> plan = Completion(url="https://panel.example/done?cc={code}&pid={PID}")
    >>> completion_address(plan, "C1", {"PID": "a b"})
    'https://panel.example/done?cc=C1&pid=a%20b'
    """
    if completion is None:
        return ""
    address = completion.url
    for name, value in {"code": code, **identifiers}.items():
        address = address.replace(f"{{{name}}}", quote(value, safe=""))
    return address
