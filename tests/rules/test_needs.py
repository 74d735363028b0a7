"""Clear means looked: what a rule needs is what it reads, and where nothing was seen nobody is clear."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import torch
from torch import nn

import paramedic.capture
from facts_of import facts_of
from looked import Blinded, without_each
from paramedic.capture.probe import all_probes
from paramedic.diagnosis import judge
from paramedic.record.facts import Backward, LossCall, Model, all_kinds, known_as
from paramedic.record.sources import EXAMINED_CALLS, STATED_BY
from paramedic.rules import Finding, Run, Steps, rule
from paramedic.rules.catalogue import all_rules
from paramedic.rules.curves import loss_curves
from paramedic.rules.reading import reads
from paramedic.rules.rule import Rule

RULES = [each for each in all_rules() if each.reads == "run"]


@pytest.mark.parametrize("each", RULES, ids=[each.code for each in RULES])
def test_a_rule_reads_what_it_needs(each: Rule) -> None:
    assert {known_as(kind).name for kind in each.needs} <= reads(each.check), "put it into coverage"
    covered = [kind for kind in each.coverage if isinstance(kind, type)]
    assert not set(covered) & set(each.needs)
    for extent in (extent for extent in each.coverage if isinstance(extent, Steps)):
        assert isinstance(extent.fewest, int) or extent.fewest in each.options


def test_what_is_read_is_found_through_helpers_and_by_name() -> None:
    found = reads(_by_a_helper)
    assert {"backward", "points of loss", "samples of weight", "model"} <= found and "softmax" not in found


def _by_a_helper(run: Run) -> list[object]:
    def within() -> list[object]:
        return [*loss_curves(run), *run.samples("weight"), *_further(run)]

    return within()


def _further(run: Run) -> list[Model]:
    return run.facts(Model)


def test_where_nothing_was_seen_no_rule_is_clear() -> None:
    run = facts_of(lambda: None, steps=1)
    judged = judge(RULES, [run], {})
    assert judged.clear == [] and judged.findings == [] and judged.crashed == []
    assert all(abstention.reason for abstention in judged.abstained)


def test_too_few_steps_are_a_reason() -> None:
    @rule("XX100", "needs-many", severity="note", needs=[Backward], coverage=[Steps("fewest")])
    def check(run: Run, *, fewest: int = 5) -> list[Finding]:
        return []

    run = facts_of(_training(), steps=3)
    assert judge([check], [run], {}).abstained[0].reason == "only 3 steps; 5 are needed"
    assert judge([check], [run], {"XX100": {"fewest": 3}}).clear == ["XX100"]


def test_a_rule_is_not_clear_without_the_probe_behind_a_helper() -> None:
    """Also where the facts it needs are there, and only a curve is missing."""

    @rule("XX100", "reads-a-curve", severity="note", coverage=[LossCall])
    def check(run: Run) -> list[Finding]:
        return [Finding(what="rises", why="", remedy="") for curve in loss_curves(run) if curve.end > curve.start]

    run = facts_of(_training(), steps=8)
    run.__class__ = Blinded
    assert isinstance(run, Blinded) and judge([check], [run], {}).clear == ["XX100"]
    judged = dict(without_each(check, [run]))
    assert judged["backward"].abstained[0].reason == "the probe backward failed at step 0"
    assert judged["losses"].abstained[0].blind and "clock" not in judged


def test_every_kind_of_fact_is_stated_by_somebody() -> None:
    """Else a rule that reads it could never be told that it is missing."""
    watching = {"probe_failed", "gear", "intervention", "experiment", "audited", "answer"}
    stated = {known_as(kind).name for probe in all_probes() for kind in probe.states} | set(STATED_BY) | watching
    assert {kind.name for kind in all_kinds().values()} - stated == set()
    known = {kind.name for kind in all_kinds().values()}
    assert {name for name in {*STATED_BY, *EXAMINED_CALLS} if " of " not in name} <= known


def test_whoever_can_fail_is_known_to_state_something() -> None:
    """Sources and probes fail under the name they are asked by."""
    asked = {
        call.args[0].value
        for file in (Path(paramedic.capture.__file__).parent).rglob("*.py")
        for call in ast.walk(ast.parse(file.read_text()))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.args
        if call.func.attr in ("ask", "ask_within", "detach") and isinstance(call.args[0], ast.Constant)
    }
    stating = {probe.name for probe in all_probes()} | {name for sources in STATED_BY.values() for name in sources}
    assert asked - stating == {"compilers", "finish", "sources", "surroundings", "watcher"}


def _training() -> object:
    model = nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = torch.randn(8, 4), torch.randint(3, (8,))

    def step() -> None:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

    return step
