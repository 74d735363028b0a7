"""Predictions compared with labels: over the right axis, and one with one?"""

from __future__ import annotations

import weakref
from typing import NamedTuple

import torch

from paramedic.aliases import Args, Function, Kwargs
from paramedic.capture import moments
from paramedic.capture.bus import on, on_call_of
from paramedic.capture.class_numbers import classes
from paramedic.capture.facts import address, readable
from paramedic.capture.nearby import nearby
from paramedic.capture.probe import probe
from paramedic.capture.probes.evaluation.batch_averages import BatchAverages
from paramedic.capture.probes.evaluation.confusions import Confusions
from paramedic.capture.probes.evaluation.tallies import Tallies
from paramedic.capture.watcher import Watcher
from paramedic.program.where import user_frame, user_site
from paramedic.record.facts import (
    AnswersCompared,
    ArgmaxAcrossSamples,
    AverageOfAverages,
    BroadcastComparison,
    Confusion,
    CounterNotReset,
    FlatArgmax,
    ScoresCompared,
    Threshold,
    WrongDenominator,
)
from paramedic.record.writer import Site

T = torch.Tensor
_DECISIONS = [
    T.argmax, torch.argmax, T.round, torch.round, T.gt, T.__gt__, torch.gt, T.ge, T.__ge__, torch.ge, T.sign, torch.sign
]  # fmt: skip
_LARGEST = [T.max, torch.max, T.topk, torch.topk]
_ABOVE = [T.gt, T.__gt__, torch.gt, T.ge, T.__ge__, torch.ge, T.round, torch.round]
_CASTS = [T.float, T.long, T.int, T.bool, T.double, T.to, T.detach, T.cpu, T.type]
_EQUAL = [T.eq, T.__eq__, torch.eq, T.ne, T.__ne__, torch.ne]
MOST_VALUES = 1_000_000  # that are read at one place


class Decision(NamedTuple):
    """How scores became answers."""

    how: str
    flattened: list[int] | None = None  # of an argmax over everything: the scores' shape
    across: ArgmaxAcrossSamples | None = (
        None  # of an argmax over the first axis: what went in, and the module that made it
    )
    broken: torch.Tensor | None = None  # of the largest scores themselves: whether they have broken parts


