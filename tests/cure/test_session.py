"""Which runs a cure makes: none for a healthy program, and one finding after the other for a sick one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from paramedic.cure.project import Project
from paramedic.cure.proof import Trial
from paramedic.cure.session import Session
from paramedic.findings import Diagnosis, Finding, RunFacts, Where
from paramedic.lab.experiment import Result

SCRIPT = """\
for x, y in loader:
    loss = F.cross_entropy(model(x).softmax(1), y)
    loss.backward()
    optimizer.step()
"""


class Runs:
    """Stands for the processes: says of a program what its text shows."""

    jobs = 1


class Watched(Session):
    """A session whose runs are looked up in the text of the program."""

    seen: list[str]

    def _try(self, wanted: Sequence[tuple[str, Project]], limit: float) -> list[Trial]:
        texts = [project.text("train.py") for _, project in wanted]
        self.seen += texts
        return [_trial(text) for text in texts]


def _trial(text: str) -> Trial:
    found = [("PM502", 2)] if "softmax" in text else []
    found += [("PM601", next(n for n, line in enumerate(text.splitlines(), 1) if "backward" in line))]
    findings = [_finding(code, line) for code, line in found if code != "PM601" or "zero_grad" not in text]
    result = Result(name="", changed="", status="ended", run="", steps=100, first=2.0, last=1.0)
    diagnosis = Diagnosis(
        verdict="sick", findings=tuple(findings), clear=(), abstained=(), crashed=(), run=RunFacts(id="", record="")
    )
    return Trial(result=result, diagnosis=diagnosis)


def _finding(code: str, line: int) -> Finding:
    where = Where(file="train.py", line=line)
    return Finding(what=code, why="", remedy="", code=code, name=code, severity="error", where=where)


def cure(folder: Path, text: str) -> tuple[Any, list[str]]:
    (folder / "train.py").write_text(text)
    session = Watched(Runs(), (), {}, steps=10, unsafe=True, tick=lambda names: None)  # type: ignore[arg-type]
    session.seen = []
    return session.cure(Project(folder=folder)), session.seen


def test_a_healthy_program_runs_once_and_nothing_is_proposed(tmp_path: Path) -> None:
    healthy = SCRIPT.replace(".softmax(1)", "").replace(
        "    loss.backward", "    optimizer.zero_grad()\n    loss.backward"
    )
    outcome, seen = cure(tmp_path, healthy)
    assert seen == [healthy]
    assert not (outcome.confirmed or outcome.refuted or outcome.uncured) and outcome.project.changed() == {}


def test_findings_are_cured_one_after_the_other_each_in_the_program_so_far(tmp_path: Path) -> None:
    outcome, seen = cure(tmp_path, SCRIPT)
    assert [proof.finding.code for proof in outcome.confirmed] == ["PM502", "PM601"]
    assert [[finding.code for finding in proof.before.alarms] for proof in outcome.confirmed] == [
        ["PM502", "PM601"], ["PM601"],
    ]  # fmt: skip
    assert outcome.last.alarms == () and len(seen) == 3
    assert outcome.project.changed()["train.py"].decode() == seen[-1]
    assert "softmax" not in seen[-1] and "zero_grad" in seen[-1]
    again, seen = cure(tmp_path, seen[-1])
    assert again.confirmed == [] and len(seen) == 1  # a second cure finds nothing to do
