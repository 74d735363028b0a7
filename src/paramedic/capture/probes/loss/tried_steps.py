"""When the update of a step is tried again on a copy, in parts and multiples: a few times per run, when cheap."""

from __future__ import annotations

import torch
from torch import nn
from torch.optim import Optimizer

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
from paramedic.capture.step.price import Price
from paramedic.capture.step.step import NotAgain, Step, TooLong
from paramedic.capture.step.trying import Moved, tried
from paramedic.capture.watcher import Watcher
from paramedic.program import anatomy
from paramedic.record.facts import StepTried
from paramedic.record.facts.storing import restored
from paramedic.record.writer import NOWHERE, Site

ROUNDS = (0, 4, 15, 40, 120)  # steps from which on each may take place
MOST_PARAMETERS = 20_000_000
MOST_AT_ONCE = 1_000_000  # in the very first step, when nobody knows yet how long one takes
RUNS = 5  # of the whole step that a round takes, roughly: most of them forward only
GRACE = 0.3  # seconds that it may cost at the beginning, whatever the budget
TOO_LONG = "it takes too long to run the step again"
MOST_SECONDS = 3.0  # that a round may take,
PATIENCE = 10.0  # and after which nobody waits any longer: another program may have the processor


@probe("tried_steps", states=[StepTried])
class TriedSteps:
    """Keeps what leads to a loss and the weights before the update, and asks when the optimizer has stepped."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._price = Price(watcher)
        self._round = 0
        self._passes = 0  # since the last step
        self._loss, self._site = 0.0, NOWHERE
        self._statements: list[Excerpt] = []
        self._before: Moved = []

    @on(moments.loss_ready)
    def ready(self, loss: torch.Tensor, site: Site) -> None:
        """A loss is about to be differentiated: remember how it came about."""
        self._passes += 1
        near = loss.is_cpu or (loss.is_cuda and self.watcher.gears.examining)  # waiting for its value is felt
        if not self._due() or not near or loss.numel() != 1:
            return
        self._loss, self._site = float(loss.detach()), site
        self._statements = [found for frame in frames() if (found := excerpt(frame, parts=True)) is not None]

    def _due(self) -> bool:
        if self._round >= len(ROUNDS) or self.watcher.step < ROUNDS[self._round]:
            return False
        if not self.watcher.settings.probes or self.watcher.gears.compiled:
            return False
        if self.watcher.step > 0 and not self._price.allows(RUNS, GRACE):
            return False
        # A pass of one process alone might wait for the others.
        return not (torch.distributed.is_available() and torch.distributed.is_initialized())

    @on(moments.step_examined)
    def about_to_step(self, optimizer: Optimizer, number: int, closure: bool) -> None:
        """Keep the weights as they are."""
        if not self._statements or closure:
            return
        held = [p for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        plain = all(readable(p) and p.dtype in (torch.float32, torch.float64) for p in held)
        most = MOST_PARAMETERS if self.watcher.step > 0 else MOST_AT_ONCE
        if plain and held and sum(p.numel() for p in held) <= most:
            self._before = [(p, p.detach().clone()) for p in held]

    @on(moments.step_examined_after)
    def stepped(self, optimizer: Optimizer, number: int, held: dict[int, int], written: set[int]) -> None:
        """The update is known now."""
        statements, before, passes = self._statements, self._before, self._passes
        self._statements, self._before, self._passes = [], [], 0
        if not before:
            return
        self._round += 1
        try:
            modules = [module for root in self.watcher.registry.roots() for module in anatomy.modules(root)]
            copies = hosted(modules, sum(p.numel() for p, _ in before), statements)
            if copies is not None:
                before = [(copies.of(parameter), copies.of(values)) for parameter, values in before]
            patience = PATIENCE if copies is None else hosting.PATIENCE
            seconds = GRACE if self.watcher.step == 0 else MOST_SECONDS if copies is None else hosting.SECONDS
            found: Fields = apart(
                lambda: _try(statements, modules, seconds, before, self._loss), patience, copies=copies
            )
        except Refused as reason:
            found = {"reason": str(reason)}
        if found.get("reason") == TOO_LONG and self.watcher.step == 0:
            return  # the price is known from now on
        if "reason" in found:
            self._round = len(ROUNDS)
        fact = restored(StepTried, found | {"optimizer": number, "passes": passes})
        self.watcher.state(fact, site=self._site, phase="train")
        self._price.forget()

    @on(moments.step_taken)
    def over(self) -> None:
        self._price.stepped()


def _try(candidates: list[Excerpt], modules: list[nn.Module], seconds: float, moved: Moved, before: float) -> Fields:
    """Runs in a process of its own: whatever it does is lost."""
    reason = "the lines before backward() cannot be run by themselves"
    for statements in candidates:
        try:
            found = tried(Step(statements, modules, seconds), moved, before)
            if found is not None:
                return found
        except NotAgain as error:
            reason = str(error)
        except TooLong:
            return {"reason": TOO_LONG}
    return {"reason": reason}
