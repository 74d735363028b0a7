"""A python that has imported torch already and forks itself for each `paramedic` command.

Importing torch takes ten times as long as most scripts of the tests do. Each line on stdin is a request; the exit code
is the answer on stdout. The child leaves the loop and ends as every python does, with all that happens at exit.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any


class Warm:
    """The side of the tests: one such python, started when it is first needed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def run(self, args: list[str], folder: Path, env: dict[str, str], timeout: float) -> tuple[int, str, str]:
        """Exit code, stdout and stderr of `paramedic *args`."""
        if self._process is None:
            command = [sys.executable, __file__]
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(command, env=env, stdin=pipe, stdout=pipe, text=True, bufsize=1)
        with tempfile.TemporaryDirectory() as scratch:
            streams = [str(Path(scratch) / name) for name in ("stdout", "stderr")]
            request = {"args": args, "folder": str(folder), "env": env, "streams": streams}
            assert self._process.stdin is not None and self._process.stdout is not None
            print(json.dumps(request), file=self._process.stdin)
            if not select.select([self._process.stdout], [], [], timeout)[0]:
                self.stop()
                raise subprocess.TimeoutExpired(args, timeout)
            code = int(self._process.stdout.readline())
            return code, Path(streams[0]).read_text(), Path(streams[1]).read_text()

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def next_request() -> dict[str, Any]:
    """Returns in a new process for each request; ends this one when there are no more."""
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            found: dict[str, Any] = json.loads(line)
            return found
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
    sys.exit()


def become(request: dict[str, Any]) -> None:
    """Be the process that `python -m paramedic` would have been."""
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["folder"])
    for number, path in enumerate([os.devnull, *request["streams"]]):
        with contextlib.closing(os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT))) as stream:
            os.dup2(stream.fileno(), number)
    sys.argv = ["paramedic", *request["args"]]


if __name__ == "__main__":
    import torch._dynamo  # what every optimizer imports  # noqa: F401

    import paramedic.capture.attach
    import paramedic.diagnosis  # noqa: F401
    from paramedic.__main__ import main
    from paramedic.rules.catalogue import all_rules

    all_rules()
    gc.freeze()  # children need not look at all this again when they collect garbage
    become(next_request())
    main()
