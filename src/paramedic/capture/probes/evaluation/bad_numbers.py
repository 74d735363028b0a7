"""NaN in an evaluation: there is nothing to stop, but the line that made it is named like that of any other."""

from __future__ import annotations

import functools
import linecache
import math
import os
import re
from typing import Any

import torch

from paramedic.aliases import Args, Function, Kwargs
from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.inquest.inquest import Conclusion, hold
from paramedic.capture.inquest.rerun import rerunning
from paramedic.capture.inquest.tracer import only_nan
from paramedic.capture.moments import Call
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program.where import user_site
from paramedic.record.facts import NonFinite
from paramedic.record.facts.storing import restored
from paramedic.record.writer import Site

MOST_INQUESTS = 4
READINGS = ("item", "__float__")
_LOSS = re.compile(r"loss|criterion|nll|elbo|objective", re.IGNORECASE)
# They are infinite at one place of their range; elsewhere an infinity is only a number that is too large.
_SINGULAR = ("log", "log2", "log10", "log1p", "div", "reciprocal", "rsqrt", "xlogy", "logit")


@probe("evaluation", states=[NonFinite])
class Evaluation:
    """Meets bad numbers where the script looks at them, in losses of torch, and in what models answer."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.alarm = watcher.known.alarm
        self._inquests = 0

    def install(self) -> None:
        for name in READINGS:
            self._watch(name, getattr(torch.Tensor, name))
        self.watcher.gears.on_gear.append(self._leave_compilers_alone)

    def _leave_compilers_alone(self, examining: bool) -> None:
        """Where a graph breaks at a reading, the compiler would look into our function and complain."""
        if self.watcher.gears.compiled:
            for name in READINGS:
                self.watcher.patches.take_back(torch.Tensor, name)

    def _watch(self, name: str, original: Function) -> None:
        @functools.wraps(original)
        def read(tensor: torch.Tensor) -> Any:
            value = original(tensor)
            # A number minus itself is 0, unless it is NaN or infinite; while compiling it may be no number at all.
            if type(value) is float and value - value != 0 and not rerunning() and self._evaluating():
                self.watcher.ask("evaluation", self._inquire, "number", tensor, value)
            return value

        self.watcher.patches.set(torch.Tensor, name, read)

    def _evaluating(self) -> bool:
        if self.alarm.suspicious or self._inquests >= MOST_INQUESTS or not self.watcher.settings.probes:
            return False
        roots = [root for root in self.watcher.registry.roots() if any(True for _ in root.parameters())]
        return bool(roots) and (not torch.is_grad_enabled() or not any(root.training for root in roots))

    @on(moments.loss_measured)
    def loss(self, result: torch.Tensor, value: float) -> None:
        """A loss function of torch has given this without a graph."""
        if not math.isfinite(value) and result.is_cpu and self._evaluating():
            self._inquire("loss", result, value)

    @on(moments.model_called)
    def answered(self, call: Call, args: Args, kwargs: Kwargs, output: object) -> None:
        """A top-level call of a model is over."""
        if not call.grad and call.module is not None and (bad := only_nan(output)) and self._evaluating():
            self._inquire("answer", bad[0], math.nan)

    def _inquire(self, met: str, tensor: torch.Tensor, value: float) -> None:
        self._inquests += 1
        found = hold(self.watcher, [tensor.detach()], backward=False, random_state=None, until=met)
        if not _matters(found, met, value):
            return
        site = found.site if found.site.file else user_site()
        about = {"reached": "evaluation", "met": met, "loss": value, "loss_site": user_site()}
        self.watcher.state(
            restored(NonFinite, {**found.data, **about}),
            site=site,
            module=found.module,
            phase="eval",
            key=(site, "evaluation", found.data.get("op")),
        )


def _matters(found: Conclusion, met: str, value: float) -> bool:
    """Numbers of an evaluation may well not exist, such as the mean of nothing. A model's answer and its loss must."""
    if found.data["origin"] == "unknown":
        is_loss = met == "loss" or bool(_LOSS.search(_statement(user_site())))
        return "not_run" in found.data and math.isnan(value) and (met == "answer" or is_loss)
    if met != "number" or found.data.get("inside_model"):
        return math.isnan(value) or met != "number"
    singular = math.isnan(value) or found.data.get("op") in _SINGULAR
    return singular and bool(_LOSS.search(found.text))


def _statement(place: Site) -> str:
    return linecache.getline(os.path.abspath(place.file), place.line or 0) if place.file else ""
