"""How an objective is put together: clipped surrogates, entropies, divergences; and which way each is pushed."""

from __future__ import annotations

import weakref
from collections import Counter
from functools import partial
from typing import Any

import torch
from torch import distributions

from paramedic.aliases import Args, Function, Kwargs
from paramedic.capture import moments
from paramedic.capture.bus import on, on_call_of
from paramedic.capture.facts import readable
from paramedic.capture.graph import is_closed_form, kinds_behind
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program.where import user_frame, user_site, variable_name
from paramedic.record.facts import ClippedSurrogate, Divergence, Entropy, LogProb, Pushed, Quotient
from paramedic.record.writer import Site

T = torch.Tensor
_SUMS = [T.add, T.__add__, T.__radd__, torch.add, T.__iadd__]
_PRODUCTS = [T.mul, T.__mul__, T.__rmul__, torch.mul, T.div, T.__truediv__, torch.div, T.neg, T.__neg__, torch.neg]
_QUOTIENTS = [T.div, T.__truediv__, torch.div]
_REDUCTIONS = [T.mean, torch.mean, T.sum, torch.sum]
_LEAST = [torch.min, torch.minimum, T.min, T.minimum]
_MOST = [torch.max, torch.maximum, T.max, T.maximum]
LOOKS = 40  # per place
DISTANCES = (
    "cross_entropy", "nll_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits", "mse_loss", "l1_loss",
    "smooth_l1_loss", "huber_loss",
)  # fmt: skip

_Objective = partial[ClippedSurrogate] | partial[Entropy] | partial[LogProb]  # all but which way it is pushed


