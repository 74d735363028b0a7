"""Inconclusive: what could not be looked at might be what is wrong; and what would let the rules look."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from paramedic.diagnosis import diagnose
from paramedic.findings import Abstention, Diagnosis, Finding
from paramedic.findings.unchecked import by_reason, in_short, remedy, saw_too_little
from paramedic.findings.words import verdict
from paramedic.record.facts import Backward, Fact, Gear, ModuleCall, ProbeFailed, Step
from paramedic.record.writer import Site, Writer
from paramedic.reports.html import render as as_html
from paramedic.reports.json import render as as_json
from paramedic.reports.terminal import render
from paramedic.rules import Abstain
from paramedic.rules.rule import Rule, rule

STEP = Step(optimizer=0, gradients="new", scaled=False, closure=False, first=False)
BACKWARD = Backward(scalar=True, leaf=False, function="cross_entropy", parameters=4)
COMPILED = Gear(reason="torch.compile is used, so calls were not examined", unseen="calls", kinds=["module_call"])


def diagnosed(folder: Path, *facts: Fact, rules: tuple[Rule, ...], last: float = 0.1) -> Diagnosis:
    """Of a run of ten steps with these facts."""
    writer = Writer(folder / "main.db", meta={"exit_code": 0})
    writer.start()
    for step in range(10):
        writer.state(STEP, step=step, phase="train", key="adam")
        writer.point("loss:train.py:9", step, last if step == 9 else 1.0)
    for fact in (BACKWARD, *facts):
        writer.state(fact, step=0, phase="train", site=Site("train.py", 9, None))
    writer.close()
    return diagnose(folder, rules)


def clear(code: str) -> Rule:
    @rule(code, f"clear-{code.lower()}", severity="error", needs=[Step])
    def check(run: object) -> Iterator[Finding]:
        yield from ()

    return check


def hasty(code: str, *causes: str) -> Rule:
    @rule(code, f"hasty-{code.lower()}", severity="error", needs=[Step], causes=causes)
    def check(run: object) -> Iterator[Finding]:
        yield from ()
        raise Abstain("only 10 steps; 60 are needed")

    return check


@rule("PM999", "reads-calls", severity="error", needs=[Step])
def reads_calls(run: object) -> Iterator[Finding]:
    for call in run.facts(ModuleCall):  # type: ignore[attr-defined]
        yield Finding(what=call.line, why="", remedy="")


@pytest.mark.parametrize(
    ("fact", "said", "helps"),
    [
        (COMPILED, "torch.compile is used", "paramedic run --eager-first 10"),
        (Gear(reason="torch.jit is used", unseen="calls", kinds=["module_call"]), "torch.jit", "PYTORCH_JIT=0"),
        (
            ProbeFailed(probe="mine", error="oops", kinds=["module_call"]),
            "the probe mine failed",
            "report this fault of paramedic",
        ),
    ],
    ids=["compiled", "scripted", "failed"],
)
def test_blind_rules_say_why_and_what_would_let_them_look(tmp_path: Path, fact: Fact, said: str, helps: str) -> None:
    diagnosis = diagnosed(tmp_path, fact, rules=(clear("PM100"), reads_calls))
    assert diagnosis.verdict == "inconclusive" and diagnosis.clear == ("PM100",)
    assert said in diagnosis.reason and "1 rule could not look" in diagnosis.reason
    assert f"To let them look: {helps}" in verdict(diagnosis)
    for text in (render(diagnosis, verbose=1, width=1000), as_html(diagnosis), as_json(diagnosis)):
        assert said in text and helps in text
    assert max(map(len, render(diagnosis, verbose=1).splitlines())) <= 80


def test_a_whole_family_that_saw_too_little_leaves_the_verdict_open(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    alone = diagnosed(tmp_path / "one", rules=(clear("PM100"), hasty("PM200")))
    assert alone.verdict == "inconclusive"
    assert alone.reason == "no rule on optimisation saw enough: only 10 steps; 60 are needed"
    (tmp_path / "two").mkdir()
    beside = diagnosed(tmp_path / "two", rules=(clear("PM100"), clear("PM201"), hasty("PM200")))
    assert (beside.verdict, beside.reason) == ("healthy", "")


def test_who_might_have_explained_what_was_seen_is_named(tmp_path: Path) -> None:
    rules = (clear("PM100"), clear("PM201"), hasty("PM200", "PM101"), hasty("PM202", "PM601"))
    diagnosis = diagnosed(tmp_path, rules=rules, last=math.nan)
    assert diagnosis.verdict == "inconclusive"
    assert "the loss at train.py:9 is NaN" in diagnosis.reason
    assert diagnosis.reason.endswith("PM200 might explain it, but saw too little")


@pytest.mark.parametrize(
    ("reason", "helps"),
    [
        ("only 21 steps; 30 are needed", "run it for 30 steps"),
        ("only 1 step; 60 are needed to judge the curve", "run it for 60 steps"),
        ("only 2 steps were examined; 5 are needed", "run it for longer"),
        ("too few steps were timed", "run it for longer"),
        ("the optimizer's updates were not sampled", "run it for longer, with --budget at its default"),
        ("the run has not ended", "let it run to its end"),
        ("no DataLoader is used", ""),
        ("torch.compile is not used", ""),
        ("only 2 layers in a row; 4 are needed", ""),
        ("no scheduler is used, or the run has not ended", ""),
        ("too few batches of padded token ids were seen", ""),
    ],
)
def test_only_what_a_longer_look_would_answer_has_a_remedy(reason: str, helps: str) -> None:
    abstention = Abstention(code="PM100", reason=reason)
    assert remedy(abstention) == helps and saw_too_little(abstention) is bool(helps)


def test_one_line_for_each_reason() -> None:
    reasons = ("no DataLoader is used", "only 3 steps; 5 are needed", "no DataLoader is used")
    abstained = [Abstention(code=f"PM10{number}", reason=reason) for number, reason in enumerate(reasons)]
    assert [(group.codes, group.remedy) for group in by_reason(abstained)] == [
        (["PM100", "PM102"], ""),
        (["PM101"], "run it for 5 steps"),
    ]
    assert in_short(abstained) == "2 do not apply, 1 saw too little"