@probe(
    "metrics",
    states=[
        AnswersCompared,
        ArgmaxAcrossSamples,
        AverageOfAverages,
        BroadcastComparison,
        Confusion,
        CounterNotReset,
        FlatArgmax,
        ScoresCompared,
        Threshold,
        WrongDenominator,
    ],
)
class Metrics:
    """Follows decisions (argmax, round, a threshold) to the comparison with the labels."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.ops = watcher.known.ops
        self.confusions = Confusions(watcher)
        self._decided: dict[int, tuple[weakref.ref[torch.Tensor], Decision]] = {}
        self._tallies, self._averages = Tallies(watcher), BatchAverages(watcher)

    @on(moments.step_taken, moments.round_over)
    def _forget(self) -> None:
        self._decided.clear()

    def install(self) -> None:
        self._tallies.install()

    def _remember(self, tensor: torch.Tensor, decision: Decision) -> None:
        if len(self._decided) < 10_000:
            self._decided[id(tensor)] = (weakref.ref(tensor), decision)

    def _known(self, value: object) -> Decision | None:
        known = self._decided.get(id(value))
        return known[1] if known is not None and known[0]() is value else None

    @on_call_of(*_DECISIONS)
    def _decide(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        if not isinstance(result, T) or not args or not isinstance(args[0], T):
            return
        scores, how = args[0], func.__name__.strip("_")
        flat = how == "argmax" and result.dim() == 0 and sum(n > 1 for n in scores.shape) > 1
        across = None
        if how == "argmax" and not flat and scores.dim() > 1 and _axis(args, kwargs) in (0, -scores.dim()):
            across = ArgmaxAcrossSamples(shape=list(scores.shape), maker=self.watcher.known.calls.outputs.maker(scores))
        self._remember(result, Decision(how, list(scores.shape) if flat else None, across))

    @on_call_of(*_LARGEST)
    def _largest(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        """torch.max(scores, 1) gives two things: the largest scores, and where they are."""
        scores = result[0] if isinstance(result, tuple) and len(result) == 2 else None
        if scores is None or torch.is_grad_enabled() or not scores.dtype.is_floating_point or not readable(scores):
            return
        if scores.dim() > 0 and scores.numel() <= MOST_VALUES:
            self._remember(scores, Decision("max", broken=(scores != scores.round()).any()))

    @on_call_of(*_ABOVE)
    def _threshold(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        """Outputs of a model are cut at one half, or rounded, although they leave the range of probabilities."""
        x = args[0] if args and isinstance(args[0], T) else None
        if (
            x is None
            or torch.is_grad_enabled()
            or not x.dtype.is_floating_point
            or self.watcher.known.calls.in_forward()
        ):
            return
        how = func.__name__.strip("_")
        half = how == "round" or (len(args) > 1 and isinstance(args[1], float) and args[1] == 0.5)
        maker = self.watcher.known.calls.outputs.maker(x) if half and readable(x) and x.numel() <= MOST_VALUES else None
        if maker is None:
            return
        site, step = user_site(), self.watcher.step

        def use(found: list[float]) -> None:
            if found[0] < 0 or found[1] > 1:
                data = Threshold(how=how, min=found[0], max=found[1], maker=maker)
                self.watcher.state(data, site=site, step=step, key=("threshold", site, maker))

        self.watcher.read(torch.stack([x.min(), x.max()]).float(), use)

    @on_call_of(*_CASTS)
    def _cast(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        if self._decided and isinstance(result, T):
            decision = self._known(args[0])
            if decision is not None:
                self._remember(result, decision)

    @on_call_of(*_EQUAL)
    def _compare(self, func: Function, args: Args, kwargs: Kwargs, result: torch.Tensor) -> None:
        if len(args) < 2 or not (isinstance(args[0], T) and isinstance(args[1], T)):
            return
        for mine, other in ((args[0], args[1]), (args[1], args[0])):
            decision = self._known(mine)
            if decision is None:
                continue
            if mine.shape == other.shape:
                self.watcher.guard.ask_within("tallies", self._tallies.compared, user_frame(), other)
                if not func.__name__.strip("_").startswith("n"):  # unequal ones are mistakes
                    self.watcher.guard.ask_within("batch_averages", self._averages.compared, user_frame(), result)
            site, flat = user_site(), decision.flattened
            if flat is not None and other.dim() == 1 and other.numel() in flat and other.numel() > 1:
                self.watcher.state(FlatArgmax(shape=flat, labels=other.numel()), site=site, key=("flat argmax", site))
            elif decision.broken is not None:
                self._compare_scores(site, decision.broken, mine, other)
            elif _pairs_up(mine, other, result):
                table = BroadcastComparison(a=list(mine.shape), b=list(other.shape), result=list(result.shape))
                self.watcher.state(table, site=site, key=("broadcast comparison", site))
            elif decision.across is not None and mine.shape == other.shape and decision.across.maker:
                self.watcher.state(decision.across, site=site, key=("argmax across samples", site))
            elif mine.shape == other.shape:
                self._one_with_one(site, decision, mine, other)
            return

    def _one_with_one(self, site: Site, decision: Decision, answers: torch.Tensor, labels: torch.Tensor) -> None:
        if decision.how == "argmax":
            self.confusions.compared(site, answers, labels)
        near = nearby(self.watcher, labels)
        if near is not None and (count := classes(near)) is not None:
            key = (decision.how, count)
            self.watcher.state(AnswersCompared(how=key[0], classes=count), site=site, key=key)

    def _compare_scores(self, site: Site, broken: torch.Tensor, mine: torch.Tensor, other: torch.Tensor) -> None:
        """The largest scores, not their places, against whole numbers."""
        if other.dtype.is_floating_point or other.dtype == torch.bool or mine.shape != other.shape:
            return

        def use(found: list[float]) -> None:
            if found[0]:
                data = ScoresCompared(labels=other.numel())
                self.watcher.state(data, site=site, key=("scores compared", site))

        self.watcher.read(broken.reshape(1).float(), use)


def _axis(args: Args, kwargs: Kwargs) -> int | None:
    axis = args[1] if len(args) > 1 else kwargs.get("dim", kwargs.get("axis"))
    return axis if isinstance(axis, int) else None


def _pairs_up(a: torch.Tensor, b: torch.Tensor, result: object) -> bool:
    """(N, 1) == (N,) gives (N, N): every prediction with every label."""
    if not isinstance(result, T) or a.dim() == b.dim() or result.numel() <= max(a.numel(), b.numel()):
        return False
    return [n for n in a.shape if n > 1] == [n for n in b.shape if n > 1] and address(a) != address(b)
