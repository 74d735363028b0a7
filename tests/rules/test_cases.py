"""Every sick program is diagnosed with its own illness first, at the line to edit; no healthy program alarms."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch
from benchmarks.accuracy.programs import Program, real_programs

from cures import CURES, as_finding
from looked import WATCHING, recorded, without_each
from paramedic.cure.catalogue import edits_for
from paramedic.cure.source import Source
from paramedic.diagnosis import judge
from paramedic.rules.catalogue import find_rule
from paramedic.rules.rule import Rule
from workshop import CASES, Done, Workshop

# Mechanisms that rules know from bugs of the accuracy benchmark: the programs are not copied here, but run.
REAL = ("D23", "G17", "L17", "L21", "L23", "L27", "S11", "S15", "T27")
REAL += ("D29", "D31", "G23", "L31", "L33", "L39", "M11", "M13", "P23", "S23", "T29", "V03", "D63", "S65", "S77", "X71")
REAL += ("C67", "G65", "G81", "L75", "M65", "P67", "P71", "S81", "S83", "S85", "S87", "V61", "V63")
SCRIPTS = sorted(path for path in CASES.glob("PM*/*.py") if not path.name.startswith("_"))


def programs(kind: str) -> pytest.MarkDecorator:
    paths = [path for path in SCRIPTS if path.name.startswith(kind)]
    names = [f"{path.parent.name[:5]}-{path.stem}" for path in paths]
    cases = [pytest.param(path, marks=needs(path), id=name) for path, name in zip(paths, names, strict=True)]
    return pytest.mark.parametrize("script", cases)


def needs(script: Path) -> list[pytest.MarkDecorator]:
    """A script that says `# needs: cuda` is only sick where there is an accelerator; one that says `# needs: a quiet
    machine` is judged by its times, which a test must not do; `# needs: experiments` is one for `diagnose`."""
    if re.search(r"^# needs: a quiet machine$", script.read_text(), re.MULTILINE):
        return [pytest.mark.skip(reason="judged by its times: make accuracy runs it")]
    if re.search(r"^# needs: experiments$", script.read_text(), re.MULTILINE):
        return [pytest.mark.skip(reason="only experiments can tell: test_diagnose.py and benchmarks.diagnose")]
    needy = re.search(r"^# needs: cuda$", script.read_text(), re.MULTILINE) and not torch.cuda.is_available()
    return [pytest.mark.skip(reason="needs an accelerator")] if needy else []


def examined(shop: Workshop, script: Path) -> Done:
    """Run a case from its own folder; what went wrong inside paramedic itself is never accepted."""
    report = shop.folder / "verdict"
    if judged_by_audit(script):
        done = shop.paramedic("audit", "--json", "out.json", "--script", script)
    else:
        done = shop.run(script, options=("--runs", report))
    assert "Traceback" not in done.stderr or done.found["run"]["exit_code"] != 0, done.stderr
    assert done.found["rules"]["crashed"] == []
    assert "failed and was detached" not in done.stderr
    assert not [notice for notice in done.found["run"]["notices"] if "detached" in notice]
    return done


def judged_by_audit(script: Path) -> bool:
    """An illness of the data alone, or a program that says so."""
    marked = re.search(r"^# judged by: audit$", script.read_text(), re.MULTILINE)
    return marked is not None or (CASES in script.parents and find_rule(script.parent.name[:5]).reads == "audit")


@programs("sick")
def test_sick(warm_shop: Workshop, script: Path) -> None:
    done = examined(warm_shop, script)
    code = script.parent.name.partition("-")[0]
    assert done.found["findings"], f"nothing found; abstained: {abstained(done, code)}"
    first = done.found["findings"][0]
    assert first["code"] == code, [finding["code"] + ": " + finding["what"] for finding in done.found["findings"]]
    assert first["consequence_of"] is None
    assert first["what"] and first["why"] and first["try"] and first["evidence"]
    assert 0 < first["confidence"] <= 1
    marked = [n for n, line in enumerate(script.read_text().splitlines(), 1) if re.search(rf"#\s*<-\s*{code}\b", line)]
    if marked:
        where = first["where"]
        assert Path(where["file"]).name == script.name
        assert any(abs(where["line"] - line) <= 2 for line in marked), f"line {where['line']}, but marked is {marked}"
    if not judged_by_audit(script):
        rule_looks(find_rule(code), warm_shop)
    if f"{code}/{script.stem}" in CURES:
        assert list(edits_for(as_finding(first), Source(first["where"]["file"], script.read_text()))), (
            "no edit is proposed"
        )


def rule_looks(rule: Rule, shop: Workshop) -> None:
    """Rules read records only, so this one can be asked again: without what it looks at it finds it still, or says why
    not; and it has read nothing that would not be noticed if it were missing."""
    [folder] = (path for path in (shop.folder / "verdict").iterdir() if path.is_dir())
    runs = recorded(folder)
    judge([rule], runs, {})
    assert {kind for run in runs for member in run.ranks for kind in member.read} <= rule.looks_at | WATCHING
    for missing, judged in without_each(rule, runs):
        assert judged.crashed == [], missing
        assert judged.clear == [], f"clear although {missing} had failed"
        assert judged.findings or judged.abstained[0].reason


def abstained(done: Done, code: str) -> list[str]:
    return [rule["reason"] for rule in done.found["rules"]["abstained"] if rule["code"] == code]


@programs("healthy")
def test_healthy(warm_shop: Workshop, script: Path) -> None:
    done = examined(warm_shop, script)
    assert done.alarms == []
    assert done.code == 0
    compiled = "torch.compile(" in script.read_text()  # then some rules cannot look, and the verdict says so
    assert done.found["verdict"] == ("inconclusive" if compiled else "healthy"), done.found.get("reason")
    code = script.parent.name.partition("-")[0]
    notes = [finding["code"] for finding in done.found["findings"]]
    assert code in done.found["rules"]["clear"] or code in notes or abstained(done, code)


@pytest.mark.parametrize("program", [p for p in real_programs() if p.name[:3] in REAL], ids=lambda p: p.name)
def test_real(warm_shop: Workshop, program: Program) -> None:
    done = examined(warm_shop, program.script)
    if not program.is_sick:
        assert done.alarms == []
        return
    first = done.found["findings"][0]
    assert first["code"] == program.codes[0], done.alarms
    assert program.line is None or abs(first["where"]["line"] - program.line) <= 2
