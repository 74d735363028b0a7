"""Findings beside the lines they are about: in a pull request on GitHub, a merge request on GitLab, or an editor."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

from paramedic.findings import Diagnosis, Finding
from paramedic.reports.place import file_of, fingerprint
from paramedic.reports.screen import clean

GITLAB_FILE = "gl-code-quality-report.json"  # the name that GitLab's own examples use
_GITHUB = {"error": "error", "warning": "warning", "note": "notice"}
_GITLAB = {"error": "critical", "warning": "minor", "note": "info"}


def service() -> str:
    """Where we are running; on no service that we know, plain lines."""
    if os.environ.get("GITHUB_ACTIONS") == "true":
        return "github"
    return "gitlab" if os.environ.get("GITLAB_CI") == "true" else "lines"


def github(diagnosis: Diagnosis, base: Path) -> str:
    """Workflow commands, a line each; the runner turns them into annotations."""
    return "".join(f"{line}\n" for line in _github(diagnosis, base))


def _github(diagnosis: Diagnosis, base: Path) -> Iterator[str]:
    for finding in _new(diagnosis):
        about = {"title": f"{finding.code} {finding.name}"}
        if file := file_of(finding, diagnosis, base):
            about = {"file": file, "line": str(finding.where.line or 1), **about}
        properties = ",".join(f"{key}={_property(value)}" for key, value in about.items())
        yield f"::{_GITHUB[finding.severity or 'note']} {properties}::{_message(_sentences(finding))}"


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")


def gitlab(diagnosis: Diagnosis, base: Path) -> str:
    """A code quality report, to be kept as an artifact of that kind."""
    found = [
        {
            "description": f"{finding.code} {finding.name}: {_sentences(finding)}",
            "check_name": finding.name,
            "fingerprint": fingerprint(finding, diagnosis, base),
            "severity": _GITLAB[finding.severity or "note"],
            "location": {"path": file, "lines": {"begin": finding.where.line or 1}},
        }
        for finding in diagnosis.findings
        if (file := file_of(finding, diagnosis, base))  # GitLab has no place for what has none
    ]
    return json.dumps(found, indent=2) + "\n"


def lines(diagnosis: Diagnosis, base: Path) -> str:
    """`file:line:column: severity: message`, as compilers write it: editors and problem matchers know it."""
    del base  # an editor opens the files from where the command ran
    return "".join(
        f"{clean(file)}:{finding.where.line or 1}:1: {finding.severity}: {clean(_title(finding))}\n"
        for finding in _new(diagnosis)
        if (file := finding.where.file or diagnosis.run.script)
    )


def _title(finding: Finding) -> str:
    return " ".join(f"{finding.code} {finding.name}: {finding.what}".split())


def _sentences(finding: Finding) -> str:
    return "\n".join(part for part in (finding.what, finding.why, f"Try: {finding.remedy}") if part)


def _new(diagnosis: Diagnosis) -> list[Finding]:
    """A known finding need not be shown beside its line again."""
    return [finding for finding in diagnosis.findings if not finding.known]
