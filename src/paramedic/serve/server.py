"""Start the server: in the foreground for `paramedic serve`, beside a run for `paramedic run --live`."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from paramedic.errors import ParamedicError

if TYPE_CHECKING:
    from paramedic.serve.app import Site

HOST = "127.0.0.1"
GRACE = 15  # seconds, after the run has ended, in which a page that was open may come back (a reload, a laptop's lid)

# The server is a grandchild, so that the script never meets a child process that it has not started.
_STARTER = "import subprocess, sys; subprocess.Popen(sys.argv[2:], pass_fds=[int(sys.argv[1])], start_new_session=True)"


def check_installed() -> None:
    if any(importlib.util.find_spec(name) is None for name in ("starlette", "uvicorn")):
        raise ParamedicError(
            "the live page needs starlette and uvicorn, which are not installed",
            expected="the packages of the extra `live`",
            fix="pip install 'paramedic[live]'",
        )


def listen(port: int = 0) -> socket.socket:
    """A socket on this machine only; connections wait in it until the server has started."""
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((HOST, port))
    except (OSError, OverflowError) as error:
        found.close()
        why = getattr(error, "strerror", None) or error
        raise ParamedicError(
            f"cannot listen on port {port}: {why}", expected="a port that is free", fix="--port 0 takes any free one"
        ) from None
    found.listen()
    return found


def new_token() -> str:
    return secrets.token_urlsafe(16)


def address(sock: socket.socket, token: str, page: str = "") -> str:
    return f"http://{HOST}:{sock.getsockname()[1]}/{token}/{page}"


def beside(runs: Path, run: str, *, select: Sequence[str] = (), ignore: Sequence[str] = ()) -> str:
    """Start a server for a run that is about to begin in this process. Returns the address of its page."""
    check_installed()
    if os.name != "posix":
        raise ParamedicError(
            "--live cannot hand its port to another process on this system",
            expected="Linux or macOS",
            fix="paramedic serve, in a second terminal",
        )
    token = new_token()
    with listen() as sock:
        process = [token, str(sock.fileno()), str(os.getpid())]
        words = [str(runs.absolute()), run, *process, ",".join(select), ",".join(ignore)]
        command = [sys.executable, "-P", "-m", "paramedic.serve", *words]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PARAMEDIC_")}
        subprocess.run(
            [sys.executable, "-I", "-S", "-c", _STARTER, str(sock.fileno()), *command],
            pass_fds=[sock.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
            check=False,
        )
        return address(sock, token, f"run/{run}/")


def serve(site: Site, sock: socket.socket, token: str, *, until: int | None = None) -> None:
    """Serve until Ctrl-C; with `until`, until that process has ended and nobody looks any more."""
    import uvicorn

    config = uvicorn.Config(
        site.app(token), log_level="critical", access_log=False, lifespan="off", ws="none", server_header=False,
        timeout_graceful_shutdown=1,
    )  # fmt: skip
    server = uvicorn.Server(config)

    async def run() -> None:
        watching = asyncio.create_task(_stop_when_done(server, site, until)) if until else None
        await server.serve(sockets=[sock])
        if watching is not None:
            watching.cancel()

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(run())


async def _stop_when_done(server: object, site: Site, process: int) -> None:
    import psutil

    watched, idle = None, 0
    with contextlib.suppress(psutil.Error):
        watched = psutil.Process(process)
    while idle < (GRACE if site.was_open else 1):
        await asyncio.sleep(1)
        with contextlib.suppress(psutil.Error):
            if watched is not None and watched.is_running() and watched.status() != psutil.STATUS_ZOMBIE:
                continue
        idle = 0 if site.open_pages else idle + 1
    server.should_exit = True  # type: ignore[attr-defined]
