"""Sign-in by a provider that speaks OpenID Connect: authorization code, PKCE, signed ID token.

Of what the provider tells about a person the subject and the name are taken, and nothing else is
asked for. OpenID Connect Core 1.0, section 3.1; RFC 7636 for PKCE.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlencode, urlsplit

from gnomon._io.http_client import HttpClient
from gnomon.errors import GnomonError, LeaderboardError
from gnomon.leaderboard.refusals import Refusal
from gnomon.leaderboard.server_settings import ServerSettings

_TIMEOUT_S = 10.0
#: OpenID Connect Core 1.0, section 2.
_LONGEST_SUBJECT = 255
#: Signatures that need the provider's own key; a shared secret would sign for us as well.
_ALGORITHMS = ["RS256", "PS256", "ES256", "EdDSA"]


@dataclass(frozen=True)
class Begun:
    """A sign-in that was begun, as the browser keeps it until the provider sends it back.

    ``link`` is empty, or the token of the signed-in browser whose account is to be connected.
    """

    state: str
    nonce: str
    verifier: str
    link: str = ""

    @classmethod
    def new(cls, link: str = "") -> Begun:
        """Return one that nobody can guess."""
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        return cls(state, nonce, verifier, link)

    @classmethod
    def of_cookie(cls, text: str) -> Begun | None:
        """Return what a cookie holds; None if it is no sign-in of ours."""
        parts = text.split(".")
        return cls(*parts) if len(parts) == 4 and all(parts[:3]) else None

    def to_cookie(self) -> str:
        """Return the text of a cookie."""
        return f"{self.state}.{self.nonce}.{self.verifier}.{self.link}"


@dataclass(frozen=True)
class Person:
    """Who signed in: the provider's own name for the person, and how the person is called."""

    subject: str
    name: str


class Provider:
    """A provider, as the server was told of it; it is asked about itself when first needed.

    Raises LeaderboardError: its address is not safe, or PyJWT is not installed.
    """

    def __init__(self, settings: ServerSettings) -> None:
        if find_spec("jwt") is None:
            raise LeaderboardError(
                "sign-in by a provider needs PyJWT: pip install 'gnomon-rl[web,oidc]'"
            )
        check_provider_address(settings.openid_issuer)
        self.issuer, self._client = settings.openid_issuer, settings.openid_client
        self._secret = settings.openid_secret
        self._back = f"{settings.public_url}/account/openid/back"

    @cached_property
    def _about(self) -> dict[str, Any]:
        found = _asked(self.issuer, "GET", "/.well-known/openid-configuration")
        if found.get("issuer") != self.issuer:
            raise Refusal("the sign-in provider does not go by the name that it was set up with")
        for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
            check_provider_address(str(found.get(name)))
        return found

    def address(self, begun: Begun) -> str:
        """Return where the browser goes to sign in."""
        challenge = hashlib.sha256(begun.verifier.encode()).digest()
        query = {
            "response_type": "code",
            "client_id": self._client,
            "redirect_uri": self._back,
            "scope": "openid profile",
            "state": begun.state,
            "nonce": begun.nonce,
            "code_challenge": base64.urlsafe_b64encode(challenge).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }
        address: str = self._about["authorization_endpoint"]
        return f"{address}{'&' if urlsplit(address).query else '?'}{urlencode(query)}"

    def person(self, code: str, begun: Begun) -> Person:
        """Return who comes back with a code. Raises Refusal: the provider does not vouch for it."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._back,
            "client_id": self._client,
            "client_secret": self._secret,
            "code_verifier": begun.verifier,
        }
        answer = _asked(self._about["token_endpoint"], "POST", form=form)
        claims = self._claims(str(answer.get("id_token", "")))
        if not secrets.compare_digest(str(claims.get("nonce")).encode(), begun.nonce.encode()):
            raise Refusal("the sign-in provider answered another sign-in than this one")
        if len(claims["sub"]) > _LONGEST_SUBJECT:
            raise Refusal("the sign-in provider's name for this person is too long")
        return Person(claims["sub"], _public_name(claims))

    def _claims(self, id_token: str) -> dict[str, Any]:
        """Return what an ID token says, once its signature, audience, issuer and time are right."""
        import jwt

        try:
            keys = jwt.PyJWKSet.from_dict(_asked(self._about["jwks_uri"], "GET"))
            key = keys[str(jwt.get_unverified_header(id_token).get("kid") or keys.keys[0].key_id)]
            found: dict[str, Any] = jwt.decode(
                id_token,
                key,
                algorithms=_ALGORITHMS,
                audience=self._client,
                issuer=self.issuer,
                leeway=30,
                options={"require": ["exp", "iat", "sub", "aud", "iss"]},
            )
        # The last two: keys that are no set of keys.
        except (jwt.PyJWTError, KeyError, IndexError, AttributeError, TypeError) as error:
            why = type(error).__name__
            raise Refusal(f"the sign-in provider sent what cannot be believed ({why})") from None
        return found


def _public_name(claims: Mapping[str, Any]) -> str:
    """Return what the world may call a person; many providers tell an e-mail address as a name.

    Examples
    --------
    >>> _public_name({"preferred_username": "ada@example.org", "name": "Ada"}), _public_name({})
    ('Ada', 'player')
    """
    told = (str(claims.get(each) or "").strip() for each in ("preferred_username", "name"))
    return next((name[:40] for name in told if name and "@" not in name), "player")


def check_provider_address(url: str) -> None:
    """Refuse a provider's address whose answers somebody on the way could have written."""
    parts = urlsplit(url)
    own = parts.hostname in ("127.0.0.1", "::1", "localhost")
    if not (parts.scheme == "https" or (parts.scheme == "http" and own)):
        raise LeaderboardError(f"sign-in provider: expected https://..., found {url!r}")


def _asked(
    url: str, method: str, path: str = "", form: dict[str, str] | None = None
) -> dict[str, Any]:
    """Ask a provider once: a code is good for one try."""
    try:
        client = HttpClient(url, timeout_s=_TIMEOUT_S, max_tries=1)
        found = client.ask(method, path, form=form)
    except GnomonError as error:
        # What it says may hold more of the address than a stranger should read.
        raise Refusal(f"the sign-in provider does not help ({type(error).__name__})") from error
    if not isinstance(found, dict):
        raise Refusal("the sign-in provider answered with something else than a JSON object")
    return found
