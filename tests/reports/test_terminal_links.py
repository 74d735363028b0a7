"""Links to files on terminals that know them, a debugger that opens in the user's code, options in groups."""

from __future__ import annotations

import io
import pdb
from pathlib import Path

import pytest

from inside import call
from paramedic.findings import Diagnosis, Finding, RunFacts, Where
from paramedic.postmortem.shell import _in_users_code
from paramedic.reports.screen import knows_links
from paramedic.reports.terminal import render


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("names", "knows"),
    [
        ({"TERM_PROGRAM": "vscode"}, True),
        ({"TERM": "xterm-kitty"}, True),
        ({"VTE_VERSION": "7600"}, True),
        ({"VTE_VERSION": "4205"}, False),
        ({"TERM": "xterm"}, False),
        ({"TERM": "dumb", "WT_SESSION": "1"}, False),
        ({"WT_SESSION": "1", "CI": "true"}, False),
        ({"WT_SESSION": "1", "FORCE_HYPERLINK": "0"}, False),
        ({"TERM": "xterm", "FORCE_HYPERLINK": "1"}, True),
    ],
)
def test_only_known_terminals_get_links(monkeypatch: pytest.MonkeyPatch, names: dict[str, str], knows: bool) -> None:
    for name in ("TERM", "TERM_PROGRAM", "VTE_VERSION", "KITTY_WINDOW_ID", "WT_SESSION", "KONSOLE_VERSION", "CI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("FORCE_HYPERLINK", raising=False)
    for name, value in names.items():
        monkeypatch.setenv(name, value)
    assert knows_links(Terminal()) is knows
    assert knows_links(io.StringIO()) is (names.get("FORCE_HYPERLINK") == "1")


def test_a_place_is_a_link_to_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my train.py").write_text("x = 1\n")
    monkeypatch.chdir(tmp_path)
    where = Where(file="my train.py", line=1, function="train", module="net.head")
    finding = Finding(code="PM502", name="n", severity="error", what="w", why="", remedy="", where=where)
    run = RunFacts(id="a", record="", steps=20)
    diagnosis = Diagnosis(verdict="sick", findings=(finding,), clear=(), abstained=(), crashed=(), run=run)
    linked = render(diagnosis, color=True, links=True)
    assert "\x1b]8;" in linked and f"file://{tmp_path}/my%20train.py#1" in linked
    assert "\x1b]8;" not in render(diagnosis, color=True)
    assert "\x1b" not in render(diagnosis, links=True), "nothing of the kind where there are no colours"
    assert "  where  my train.py:1 in train   ·   module net.head\n" in render(diagnosis)
    (tmp_path / "my train.py").unlink()
    assert "\x1b]8;" not in render(diagnosis, color=True, links=True), "a file that is gone cannot be opened"


def test_the_debugger_opens_in_the_innermost_frame_of_the_users_code() -> None:
    import torch

    def mine() -> None:
        wanted = 7  # noqa: F841
        torch.nn.functional.cross_entropy(torch.ones(2, 3), torch.ones(5, dtype=torch.long))

    try:
        mine()
    except ValueError as error:
        trace = error.__traceback__
    debugger = _in_users_code(pdb.Pdb)()
    debugger.reset()
    debugger.setup(None, trace)
    assert debugger.curframe.f_code.co_name == "mine" and debugger.curframe_locals["wanted"] == 7
    assert len(debugger.stack) > debugger.curindex + 1, "down leads into torch"


def test_help_shows_options_in_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = call(tmp_path, "run", "--help").stdout
    titles = [line for line in shown.splitlines() if line.startswith(("╭", "+-"))]
    assert [any(name in title for title in titles) for name in ("Reports", "Watching", "Verdict", "When a step fails")]
    assert all(len(line) <= 80 for line in shown.splitlines())
