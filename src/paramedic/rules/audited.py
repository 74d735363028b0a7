"""What rules said of audited data. The data itself is not in the record, so they are not asked again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from paramedic.findings import Abstention, Crash, Diagnosis, Evidence, Finding, Severity, Verdict, Where
from paramedic.record.facts.audits import Answer, Audited, Found, Seen
from paramedic.record.reader import Run
from paramedic.rules.rule import Rule


def answers(diagnosis: Diagnosis) -> list[Answer]:
    """One fact for each rule that was asked."""
    found: dict[str, list[Found]] = {}
    for finding in diagnosis.findings:
        found.setdefault(finding.code, []).append(_kept(finding))
    return [
        *(Answer(code=code, outcome="found", findings=told) for code, told in found.items()),
        *(Answer(code=code, outcome="clear") for code in diagnosis.clear),
        *(Answer(code=each.code, outcome="abstained", reason=each.reason) for each in diagnosis.abstained),
        *(Answer(code=each.code, outcome="crashed", reason=each.error) for each in diagnosis.crashed),
    ]


def findings(run: Run, rules: Sequence[Rule]) -> list[Finding]:
    names = {rule.code: rule.name for rule in rules}
    told = [(answer.code, found) for answer in run.facts(Answer) for found in answer.findings]
    return [_finding(code, names[code], found) for code, found in told if code in names]


def clear(run: Run, rules: Sequence[Rule]) -> tuple[str, ...]:
    return tuple(answer.code for answer in _chosen(run, rules, "clear"))


def abstained(run: Run, rules: Sequence[Rule]) -> tuple[Abstention, ...]:
    return tuple(Abstention(code=each.code, reason=each.reason) for each in _chosen(run, rules, "abstained"))


def crashed(run: Run, rules: Sequence[Rule]) -> tuple[Crash, ...]:
    return tuple(Crash(code=each.code, error=each.reason) for each in _chosen(run, rules, "crashed"))


def verdict_on(data: Audited, findings: Sequence[Finding], *, looked: bool, crashed: int) -> tuple[Verdict, str]:
    """And why it is inconclusive, if it is."""
    if any(finding.severity != "note" for finding in findings):
        return "sick", ""
    if data.stopped:
        return "inconclusive", data.stopped
    if not looked or not data.samples:
        return "inconclusive", "nothing could be checked"
    if crashed:
        return "inconclusive", f"{crashed} check{'s' * (crashed > 1)} failed"
    return "healthy", ""


def _chosen(run: Run, rules: Sequence[Rule], outcome: str) -> list[Answer]:
    codes = {rule.code for rule in rules}
    return [answer for answer in run.facts(Answer) if answer.outcome == outcome and answer.code in codes]


def _kept(finding: Finding) -> Found:
    where = finding.where
    return Found(
        what=finding.what,
        why=finding.why,
        remedy=finding.remedy,
        severity=finding.severity or "note",
        confidence=float(finding.confidence),
        evidence=[Seen(name=each.name, value=_plain(each.value), limit=each.limit) for each in finding.evidence],
        file=where.file,
        line=where.line,
        function=where.function,
        split=finding.split,
        samples=[int(index) for index in finding.samples],
        columns=list(map(str, finding.columns)),
        files=list(map(str, finding.files)),
    )


def _plain(value: Any) -> Any:
    """NumPy's numbers as Python's."""
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value.item() if hasattr(value, "item") and not hasattr(value, "__len__") else value


def _finding(code: str, name: str, found: Found) -> Finding:
    return Finding(
        code=code,
        name=name,
        what=found.what,
        why=found.why,
        remedy=found.remedy,
        severity=cast(Severity, found.severity),
        confidence=found.confidence,
        evidence=tuple(Evidence(name=each.name, value=each.value, limit=each.limit) for each in found.evidence),
        where=Where(file=found.file, line=found.line, function=found.function),
        split=found.split,
        samples=tuple(found.samples),
        columns=tuple(found.columns),
        files=tuple(found.files),
    )
