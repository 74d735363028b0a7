"""Whatever line a finding names and whatever it says: an edit leaves a program, and every byte around it as it was."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest

from paramedic.cure import remedies
from paramedic.cure.catalogue import all_remedies
from paramedic.cure.source import Source
from paramedic.findings import Evidence, Finding, Where
from workshop import CASES

SICK = sorted(CASES.glob("PM*/sick*.py"))
SAMPLE = SICK[::20]
# All phrases that remedies look for in a finding, so that each of them gets to propose what it can.
HOME = Path(inspect.getfile(remedies)).parent
PHRASES = " ".join(
    phrase
    for file in sorted(HOME.glob("*.py"))
    for phrase in re.findall(r'"([^"]+)" (?:not )?in (?:finding|f")', file.read_text())
)
SAID = (
    PHRASES
    + " padding (id 0) dim=1 ignore_index=0 pos_weight=3 permute(0, 3, 1, 2) prefix model.a.weight = model.b.weight"
)
FACTS = {
    "axes_before": "(4, 20, 12)",
    "axes_after": "(48, 20)",
    "prediction_axes": "(3, 4)",
    "operation": "log",
    "max": 200,
}


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
