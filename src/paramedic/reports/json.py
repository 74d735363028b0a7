"""The diagnosis for machines: the contract that DESIGN.md section 8 fixes. New keys go to the end of an object."""

from __future__ import annotations

import json
import math
import numbers
from collections.abc import Mapping
from typing import Any

from paramedic.findings import Diagnosis, Evidence, Finding, RunFacts, Where
from paramedic.findings.unchecked import remedy

SCHEMA_VERSION = 1
_AS_THEY_ARE = ("code", "name", "severity", "confidence", "what", "why", "consequence_of", "split", "known")


def render(diagnosis: Diagnosis) -> str:
    """The report as JSON that any parser accepts: non-finite numbers are the strings NaN, Infinity and -Infinity."""
    report = {
        "schema_version": SCHEMA_VERSION,
        "verdict": diagnosis.verdict,
        "findings": [_finding(finding) for finding in diagnosis.findings],
        "rules": {
            "clear": diagnosis.clear,
            "abstained": [
                {"code": rule.code, "reason": rule.reason, "blind": rule.blind, "try": remedy(rule)}
                for rule in diagnosis.abstained
            ],
            "crashed": [{"code": rule.code, "error": rule.error} for rule in diagnosis.crashed],
        },
        "run": _run(diagnosis.run),
        "reason": diagnosis.reason,
    }
    return json.dumps(plain(report), indent=2, allow_nan=False) + "\n"


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity,
        "confidence": finding.confidence,
        "what": finding.what,
        "why": finding.why,
        "try": finding.remedy,
        "evidence": [{"name": fact.name, "value": fact.value, "limit": fact.limit} for fact in finding.evidence],
        "where": _where(finding.where),
        "consequence_of": finding.consequence_of,
        "split": finding.split,
        "samples": finding.samples,
        "known": finding.known,
        "columns": finding.columns,
        "files": finding.files,
        "also": [_where(where) for where in finding.also],
    }


def _where(where: Where) -> dict[str, Any]:
    return {
        "file": where.file,
        "line": where.line,
        "function": where.function,
        "module": where.module,
        "step": where.step,
        "rank": where.rank,
    }


def findings_in(report: Mapping[str, Any]) -> list[Finding]:
    """The findings of a report that this version has written."""
    found = []
    for each in report["findings"]:
        values = {name: each[name] for name in _AS_THEY_ARE}
        evidence = tuple(Evidence(**fact) for fact in each["evidence"])
        found.append(
            Finding(
                **values,
                remedy=each["try"],
                where=Where(**each["where"]),
                evidence=evidence,
                samples=tuple(each["samples"]),
                columns=tuple(each["columns"]),
                files=tuple(each["files"]),
                also=tuple(Where(**where) for where in each.get("also", ())),
            )
        )
    return found


def _run(run: RunFacts) -> dict[str, Any]:
    return {
        "id": run.id,
        "steps": run.steps,
        "seconds": run.seconds,
        "exit_code": run.exit_code,
        "overhead": run.overhead,
        "record": run.record,
        "script": run.script,
        "command": run.command,
        "started": run.started,
        "ranks": run.ranks,
        "versions": run.versions,
        "models": run.models,
        "optimizers": run.optimizers,
        "notices": run.notices,
        "coverage": run.coverage,
        "times": {time.part: {"seconds": time.seconds, "share": time.share} for time in run.times},
        "memory": run.memory,
        "samples": run.samples,
        "data": run.data,
        "first_look": run.first_look,
        "around": run.around,
        "steady": run.steady,
    }


def plain(value: Any) -> Any:
    """The value in JSON's own types; what JSON cannot say becomes text rather than an error."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return _real(float(value))
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    return str(value)


def _real(value: float) -> float | str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value
