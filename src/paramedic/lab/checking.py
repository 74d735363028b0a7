"""The first look of `paramedic why`: a few steps of the script in a copy of its folder, and an audit of its loaders."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paramedic.aliases import Fields
from paramedic.diagnosis import diagnose, rank
from paramedic.findings import Diagnosis, Finding
from paramedic.findings.words import plural
from paramedic.lab.experiment import Experiment
from paramedic.lab.verdict import SILENT, Conclusion, cause_of
from paramedic.paths import write_private
from paramedic.reports import json as contract
from paramedic.rules.rule import Rule
from paramedic.settings import Settings

if TYPE_CHECKING:
    from paramedic.lab.runner import Runner
    from paramedic.launch import Outcome

FILE = "checked.json"
STEPS = 20
LIMIT = 600.0  # seconds
CHECK = Experiment(name="check", changed="nothing", order="", asks="does a rule or the audit find a fault?")


def look(
    runner: Runner, tick: Callable[[Sequence[str]], None], select: tuple[str, ...], ignore: tuple[str, ...]
) -> dict[str, object] | None:
    """The verdict on the first steps and on the data, as JSON has it; None where the script did not get that far."""
    runner.limit = LIMIT
    runner.start(CHECK, Settings(stop_after=STEPS, audit=True, bundle_limit=0, select=select, ignore=ignore))
    while runner.running:
        tick(["check and audit"])
        runner.finished()
        time.sleep(0.03)
    return _kept(runner.folder_of(CHECK.name))


def _kept(folder: Path) -> dict[str, Any] | None:
    try:
        report: Fields = json.loads((folder / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return report


def with_first_look(diagnosis: Diagnosis, folder: Path, rules: Sequence[Rule]) -> Diagnosis:
    """One verdict on a run and on what the audit has found in its data."""
    report = _kept(folder)
    return diagnosis if report is None else _joined(diagnosis, contract.findings_in(report), rules)


def keep(outcome: Outcome, settings: Settings) -> None:
    """In the process that has run the script, whose loaders are gone when it ends."""
    from paramedic.auditing.from_run import with_audit
    from paramedic.config import load_config, rule_options
    from paramedic.rules.catalogue import select as select_rules

    config = load_config()
    rules = select_rules(chosen=settings.select or config.select, ignored=settings.ignore or config.ignore)
    diagnosis = diagnose(outcome.folder, rules, rule_options(config))
    diagnosis = with_audit(diagnosis, outcome.folder, outcome.loaders, rules, rule_options(config))
    write_private(outcome.folder / FILE, contract.render(diagnosis))


def in_words(report: Mapping[str, Any] | None) -> str:
    if report is None:
        return "the script ended before its first steps were over"
    found = [f"{each['code']} {each['name']}" for each in report["findings"] if each["severity"] != "note"]
    looked = f"{len(report['rules']['clear'])} rules clear in {plural(report['run']['steps'], 'step')}"
    return f"found: {', '.join(found)}" if found else f"no fault found: {looked}"


def one_verdict(conclusion: Conclusion, report: Mapping[str, Any] | None, rules: Sequence[Rule]) -> Conclusion:
    """What the first look found joins what the experiments say; it names the cause where they could not."""
    if report is None:
        return conclusion
    diagnosis = _joined(conclusion.diagnosis, contract.findings_in(report), rules)
    diagnosis = replace(diagnosis, run=replace(diagnosis.run, data=tuple(report["run"]["data"])))
    conclusion = replace(conclusion, diagnosis=diagnosis)
    if conclusion.cause not in ("none", "unknown"):
        return conclusion
    for finding in diagnosis.alarms:
        cause = "unknown" if finding.code.startswith(SILENT) else cause_of(finding)
        if cause != "unknown":
            because = f"{finding.code} {finding.name}: {finding.what}"
            return replace(conclusion, cause=cause, confidence=finding.confidence, because=because)
    return conclusion


def _joined(diagnosis: Diagnosis, findings: Sequence[Finding], rules: Sequence[Rule]) -> Diagnosis:
    known = {finding.code for finding in diagnosis.findings}
    ranked = rank([*diagnosis.findings, *(finding for finding in findings if finding.code not in known)], rules)
    found = {finding.code for finding in ranked}
    return replace(
        diagnosis,
        verdict="sick" if any(finding.severity != "note" for finding in ranked) else diagnosis.verdict,
        findings=tuple(ranked),
        clear=tuple(code for code in diagnosis.clear if code not in found),
        abstained=tuple(rule for rule in diagnosis.abstained if rule.code not in found),
    )


def alone(
    runner: Runner,
    report: Mapping[str, object] | None,
    rules: Sequence[Rule],
    options: Mapping[str, Mapping[str, object]],
) -> Diagnosis:
    """Of a script that the experiments cannot repeat: what was found before it ended."""
    diagnosis = diagnose(runner.folder_of(CHECK.name), rules, options)
    return _joined(diagnosis, [] if report is None else contract.findings_in(report), rules)
