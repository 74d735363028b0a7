"""The live page: only for who knows its address, up to date while a run writes, and no burden to the run."""

from __future__ import annotations

import http.client
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from browser import Browser
from recording import Recording
from workshop import TRAIN, Workshop, wait_until


class Client:
    """Asks the server whose page has this address."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.home = "/".join(url.split("/")[:4]) + "/"  # with the token

    def ask(self, path: str = "", *, method: str = "GET", host: str | None = None) -> http.client.HTTPResponse:
        return self._send(method, path, {"Host": host} if host else {})

    def post(self, path: str, body: object, **other: str) -> int:
        """As the page does, but for these headers."""
        headers = {"content-type": "application/json", "origin": "/".join(self.url.split("/")[:3]), **other}
        return self._send("POST", path, headers, json.dumps(body)).status

    def _send(
        self, method: str, path: str, headers: dict[str, str], body: str | None = None
    ) -> http.client.HTTPResponse:
        address = urlsplit(self.home + path)
        connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=60)
        target = address.path + (f"?{address.query}" if address.query else "")
        connection.request(method, target, body, headers)
        return connection.getresponse()

    def events(self, path: str) -> Iterator[dict[str, str]]:
        """The sections as they come."""
        for line in self.ask(path):
            if line.startswith(b"data: "):
                yield json.loads(line[6:])


class Server(Client):
    """`paramedic serve` in a folder."""

    def __init__(self, shop: Workshop, *words: str) -> None:
        self.process = shop.start("serve", *words)
        assert self.process.stderr is not None
        said = self.process.stderr.readline()
        found = re.search(r"http://\S+", said)
        assert found, said
        super().__init__(found.group())

    def stop(self) -> int:
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=60)
        return self.process.returncode


@pytest.fixture
def recording(shop: Workshop) -> Iterator[Recording]:
    found = Recording(shop.folder / ".paramedic/runs/20260101-000000-aaaaaa", pid=psutil.Process().pid)
    found.steps(20)
    yield found
    found.writer.close()


@pytest.fixture
def server(shop: Workshop, recording: Recording) -> Iterator[Server]:
    found = Server(shop, recording.folder.name)
    yield found
    found.process.kill()
    found.process.communicate()


def until(events: Iterator[dict[str, str]], name: str, words: str) -> str:
    end = time.monotonic() + 60
    for parts in events:
        if words in parts.get(name, ""):
            return parts[name]
        assert time.monotonic() < end, parts
    raise AssertionError(f"the stream ended before {words!r}")


def test_only_who_has_the_token_gets_in_and_nothing_can_be_changed(server: Server, recording: Recording) -> None:
    assert server.url == f"{server.home}run/{recording.folder.name}/"
    page = server.ask(f"run/{recording.folder.name}/")
    text = page.read().decode()
    assert page.status == 200 and 'http-equiv="Content-Security-Policy" content="default-src \'none\'' in text
    assert page.getheader("access-control-allow-origin") is None
    assert page.getheader("referrer-policy") == "no-referrer"
    assert "frame-ancestors 'none'" in (page.getheader("content-security-policy") or "")
    right, server.home = server.home, server.home[:-3] + "xx/"
    assert server.ask().status == 404
    server.home = right
    assert server.ask(host="evil.example:80").status == 404
    assert server.ask(method="POST").status == 405
    for path in ("run/..%2f..%2f..%2fetc/", "run/missing/", "run/missing/events", "run/missing/report.html"):
        assert server.ask(path).status == 404
    port = urlsplit(server.home).port
    listening = [c.laddr.ip for c in psutil.Process(server.process.pid).net_connections() if c.laddr.port == port]
    assert set(listening) == {"127.0.0.1"}
    assert server.stop() == 0


def test_the_page_follows_the_run_its_end_and_the_next_one(server: Server, recording: Recording) -> None:
    events = server.events(f"run/{recording.folder.name}/events")
    assert "running · step 20" in until(events, "state", "step")
    recording.steps(15, bad=(30,))
    until(events, "state", "step 35")
    recording.end()
    until(events, "state", "ended")
    later = Recording(recording.folder.with_name("20260102-000000-bbbbbb"))
    later.steps(5)
    later.end()
    assert "20260102-000000-bbbbbb" in until(events, "newer", "newer run")
    report = server.ask(f"run/{recording.folder.name}/report.html").read().decode()
    assert "<!doctype html>" in report.lower() and "Gradients" in report
    assert "20260102-000000-bbbbbb" in until(server.events("events"), "runs", "train.py")
    both = f"compare/events?run={recording.folder.name}&run=20260102-000000-bbbbbb&run=..%2fnowhere"
    drawn = until(server.events(both), "loss", "Training loss")
    assert recording.folder.name in drawn and "nowhere" not in drawn


def test_names_from_the_record_are_only_text(shop: Workshop) -> None:
    nasty = "<img src=x onerror=alert(1)>"
    recording = Recording(shop.folder / ".paramedic/runs/20260101-000000-aaaaaa", script=nasty)
    recording.writer.point(nasty, 0, 1.0)
    recording.steps(3)
    recording.end()
    server = Server(shop)
    assert "&lt;img" in until(server.events("events"), "runs", "onerror")
    for part in ("pictures", "about"):
        text = until(server.events(f"run/{recording.folder.name}/events"), part, "onerror")
        assert "&lt;img" in text and "<img" not in text
    server.stop()


def test_notes_go_to_the_journal_and_nowhere_else(server: Server, recording: Recording, warm_shop: Workshop) -> None:
    name = recording.folder.name
    to, nasty = f"run/{name}/notes", {"text": "<img src=x onerror=alert(1)>", "assumption": False}
    for path, body, headers in (
        (to, nasty, {"origin": "http://evil.example"}),
        (to, nasty, {"content-type": "text/plain"}),
        (to, {"text": " ", "assumption": False}, {}),
        (to, {"text": "x" * 5_000, "assumption": False}, {}),
        (to, {"text": "x" * 50_000, "assumption": False}, {}),
        (to, [1], {}),
        ("run/missing/notes", nasty, {}),
        ("notes", nasty, {}),
    ):
        assert server.post(path, body, **headers) in (400, 403, 404, 413), (path, headers)
    assert server.ask(to).status == 405
    before = [(file.name, file.stat().st_size) for file in recording.folder.iterdir()]
    assert server.post(to, nasty) == 200
    assert server.post(to, {"text": "loss falls below 0.3 by step 500", "assumption": True}) == 200
    shown = until(server.events(f"run/{name}/events"), "notes", "by step 500")
    assert "&lt;img" in shown and "<img" not in shown
    assert [(file.name, file.stat().st_size) for file in recording.folder.iterdir()] == before
    said = warm_shop.paramedic("journal").stdout
    assert f"**note** <img src=x onerror=alert(1)> (run {name}" in said and "**assumption** loss falls" in said


def test_in_a_browser(server: Server, recording: Recording, tmp_path: Path) -> None:
    browser = Browser(tmp_path / "profile")
    browser.resize(1200)
    browser.open(server.url)
    browser.wait("document.querySelector('#part-state').innerText.includes('step 20')")
    heading = browser.value("document.querySelector('h1').innerText")
    assert "Too early to tell" in heading, "a run that goes on is not healthy yet"
    browser.value("document.getElementById('loss-numbers').open = true")
    browser.value("document.querySelector('#loss-figure .plot').focus()")
    browser.press("ArrowRight")
    assert "2 at step 0" in browser.value("document.querySelector('#loss-figure .reading').innerText")
    recording.steps(20, bad=(25,))
    browser.wait("document.querySelector('#part-state').innerText.includes('step 40')")
    browser.wait("document.querySelector('#gradients-figure rect[fill]')")
    assert browser.value("document.getElementById('loss-numbers').open")
    assert browser.value("document.activeElement.matches('#loss-figure .plot')")
    browser.value("document.getElementById('note-text').value = 'warmup helps'")
    browser.value("document.querySelector('#note button').click()")
    browser.wait("document.querySelector('#part-notes').innerText.includes('warmup helps')")
    assert browser.value("document.getElementById('note-text').value") == ""
    assert browser.violations() == []
    browser.resize(390)
    assert browser.value("document.documentElement.scrollWidth") <= 390
    browser.open(server.home)
    browser.wait("document.querySelector('table.runs a')")
    assert browser.violations() == []
    browser.value("document.querySelector('input[name=run]').click()")
    browser.value("document.querySelector('form button').click()")
    browser.wait("location.pathname.endsWith('/compare/') && document.querySelector('#loss-figure')")
    assert browser.violations() == []
    assert browser.complaints == []
    browser.close()


def test_beside_a_run(warm_shop: Workshop) -> None:
    """The script's exit code, output and children are its own, and the server ends with it when nobody looks."""
    program = (
        TRAIN + "import os\ntrain(40, pause=0.02)\ntry: os.wait()\nexcept ChildProcessError: print('no child')\nexit(7)"
    )
    warm_shop.write("train.py", program)
    done = warm_shop.paramedic("run", "--live", "--json", "out.json", "train.py")
    assert (done.code, done.stdout) == (7, "no child\n")
    found = re.search(r"http://127\.0\.0\.1:\d+/([\w-]+)/run/([\w-]+)/", done.stderr)
    assert found and done.found["run"]["id"] == found[2]
    wait_until(lambda: not any(found[1] in " ".join(_command(p)) for p in psutil.process_iter()))


