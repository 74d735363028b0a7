"""Each remedy on the sick program of its rule: the edit that a person would make, and nothing else."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from cures import CURES
from paramedic.cure.catalogue import all_remedies, edits_for, remedies_for
from paramedic.cure.project import Project
from paramedic.cure.source import Source
from paramedic.findings import Finding, Where
from paramedic.rules.catalogue import all_rules
from workshop import CASES

INVERSIONS = {
    "PM312/sick_mirrored",
    "PM415/sick",
    "PM415/sick_first_token",
    "PM516/sick_swapped",
}  # made twice, they undo themselves


def sick(name: str, said: dict[str, Any]) -> tuple[Finding, Source]:
    """The program, and the finding at its marked line."""
    code, _, stem = name.partition("/")
    script = next(CASES.glob(f"{code}-*/{stem}.py"))
    text = script.read_bytes().decode()
    known = {"what": "", "why": "", "remedy": "", "code": code, "name": script.parent.name[6:]} | said
    where = known.pop("where", Where())
    where = Where(file=script.name, line=where.line or marked(text, code), module=where.module)
    return Finding(**known, where=where), Source(script.name, text)


def marked(text: str, code: str) -> int | None:
    lines = enumerate(text.splitlines(), 1)
    return next((number for number, line in lines if re.search(rf"#\s*<-\s*{code}", line)), None)


def statements(text: str) -> list[str]:
    """Lines with neither indentation nor comment."""
    return [line.partition("  #")[0].strip() for line in text.splitlines()]


@pytest.mark.parametrize("name", CURES)
def test_the_first_edit_is_the_one_a_person_would_make(name: str) -> None:
    wanted, said = CURES[name]
    finding, source = sick(name, said)
    edits = list(edits_for(finding, source))
    assert edits
    new = source.after_edit(edits[0])
    before, after = statements(source.text), statements(new)
    both = wanted in before and wanted in after
    moved = both and after.count(wanted) == before.count(wanted) and after.index(wanted) != before.index(wanted)
    removed = len(after) < len(before) and wanted in after
    assert after.count(wanted) > before.count(wanted) or moved or removed, new
    assert abs(len(after) - len(before)) <= 5


@pytest.mark.parametrize("name", CURES)
def test_edits_are_programs_keep_the_rest_and_are_not_repeated(name: str) -> None:
    finding, source = sick(name, CURES[name][1])
    for edit in edits_for(finding, source):
        new = source.after_edit(edit)
        ast.parse(new)
        at, kept = 0, []
        for splice in sorted(edit.splices):
            kept.append(source.text[at : splice.start])
            at = splice.end
        kept.append(source.text[at:])
        place = 0
        for part in kept:  # every byte outside the edit is there, in order
            place = new.index(part, place) + len(part)
        again = Finding(
            what=finding.what, why="", remedy=finding.remedy, code=finding.code, name=finding.name,
            evidence=finding.evidence,
            where=Where(
                file=source.file, line=marked(new, finding.code) or finding.where.line, module=finding.where.module
            ),
        )  # fmt: skip
        edited = Source(source.file, new)
        if edit.safety == "safe" and name not in INVERSIONS:
            assert edit.title not in [other.title for other in edits_for(again, edited)]


def test_every_remedy_is_for_a_rule() -> None:
    codes = {rule.code for rule in all_rules()}
    assert {code for remedy in all_remedies() for code in remedy.codes} <= codes
    assert not remedies_for("PM618")
    assert [remedy.safety for remedy in remedies_for("PM205")] == ["unsafe"]


def test_nothing_is_proposed_where_the_code_is_written_otherwise() -> None:
    source = Source("train.py", "import helpers\n\nhelpers.begin()\n")
    for remedy in all_remedies():
        for line in (None, 1, 3, 99):
            finding = Finding(what="", why="", remedy="", code=remedy.codes[0], where=Where(file="train.py", line=line))
            assert list(remedy.edits(finding, source)) == []


@pytest.mark.parametrize(
    ("script", "code", "line", "wanted"),
    [
        ("self.act = nn.Softmax(dim=1)\n", "PM502", 1, "self.act = nn.Identity()\n"),
        ("loss = crit(x.softmax(-1), y)\n", "PM502", 1, "loss = crit(x, y)\n"),
        ("loss = crit(2 * F.softmax(a + b, 1), y)\n", "PM502", 1, "loss = crit(2 * (a + b), y)\n"),
        ("for b in d:\n    f(b).backward()\n    if c:\n        opt.step()\n", "PM601", 2,
         "for b in d:\n    f(b).backward()\n    if c:\n        opt.step()\n        opt.zero_grad()\n"),
        ("x += y * 2\n", "PM423", 1, "x = x + y * 2\n"),
        ("x /= y + 1\n", "PM423", 1, "x = x / (y + 1)\n"),
        ("y = x.relu_()\n", "PM423", 1, "y = x.relu()\n"),
        ("layers = [copy] * 3\n", "PM406", 1, "layers = [copy for _ in range(3)]\n"),
        ("import torch\nb = nn.ModuleList([a for _ in range(3)])\n", "PM406", 2,
         "import copy\nimport torch\nb = nn.ModuleList([copy.deepcopy(a) for _ in range(3)])\n"),
        ("total += loss", "PM703", 1, "total += loss.detach()"),
        ("net.eval\nscore(net(x))\n", "PM612", 2, "net.eval()\nscore(net(x))\n"),
        ("d = DataLoader(\n    data,\n    batch_size=4,\n)\n", "PM306", 2,
         "d = DataLoader(\n    data,\n    batch_size=4, shuffle=True,\n)\n"),
        ("noam = Noam(Adam(p, lr=0))\nnoam.optimizer.step()\n", "PM206", 1,
         "noam = Noam(Adam(p, lr=0))\nnoam.step()\n"),
    ],
)  # fmt: skip
def test_other_ways_to_write_it(script: str, code: str, line: int, wanted: str) -> None:
    source = Source("train.py", script)
    finding = Finding(what="", why="", remedy="", code=code, where=Where(file="train.py", line=line))
    edits = list(edits_for(finding, source))
    assert edits and source.after_edit(edits[0]) == wanted


@pytest.mark.parametrize(
    ("script", "finding", "wanted"),
    [
        ("layer = nn.TransformerEncoderLayer(8, 2)\nnet = nn.TransformerEncoder(layer, 2)\n",
         Finding(what="", why="", remedy="pass batch_first=True", code="PM413", where=Where(file="train.py", line=2)),
         "layer = nn.TransformerEncoderLayer(8, 2, batch_first=True)\nnet = nn.TransformerEncoder(layer, 2)\n"),
        ("teacher.train()\n",
         Finding(what="", why="", remedy="", code="PM420", where=Where(file="train.py", line=1, module="teacher.1")),
         "teacher.eval()\n"),
        ("teacher.train()\n",
         Finding(what="", why="", remedy="", code="PM420", where=Where(file="train.py", line=1, module="net")),
         "teacher.eval()\n"),
    ],
    ids=["the layer that is stacked", "all of a frozen model", "a frozen model by another name"],
)  # fmt: skip
def test_what_else_the_finding_says(script: str, finding: Finding, wanted: str) -> None:
    source = Source("train.py", script)
    edits = list(edits_for(finding, source))
    assert edits and source.after_edit(edits[0]) == wanted


def test_a_twin_of_the_script_beside_it_is_no_trouble(tmp_path: Path) -> None:
    """Both define the same functions: values may then come from either."""
    text = "def batch(n):\n    return n\n\n\ndef run(model):\n    t = batch(3)\n    o = model(t[:, 1:])\n"
    text += "    return F.cross_entropy(o.reshape(-1, 9), t[:, 1:].reshape(-1))\n\n\nrun(net)\n"
    for name in ("sick.py", "other.py"):
        (tmp_path / name).write_text(text)
    where = Where(file="sick.py", line=8)
    finding = Finding(what="they were not shifted", why="", remedy="", code="PM513", where=where)
    project = Project(folder=tmp_path)
    first = next(edits_for(finding, project.source("sick.py")))
    assert project.after(first).text("sick.py") == text.replace("model(t[:, 1:])", "model(t[:, :-1])")
