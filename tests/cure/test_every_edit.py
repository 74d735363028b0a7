"""Whatever line a finding names and whatever it says: an edit leaves a program, and every byte around it as it was."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from benchmarks.cure.edit_checks import CHECKS, FACTS, SAID, examine, invented

from paramedic.cure.catalogue import all_remedies
from paramedic.cure.project import Project
from paramedic.cure.source import Source
from paramedic.findings import Evidence, Finding, Where
from workshop import CASES

SICK = sorted(CASES.glob("PM*/sick*.py"))
SAMPLE = SICK[::20]


@pytest.mark.parametrize("script", SAMPLE, ids=lambda path: f"{path.parent.name[:5]}/{path.stem}")
@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["unix", "windows"])
def test_an_edit_leaves_a_program_and_the_rest_as_it_was(script: Path, newline: str) -> None:
    text = script.read_text().replace("\n", newline)
    source = Source(script.name, text)
    marked = next((n for n, line in enumerate(text.splitlines(), 1) if "# <- PM" in line), len(text.splitlines()) // 2)
    proposed = 0
    for remedy in all_remedies():
        for line in (marked,):
            where = Where(file=script.name, line=line, module="model.encoder")
            evidence = tuple(Evidence(name=name, value=value) for name, value in FACTS.items())
            finding = Finding(what=SAID, why=SAID, remedy=SAID, code=remedy.codes[0], where=where, evidence=evidence)
            for edit in remedy.edits(finding, source):
                proposed += 1
                new = source.after_edit(edit)
                ast.parse(new)
                assert new.count("\n") == new.count(newline), edit.title
                assert new != text and edit.file == script.name
                kept = _around(text, edit.splices)
                assert re.fullmatch(".*".join(map(re.escape, kept)), new, re.DOTALL), edit.title
    assert proposed


def _around(text: str, splices: tuple[tuple[int, int, str], ...]) -> list[str]:
    """The pieces of the text that an edit does not touch."""
    at, kept = 0, []
    for start, end, _ in sorted(splices):
        kept.append(text[at:start])
        at = end
    return [*kept, text[at:]]


def test_an_edit_is_made_once_and_is_the_same_on_windows(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text((CASES / "PM101-non-finite-loss" / "sick.py").read_text())
    count = examine(list(invented("train.py", script.read_text())), Project(folder=tmp_path), [])
    assert count["edits"] > 10 and {count[check] for check in CHECKS} == {count["edits"]}
