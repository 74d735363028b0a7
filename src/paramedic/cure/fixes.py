"""Confirmed edits as the fixes of a SARIF report, counted in the files as they are."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import quote

from paramedic.cure.edit import Splice, apply
from paramedic.cure.proof import Proof
from paramedic.cure.session import Outcome
from paramedic.reports import sarif


def render(outcome: Outcome) -> str:
    """The findings of the program as it is; a result carries the confirmed edit as its fix."""
    known = outcome.known
    report: dict[str, Any] = json.loads(sarif.render(known)) if known is not None else {"runs": []}
    for number, proof in enumerate(outcome.confirmed):
        result = _result_of(proof, report["runs"][0]["results"])
        if result is not None and proof.edit.file:
            splices = in_original(proof, outcome.confirmed[:number])
            result["fixes"] = [_fix(proof, splices, result)]
    return json.dumps(report, indent=2, allow_nan=False) + "\n"


def _result_of(proof: Proof, results: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """That of the finding; numbers in its words may differ after other edits, and then the first of the rule is it."""
    alike = [result for result in results if result["ruleId"] == proof.finding.code and "fixes" not in result]
    same = [result for result in alike if proof.finding.what in result["message"]["text"]]
    return next(iter([*same, *alike]), None)


def _fix(proof: Proof, splices: Iterable[Splice], result: dict[str, Any]) -> dict[str, Any]:
    replacements = [
        {"deletedRegion": {"charOffset": start, "charLength": end - start}, "insertedContent": {"text": new}}
        for start, end, new in splices
    ]
    place = {"uri": quote(proof.edit.file)}
    if proof.edit.file == proof.finding.where.file and result["locations"]:
        place = result["locations"][0].get("physicalLocation", {}).get("artifactLocation", place)
    changes = [{"artifactLocation": place, "replacements": replacements}]
    return {"description": {"text": proof.edit.title}, "artifactChanges": changes}


def in_original(proof: Proof, earlier: Sequence[Proof]) -> list[Splice]:
    """The edit as one of the file before all edits. Where it changes what another one wrote, both are in it."""
    before = [done for done in earlier if done.edit.file == proof.edit.file]
    moved: list[Splice] = []
    for start, end, new in proof.edit.splices:
        ends: tuple[int | None, int | None] = start, end
        for done in reversed(before):
            ends = _back(ends[0], done.edit.splices), _back(ends[1], done.edit.splices)
        if ends[0] is None or ends[1] is None:
            return _lines(before[0].text, apply(proof.text, proof.edit.splices))
        moved.append(Splice(ends[0], ends[1], new))
    return moved


def _back(at: int | None, splices: Iterable[Splice]) -> int | None:
    """Where a character stood before an edit; None for one that the edit has put there."""
    if at is None:
        return None
    added = 0  # characters more than before, so far
    for start, end, new in sorted(splices):
        here = start + added
        if at <= here:
            break
        if at < here + len(new):
            return None
        added += len(new) - (end - start)
    return at - added


def _lines(old: str, new: str) -> list[Splice]:
    """Whole lines that differ."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    starts = [0]
    for line in before:
        starts.append(starts[-1] + len(line))
    found = difflib.SequenceMatcher(a=before, b=after, autojunk=False).get_opcodes()
    return [Splice(starts[a], starts[b], "".join(after[c:d])) for kind, a, b, c, d in found if kind != "equal"]
