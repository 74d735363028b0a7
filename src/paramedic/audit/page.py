"""The audit as one HTML page: the findings, and the samples they are about."""

from __future__ import annotations

from paramedic.audit.audit import Audit
from paramedic.findings import Diagnosis
from paramedic.reports import html


def render(audit: Audit, diagnosis: Diagnosis) -> str:
    return html.render(diagnosis)
