"""A real browser, driven over its debugging pipe: no driver has to be installed."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PATIENCE = 60  # seconds for anything that is waited for
PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--remote-debugging-pipe",
)  # fmt: skip
# The browser reads commands from descriptor 3 and answers on 4.
_STARTER = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 20) for end in sys.argv[1:3]]
os.dup2(ends[0], 3); os.dup2(ends[1], 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


def _axe() -> Path | None:
    if given := os.environ.get("AXE"):
        return Path(given)
    npm = shutil.which("npm")
    root = subprocess.run([npm, "root", "--global"], capture_output=True, text=True).stdout.strip() if npm else ""
    script = Path(root) / "axe-core" / "axe.min.js"
    return script if script.is_file() else None


class Browser:
    """One tab."""

    def __init__(self, folder: Path) -> None:
        if PROGRAM is None:
            pytest.skip("no chromium on this machine")
        theirs, ours = os.pipe(), os.pipe()
        command = [PROGRAM, *FLAGS, f"--user-data-dir={folder}", "about:blank"]
        self._process = subprocess.Popen(
            [sys.executable, "-c", _STARTER, str(theirs[0]), str(ours[1]), *command],
            pass_fds=(theirs[0], ours[1]),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs[0])
        os.close(ours[1])
        self._to, self._from = os.fdopen(theirs[1], "wb"), os.fdopen(ours[0], "rb", buffering=0)
        self._buffer, self._number, self._session = b"", 0, ""
        self.complaints: list[str] = []  # what the console holds: errors, warnings, violated policies
        tab = next(t for t in self._ask("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self._session = self._ask("Target.attachToTarget", targetId=tab["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self._ask(f"{domain}.enable")

    def open(self, url: str) -> None:
        self._ask("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'")

    def value(self, expression: str) -> Any:
        found = self._ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait(self, expression: str) -> None:
        """Until the expression is true."""
        end = time.monotonic() + PATIENCE
        while not self.value(f"Boolean({expression})"):
            assert time.monotonic() < end, f"never true: {expression}; {self.value('document.body.innerText')[:2000]}"
            time.sleep(0.1)

    def resize(self, width: int, height: int = 900, *, dark: bool = False) -> None:
        self._ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._ask("Emulation.setEmulatedMedia", features=[scheme])

    def press(self, key: str) -> None:
        for kind in ("keyDown", "keyUp"):
            self._ask("Input.dispatchKeyEvent", type=kind, key=key, code=key)

    def point(self, x: float, y: float) -> None:
        self._ask("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def violations(self) -> list[str]:
        """What axe-core complains of, where it is installed (`npm install --global axe-core`, or its file in AXE)."""
        script = _axe()
        if script is None:
            return []
        self.value(script.read_text(encoding="utf-8") + ";0")
        asked = "axe.run(document, {resultTypes: ['violations']})"
        found = "r.violations.flatMap(v => v.nodes.map(n => `${v.id}: ${n.target.join(' ')}`))"
        return list(self.value(f"{asked}.then(r => {found})"))

    def picture(self, file: Path) -> None:
        file.write_bytes(base64.b64decode(self._ask("Page.captureScreenshot", captureBeyondViewport=True)["data"]))

    def pages_printed(self) -> bytes:
        return base64.b64decode(self._ask("Page.printToPDF")["data"])

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._to.close()
        self._from.close()

    def _ask(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        message |= {"sessionId": self._session} if self._session else {}
        self._to.write(json.dumps(message).encode() + b"\0")
        self._to.flush()
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return dict(answer["result"])
            self._note(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            read = self._from.read(1 << 16)
            assert read, "the browser has gone"
            self._buffer += read
        message, _, self._buffer = self._buffer.partition(b"\0")
        return dict(json.loads(message))

    def _note(self, event: dict[str, Any]) -> None:
        noted: dict[str, Callable[[Any], str | None]] = {
            "Log.entryAdded": lambda p: f"{p['entry']['level']}: {p['entry']['text']} {p['entry'].get('url', '')}",
            "Runtime.exceptionThrown": lambda p: str(p["exceptionDetails"].get("exception", p)),
            "Runtime.consoleAPICalled": lambda p: f"{p['type']}: {p['args']}",
        }
        if event.get("method") in noted:
            self.complaints.append(str(noted[event["method"]](event["params"])))