@probe("objectives", states=[ClippedSurrogate, Divergence, Entropy, LogProb, Pushed, Quotient])
class Objectives:
    """Looks at the arithmetic of losses while examining."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.ops = watcher.known.ops
        self._scalars: dict[int, tuple[weakref.ref[torch.Tensor], Site, object]] = {}  # made where, a multiple of what
        self._looks: Counter[object] = Counter()

    @on(moments.step_taken, moments.round_over)
    def _forget(self) -> None:
        self._scalars.clear()

    def install(self) -> None:
        self.ops.handle(_LEAST, lambda *call: self._chosen("min", *call), "objectives")
        self.ops.handle(_MOST, lambda *call: self._chosen("max", *call), "objectives")
        for kind in (
            distributions.Categorical,
            distributions.Normal,
            distributions.Bernoulli,
            distributions.Independent,
        ):
            self._watch_entropy(kind)

    # Clipped surrogate objectives -------------------------------------------------------------------------------

    def _chosen(self, which: str, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        """The smaller (or larger) of a ratio's product and the clipped ratio's product, as in PPO."""
        if len(args) < 2 or not (isinstance(args[0], T) and isinstance(args[1], T) and isinstance(result, T)):
            return
        if result.grad_fn is None:
            return
        a, b = kinds_behind(args[0].grad_fn), kinds_behind(args[1].grad_fn)
        ratios = {node for node, kind in a.items() if kind == "Exp"} & {
            node for node, kind in b.items() if kind == "Exp"
        }
        clipped = ["Clamp" in found.values() for found in (a, b)]
        if ratios and sum(clipped) == 1:
            self._push(partial(ClippedSurrogate, which=which), result)

    def _push(self, make: _Objective, result: torch.Tensor) -> None:
        """Tell which way the loss depends on a value, once the backward pass comes by."""
        site = user_site()
        self._looks[(make.func, site)] += 1
        if self._looks[(make.func, site)] > LOOKS:
            return
        watcher, step = self.watcher, self.watcher.step

        def came_by(gradient: torch.Tensor) -> None:
            watcher.ask("objectives", look, gradient)

        def look(gradient: torch.Tensor) -> None:
            slopes = gradient.detach()
            watcher.read(torch.stack([slopes.sum(), slopes.min(), slopes.max()]).float(), tell)

        def tell(numbers: list[float]) -> None:
            slope = (numbers[0] > 0) - (numbers[0] < 0)
            fact = make(slope=slope, both_ways=numbers[1] < 0 < numbers[2])
            watcher.state(fact, site=site, step=step, key=(site, slope, fact.both_ways))

        result.register_hook(came_by)

    # Loss functions ---------------------------------------------------------------------------------------------

    @on(moments.loss_computed)
    def loss(self, function: str, result: torch.Tensor) -> None:
        """The value of a loss function, and whether it is made smaller or larger."""
        site, step, watcher = user_site(), self.watcher.step, self.watcher
        self._looks[("loss", site)] += 1
        if self._looks[("loss", site)] > LOOKS or function not in DISTANCES or result.dim() > 0 or not readable(result):
            return
        value = result.detach()

        def came_by(slope: torch.Tensor) -> None:
            watcher.ask("objectives", look, slope)

        def look(slope: torch.Tensor) -> None:
            watcher.read(torch.stack([slope.detach(), value]).float(), tell)

        def tell(numbers: list[float]) -> None:
            data = Pushed(function=function, slope=numbers[0], value=numbers[1])
            watcher.state(data, site=site, phase="train", step=step)

        result.register_hook(came_by)

    # Entropies --------------------------------------------------------------------------------------------------

    def _watch_entropy(self, kind: object) -> None:
        def watched(original: Function) -> Function:
            def entropy(distribution: object) -> object:
                result = original(distribution)
                if self.watcher.gears.examining and isinstance(result, T) and result.grad_fn is not None:
                    made = partial(Entropy, class_=type(distribution).__name__)
                    self.watcher.ask("objectives", self._push, made, result)
                return result

            return entropy

        def watched_likelihood(original: Function) -> Function:
            def log_prob(distribution: object, value: object) -> object:
                result = original(distribution, value)
                if self.watcher.gears.examining and isinstance(result, T) and result.grad_fn is not None:
                    made = partial(LogProb, class_=type(distribution).__name__)
                    self.watcher.ask("objectives", self._push, made, result)
                return result

            return log_prob

        self.watcher.patches.wrap(kind, "entropy", watched)
        self.watcher.patches.wrap(kind, "log_prob", watched_likelihood)

    # Terms with a name ------------------------------------------------------------------------------------------

    @on_call_of(*_PRODUCTS, *_REDUCTIONS)
    def _scalar(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        """A number of the loss is made: where, and of which other number it is a multiple."""
        if isinstance(result, T) and result.dim() == 0 and result.grad_fn is not None and len(self._scalars) < 256:
            source = next((value for value in args[:2] if self._known(value) is not None), None)
            reference = weakref.ref(source) if source is not None and func not in _REDUCTIONS else None
            self._scalars[id(result)] = (weakref.ref(result), user_site(), reference)
            if func in _QUOTIENTS and all(isinstance(value, T) and value.grad_fn is not None for value in args[:2]):
                self._look_at_quotient(args[0], args[1], result)

    def _look_at_quotient(self, above: torch.Tensor, below: torch.Tensor, result: torch.Tensor) -> None:
        """A number divided by what was made from it, with gradients on both sides: is it always the same?"""
        site, step = user_site(), self.watcher.step
        if kinds_behind(above.grad_fn, 6).keys().isdisjoint(kinds_behind(below.grad_fn, 6)):
            return
        self._looks[("quotient", site)] += 1
        if self._looks[("quotient", site)] > LOOKS:
            return

        def tell(numbers: list[float]) -> None:
            value = float(f"{numbers[0]:.4g}")
            self.watcher.state(Quotient(value=value), site=site, step=step, key=(site, value))

        self.watcher.read(result.detach().reshape(1).float(), tell)

    def _known(self, value: object) -> tuple[Site, Any] | None:
        known = self._scalars.get(id(value))
        return (known[1], known[2]) if known is not None and known[0]() is value else None

    @on_call_of(*_SUMS)
    def _added(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        """Terms of a loss: is one of them called a divergence, and below zero?"""
        if not isinstance(result, T) or result.dim() != 0 or result.grad_fn is None:
            return
        for value in args[:2]:
            if isinstance(value, T) and value.grad_fn is not None:
                self._look_at_term(value)
        self._scalar(func, args, kwargs, result)

    def _look_at_term(self, value: torch.Tensor) -> None:
        known = self._known(value)
        site = known[0] if known is not None else user_site()
        self._looks[("term", site)] += 1
        if self._looks[("term", site)] > LOOKS:
            return
        source = known[1]() if known is not None and known[1] is not None else None
        named = (value, source) if source is not None else (value,)
        name = next((found for v in named if (found := variable_name(user_frame(), v)) is not None), None)
        if name is None or not any(word in name.lower() for word in ("kl", "divergence")):
            return
        made = self._known(source) if source is not None else None
        measured = source if source is not None and source.dim() == 0 else value
        closed = is_closed_form(measured.grad_fn)
        place, step = made[0] if made is not None else site, self.watcher.step

        def tell(numbers: list[float]) -> None:
            below = numbers[0] < -1e-3  # beyond rounding
            fact = Divergence(name=name, value=numbers[0], below=below, closed_form=closed)
            self.watcher.state(fact, site=place, step=step, key=(place, below))

        self.watcher.read(measured.detach().reshape(1).float(), tell)
