"""The pages and their streams. Only this machine is served, only who knows the token; records are only read.

Notes about a run can be written. They go to the journal.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from paramedic.findings import words
from paramedic.past_runs import RUNNING, age, state_of
from paramedic.reports import html
from paramedic.rules.rule import Rule
from paramedic.serve.listing import Listing
from paramedic.serve.notes import MOST_BYTES, Notes, Refused
from paramedic.serve.tail import Overlay, Parts, Tail

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send

TICK = 1.0  # seconds
HEARTBEAT = 15  # ticks without news after which a comment keeps the connection open
HOSTS = ("127.0.0.1", "localhost")
HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": "frame-ancestors 'none'",  # the rest of the policy stands in the page, with its hashes
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",  # the address holds the token
    "x-content-type-options": "nosniff",
}


class Site:
    """What the pages show, and how many of them are open."""

    def __init__(self, runs: Listing, rules: Sequence[Rule], options: Mapping[str, Mapping[str, Any]]) -> None:
        self.runs = runs
        self.open_pages = 0
        self.was_open = False
        self._rules, self._options = rules, options
        self._tails: dict[str, Tail] = {}
        self._notes: dict[str, Notes] = {}
        self._one_at_a_time = asyncio.Lock()

    def app(self, token: str) -> ASGIApp:
        from starlette.applications import Starlette
        from starlette.routing import Mount, Route

        pages = [
            Route("/", self.list_page),
            Route("/events", self.list_events),
            Route("/compare/", self.compare_page),
            Route("/compare/events", self.compare_events),
            Route("/run/{name}/", self.run_page),
            Route("/run/{name}/events", self.run_events),
            Route("/run/{name}/report.html", self.report),
            Route("/run/{name}/notes", self.write_note, methods=["POST"]),
        ]
        return Guard(Starlette(routes=[Mount(f"/{token}", routes=pages)]), token)

    # One run ----------------------------------------------------------------------------------------------------------

    async def run_page(self, request: Request) -> Response:
        return _page("live.html", title=self._tail(request).folder.name, parts=html.PARTS, back="../..", report=True)

    async def run_events(self, request: Request) -> Response:
        tail = self._tail(request)
        name = request.path_params["name"]

        def look() -> Parts:
            newer = self.runs.newer(name)
            later = html.part("newer", newer=newer) if newer else ""
            return {**tail.look(), "newer": later, "notes": self._notes_of(name).section()}

        return self._stream(look)

    async def report(self, request: Request) -> Response:
        from starlette.responses import HTMLResponse

        tail = self._tail(request)
        return HTMLResponse(await asyncio.to_thread(tail.report))

    async def write_note(self, request: Request) -> Response:
        """From this page only: what another site may send without asking comes as text, or with its own origin."""
        from starlette.responses import PlainTextResponse

        self._tail(request)  # there is such a run
        name = request.path_params["name"]
        sent = request.headers
        if sent.get("content-type") != "application/json" or sent.get("origin") != f"http://{sent.get('host')}":
            return PlainTextResponse("A note comes from the page itself.", 403)
        body = b""
        async for piece in request.stream():
            body += piece
            if len(body) > MOST_BYTES:
                return PlainTextResponse("This note is too long.", 413)
        try:
            return PlainTextResponse(await asyncio.to_thread(self._notes_of(name).write, body))
        except Refused as refused:
            return PlainTextResponse(str(refused), 400)
        except OSError as error:
            return PlainTextResponse(f"The journal cannot be written: {error.strerror}.", 500)

    def _notes_of(self, name: str) -> Notes:
        return self._notes.setdefault(name, Notes(self.runs.folder, name))

    def _tail(self, request: Request) -> Tail:
        from starlette.exceptions import HTTPException

        name = request.path_params["name"]
        folder = self.runs.find(name)
        if folder is None:
            raise HTTPException(404, "there is no such run")
        if name not in self._tails:
            self._tails[name] = Tail(folder, self._rules, self._options)
        return self._tails[name]

    # Several ----------------------------------------------------------------------------------------------------------

    async def list_page(self, request: Request) -> Response:
        return _page("live.html", title="runs", parts=("runs",), back="", report=False)

    async def list_events(self, request: Request) -> Response:
        def look() -> Parts:
            entries = self.runs.entries()
            running = sum(entry.state == RUNNING for entry in entries)
            said = f"{words.plural(len(entries), 'run')}, {running} running"
            rows = [(entry, state_of(entry), age(time.time() - entry.started)) for entry in entries]
            return {
                "state": html.part("state", text=said, running=bool(running)),
                "runs": html.part("runs", rows=rows),
            }

        return self._stream(look)

    async def compare_page(self, request: Request) -> Response:
        parts = ("loss", "pictures")
        return _page("live.html", title="compare", heading="Runs compared", parts=parts, back="..", report=False)

    async def compare_events(self, request: Request) -> Response:
        folders = self.runs.folders()
        wanted = [name for name in request.query_params.getlist("run") if name in folders]
        return self._stream(Overlay({name: folders[name] for name in wanted}).look)

    # Streams ----------------------------------------------------------------------------------------------------------

    def _stream(self, look: Callable[[], Parts]) -> Response:
        from starlette.responses import StreamingResponse

        return StreamingResponse(self._events(look), media_type="text/event-stream")

    async def _events(self, look: Callable[[], Parts]) -> AsyncIterator[str]:
        """The sections that have changed, whenever some have."""
        self.open_pages += 1
        self.was_open = True
        try:
            sent: dict[str, str] = {}
            silent = 0
            while True:
                async with self._one_at_a_time:  # several pages share the work, and the patience of the training
                    parts = await asyncio.to_thread(look)
                changed = {name: text for name, text in parts.items() if sent.get(name) != text}
                sent |= changed
                silent = 0 if changed else silent + 1
                if changed:
                    yield f"event: parts\ndata: {json.dumps(changed)}\n\n"
                elif silent % HEARTBEAT == 0:
                    yield ": still here\n\n"
                await asyncio.sleep(TICK)
        finally:
            self.open_pages -= 1


def _page(template: str, **context: Any) -> Response:
    from starlette.responses import HTMLResponse

    return HTMLResponse(html.whole(template, ("page.css", "live.css"), ("page.js", "live.js"), **context))


class Guard:
    """Lets nobody in without the token, and no page of another host, whatever its name server says."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._token = app, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        from starlette.datastructures import MutableHeaders
        from starlette.responses import PlainTextResponse

        if scope["type"] != "http":
            return
        host = dict(scope["headers"]).get(b"host", b"").decode("latin-1").rpartition(":")[0]
        given = scope["path"].split("/")[1]
        known = host in HOSTS and secrets.compare_digest(given.encode(), self._token.encode())

        async def guarded(message: Any) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        app = self._app if known else PlainTextResponse("not found", 404)
        with contextlib.suppress(asyncio.CancelledError):
            await app(scope, receive, guarded)
