"""What `paramedic.audit` gives back: the diagnosis, readable by people, notebooks and programs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from paramedic.errors import ParamedicError
from paramedic.findings import Diagnosis, Finding, Verdict

if TYPE_CHECKING:
    from paramedic.audit.audit import Audit


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Report:
    """print() shows it; `save("audit.html")` or `save("audit.json")` writes it."""

    diagnosis: Diagnosis
    audit: Audit

    @property
    def verdict(self) -> Verdict:
        return self.diagnosis.verdict

    @property
    def findings(self) -> tuple[Finding, ...]:
        return self.diagnosis.findings

    def __str__(self) -> str:
        from paramedic.reports.terminal import render

        return render(self.diagnosis)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """In a notebook: the verdict and the findings, not the page, which would take the notebook over."""
        return self.diagnosis._repr_html_()

    def save(self, path: str | Path) -> None:
        path = Path(path)
        try:
            path.write_text(self.rendered(path.suffix.lstrip(".").lower()), encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            raise ParamedicError(
                f"cannot write {path}: {error.strerror}", expected="a file in a folder", fix='save("audit.html")'
            ) from None

    def rendered(self, kind: str) -> str:
        """The report as "json" or "html"."""
        if kind == "json":
            from paramedic.reports.json import render

            return render(self.diagnosis)
        if kind == "html":
            from paramedic.auditing.page import render as render_page

            return render_page(self.audit, self.diagnosis)
        raise ParamedicError(f"there is no format {kind!r}", expected="json or html", fix='save("audit.html")')
