"""A client of a web application in this process, without a socket.

Starlette's own test client asks for another library than the one that is installed here.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import httpx
from anyio.from_thread import start_blocking_portal

__all__ = ["AppClient"]


class AppClient(httpx.Client):
    """An ``httpx.Client`` that talks to an ASGI application; use it in a ``with`` block.

    An exception in the application is raised here: a test need not look for status 500.
    """

    def __init__(
        self,
        app: Any,
        *,
        base_url: str = "http://127.0.0.1",
        raise_app_exceptions: bool = True,
        **options: Any,
    ) -> None:
        self._transport_of_app = _Transport(app, raise_app_exceptions)
        super().__init__(transport=self._transport_of_app, base_url=base_url, **options)


class _Transport(httpx.BaseTransport):
    def __init__(self, app: Any, raise_app_exceptions: bool) -> None:
        self._app, self._raise = app, raise_app_exceptions
        self._stack = ExitStack()

    def __enter__(self) -> _Transport:
        self._portal = self._stack.enter_context(start_blocking_portal())
        lifespan = self._app.router.lifespan_context(self._app)
        self._stack.enter_context(self._portal.wrap_async_context_manager(lifespan))
        return self

    def __exit__(self, *exception: Any) -> None:
        self._stack.close()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.read()
        answer = self._portal.call(self._handle, request)
        answer.request = request
        return answer

    async def _handle(self, request: httpx.Request) -> httpx.Response:
        transport = httpx.ASGITransport(
            self._app, client=("127.0.0.1", 50000), raise_app_exceptions=self._raise
        )
        answer = await transport.handle_async_request(request)
        content = b"".join([part async for part in answer.stream])
        return httpx.Response(answer.status_code, headers=answer.headers, content=content)
