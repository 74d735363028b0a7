"""Calls of torch's loss functions: the contract between predictions and targets."""

from __future__ import annotations

import inspect
import weakref
from collections import Counter
from dataclasses import replace

import torch
from torch.nn import functional as F

from paramedic.aliases import Args, Fields, Function, Kwargs
from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.class_weights import class_weights, leaves_classes_out
from paramedic.capture.facts import VALUE_NAMES, describe, readable, sample, values, wide
from paramedic.capture.failures import call_in_traceback
from paramedic.capture.graph import producer, serial
from paramedic.capture.nearby import nearby
from paramedic.capture.padding import TAIL_NAMES, as_sequences, tails
from paramedic.capture.sources.branches import SUM_NAMES, branches, row_sums
from paramedic.capture.sources.module_calls import ModuleCalls
from paramedic.capture.watcher import Watcher
from paramedic.program.where import user_site
from paramedic.record.facts import BadLabels, KLDiv, Labels, LossCall, LossValues, NoLabels, Padding
from paramedic.record.site import MadeAt
from paramedic.record.writer import NOWHERE, Site

LOSSES = (
    "cross_entropy", "nll_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits", "mse_loss", "l1_loss",
    "smooth_l1_loss", "huber_loss", "kl_div", "multilabel_soft_margin_loss", "soft_margin_loss",
    "multi_margin_loss", "poisson_nll_loss", "gaussian_nll_loss",
)  # fmt: skip
SYMMETRIC = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
CLASS_LOSSES = ("cross_entropy", "nll_loss", "multi_margin_loss")
CALLS_PER_SITE = 16  # examined; then every 32nd, and in the long run every doubling
LABEL_STEPS = 400  # batches whose labels are counted
MOST_CLASSES = 1_000

Place = tuple[Site, bool]  # the line, and whether gradients are on


