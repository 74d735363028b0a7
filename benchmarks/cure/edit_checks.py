"""Is an edit one that a user would accept? It parses, is made once, and keeps every byte around it."""

from __future__ import annotations

import ast
import inspect
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from paramedic.cure import remedies
from paramedic.cure.catalogue import all_remedies, edits_for
from paramedic.cure.edit import Edit, Splice, apply
from paramedic.cure.project import Project
from paramedic.cure.source import Source
from paramedic.errors import ParamedicError
from paramedic.findings import Evidence, Finding, Where

CHECKS = ("parses", "made once", "rest kept", "windows")
# All phrases that remedies look for in a finding, so that each of them gets to propose what it can.
_HOME = Path(inspect.getfile(remedies)).parent
_PHRASE = re.compile(r'"([^"]+)" (?:not )?in (?:finding|f")')
SAID = " ".join(phrase for file in sorted(_HOME.glob("*.py")) for phrase in _PHRASE.findall(file.read_text())) + (
    " padding (id 0) dim=1 ignore_index=0 pos_weight=3 permute(0, 3, 1, 2) prefix model.a.weight = model.b.weight"
)
FACTS = {
    "axes_before": "(4, 20, 12)",
    "axes_after": "(48, 20)",
    "prediction_axes": "(3, 4)",
    "operation": "log",
    "max": 200,
}


def invented(script: str, text: str) -> Iterator[Finding]:
    """For each remedy a finding that says everything, at the marked line, or in the middle."""
    rows = text.splitlines()
    marked = next((n for n, row in enumerate(rows, 1) if re.search(r"#\s*<-\s*PM", row)), len(rows) // 2)
    where = Where(file=script, line=marked, module="model.encoder")
    evidence = tuple(Evidence(name=name, value=value) for name, value in FACTS.items())
    for code in dict.fromkeys(code for remedy in all_remedies() for code in remedy.codes):
        yield Finding(what=SAID, why=SAID, remedy=SAID, code=code, where=where, evidence=evidence)


def failed(finding: Finding, edit: Edit, project: Project) -> list[str]:
    """Which of the checks an edit fails; `windows` aside, which is asked of all edits of a finding at once."""
    if edit.args is not None:
        return []
    after = project.after(edit)
    found = [] if _keeps_the_rest(edit, project) else ["rest kept"]
    try:
        ast.parse(after.text(edit.file) if edit.file.endswith(".py") else "")
        again = after.source(finding.where.file)
    except (SyntaxError, ValueError, ParamedicError):
        return ["parses", *found]
    return [*found, "made once"] if _is_made_again(finding, edit, project, again) else found


def _keeps_the_rest(edit: Edit, project: Project) -> bool:
    """Compared as bytes, in the encoding of the file."""
    old, new = (project.folder / edit.file).read_bytes(), project.after(edit).changed()[edit.file]
    text, at, place = project.text(edit.file), 0, 0
    for splice in sorted(edit.splices):
        kept = text[at : splice.start].encode()
        if new[place : place + len(kept)] != kept or kept not in old:
            return False
        place += len(kept) + len(splice.new.encode())
        at = splice.end
    return new[place:] == text[at:].encode() and old.endswith(text[at:].encode())


def _is_made_again(finding: Finding, edit: Edit, project: Project, after: Source) -> bool:
    """The finding is looked for where its line has moved to, as if it were still there."""
    where = finding.where
    if where.file == edit.file and where.line:
        where = replace(where, line=_moved(project.text(edit.file), where.line, edit.splices))
    again = edits_for(replace(finding, where=where), after)
    touched = _touched(edit.splices)
    inserted = sorted(splice.new for splice in edit.splices)
    for second in again:
        if second.file == edit.file and apply(after.text_of(edit.file), second.splices) == project.text(edit.file):
            continue  # a swap: only the finding, which is gone then, tells one order from the other
        same = second.title == edit.title and second.file == edit.file
        same = same and sorted(splice.new for splice in second.splices) == inserted
        if same and all(any(a <= s.start and s.end <= b for a, b in touched) for s in second.splices):
            return True
    return False


def _moved(text: str, line: int, splices: tuple[Splice, ...]) -> int:
    start = sum(len(row) for row in text.splitlines(keepends=True)[: line - 1])
    above = [splice for splice in splices if splice.start <= start]
    return line + sum(splice.new.count("\n") - text.count("\n", splice.start, splice.end) for splice in above)


def _touched(splices: tuple[Splice, ...]) -> list[tuple[int, int]]:
    """Where the pieces of an edit stand in the edited text."""
    found, added = [], 0
    for start, end, new in sorted(splices):
        found.append((start + added, start + added + len(new)))
        added += len(new) - (end - start)
    return found


def on_windows(project: Project) -> Project:
    return replace(project, texts={file: _windows(project.text(file)) for file in project.files(".py")})


def _windows(text: str) -> str:
    return text.replace("\n", "\r\n")


def examine(findings: list[Finding], project: Project, said: list[str]) -> Counter[str]:
    """How many edits there are, and how many pass each check; `said` gets a line for each that does not."""
    count: Counter[str] = Counter()
    windows = on_windows(project)
    files = {finding.where.file for finding in findings} & set(project.files(".py"))
    sources = {file: (project.source(file), windows.source(file)) for file in files}
    for finding in findings:
        if finding.where.file not in sources:
            continue
        source, there = sources[finding.where.file]
        edits = _edits(finding, source)
        same = {apply(windows.text(edit.file), edit.splices) for edit in _edits(finding, there) if edit.file}
        for edit in edits:
            wrong = failed(finding, edit, project)
            if edit.file.endswith(".py") and _windows(apply(project.text(edit.file), edit.splices)) not in same:
                wrong.append("windows")
            count["edits"] += 1
            count.update(check for check in CHECKS if check not in wrong)
            if wrong:
                said.append(f"{finding.code} {edit.title}: not {', '.join(wrong)}")
    return count


def _edits(finding: Finding, source: Source) -> list[Edit]:
    try:
        return list(edits_for(finding, source))
    except (KeyError, AttributeError, IndexError, TypeError):
        return []  # a remedy that fails proposes nothing
