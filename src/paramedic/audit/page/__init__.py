"""The audit as one HTML page: the findings, the samples they are about, and distributions."""

from __future__ import annotations

from typing import Any

from paramedic.audit.audit import Audit
from paramedic.audit.page.galleries import galleries, shown_as
from paramedic.audit.page.plots import plots
from paramedic.findings import Diagnosis
from paramedic.reports import html


def render(audit: Audit, diagnosis: Diagnosis) -> str:
    """The page of reports/html.py with a part on the data; its size is limited by the number of samples shown."""
    data: dict[str, Any] = {
        "galleries": galleries(audit, diagnosis.findings),
        "span": shown_as(audit.train),
        "plots": plots(audit),
        "two": audit.val is not None,
    }
    return html.render(diagnosis, data=data)