def test_whoever_looks_can_go_on_when_the_run_has_ended(shop: Workshop, recording: Recording) -> None:
    program = f"""
import sys, time
from pathlib import Path
from paramedic.serve.server import beside
print(beside(Path({str(recording.folder.parent)!r}), {recording.folder.name!r}), flush=True)
sys.stdin.readline()
"""
    pipe = subprocess.PIPE
    run = subprocess.Popen([sys.executable, "-c", program], env=shop.env, stdin=pipe, stdout=pipe, text=True)
    assert run.stdout is not None
    server = Client(run.stdout.readline().strip())
    events = server.events(f"run/{recording.folder.name}/events")
    until(events, "state", "step 20")
    run.communicate("\n")
    time.sleep(4)  # twice as long as it would stay with nobody looking
    recording.steps(3)
    until(events, "state", "step 23")
    token = server.home.split("/")[3]
    found = [process for process in psutil.process_iter() if token in _command(process)]
    assert len(found) == 1 and found[0].nice() >= 10
    found[0].kill()


def _command(process: psutil.Process) -> list[str]:
    try:
        return list(process.cmdline())
    except psutil.Error:
        return []


def test_missing_packages_and_taken_ports_are_explained(shop: Workshop, server: Server) -> None:
    taken = shop.paramedic("serve", "--port", str(urlsplit(server.home).port))
    assert taken.code == 2 and "--port 0" in taken.stderr
    assert shop.paramedic("serve", "no-such-run").code == 2
    program = """
import importlib.util, sys
real = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "uvicorn" else real(name, *rest)
sys.argv = ["paramedic", "serve"]
from paramedic.__main__ import main
main()
"""
    missing = subprocess.run([sys.executable, "-c", program], env=shop.env, capture_output=True, text=True, check=False)
    assert missing.returncode == 2 and "pip install 'paramedic[live]'" in missing.stderr
