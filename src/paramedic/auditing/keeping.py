"""An audit leaves a record as a run does: `paramedic report`, `runs` and `serve` then show it."""

from __future__ import annotations

import time
from dataclasses import asdict, replace
from pathlib import Path

from paramedic.audit.audit import Audit
from paramedic.auditing.page import shown
from paramedic.findings import Diagnosis
from paramedic.record.facts.audits import Audited
from paramedic.record.writer import Writer, append
from paramedic.rules.audited import answers


def keep(folder: Path, audit: Audit, diagnosis: Diagnosis) -> Diagnosis:
    """Write what was found into this folder, beside what a script's run has left there. Knows the record, then."""
    run = diagnosis.run
    stopped = next((split.sketch.stopped for split in audit.splits if split.sketch.stopped), "")
    page = {name: [asdict(each) for each in part] if isinstance(part, list) else part
            for name, part in shown(audit, diagnosis).items()}  # fmt: skip
    data = Audited(
        title=run.script, samples=run.samples or 0, lines=list(run.data), notices=list(run.notices), stopped=stopped,
        seconds=run.seconds, page=page,
    )  # fmt: skip
    record = folder / "main.db"
    if not record.exists():
        writer = Writer(record, meta={"script": run.script, "command": run.command, "steps": 0, "exit_code": 0})
        writer.start()
        writer.close()
    if not record.exists():
        return diagnosis  # the writer has said why
    for fact in (data, *answers(diagnosis)):
        append(record, fact)
    return replace(diagnosis, run=replace(run, id=folder.name, record=str(folder), started=time.time() - run.seconds))
