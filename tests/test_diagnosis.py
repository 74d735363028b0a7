"""Record + rules -> diagnosis: ranking, outcomes, and the verdict."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from paramedic.diagnosis import diagnose, rank
from paramedic.findings import Diagnosis, Evidence, Finding, Where
from paramedic.record.checking import checksum
from paramedic.record.facts import Ended, Fact, Gear, Loader, ProbeFailed, Step
from paramedic.record.reader import Run
from paramedic.record.writer import Writer
from paramedic.rules.rule import Abstain, Rule, rule

STEP = Step(optimizer=0, gradients="new", scaled=False, closure=False, first=False)


def made(code: str, *findings: dict[str, Any], severity: Any = "error", **options: Any) -> Rule:
    """A rule that always finds these."""

    @rule(code, f"rule-{code.lower()}", severity=severity, **options)
    def check(run: object) -> Iterator[Finding]:
        """Always ill."""
        for given in findings or ({},):
            yield Finding(**{"what": f"{code} it is", "why": "because", "remedy": "type this", **given})

    return check


def silent() -> Rule:
    """A rule that looks and finds nothing."""

    @rule("XX100", "silent", severity="error")
    def check(run: object) -> Iterator[Finding]:
        yield from ()

    return check


def ranked(*rules: Rule) -> list[tuple[str, str | None]]:
    findings = []
    for each in rules:
        for finding in each.check(None):
            severity = finding.severity or each.severity
            findings.append(
                Finding(
                    what=finding.what,
                    why="",
                    remedy="",
                    code=each.code,
                    severity=severity,
                    confidence=finding.confidence,
                    where=finding.where,
                )
            )
    return [(finding.code, finding.consequence_of) for finding in rank(findings, rules)]


def test_errors_before_warnings_before_notes() -> None:
    rules = made("XX101", severity="note"), made("XX102", severity="warning"), made("XX103", severity="error")
    assert [code for code, _ in ranked(*rules)] == ["XX103", "XX102", "XX101"]


def test_the_surer_finding_comes_first_then_the_earlier_one() -> None:
    rules = made("XX101", {"confidence": 0.6}), made("XX102", {"confidence": 0.99})
    assert [code for code, _ in ranked(*rules)] == ["XX102", "XX101"]
    rules = made("XX101", {"where": Where(step=9)}), made("XX102", {"where": Where(step=2)})
    assert [code for code, _ in ranked(*rules)] == ["XX102", "XX101"]


def test_a_cause_comes_before_its_consequence_even_if_that_is_more_severe() -> None:
    cause = made("XX200", severity="warning", causes=["XX1"])
    assert ranked(made("XX101"), cause) == [("XX200", None), ("XX101", "XX200")]


def test_a_symptom_is_explained_by_any_illness() -> None:
    symptom = made("XX100", {"confidence": 1.0}, symptom=True)
    assert ranked(symptom, made("XX300", severity="warning")) == [("XX300", None), ("XX100", "XX300")]


def test_a_symptom_alone_stands_alone_and_a_note_explains_nothing() -> None:
    symptom = made("XX100", symptom=True)
    assert ranked(symptom) == [("XX100", None)]
    assert ranked(symptom, made("XX300", severity="note")) == [("XX100", None), ("XX300", None)]


def test_consequences_stand_right_behind_their_cause() -> None:
    rules = (
        made("XX101", {"confidence": 0.95}),
        made("XX102", {"confidence": 0.9}, causes=["XX105"]),
        made("XX103", {"confidence": 0.8}),
        made("XX105", severity="warning"),
    )
    assert ranked(*rules) == [("XX101", None), ("XX102", None), ("XX105", "XX102"), ("XX103", None)]


def test_a_chain_of_causes_loses_nobody() -> None:
    rules = made("XX101", causes=["XX102"]), made("XX102", causes=["XX103"]), made("XX103")
    assert ranked(*rules)[0] == ("XX101", None)
    assert sorted(code for code, _ in ranked(*rules)) == ["XX101", "XX102", "XX103"]


def test_a_chain_of_causes_stays_together() -> None:
    rules = (
        made("XX101", severity="warning", causes=["XX102"]),
        made("XX102", severity="warning", causes=["XX103"]),
        made("XX103"),
        made("XX104", severity="note"),
    )
    assert ranked(*rules) == [("XX101", None), ("XX102", "XX101"), ("XX103", "XX102"), ("XX104", None)]


def test_two_that_explain_each_other_are_both_shown() -> None:
    first, second = ranked(made("XX101", causes=["XX102"]), made("XX102", causes=["XX101"]))
    assert first[1] is None and second == ({"XX101": "XX102", "XX102": "XX101"}[first[0]], first[0])


Make = Callable[..., Path]


@pytest.fixture
def record(tmp_path: Path) -> Make:
    """A small record with this many steps."""

    def make(*facts: Fact, steps: int = 10, name: str = "main") -> Path:
        writer = Writer(tmp_path / "run" / f"{name}.db", meta={"exit_code": 0})
        writer.start()
        for step in range(steps):
            writer.state(STEP, step=step, phase="train", key="adam")
        for fact in facts:
            writer.state(fact, step=steps, phase="train")
        writer.close()
        return tmp_path / "run"

    return make


def outcome(folder: Path, *rules: Rule) -> Diagnosis:
    return diagnose(folder, rules)


def test_a_finding_is_filled_in_from_its_rule(record: Make) -> None:
    evidence = Evidence(name="row_sum", value=1.0, limit="1 ± 0.001")
    (finding,) = outcome(record(), made("XX101", {"evidence": (evidence,)}, severity="warning")).findings
    assert (finding.code, finding.name, finding.severity) == ("XX101", "rule-xx101", "warning")
    assert finding.evidence == (evidence,)


def test_a_rule_that_yields_nothing_is_clear(record: Make) -> None:
    @rule("XX101", "silent", severity="error", needs=[Step])
    def silent(run: object) -> Iterator[Finding]:
        yield from ()

    diagnosis = outcome(record(), silent)
    assert (diagnosis.verdict, diagnosis.clear, diagnosis.abstained) == ("healthy", ("XX101",), ())


def test_a_rule_whose_facts_are_missing_abstains_with_the_reason(record: Make) -> None:
    diagnosis = outcome(record(), made("XX101", needs=[Step, Loader]))
    (abstention,) = diagnosis.abstained
    assert (abstention.code, abstention.reason) == ("XX101", "no DataLoader is used")
    assert diagnosis.findings == () and diagnosis.clear == () and diagnosis.verdict == "inconclusive"


def test_a_rule_may_abstain_by_itself(record: Make) -> None:
    @rule("XX101", "undecided", severity="error")
    def undecided(run: object) -> Iterator[Finding]:
        yield from ()
        raise Abstain("only 3 batches; 10 are needed")

    (abstention,) = outcome(record(), undecided).abstained
    assert abstention.reason == "only 3 batches; 10 are needed"


def test_a_rule_that_fails_is_a_crash_and_the_others_still_speak(record: Make) -> None:
    @rule("XX101", "faulty", severity="error")
    def faulty(run: object) -> Iterator[Finding]:
        yield Finding(what="half", why="", remedy="")
        raise KeyError("oops")

    diagnosis = outcome(record(), faulty, made("XX102"))
    (crash,) = diagnosis.crashed
    assert crash.code == "XX101" and "KeyError" in crash.error and "faulty" in crash.traceback
    assert [finding.code for finding in diagnosis.findings] == ["XX102"]
    assert "XX101" not in diagnosis.clear


def test_healthy_is_never_said_when_rules_crashed_and_none_looked(record: Make) -> None:
    @rule("XX101", "faulty", severity="error")
    def faulty(run: object) -> Iterator[Finding]:
        raise KeyError("oops")

    assert outcome(record(), faulty).verdict == "inconclusive"


@pytest.mark.parametrize(("steps", "verdict"), [(0, "inconclusive"), (1, "inconclusive"), (10, "healthy")])
def test_healthy_needs_steps(record: Make, steps: int, verdict: str) -> None:
    diagnosis = outcome(record(steps=steps), silent())
    assert diagnosis.verdict == verdict and bool(diagnosis.reason) == (verdict == "inconclusive")


def test_healthy_is_not_said_of_a_script_that_crashed(record: Make) -> None:
    diagnosis = outcome(record(Ended(type="ValueError", message="bad"), steps=20))
    assert diagnosis.verdict == "inconclusive" and "ValueError" in diagnosis.reason


def test_a_note_does_not_make_it_sick(record: Make) -> None:
    diagnosis = outcome(record(), made("XX101", severity="note"))
    assert diagnosis.verdict == "healthy" and diagnosis.alarms == () and len(diagnosis.findings) == 1


def test_a_finding_may_be_milder_than_its_rule(record: Make) -> None:
    diagnosis = outcome(record(), made("XX101", {"severity": "note"}, severity="error"))
    assert diagnosis.verdict == "healthy" and diagnosis.findings[0].severity == "note"


def test_a_loss_that_ends_as_nan_is_never_a_mere_warning(record: Make) -> None:
    folder = record()
    with contextlib.closing(sqlite3.connect(folder / "main.db")) as database, database:
        row = ("loss:train.py:9", 9, "NaN")
        database.execute("insert into points values (?, ?, ?, ?)", (*row, checksum(row)))
    diagnosis = outcome(folder, made("XX101", severity="warning"), made("XX102", severity="note"))
    assert [finding.severity for finding in diagnosis.findings] == ["error", "note"]


def test_the_same_finding_of_several_processes_is_told_once(record: Make) -> None:
    record(name="main")
    diagnosis = outcome(record(name="p77"), made("XX101"))
    assert len(diagnosis.findings) == 1 and diagnosis.run.ranks == 2


def test_detached_probes_and_lost_facts_are_confessed(record: Make) -> None:
    folder = record(ProbeFailed(probe="losses", error="KeyError: 1"), Gear(reason="torch.compile is used"))
    notices = " ".join(outcome(folder).run.notices)
    assert "losses" in notices and "KeyError" in notices and "torch.compile is used" in notices


def test_one_process_that_could_not_look_is_enough_not_to_be_clear(record: Make) -> None:
    """However clear the others are."""

    @rule("XX101", "reads-loaders", severity="error", needs=[Step])
    def check(run: Run) -> Iterator[Finding]:
        yield from (Finding(what="", why="", remedy="") for _ in run.facts(Loader))

    record(ProbeFailed(probe="data_loaders", error="oops"))
    diagnosis = outcome(record(name="p2"), check)
    assert diagnosis.clear == () and diagnosis.verdict == "inconclusive"
    assert [(a.code, a.blind) for a in diagnosis.abstained] == [("XX101", True)]
