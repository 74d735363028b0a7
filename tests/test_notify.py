"""`--notify`: off unless asked for; a first alarm and an end reach an address or a command."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from inside import call, refused
from paramedic import notify
from paramedic.errors import ParamedicError
from paramedic.findings import Finding, Where
from workshop import TRAIN, Workshop


@pytest.fixture
def received() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A server on this machine, and what it was sent."""
    got: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(500 if self.path == "/broken" else 200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", got
    server.shutdown()
    server.server_close()


def test_the_end_of_a_run_is_posted(warm_shop: Workshop, received: tuple[str, list[dict[str, Any]]]) -> None:
    address, got = received
    warm_shop.write("train.py", TRAIN + "train(12, softmax=True)\n")
    done = warm_shop.run("train.py", options=("--notify", address))
    assert done.code == 0, done.stderr
    (message,) = [each for each in got if each["event"] == "end"]
    assert message["verdict"] == "sick" and message["findings"] == ["PM502"]
    assert message["text"].startswith("paramedic: train.py has ended: sick. 1 error;")
    assert address not in "".join(path.read_text(errors="replace") for path in warm_shop.records()), "not recorded"


def test_a_command_gets_it_on_stdin(tmp_path: Path) -> None:
    script = tmp_path / "tell.py"
    script.write_text("import sys, pathlib; pathlib.Path(sys.argv[1]).write_text(sys.stdin.read())")
    notify.send(f"{sys.executable} {script} {tmp_path / 'told.json'}", "alarm", "text", findings=["PM502"])
    told = json.loads((tmp_path / "told.json").read_text())
    assert told == {"event": "alarm", "text": "text", "findings": ["PM502"]}


def test_what_cannot_be_reached_costs_a_line_without_the_address(
    received: tuple[str, list[dict[str, Any]]], capsys: pytest.CaptureFixture[str]
) -> None:
    address, _ = received
    for target in (f"{address}/broken", "http://127.0.0.1:9/secret", "false secret"):
        notify.send(target, "end", "text")
        said = capsys.readouterr().err
        assert said.startswith("paramedic: --notify failed: ") and "secret" not in said and address not in said


@pytest.mark.parametrize("target", ["", "no-such-command-here --x", "'"])
def test_nonsense_is_refused_before_the_script_runs(tmp_path: Path, target: str) -> None:
    (tmp_path / "train.py").write_text("print('ran')")
    done = call(tmp_path, "run", "--notify", target, "train.py")
    assert refused(done) and "--notify" in done.stderr and "ran" not in done.stdout


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="the attendant needs Linux")
def test_only_the_first_alarm_is_sent(
    tmp_path: Path, received: tuple[str, list[dict[str, Any]]], monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    import os

    from paramedic.postmortem.attendant import Attendant
    from paramedic.postmortem.blackbox import BlackBox
    from paramedic.postmortem.places import box_file

    address, got = received
    monkeypatch.setenv(notify.VARIABLE, address)
    box = BlackBox(box_file(tmp_path, os.getpid()))
    attendant = Attendant(tmp_path, os.getpid(), 0)
    finding = Finding(code="PM502", name="n", what="w", why="", remedy="", where=Where(file="a.py", line=1, step=3))
    attendant.announce(finding, aloud=True)
    attendant.announce(finding, aloud=False)
    assert [(each["event"], each["findings"]) for each in got] == [("alarm", ["PM502"])]
    assert capsys.readouterr().err == "paramedic: ✗ PM502 n, a.py:1, since step 3: w\n"
    box.end()
    attendant.announce(finding, aloud=True)
    assert capsys.readouterr().err == "", "a run that has ended says it itself"


def test_a_command_that_needs_a_shell_is_refused_before_the_run() -> None:
    with pytest.raises(ParamedicError, match="without a shell") as refusal:
        notify.checked("cat >> told.json")
    assert "sh -c" in str(refusal.value), "and says what to type"
