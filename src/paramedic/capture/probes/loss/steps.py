"""When a training step is run again on a copy: twice per place of a backward pass, when that is cheap."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress

import torch
from torch import nn

from paramedic.aliases import Fields
from paramedic.capture import moments
from paramedic.capture.apart.process import Refused, apart
from paramedic.capture.bus import on
from paramedic.capture.facts import readable
from paramedic.capture.inquest.excerpt import Excerpt, excerpt
from paramedic.capture.inquest.inquest import frames
from paramedic.capture.probe import probe
from paramedic.capture.step import hosting
from paramedic.capture.step.hosting import hosted
from paramedic.capture.step.left_out import calls, idle_inputs, passed_over_at
from paramedic.capture.step.price import Price
from paramedic.capture.step.step import NotAgain, Step, TooLong
from paramedic.capture.step.targets import targets
from paramedic.capture.watcher import Watcher
from paramedic.program import anatomy
from paramedic.record.facts import StepAsked
from paramedic.record.facts.storing import restored
from paramedic.record.writer import Site

FIRST, SECOND = 4, 40  # the steps from which on the first and the second round may take place
ROUNDS = 2
MOST_PLACES = 3
MOST_PARAMETERS = 20_000_000
RUNS = 12  # of the whole step that a round takes, roughly
GRACE = 0.6  # seconds that it may cost at the beginning, whatever the budget
MOST_SECONDS = 3.0  # that a round may take,
PATIENCE = 10.0  # and after which nobody waits any longer: another program may have the processor


@probe("steps", states=[StepAsked])
class Steps:
    """Asks right before a backward pass, when all that led to the loss is still there."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._rounds: Counter[Site] = Counter()
        self._given_up: set[Site] = set()
        self._price = Price(watcher)

    @on(moments.step_taken)
    def _stepped(self) -> None:
        self._price.stepped()

    @on(moments.loss_ready)
    def ready(self, loss: torch.Tensor, site: Site) -> None:
        """A loss is about to be differentiated."""
        rounds = self._rounds[site]
        if not self.watcher.settings.probes or rounds >= ROUNDS or site in self._given_up:
            return
        if self.watcher.step < (FIRST if rounds == 0 else SECOND) or len(self._rounds) > MOST_PLACES:
            return
        if not self._price.allows(RUNS, GRACE) or self.watcher.gears.compiled:
            return
        if not (loss.is_cpu or (loss.is_cuda and self.watcher.gears.examining)):  # waiting for its value is felt
            return
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            return  # a pass of one process alone might wait for the others
        self._rounds[site] += 1
        data = self._ask(loss)
        if "reason" in data:
            self._given_up.add(site)
        data["round"] = self._rounds[site]
        self.watcher.state(restored(StepAsked, data), site=site, phase="train")
        self._price.forget()

    def _ask(self, loss: torch.Tensor) -> dict[str, object]:
        roots = self.watcher.registry.roots()
        parameters = sum(p.numel() for root in roots for p in anatomy.parameters(root))
        if parameters > MOST_PARAMETERS:
            return {"reason": "the models are too large for a step to be run again"}
        modules = [module for root in roots for module in anatomy.modules(root)]
        candidates = [one for frame in frames() if (one := excerpt(frame, parts=True)) is not None]
        batch = list((self.watcher.known.loaders.last_batch().tensors() or {}).values())
        before = float(loss.detach())
        try:
            copies = hosted(modules, parameters, candidates)
            seconds, patience = (MOST_SECONDS, PATIENCE) if copies is None else (hosting.SECONDS, hosting.PATIENCE)
            near = batch if copies is None else copies.of(batch)
            found: Fields = apart(lambda: _again(candidates, modules, seconds, near, before), patience, copies=copies)
        except Refused as reason:
            return {"reason": str(reason)}
        return found


def _again(
    candidates: list[Excerpt], modules: list[nn.Module], seconds: float, batch: list[torch.Tensor], before: float
) -> dict[str, object]:
    """All relations of one step. Runs in a process of its own: whatever it does is lost."""
    reason = "the lines before backward() cannot be run by themselves"
    for statements in candidates:
        step = Step(statements, modules, seconds)
        try:
            loss = float(step.whole().detach())
            if not step.answers:
                continue  # the line that was given a loss, not the one that made it
            return {"loaded": _among(step, batch)} | _told(step, loss, before)
        except NotAgain as error:
            reason = str(error)
        except TooLong:
            return {"reason": "it takes too long to run the step again"}
    return {"reason": reason}


def _told(step: Step, loss: float, before: float) -> dict[str, object]:
    found = targets(step)
    again = float(step.whole().detach())
    if again != loss:
        return {"reason": "the step gives another loss when it is run a second time"}
    inputs, called = _inputs(step), calls(step)
    left = any(not used for call in called for used in call["used"])
    return {
        "loss": loss,
        "same": abs(loss - before) <= 1e-5 * max(abs(loss), abs(before)),
        "answers": [list(answer.shape) for answer in step.answers],
        "inputs": inputs,
        "targets": found,
        "calls": called,
        "idle": idle_inputs(step, inputs) if left else [],
        "passed_over_at": passed_over_at(step) if left else None,
    }


def _inputs(step: Step) -> list[str]:
    """The variables on which the answers depend."""
    found = []
    for name, tensor in list(step.data.items()):
        values = tensor.detach().clone()
        if len(values) < 2 or bool((values == values[:1]).all()):
            continue
        with suppress(NotAgain), step.changed(name, values.roll(1, 0)):
            answers = step.models_answers()
            if any(a.shape != b.shape or not torch.equal(a, b) for a, b in zip(answers, step.answers, strict=False)):
                found.append(name)
    return found


def _among(step: Step, batch: list[torch.Tensor]) -> list[str]:
    """The variables that hold what the last batch of a loader held, perhaps in another type or shape."""
    plain = [tensor.detach().reshape(-1).double() for tensor in batch if readable(tensor)]
    return [name for name, t in step.data.items() if any(torch.equal(t.reshape(-1).double(), one) for one in plain)]
