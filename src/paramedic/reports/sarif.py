"""The diagnosis as SARIF 2.1.0, which code scanning services and editors read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

from paramedic.errors import ParamedicError
from paramedic.findings import Diagnosis, Finding
from paramedic.reports.json import plain
from paramedic.reports.place import file_of, fingerprint
from paramedic.rules.catalogue import find_rule

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def render(diagnosis: Diagnosis, base: Path | None = None) -> str:
    """The report as SARIF; `base` is the folder that the findings' files are seen from."""
    from paramedic import __version__

    base = base or Path.cwd()
    codes = list(dict.fromkeys(finding.code for finding in diagnosis.findings))
    run = {
        "tool": {"driver": {"name": "paramedic", "version": __version__, "rules": [_rule(code) for code in codes]}},
        "invocations": [_invocation(diagnosis)],
        "results": [_result(finding, diagnosis, codes, base) for finding in diagnosis.findings],
        "columnKind": "unicodeCodePoints",
        "properties": {"verdict": diagnosis.verdict, "clear": diagnosis.clear},
    }
    return json.dumps(plain({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}), indent=2, allow_nan=False) + "\n"


def _rule(code: str) -> dict[str, Any]:
    try:
        rule = find_rule(code)
    except ParamedicError:  # of a package that was there when the run was recorded
        return {"id": code}
    return {
        "id": code,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "help": {"text": rule.documentation, "markdown": rule.documentation},
        "defaultConfiguration": {"level": rule.severity},
    }


def _result(finding: Finding, diagnosis: Diagnosis, codes: list[str], base: Path) -> dict[str, Any]:
    where = finding.where
    parts = (finding.what, f"Why: {finding.why}" if finding.why else "", f"Try: {finding.remedy}")
    result = {
        "ruleId": finding.code,
        "ruleIndex": codes.index(finding.code),
        "level": finding.severity or "note",
        "message": {"text": "\n".join(part for part in parts if part)},
        "locations": _locations(finding, diagnosis, base),
        "partialFingerprints": {"paramedic/v1": fingerprint(finding, diagnosis, base)},
        "properties": {
            "confidence": finding.confidence,
            "step": where.step,
            "rank": where.rank,
            "evidence": {fact.name: fact.value for fact in finding.evidence},
            "consequence_of": finding.consequence_of,
        },
    }
    if finding.known is not None:
        result["baselineState"] = "unchanged" if finding.known else "new"
    return result


def _locations(finding: Finding, diagnosis: Diagnosis, base: Path) -> list[dict[str, Any]]:
    where, location = finding.where, dict[str, Any]()
    file = file_of(finding, diagnosis, base)
    if file is not None:
        uri = Path(file).as_uri() if Path(file).is_absolute() else quote(file, errors="backslashreplace")
        location["physicalLocation"] = {"artifactLocation": {"uri": uri}}
        if where.line:
            location["physicalLocation"]["region"] = {"startLine": where.line}
    logical = [
        {"fullyQualifiedName": name, "kind": kind}
        for name, kind in ((where.function, "function"), (where.module, "object"))
        if name
    ]
    return [location | ({"logicalLocations": logical} if logical else {})] if location or logical else []


def _invocation(diagnosis: Diagnosis) -> dict[str, Any]:
    """How the script ended; what paramedic could not do is a notification, so that silence is not taken for health."""
    notices = [("warning", text) for text in diagnosis.run.notices]
    notices += [("error", f"the rule {crash.code} crashed: {crash.error}") for crash in diagnosis.crashed]
    if diagnosis.verdict == "inconclusive":
        notices.append(("warning", f"inconclusive: {diagnosis.reason}"))
    found: dict[str, Any] = {
        "executionSuccessful": diagnosis.run.exit_code == 0,
        "toolExecutionNotifications": [{"level": level, "message": {"text": text}} for level, text in notices],
    }
    if diagnosis.run.exit_code is not None:
        found["exitCode"] = diagnosis.run.exit_code
    if diagnosis.run.command:
        found["commandLine"] = diagnosis.run.command
    return found
