"""One bus: sources tell of moments, probes are found and listen, and each fails for itself."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import paramedic.capture
from facts_of import facts_of
from paramedic.capture import moments
from paramedic.capture.bus import Bus, functions_heard, on, on_call_of
from paramedic.capture.probe import Probe, all_probes, lost_with, probe, seen_in_calls
from paramedic.capture.probes.loss.class_targets import ClassTargets
from paramedic.record.facts import LossCall, ProbeFailed, TrainForward, all_kinds, known_as
from paramedic.record.sources import STATED_BY

CAPTURE = Path(paramedic.capture.__file__).parent


class Listener:
    def __init__(self) -> None:
        self.heard: list[Any] = []

    @on(moments.step_taken, moments.round_over)
    def stepped(self) -> None:
        self.heard.append("step")

    @on(moments.module_entered)
    def entered(self, path: str) -> None:
        self.heard.append(path)

    @on_call_of(torch.relu, F.relu)
    def rectified(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        self.heard.append(func)


def test_marked_methods_hear_their_moments_and_no_other() -> None:
    bus, listener = Bus(lambda name, heard, *told: heard(*told)), Listener()
    bus.connect("listener", listener)
    bus.tell(moments.step_taken)
    bus.tell(moments.run_over)
    bus.tell(moments.module_entered, "model.head")
    bus.tell(moments.round_over)
    assert listener.heard == ["step", "model.head", "step"]
    assert [functions for functions, _ in functions_heard(listener)] == [(torch.relu, F.relu)]


def test_two_probes_of_one_name_are_refused() -> None:
    all_probes()
    with pytest.raises(ValueError, match="two probes named 'class_targets'"):
        probe("class_targets")(Listener)


def test_a_probe_that_fails_takes_no_other_along(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """Also within one moment: the others that listen to it still hear of it."""
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    @on(moments.loss_called)
    def fails(self: ClassTargets, name: str, prediction: torch.Tensor, target: torch.Tensor) -> None:
        raise ZeroDivisionError("a fault of ours")

    def step() -> None:
        optimizer.zero_grad()
        F.mse_loss(model(torch.ones(8, 4)), torch.zeros(8, 2)).backward()
        optimizer.step()

    monkeypatch.setattr(ClassTargets, "loss", fails)
    run = facts_of(step)
    assert [(failed.probe, failed.error) for failed in run.facts(ProbeFailed)] == [
        ("class_targets", "ZeroDivisionError: a fault of ours")
    ]
    assert len(run.facts(LossCall)) == 3 and run.facts(TrainForward)
    assert capsys.readouterr().err.count("'class_targets' failed and was detached") == 1


@pytest.mark.parametrize("kind", all_probes(), ids=lambda kind: kind.name)
def test_a_probe_states_the_facts_that_it_declares(kind: Probe) -> None:
    """Read from its own file, and those of the helpers that it has."""
    probes = {inspect.getfile(found.build) for found in all_probes()}
    own = Path(inspect.getfile(kind.build))
    helpers = [path for path in own.parents[1].rglob("*.py") if str(path) not in probes and _imports(own, path)]
    stated = set().union(*(_stated(ast.parse(path.read_text())) for path in [own, *helpers]))
    assert {fact.__name__ for fact in kind.states} == stated - {"ProbeFailed"}


def _imports(path: Path, other: Path) -> bool:
    module = ".".join(other.relative_to(CAPTURE.parents[1]).with_suffix("").parts)
    return f"from {module} import" in path.read_text()


def _stated(tree: ast.Module) -> set[str]:
    """The kinds of facts that a file builds, by whatever name it has imported them."""
    names = {kind.__name__: kind.__name__ for kind in all_kinds()}
    imported: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "paramedic.record.facts":
            imported |= {alias.asname or alias.name: alias.name for alias in node.names if alias.name in names}
    found = set()
    for call in [node for node in ast.walk(tree) if isinstance(node, ast.Call)]:
        made = call.args[:1] if getattr(call.func, "id", "") in ("restored", "partial") else []
        for part in [call.func, *made]:
            if isinstance(part, ast.Name) and part.id in imported:
                found.add(imported[part.id])
            if isinstance(part, ast.Attribute) and getattr(part.value, "id", "") == "facts" and part.attr in names:
                found.add(part.attr)
    return found


def test_what_is_lost_with_a_probe_or_with_the_source_that_it_listens_to() -> None:
    all_probes()
    assert lost_with("chains") == ["chain"]
    assert {"chain", "drawn", "given_target"} <= set(lost_with("module_calls"))
    assert "twin_branches" in lost_with("ops") and "twin_branches" not in lost_with("data_loaders")
    assert "drawn" in seen_in_calls() and not {"class_target", "overwritten", "non_finite"} & set(seen_in_calls())


def test_no_fact_is_stated_by_nobody() -> None:
    """Each kind that rules may need is a probe's, by its decorator, or a source's, by the table in the record."""
    ours = {known_as(fact).name for kind in all_probes() for fact in kind.states} | set(STATED_BY)
    others = {"experiment", "intervention", "gear", "probe_failed", "answer", "audited"}
    assert {kind.name for kind in all_kinds().values()} - ours == others


def test_no_probe_reaches_into_another_and_no_source_knows_a_probe() -> None:
    """Sources tell whoever listens; a probe may use the functions of a helper beside it, but no other probe."""
    probes = {inspect.getmodule(kind.build).__name__: kind.build.__name__ for kind in all_probes()}  # type: ignore[union-attr]
    found = []
    for path in [*CAPTURE.rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and probes.get(node.module or "") in [name.name for name in node.names]:
                found.append(f"{path.relative_to(CAPTURE)}:{node.lineno} {node.module}")
    assert found == []


def test_every_moment_says_who_tells_it() -> None:
    """And somebody does: the name occurs in that source's own file, or the watcher's."""
    told = {name for name, value in vars(moments).items() if isinstance(value, moments.Moment)}
    text = "\n".join(path.read_text() for path in CAPTURE.rglob("*.py"))
    assert {name for name in told if f"moments.{name}" not in text.replace(f"@on(moments.{name}", "")} == set()
