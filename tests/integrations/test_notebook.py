"""Notebooks: cells are named by their numbers, a verdict is shown, nothing is red. With real IPython and a kernel."""

from __future__ import annotations

import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import paramedic
from paramedic.findings import Diagnosis, Evidence, Finding, RunFacts, Where
from workshop import Workshop

SETUP = """import torch, paramedic
from torch import nn
import torch.nn.functional as F
torch.manual_seed(0)
"""
MODEL = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 8)
        self.unused = nn.Linear(8, 8)
        self.last = nn.Linear(8, 3)
    def forward(self, x):
        return self.last(self.first(x).relu())

model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
"""
TRAIN = """def train(softmax):
    for _ in range(12):
        x = torch.randn(16, 4)
        out = model(x)
        if softmax:
            out = out.softmax(dim=1)
        loss = F.cross_entropy(out, x[:, :3].argmax(dim=1))
        optimizer.zero_grad(); loss.backward(); optimizer.step()
"""

# Cells, one after the other, in a shell as a notebook has it; what they display is printed as JSON.
DRIVER = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()
shell.kernel = None  # as a notebook has one: what is displayed reaches a page
shown = []
shell.display_pub.publish = lambda data, *_, **__: shown.append(data)
failed = []
for cell in json.loads(open("cells.json").read()):
    failed.append(not shell.run_cell(cell, store_history=True).success)
sys.__stdout__.write("\\n" + json.dumps({"shown": shown, "failed": failed}))
"""


def run_cells(shop: Workshop, *cells: str) -> dict[str, Any]:
    shop.write("driver.py", DRIVER)
    (shop.folder / "cells.json").write_text(json.dumps(cells))
    done = shop.python("driver.py")
    assert done.code == 0 and done.stderr == "", done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found | {"stdout": re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)}


def test_places_are_cells_and_a_model_from_before_has_its_own_line(warm_shop: Workshop) -> None:
    watch = "with paramedic.watch() as watch:\n    train(True)\n"
    tell = "print([(f.code, f.where.file, f.where.line, f.where.module) for f in watch.diagnosis.findings])"
    found = run_cells(warm_shop, SETUP, MODEL, TRAIN, watch, tell)
    (shown,) = found["shown"]
    assert "cell 3, line 6 in train" in shown["text/html"] and "cell 3, line 6 in train" in shown["text/plain"]
    assert "out = out.softmax(dim=1)" in shown["text/html"], "the source of the cell"
    assert "('PM502', 'cell 3', 6, " in found["stdout"]
    assert "('PM412', 'cell 2', 5, 'model.unused')" in found["stdout"], "the line that builds it, not that of the with"


def test_the_magics(warm_shop: Workshop) -> None:
    watched = "%%paramedic\nprint('in the cell')\ntrain(False)\n"
    failing = "%%paramedic\ntrain(False)\nraise KeyError('mine')\n"
    refused = "%%paramedic --steps 3\ntrain(False)\n"
    command = "%paramedic explain PM502"
    found = run_cells(warm_shop, "%load_ext paramedic", SETUP + MODEL + TRAIN, watched, failing, refused, command)
    assert found["failed"] == [False, False, False, True, True, False]
    assert len(found["shown"]) == 2 and "No known fault found" in found["shown"][0]["text/plain"]
    assert found["stdout"].count("in the cell") == 1 and found["stdout"].count("KeyError: 'mine'") == 1
    assert "takes no arguments" in found["stdout"] and "Probabilities reach a loss" in found["stdout"]


def test_in_a_plain_script_too_a_model_from_before_has_its_own_line(warm_shop: Workshop) -> None:
    body = "with paramedic.watch() as watch:\n    train(False)\n"
    body += "print([(f.code, f.where.file, f.where.line) for f in watch.diagnosis.findings])\n"
    warm_shop.write("train.py", SETUP + MODEL + TRAIN + body)
    assert "('PM412', 'train.py', 9)" in warm_shop.python("train.py").stdout


class Balanced(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


SICK = Finding(
    code="PM502", name="softmax", severity="error", what="<script>alert(1)</script>", why="w & w", remedy="r",
    where=Where(file="cell 3", line=14, step=0), evidence=(Evidence(name="rows", value=1.0, limit="<2"),),
)  # fmt: skip


@pytest.mark.parametrize("findings", [(), (SICK,)])
def test_the_html_is_escaped_whole_and_red_only_if_sick(findings: tuple[Finding, ...]) -> None:
    run = RunFacts(id="a", record="a", steps=20, source={"cell 3:14": "x = '<b>'"})
    verdict: Any = "sick" if findings else "healthy"
    html = Diagnosis(
        verdict=verdict, findings=findings, clear=("PM1",), abstained=(), crashed=(), run=run
    )._repr_html_()
    page = Balanced()
    page.feed(html)
    assert page.open == [] and "<script" not in html and "<b>'" not in html
    assert ("#c62828" in html) is bool(findings) and ("cell 3, line 14" in html) is bool(findings)


def test_a_summary_is_a_text_that_a_notebook_shows_in_lines() -> None:
    summary: Any = paramedic.summarize([1, 2])
    assert isinstance(summary, str) and summary._repr_html_() == f"<pre>{summary}</pre>"


def test_a_real_kernel(tmp_path: Path) -> None:
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    cells = [SETUP, MODEL, TRAIN, "with paramedic.watch() as watch:\n    train(True)", "watch.diagnosis.findings[0]"]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(
        book, timeout=240, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute(env={"PYTHONPATH": str(Path(paramedic.__file__).parents[1]), "PATH": str(Path(sys.executable).parent)})
    outputs = [output for cell in book.cells for output in cell.outputs]
    assert [output for output in outputs if output.get("name") == "stderr"] == [], "nothing is red"
    verdict, finding = (output["data"]["text/html"] for output in outputs if "text/html" in output.get("data", {}))
    assert "cell 3, line 6 in train" in verdict and "PM502" in finding and "ipykernel_" not in verdict
