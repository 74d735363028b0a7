"""What the documentation tells people to type is understood by the command line, and its links lead somewhere."""

from __future__ import annotations

import functools
import re
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import typer.main
import yaml
from typer.testing import CliRunner

from browser import Browser
from documented import PAGES, command_lines
from paramedic.cli.app import app
from paramedic.cli.script import TARGET, ScriptCommand
from workshop import ROOT

_INLINE = re.compile(r"`(paramedic [a-z][^`\n]*)`")
STANDS_FOR = {"PID": "1234", "CODE": "PM502"}
CHEAP = ("explain", "rules", "--version", "--help")  # need neither a script nor a record


def lines(page: Path) -> Iterator[str]:
    """The command lines of a page: those in blocks, and those in the text."""
    text = page.read_text(encoding="utf-8")
    yield from (line for line in command_lines([page]) if line.startswith("paramedic "))
    if page.name != "commands.md":  # help texts, drawn as tables
        yield from (line for line in _INLINE.findall(text) if "…" not in line and "COMMAND" not in line)


def given() -> list[str]:
    found = {line for page in PAGES for line in lines(page)}
    actions = [ROOT / "action.yml", ROOT / ".pre-commit-hooks.yaml"]
    hook = yaml.safe_load(actions[1].read_text())[0]
    return sorted(found | {f"{hook['entry']} train.py"})


def words_of(line: str) -> list[str]:
    return [STANDS_FOR.get(word, word) for word in shlex.split(line, comments=True)[1:]]


@pytest.mark.parametrize("line", given())
def test_a_command_line_is_understood(line: str) -> None:
    """Parsed as it is before anything runs: commands, options and the types of their values."""
    command, words, context = typer.main.get_command(app), words_of(line), None
    while hasattr(command, "resolve_command"):
        if not words or words[0].startswith("-"):
            return  # `paramedic --help`, `paramedic synth`
        context = command.make_context("paramedic", [], parent=context, resilient_parsing=True)
        _, found, words = command.resolve_command(context, words)
        assert found is not None
        command = found
    if not words:
        return  # the command is only spoken of
    made = command.make_context(command.name, words, parent=context)
    if isinstance(command, ScriptCommand):  # an option behind the script would be the script's
        options = {name for parameter in command.params for name in parameter.opts}
        target = made.meta.get(TARGET)  # none where only an option is spoken of
        assert target is None or not options & set(target.args)


@pytest.mark.parametrize(
    "line", [line for line in given() if words_of(line)[0] in CHEAP and line != "paramedic explain"]
)
def test_a_cheap_command_runs(line: str) -> None:
    done = CliRunner().invoke(app, words_of(line))
    assert done.exit_code == 0 and done.stdout, done.exception


def test_there_is_something_to_test() -> None:
    assert len(given()) > 60


def test_every_page_is_in_the_navigation() -> None:
    text = (ROOT / "mkdocs.yml").read_text()
    shown = set(re.findall(r": ([\w/.-]+\.md)$", text, re.MULTILINE)) | {"practices/index.md", "rules/index.md"}
    pages = {str(page.relative_to(ROOT / "docs")) for page in PAGES[1:]}
    assert {page for page in pages if not page.startswith(("practices/", "rules/"))} <= shown


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    line = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def test_the_site_needs_no_network(site: Path) -> None:
    outside = re.compile(r'<(?:script|link|img)[^>]+(?:src|href)="https?://')
    pages = list(site.rglob("*.html"))
    assert len(pages) > 150 and [page.name for page in pages if outside.search(page.read_text())] == []


def test_the_site_can_be_searched(site: Path, tmp_path: Path) -> None:
    handler = functools.partial(QuietHandler, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser = Browser(tmp_path)
        try:
            browser.open(f"http://127.0.0.1:{server.server_port}/index.html?q=PM502")
            browser.wait("document.querySelectorAll('.md-search-result__item').length")
            assert "PM502" in browser.value("document.querySelector('.md-search-result__item').innerText")
        finally:
            browser.close()
            server.shutdown()


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """The test's own output is enough."""
