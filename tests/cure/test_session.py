"""Which runs a cure makes: none for a healthy program, and one finding after the other for a sick one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from paramedic.cure import fixes
from paramedic.cure.edit import Edit, Splice, apply
from paramedic.cure.project import Project
from paramedic.cure.proof import Proof, Trial
from paramedic.cure.report import show, verdict
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

    def _run(
        self, wanted: Sequence[tuple[str, Project]], limit: float, intervention: str | None = None
    ) -> list[Result]:
        """How good the answers are, which is asked where the loss changes its meaning."""
        assert intervention == "answers"
        texts = [project.text("train.py") for _, project in wanted]
        return [_result(noted={"answers": {"training accuracy": ACCURACY["softmax" in text]}}) for text in texts]


ACCURACY = {True: 0.5, False: 0.9}  # of a program with its softmax, and without


def _result(**fields: Any) -> Result:
    return Result(name="", changed="", status="ended", run="", steps=100, first=2.0, last=1.0, **fields)


def _trial(text: str) -> Trial:
    found = [("PM502", 2)] if "softmax" in text else []
    found += [("PM601", next(n for n, line in enumerate(text.splitlines(), 1) if "backward" in line))]
    if "# steep" in text and "zero_grad" not in text:
        found += [("PM207", 2), *([("PM205", 2)] if "softmax" not in text else [])]
    findings = [_finding(code, line) for code, line in found if code != "PM601" or "zero_grad" not in text]
    diagnosis = Diagnosis(
        verdict="sick", findings=tuple(findings), clear=(), abstained=(), crashed=(), run=RunFacts(id="", record="")
    )
    return Trial(result=_result(), diagnosis=diagnosis)


def _finding(code: str, line: int) -> Finding:
    where = Where(file="train.py", line=line)
    return Finding(what=code, why="", remedy="", code=code, name=code, severity="error", where=where)


def test_where_the_loss_changes_its_meaning_the_answers_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome, _ = cure(tmp_path, SCRIPT)
    assert "training accuracy 0.5 → 0.9" in outcome.confirmed[0].because
    monkeypatch.setitem(ACCURACY, False, 0.3)
    outcome, _ = cure(tmp_path, SCRIPT)
    assert [proof.finding.code for proof in outcome.confirmed] == ["PM601"]
    assert [uncured.finding.code for uncured in outcome.uncured] == ["PM502"]
    assert "training accuracy got worse: 0.5 → 0.3" in outcome.refuted[0].because


def test_what_was_given_up_is_tried_again_in_the_program_so_far(tmp_path: Path) -> None:
    """Without its softmax this one diverges, as long as gradients add up."""
    outcome, seen = cure(tmp_path, SCRIPT + "# steep\n")
    assert [proof.finding.code for proof in outcome.confirmed] == ["PM601", "PM502"]
    assert "softmax" not in seen[1] and "zero_grad" not in seen[1]
    assert outcome.last.alarms == () and outcome.uncured == [] and outcome.refuted == []


def test_fixes_of_sarif_count_in_the_file_as_it_is(tmp_path: Path) -> None:
    outcome, seen = cure(tmp_path, SCRIPT)
    results = json.loads(fixes.render(outcome))["runs"][0]["results"]
    changes = [fix["artifactChanges"][0] for result in results for fix in result["fixes"]]
    pieces = [piece for change in changes for piece in change["replacements"]]
    splices = [
        Splice(region["charOffset"], region["charOffset"] + region["charLength"], piece["insertedContent"]["text"])
        for piece in pieces
        for region in [piece["deletedRegion"]]
    ]
    assert [result["ruleId"] for result in results] == ["PM502", "PM601"] and len(splices) == 2
    assert {change["artifactLocation"]["uri"] for change in changes} == {"train.py"}
    assert apply(SCRIPT, splices) == seen[-1]


def test_an_edit_of_what_another_wrote_comes_with_it() -> None:
    """A fix may be applied alone."""
    one = _proof("a = 1\nb = 2\n", Splice(6, 6, "new = 3\n"))
    two = _proof("a = 1\nnew = 3\nb = 2\n", Splice(12, 13, "4"))
    assert fixes.in_original(two, [one]) == [Splice(6, 6, "new = 4\n")]
    behind = _proof(two.text, Splice(18, 19, "5"))
    assert fixes.in_original(behind, [one]) == [Splice(10, 11, "5")]


def _proof(text: str, splice: Splice) -> Proof:
    edit = Edit(title="", file="train.py", splices=(splice,))
    trial = _trial(SCRIPT)
    return Proof(
        edit=edit, text=text, finding=_finding("PM601", 1), before=trial, after=trial, confirmed=True, because=""
    )


def cure(folder: Path, text: str, recorded: Trial | None = None) -> tuple[Any, list[str]]:
    (folder / "train.py").write_text(text)
    session = Watched(Runs(), (), {}, steps=10, unsafe=True, tick=lambda names: None)  # type: ignore[arg-type]
    session.seen = []
    return session.cure(Project(folder=folder), recorded), session.seen


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


def test_what_a_recorded_run_found_is_tried_beside_the_run_to_compare_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Runs, "jobs", 2)
    alone, seen_alone = cure(tmp_path, SCRIPT)
    outcome, seen = cure(tmp_path, SCRIPT, _trial(SCRIPT))
    assert [proof.finding.code for proof in outcome.confirmed] == ["PM502", "PM601"]
    assert seen == seen_alone  # the edit that was tried ahead is not tried again
    assert outcome.project.changed() == alone.project.changed()


def test_a_recorded_run_without_alarm_or_remedy_takes_no_other_run(tmp_path: Path) -> None:
    for code, reasons in (("", []), ("PM701", ["there is no remedy for PM701 yet"])):
        outcome, seen = cure(tmp_path, SCRIPT, _told(*([code] if code else [])))
        assert seen == [] and [uncured.reason for uncured in outcome.uncured] == reasons


def test_what_only_the_recorded_run_had_shown_is_said_to_be_left(tmp_path: Path) -> None:
    outcome, _ = cure(tmp_path, SCRIPT, _told("PM502", "PM601", "PM207"))
    [unseen] = outcome.unseen
    assert unseen.finding.code == "PM207" and "--steps 5000" in unseen.reason
    assert [finding.code for finding in outcome.left] == ["PM207"] and len(outcome.confirmed) == 2
    assert verdict(outcome).startswith("partly cured. 2 edits confirmed, 1 finding left.")


def _told(*codes: str) -> Trial:
    """What the record of a long run says."""
    trial = _trial(SCRIPT)
    assert trial.diagnosis is not None
    findings = tuple(_finding(code, 3 if code == "PM601" else 2) for code in codes)
    return replace(
        trial, result=replace(trial.result, steps=5000), diagnosis=replace(trial.diagnosis, findings=findings)
    )


def test_what_follows_from_a_finding_that_is_left_is_a_line_under_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = _told("PM701", "PM703")
    assert told.diagnosis is not None
    cause, effect = told.diagnosis.findings
    effect = replace(effect, consequence_of="PM701")
    outcome, _ = cure(tmp_path, SCRIPT, replace(told, diagnosis=replace(told.diagnosis, findings=(cause, effect))))
    show(outcome, quiet=False, written=())
    said = capsys.readouterr().err
    assert said.count("not cured\n") == 1 and "  so     PM703 PM703" in said and "2 findings left" in said
