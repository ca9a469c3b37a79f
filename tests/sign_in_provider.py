"""A provider of sign-in by OpenID Connect on loopback: whoever comes is who the test says."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec

__all__ = ["SignInProvider", "sign_in_provider"]

KEY = ec.generate_private_key(ec.SECP256R1())


@dataclass
class SignInProvider:
    """What the provider says next, and what it was asked.

    Parameters
    ----------
    issuer : str
    claims : dict
        Put over the right ones, into the next ID token.
    key : Any
        What signs it.
    keys : Any
        What the provider says its keys are; the right ones if None.
    forms : list of dict
        What the token endpoint was sent.
    """

    issuer: str
    claims: dict[str, Any] = field(default_factory=dict)
    key: Any = KEY
    keys: Any = None
    forms: list[dict[str, str]] = field(default_factory=list)
    challenges: dict[str, dict[str, str]] = field(default_factory=dict)

    def come_back(self, address: str) -> str:
        """Sign in at the address that a browser was sent to; return where it is sent back to."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        assert asked["response_type"] == "code"
        assert asked["code_challenge_method"] == "S256"
        code = f"code-{len(self.challenges)}"
        self.challenges[code] = asked
        return f"{asked['redirect_uri']}?code={code}&state={asked['state']}"

    def id_token(self, form: dict[str, str]) -> str:
        """Return the ID token of a code, once, to whoever began the sign-in."""
        self.forms.append(form)
        asked = self.challenges.pop(form["code"])
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        assert base64.urlsafe_b64encode(digest).rstrip(b"=").decode() == asked["code_challenge"]
        assert form["client_secret"] == "hush"
        claims = {
            "iss": self.issuer,
            "aud": asked["client_id"],
            "sub": "subject-1",
            "nonce": asked["nonce"],
            "iat": time.time(),
            "exp": time.time() + 60,
            "preferred_username": "Ada",
        }
        wanted = {name: value for name, value in (claims | self.claims).items() if value != "-"}
        return jwt.encode(wanted, self.key, "ES256" if self.key is KEY else "HS256", {"kid": "1"})


@contextmanager
def sign_in_provider() -> Iterator[SignInProvider]:
    """Serve a provider until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/keys":
                public = jwt.algorithms.ECAlgorithm.to_jwk(KEY.public_key(), as_dict=True)
                right = {"keys": [{**public, "kid": "1", "use": "sig", "alg": "ES256"}]}
                self._answer(right if provider.keys is None else provider.keys)
            else:
                self._answer(
                    {
                        "issuer": provider.issuer,
                        "authorization_endpoint": f"{provider.issuer}/sign-in",
                        "token_endpoint": f"{provider.issuer}/token",
                        "jwks_uri": f"{provider.issuer}/keys",
                    }
                )

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            form = {name: values[0] for name, values in parse_qs(body).items()}
            self._answer({"access_token": "none", "id_token": provider.id_token(form)})

        def _answer(self, record: Any) -> None:
            data = json.dumps(record).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        provider = SignInProvider(f"http://127.0.0.1:{server.server_port}")
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield provider
        finally:
            server.shutdown()
