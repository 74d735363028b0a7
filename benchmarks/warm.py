"""Many short runs of `paramedic` without importing torch for each of them: one process imports it and forks.

For programs whose subject is not how a process starts. A fork ends with its threads joined, its atexit handlers called
and its exit code.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import json
import os
import pkgutil
import runpy
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Self

PRELOADED = (
    "torch", "torch._dynamo", "torch.utils.data", "torch.profiler", "numpy", "sklearn.datasets",
    "sklearn.model_selection", "paramedic.cli.app", "paramedic.baseline",
)  # fmt: skip
ON_FIRST_USE = ("typer._adapters", "torch.profiler._cupti_monitor")  # what some versions of them import only then
OURS = (  # modules that every run imports, with all that is in these packages
    "paramedic.__main__", "paramedic.capture.attach", "paramedic.capture.probes", "paramedic.capture.stats.portable",
    "paramedic.diagnosis", "paramedic.journal.automatic", "paramedic.launch", "paramedic.past_runs",
    "paramedic.record", "paramedic.reports.json", "paramedic.reports.place", "paramedic.reports.terminal",
    "paramedic.rules",
)  # fmt: skip


class Warm:
    """A process that waits for orders; one run at a time."""

    def __init__(self, env: dict[str, str] | None = None) -> None:
        environment = {**os.environ, **(env or {}), "OMP_NUM_THREADS": "1"}  # a fork must not inherit thread pools
        self._server = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(
        self,
        args: list[str],
        *,
        cwd: Path,
        env: dict[str, str],
        out: Path,
        err: Path,
        timeout: float,
        program: str = "paramedic",
    ) -> int:
        """`paramedic ARGS`, or `python ARGS`; its exit code, negative for a signal as subprocess has it."""
        self._send({"program": program, "args": args, "cwd": str(cwd), "env": env, "out": str(out), "err": str(err)})
        pid = self._receive()
        killer = threading.Timer(timeout, _kill, (pid,))
        killer.start()
        try:
            return self._receive()
        finally:
            killer.cancel()

    def close(self) -> None:
        assert self._server.stdin is not None
        self._server.stdin.close()
        self._server.wait()

    def _send(self, order: dict[str, Any]) -> None:
        assert self._server.stdin is not None
        self._server.stdin.write(json.dumps(order) + "\n")
        self._server.stdin.flush()

    def _receive(self) -> int:
        assert self._server.stdout is not None
        return int(self._server.stdout.readline())


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def serve() -> dict[str, Any] | None:
    """Fork for every order; returns in the fork, with its order, and at the end of the orders with nothing."""
    while line := os.read(0, 1 << 20).decode():  # never through a buffer, which a fork would inherit
        while not line.endswith("\n"):
            line += os.read(0, 1 << 20).decode()
        pid = os.fork()
        if pid == 0:
            order: dict[str, Any] = json.loads(line)
            return order
        os.write(1, f"{pid}\n".encode())
        _, status = os.waitpid(pid, 0)
        os.write(1, f"{os.waitstatus_to_exitcode(status)}\n".encode())
    return None


def become(order: dict[str, Any]) -> None:
    """This process is now the one that was ordered."""
    for number, name, flags in ((0, os.devnull, os.O_RDONLY), (1, order["out"], 0), (2, order["err"], 0)):
        descriptor = os.open(name, flags or os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["env"])
    sys.argv = ["paramedic", *order["args"]] if order["program"] == "paramedic" else order["args"]


def end_with(program: str) -> None:
    """Run it and end, but without taking all modules apart: that would copy what the fork shares with its parent."""
    try:
        if program == "python":
            sys.path.insert(0, os.path.dirname(os.path.realpath(sys.argv[0])))  # as python does
            runpy.run_path(sys.argv[0], run_name="__main__")
        else:
            from paramedic.__main__ import main

            main()
        code: Any = 0
    except SystemExit as end:
        code = end.code or 0
        if not isinstance(code, int):
            raise
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    os._exit(code & 0xFF)


if __name__ == "__main__":
    import importlib

    sys.path.pop(0)  # this folder
    from paramedic.program.fork_handlers import fork_handlers

    for name in PRELOADED:
        importlib.import_module(name)
    for name in ON_FIRST_USE:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for name in OURS:
        module = importlib.import_module(name)
        for found in pkgutil.walk_packages(getattr(module, "__path__", ()), prefix=f"{name}."):
            importlib.import_module(found.name)
    fork_handlers()  # while they can still be found
    gc.freeze()  # else every fork would go through all of torch again whenever it collects garbage
    order = serve()
    if order is not None:
        become(order)
        end_with(order["program"])
