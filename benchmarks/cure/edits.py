"""`python -m benchmarks.cure.edits`: every candidate edit for sick programs parses, is made once, and keeps the rest.

Findings come from a watched run of each sick program, as many as fit into `--seconds`, and are appended to `--kept`;
and of `--sample` programs every remedy is asked about the line that is marked as the one to edit.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import os
import re
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.accuracy.programs import Program, all_programs
from benchmarks.cure.healthy import alone
from benchmarks.warm import Warm
from paramedic.cure import remedies
from paramedic.cure.catalogue import all_remedies, edits_for
from paramedic.cure.edit import Edit, Splice, apply
from paramedic.cure.project import Project
from paramedic.cure.source import Source
from paramedic.errors import ParamedicError
from paramedic.findings import Evidence, Finding, Where

HERE = Path(__file__).parent
KEPT = HERE.parents[1] / "build" / "cure-findings.jsonl"
HEAD = """# What every edit keeps

Written by `python -m benchmarks.cure.edits`: all candidate edits for the sick programs of the accuracy benchmark, also
those that a proof would turn down. "Parses": python and libcst read the edited file. "Made once": asked again about
the edited file as if the finding were still there, no remedy proposes the same change at the same place (to swap two
things once more undoes it, and is not counted). "Rest kept": every byte outside of the replaced
pieces is as it was. "Windows": the same edit of the file with \\r\\n gives the same file with \\r\\n.
"""
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


def main() -> None:
    options = _parser().parse_args()
    programs = [program for program in all_programs() if program.is_sick and program.source in ("cases", "real")]
    programs.sort(key=lambda program: zlib.crc32(program.name.encode()))
    kept: Path = options.kept
    kept.parent.mkdir(parents=True, exist_ok=True)
    lines = kept.read_text().splitlines() if kept.exists() else []
    known: dict[str, list[Finding]] = {}
    for told in map(json.loads, lines):
        known[told["program"]] = [as_finding(finding) for finding in told["findings"]]
    waiting = [program for program in programs if program.name not in known]
    with kept.open("a") as stream:
        for name, findings in run_all(waiting, until=time.monotonic() + options.seconds):
            print(json.dumps({"program": name, "findings": findings}), file=stream, flush=True)
            known[name] = [as_finding(finding) for finding in findings]
    write(programs, known, options.sample, HERE / "EDITS.md")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1e9, help="no program is begun later than this; 0: none")
    parser.add_argument("--sample", type=int, default=60, help="programs of which every remedy is asked")
    parser.add_argument("--kept", type=Path, default=KEPT, help="where findings are, one JSON object per line")
    return parser


# Findings -------------------------------------------------------------------------------------------------------------


def run_all(programs: list[Program], *, until: float) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The findings that are more than notes, as the JSON contract has them."""
    if time.monotonic() > until:
        return
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    with Warm() as server:
        for program in programs:
            if time.monotonic() > until:
                return
            with tempfile.TemporaryDirectory() as name:
                place = Path(name)
                folder, report = alone(program, place / "program"), place / "report.json"
                args = ["run", "-q", "--runs", str(place / "runs"), "--json", str(report), program.script.name]
                server.run(args, cwd=folder, env=env, out=place / "out", err=place / "err", timeout=300)
                told = json.loads(report.read_text()) if report.exists() else {"findings": []}
            yield program.name, [finding for finding in told["findings"] if finding["severity"] != "note"]


def as_finding(told: dict[str, Any]) -> Finding:
    evidence = tuple(Evidence(name=fact["name"], value=fact["value"], limit=fact["limit"]) for fact in told["evidence"])
    return Finding(
        what=told["what"], why=told["why"], remedy=told["try"], code=told["code"], name=told["name"],
        evidence=evidence, where=Where(**told["where"]), also=tuple(Where(**place) for place in told["also"]),
    )  # fmt: skip


def invented(script: str, text: str) -> Iterator[Finding]:
    """For each remedy a finding that says everything, at the marked line, or in the middle."""
    rows = text.splitlines()
    marked = next((n for n, row in enumerate(rows, 1) if re.search(r"#\s*<-\s*PM", row)), len(rows) // 2)
    where = Where(file=script, line=marked, module="model.encoder")
    evidence = tuple(Evidence(name=name, value=value) for name, value in FACTS.items())
    for code in dict.fromkeys(code for remedy in all_remedies() for code in remedy.codes):
        yield Finding(what=SAID, why=SAID, remedy=SAID, code=code, where=where, evidence=evidence)


# Checks ---------------------------------------------------------------------------------------------------------------


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


# Table ----------------------------------------------------------------------------------------------------------------


def examine(findings: list[Finding], project: Project) -> Counter[str]:
    """How many edits there are, and how many pass each check."""
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
                print(f"{project.folder}: {finding.code} {edit.title}: not {', '.join(wrong)}", flush=True)
    return count


def _edits(finding: Finding, source: Source) -> list[Edit]:
    try:
        return list(edits_for(finding, source))
    except (KeyError, AttributeError, IndexError, TypeError):
        return []  # a remedy that fails proposes nothing


def write(programs: list[Program], known: dict[str, list[Finding]], sample: int, to: Path) -> None:
    run, marked = "of a watched run", "of any rule, at the marked line"
    totals: dict[str, Counter[str]] = {run: Counter(), marked: Counter()}
    seen = Counter[str]()
    for number, program in enumerate(programs):
        with tempfile.TemporaryDirectory(prefix=program.name.replace("/", "-")) as name:
            project = Project(folder=alone(program, Path(name) / "program"))
            given = {run: known.get(program.name, [])}
            if number < sample:
                given[marked] = list(invented(program.script.name, project.text(program.script.name)))
            for kind, findings in given.items():
                totals[kind] += examine(findings, project) if findings else Counter()
                seen[kind] += bool(findings)
    lines = [HEAD, f"| findings | programs | edits | {' | '.join(CHECKS)} |", "|---|---|---|" + "---|" * len(CHECKS)]
    for kind, total in totals.items():
        parts = " | ".join(str(total[check]) for check in CHECKS)
        lines.append(f"| {kind} | {seen[kind]} of {len(programs)} | {total['edits']} | {parts} |")
    to.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
