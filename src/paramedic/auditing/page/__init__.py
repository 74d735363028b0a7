"""The audit as one HTML page: the findings, the samples they are about, and distributions."""

from __future__ import annotations

from typing import Any

from paramedic.audit.audit import Audit
from paramedic.auditing.page.galleries import galleries, shown_as
from paramedic.auditing.page.plots import plots
from paramedic.findings import Diagnosis
from paramedic.reports import html


def render(audit: Audit, diagnosis: Diagnosis) -> str:
    """The page of reports/html.py with a part on the data."""
    return html.render(diagnosis, data=shown(audit, diagnosis))


def shown(audit: Audit, diagnosis: Diagnosis) -> dict[str, Any]:
    """What the page shows of the data, see page/data.html; its size is limited by the number of samples."""
    return {
        "galleries": galleries(audit, diagnosis.findings),
        "span": shown_as(audit.train),
        "plots": plots(audit),
        "two": audit.val is not None,
    }