class Losses:
    """Examines the first calls at every place where a loss is computed."""

    def __init__(self, watcher: Watcher, calls: ModuleCalls) -> None:
        self.watcher = watcher
        self.calls = calls
        self._seen: Counter[Place] = Counter()
        self._label_batches: Counter[Place] = Counter()
        self.results: dict[int, str] = {}  # this cycle's loss values, by the serial numbers of their nodes
        self._sites: dict[str, Site] = {}  # where each function was called last
        self._quick_checks = 0  # calls while matching
        self._overdue = False
        self._inside = False
        self._phase = "train"
        self._last: tuple[str, Site, int, weakref.ref[torch.Tensor], weakref.ref[torch.Tensor]] | None = None

    def install(self) -> None:
        for name in LOSSES:
            self._watch(name)

    @on(moments.step_taken, moments.round_over)
    def _forget(self) -> None:
        self.results.clear()

    def _after(self, name: str, result: object) -> None:
        if not isinstance(result, torch.Tensor):
            return
        if result.grad_fn is not None:
            self.results[serial(result.grad_fn)] = name
            self.watcher.bus.tell(moments.loss_computed, name, result)
            if name == "kl_div" and result.dim() == 0:
                self._tell_divergence(result)
        elif result.dim() == 0 and not torch.is_grad_enabled() and readable(result):
            site, step = user_site(), self.watcher.step
            series = f"eval_loss:{site.file}:{site.line}"

            def use(found: list[float]) -> None:
                self.watcher.writer.point(series, step, found[0])
                self.watcher.bus.tell(moments.loss_measured, result, found[0])

            self.watcher.read(result.detach().reshape(1).float(), use)

    def _tell_divergence(self, result: torch.Tensor) -> None:
        site, step = user_site(), self.watcher.step

        def use(numbers: list[float]) -> None:
            below = numbers[0] < -1e-6
            data = KLDiv(value=numbers[0], below=below)
            self.watcher.state(data, site=site, step=step, key=("kl_div", site, below))

        self.watcher.read(result.detach().reshape(1).float(), use)

    @on(moments.run_failed)
    def tell_last(self, error: BaseException) -> None:
        """The script has failed: were the labels of its last loss call to blame?"""
        failed = call_in_traceback(error, CLASS_LOSSES)
        if failed is not None:
            name, site, given = failed
            x, labels, ignored = given.get("input"), given.get("target"), given.get("ignore_index", -100)
        elif self._last is not None:
            name, site, ignored, prediction, target = self._last
            x, labels = prediction(), target()
        else:
            return
        if not isinstance(x, torch.Tensor) or not isinstance(labels, torch.Tensor) or x.dim() == 0:
            return
        if labels.device.type != "cpu" or not readable(labels):
            return
        if name in CLASS_LOSSES and not labels.dtype.is_floating_point:
            self._check_range(name, site, labels, x.shape[_class_dimension(name, x)], int(ignored), "mean")

    def function_of(self, loss: torch.Tensor) -> str | None:
        """The loss function whose value this is, perhaps multiplied by a number; None for a sum of several."""
        node = loss.grad_fn
        while node is not None and serial(node) not in self.results:
            inputs = [following for following, _ in node.next_functions if following is not None]
            scaling = type(node).__name__ in ("MulBackward0", "DivBackward0", "ViewBackward0", "SqueezeBackward0")
            node = inputs[0] if scaling and len(inputs) == 1 else None
        return self.results.get(serial(node)) if node is not None else None

    @property
    def last_site(self) -> Site:
        """The user's line that called a loss function last."""
        return self._last[1] if self._last is not None else NOWHERE

    def is_direct(self, loss: torch.Tensor) -> bool:
        """Whether the value of a loss function is used as it came, not multiplied or divided by anything."""
        return loss.grad_fn is not None and serial(loss.grad_fn) in self.results

    def _watch(self, name: str) -> None:
        signature = inspect.signature(getattr(F, name))

        def watched(original: Function) -> Function:
            def loss(*args: object, **kwargs: object) -> torch.Tensor:
                if self._inside:  # torch's own dispatch comes through here a second time
                    return original(*args, **kwargs)
                if not self.watcher.gears.examining:
                    self.watcher.gears.turns.called()
                if self.watcher.gears.matching and self._quick_check(name, args, kwargs):
                    result = original(*args, **kwargs)
                    if not torch.is_grad_enabled():
                        self.watcher.ask("losses", self._after, name, result)
                    return result
                self._inside = True
                try:
                    self.watcher.ask("losses", self._before, name, signature, args, kwargs)
                    result = original(*args, **kwargs)
                finally:
                    self._inside = False
                if self.watcher.gears.examining or not torch.is_grad_enabled():
                    self.watcher.ask("losses", self._after, name, result)
                return result

            return loss

        self.watcher.patches.wrap(F, name, watched, light=True)

    def _quick_check(self, name: str, args: Args, kwargs: Kwargs) -> bool:
        """While matching: remember the call in case it is the one that fails. Returns whether that is enough."""
        self._quick_checks += 1
        if self._quick_checks % 32 == 0 and (self._quick_checks <= 1024 or self.watcher.gears.affordable()):
            self._overdue = True
            return False
        if len(args) > 1 and isinstance(args[0], torch.Tensor) and isinstance(args[1], torch.Tensor):
            ignored = kwargs.get("ignore_index", -100)
            self._last = (name, self._sites.get(name, NOWHERE), ignored, weakref.ref(args[0]), weakref.ref(args[1]))
        return True

    def _before(self, name: str, signature: inspect.Signature, args: Args, kwargs: Kwargs) -> None:
        site = user_site()
        place = (site, torch.is_grad_enabled())
        self._seen[place] += 1
        overdue, self._overdue = self._overdue, False
        self._sites[name] = site
        given = signature.bind(*args, **kwargs).arguments
        prediction, target = given.get("input"), given.get("target")
        self.calls.fates.used_as("loss", grad=isinstance(prediction, torch.Tensor) and prediction.requires_grad)
        if not isinstance(prediction, torch.Tensor) or not isinstance(target, torch.Tensor):
            return
        if name in SYMMETRIC and target.requires_grad and not prediction.requires_grad:
            prediction, target = target, prediction  # mse_loss(x, model(x)): the order means nothing
        self._phase = self.watcher.phase()
        self._last = (name, site, given.get("ignore_index", -100), weakref.ref(prediction), weakref.ref(target))
        due = overdue or _is_due(self._seen[place]) or (self.watcher.gears.examining and self._phase == "train")
        if not (due or self.watcher.gears.affordable()):
            return
        with torch.no_grad():
            if name in CLASS_LOSSES and not target.dtype.is_floating_point:
                self._count_labels(name, site, place, prediction, target, given)
            elif name == "binary_cross_entropy_with_logits" or name == "binary_cross_entropy":
                self._count_binary(name, site, place, prediction, target)
            if due:
                self._examine(name, site, given, prediction, target)

    def _examine(self, name: str, site: Site, given: Kwargs, prediction: torch.Tensor, target: torch.Tensor) -> None:
        step, phase = self.watcher.step, self._phase
        self.watcher.bus.tell(moments.loss_called, name, prediction, target)
        made_by = producer(prediction.grad_fn)
        maker = self.calls.outputs.maker(prediction)
        made = self.watcher.known.ops.activations.made(prediction)
        call = LossCall(
            function=name,
            input=describe(prediction, made_by=type(made_by).__name__ if made_by is not None else None),
            target=describe(target),
            reduction=given.get("reduction", "mean"),
            ignore_index=int(given.get("ignore_index", -100)) if name in CLASS_LOSSES else None,
            log_target=bool(given.get("log_target", False)),
            log_input=bool(given.get("log_input", True)) if name == "poisson_nll_loss" else None,
            smoothing=float(given.get("label_smoothing", 0.0)),
            weighted=given.get("weight") is not None or given.get("pos_weight") is not None,
            maker=maker,
            target_maker=self.calls.outputs.maker(target),
            made_at=MadeAt(made.op, *made.site) if made is not None else None,
            built_at=self.calls.loss_site(),
            reconstructs=target.dtype.is_floating_point
            and name == "cross_entropy"
            and self.calls.inputs.is_input(target),
            **branches(prediction, target),
        )
        path = maker.partition(" ")[0] if maker else None
        if not (readable(prediction) and readable(target)):
            self.watcher.state(call, site=site, module=path, phase=phase)
            return
        classes = _class_dimension(name, prediction)
        parts = [values(prediction), values(target), _rows(prediction, classes), _beyond(target), _spread(target)]
        parts.append(row_sums(target, min(classes, target.dim() - 1)))
        parts.append(class_weights(given))
        numbers = torch.cat([part.to(prediction.device) for part in parts])
        names = [f"input_{n}" for n in VALUE_NAMES] + [f"target_{n}" for n in VALUE_NAMES]
        names += [*ROW_NAMES, *BEYOND_NAMES, "target_spread", *SUM_NAMES]

        def use(found: list[float]) -> None:
            known = LossValues(**dict(zip(names, found, strict=False)))
            measured = replace(call, values=known, class_weights=found[len(names) :])
            self.watcher.state(measured, site=site, module=path, phase=phase, step=step)

        self.watcher.read(numbers, use)

    def _count_labels(
        self,
        name: str,
        site: Site,
        place: Place,
        prediction: torch.Tensor,
        target: torch.Tensor,
        given: Kwargs,
    ) -> None:
        if not readable(target):
            return
        ignored = int(given.get("ignore_index", -100))
        classes = prediction.shape[_class_dimension(name, prediction)]
        self._check_range(name, site, target, classes, ignored, str(given.get("reduction", "mean")))
        self._label_batches[place] += 1
        if self._label_batches[place] > LABEL_STEPS or classes > MOST_CLASSES:
            return
        kept = target.reshape(-1)
        in_range = (kept >= 0) & (kept < classes) & (kept != ignored)
        if given.get("reduction", "mean") != "none":
            if not leaves_classes_out(given.get("weight")):
                self._look_at_padding(site, target, prediction, ignored)
            self.watcher.bus.tell(moments.labels_seen, site, target, prediction, ignored)
        counts = _count(torch.where(in_range, kept, classes).long(), classes + 1)
        dimension = _class_dimension(name, prediction)
        guesses = sample(prediction).argmax(dimension).reshape(-1)
        self._tell_labels(site, torch.cat([counts, _count(guesses, classes)]), classes)

    def _look_at_padding(self, site: Site, target: torch.Tensor, prediction: torch.Tensor, ignored: int) -> None:
        labels = as_sequences(target, prediction)
        if labels is None or labels.shape[1] < 3:
            return
        if labels.device.type == "cpu" and bool((labels[:, -1] == ignored).all()):
            labels = labels[:, :-1]  # shifted inside the model, which leaves the last place without a label
        inputs = self.calls.inputs.sequence()
        if inputs is None:  # a loss inside the model comes before its inputs
            inputs = self.watcher.known.embedded()
        step, phase, total = self.watcher.step, self._phase, target.numel()

        def use(found: list[float]) -> None:
            tail: Fields = dict(zip(TAIL_NAMES, found, strict=True))
            if tail["padded_rows"] and tail["agreeing"]:
                padding = Padding(**tail, ignore_index=ignored, total=total)
                self.watcher.state(padding, site=site, phase=phase, step=step)

        self.watcher.read(tails(labels, inputs), use)

    def _count_binary(
        self, name: str, site: Site, place: Place, prediction: torch.Tensor, target: torch.Tensor
    ) -> None:
        self._label_batches[place] += 1
        columns = prediction.shape[-1] if prediction.dim() > 1 else 1
        if self._label_batches[place] > LABEL_STEPS or columns > 1 or not (readable(target) and readable(prediction)):
            return
        positive = (target > 0.5).sum()
        threshold = 0.0 if name.endswith("logits") else 0.5
        guessed = (prediction > threshold).sum()
        zero = torch.zeros_like(positive)
        negative, others = target.numel() - positive, prediction.numel() - guessed
        self._tell_labels(site, torch.stack([negative, positive, zero, others, guessed.to(positive)]), 2)

    def _tell_labels(self, site: Site, numbers: torch.Tensor, classes: int) -> None:
        step, phase = self.watcher.step, self._phase

        def use(found: list[float]) -> None:
            counts = [int(n) for n in found]
            self.watcher.state(
                Labels(
                    classes=classes,
                    counts={str(i): n for i, n in enumerate(counts[:classes]) if n},
                    left_out=counts[classes],
                    guessed={str(i): n for i, n in enumerate(counts[classes + 1 :]) if n},
                ),
                site=site,
                phase=phase,
                step=step,
            )

        self.watcher.read(numbers, use)

    def _check_range(
        self, name: str, site: Site, target: torch.Tensor, classes: int, ignored: int, reduction: str
    ) -> None:
        """Before the call: a label out of range ends the script, on an accelerator without saying which."""
        target = target if (near := nearby(self.watcher, target)) is None else near
        wrong = ((target < 0) | (target >= classes)) & (target != ignored)
        step, phase = self.watcher.step, self._phase
        low, high = target.min(), target.max()
        first_wrong = torch.where(wrong, target, low).max()
        last_wrong = torch.where(wrong, target, high).min()
        left_out = (target == ignored).sum()

        def use(found: list[float]) -> None:
            count, lowest, highest, most, least, ignored_count, total = (int(n) for n in found)
            shared: Fields = {"function": name, "classes": classes, "ignore_index": ignored, "total": total}
            if count:
                self.watcher.state(
                    BadLabels(**shared, bad=count, min=lowest, max=highest, wrong=sorted({least, most})),
                    site=site,
                    phase=phase,
                    step=step,
                )
                self.watcher.writer.flush()  # the next thing to happen may be a crash
            if ignored_count == total:
                data = NoLabels(**shared, reduction=reduction)
                self.watcher.state(data, site=site, phase=phase, step=step, key=site)

        total = torch.full((), target.numel(), device=target.device)
        self.watcher.read(torch.stack([wrong.sum(), low, high, first_wrong, last_wrong, left_out, total]), use)


BEYOND_NAMES = ("below_0", "below_minus_1", "above_1")
ROW_NAMES = ("rows", "row_sum_min", "row_sum_max", "row_exp_min", "row_exp_max", "row_spread")


def _count(values: torch.Tensor, size: int) -> torch.Tensor:
    """How often each of 0 … size-1 occurs. bincount would wait for an accelerator to learn its result's size."""
    if values.device.type == "cpu":
        return torch.bincount(values, minlength=size)
    return torch.zeros(size, dtype=torch.int64, device=values.device).index_add_(0, values, torch.ones_like(values))


def _beyond(target: torch.Tensor) -> torch.Tensor:
    """Shares of the targets that lie clearly outside of the usual ranges of activations."""
    x = wide(sample(target))
    return torch.stack([(x < -0.02).double().mean(), (x < -1.02).double().mean(), (x > 1.02).double().mean()]).to(x)


def _spread(target: torch.Tensor) -> torch.Tensor:
    """How much the samples' targets differ, column by column: the error of a model that knows only their mean."""
    x = wide(sample(target))
    if x.dim() == 0 or x.shape[0] < 2:
        return x.new_full((1,), -1.0)
    return x.var(0, correction=0).mean().sqrt().reshape(1)


def _is_due(count: int) -> bool:
    return count <= CALLS_PER_SITE or (count <= 1024 and count % 32 == 0) or count & (count - 1) == 0


def _class_dimension(name: str, prediction: torch.Tensor) -> int:
    return 1 if name in CLASS_LOSSES and prediction.dim() > 1 else prediction.dim() - 1


def _rows(prediction: torch.Tensor, dimension: int) -> torch.Tensor:
    """How the values of one sample add up, plainly and as exponentials; and how much samples differ."""
    x = wide(sample(prediction))
    if x.dim() == 0:
        x = x.reshape(1)
        dimension = 0
    sums, exps = x.sum(dimension), x.exp().sum(dimension)
    rows = x.movedim(dimension, -1).reshape(-1, x.shape[dimension])
    # Numbers are made on the device: to copy one there from ordinary memory would mean to wait for it.
    spread = rows.std(0, correction=0).max() if rows.shape[0] > 1 else x.new_full((), -1.0)
    count = x.new_full((), rows.shape[0])
    return torch.stack([t.to(x) for t in (count, sums.min(), sums.max(), exps.min(), exps.max(), spread)])
