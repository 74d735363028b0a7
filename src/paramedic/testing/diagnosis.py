"""Differential diagnosis: why can this model not learn this batch?

First what paramedic's rules find in a few watched steps and what one step shows; then experiments, one change each: the
change that makes it learn names the cause.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch.optim import Optimizer

from paramedic.findings import Finding
from paramedic.program.tensors import tensors_in
from paramedic.testing.case import Case, Step
from paramedic.testing.failure import Cause, cause_of
from paramedic.testing.fitting import Fit, fit, rebuilt
from paramedic.testing.restore import restored
from paramedic.testing.symptoms import symptoms

# Findings that say only that it does not learn, not why.
VAGUE = ("PM207", "PM209", "PM210", "PM213", "PM214", "PM206", "PM202", "PM201")

HIGHEST_RATE = 10.0  # that is worth a try


def causes(case: Case, optimizer: Optimizer, failed: Fit, found: tuple[Finding, ...], steps: int) -> list[Cause]:
    """Causes of a training that did not learn; the likeliest first."""
    telling = [cause_of(f) for f in found if f.code not in VAGUE]
    errors = [cause_of(f) for f in found if f.code not in VAGUE and f.severity == "error"]
    if errors:
        return errors[:2]
    seen: list[Cause] = []
    with contextlib.suppress(Exception), restored(case.model):
        seen = symptoms(case)
    for known in (seen, telling):
        if known:
            return known[:2]
    tried = next(experiments(case, optimizer, failed, steps), None) if optimizer is not None else None
    if tried is not None:
        return [tried]
    return [cause_of(f) for f in found][:1] or [_unknown(failed)]


def experiments(case: Case, optimizer: Optimizer, failed: Fit, steps: int) -> Iterator[Cause]:
    """One change each; those that make it learn."""

    def learns(changed: object, other: Case = case) -> bool:
        with restored(case.model, changed):
            again = fit(other, changed, steps, guess=failed.guess, floor=failed.floor)
            return again.reached or again.progress > max(0.5, 3 * failed.progress)

    def learns_at(factor: float) -> bool:
        return learns(rebuilt(optimizer, lr=lambda lr: lr * factor))

    rates = sorted({float(group["lr"]) for group in optimizer.param_groups if "lr" in group})
    for factor, code, word, verb in (
        (0.1, "PM205", "high", "lower"), (0.01, "PM205", "high", "lower"),
        *((10.0**power, "PM206", "low", "raise") for power in (1, 2, 3, 4)),
    ):  # fmt: skip
        if rates and rates[-1] * factor <= HIGHEST_RATE and _tried(partial(learns_at, factor)):
            yield Cause(
                code=code,
                what=f"with a learning rate of {rates[-1] * factor:g} instead of {rates[-1]:g} it learns",
                remedy=f"{verb} the learning rate: {rates[-1]:g} is too {word}",
            )
            return
    decay = max((float(group.get("weight_decay", 0.0)) for group in optimizer.param_groups), default=0.0)
    if decay and _tried(lambda: learns(rebuilt(optimizer, weight_decay=lambda _: 0.0))):
        yield Cause(
            code="PM217",
            what=f"without weight decay ({decay:g}) it learns",
            remedy="a weight decay of 0.01 with AdamW, 1e-4 otherwise, or none",
        )
        return
    scaled = _standardised(case)
    if scaled is not None and _tried(lambda: learns(rebuilt(optimizer), scaled)):
        yield Cause(
            code="PM301",
            what="with inputs scaled to mean 0 and standard deviation 1 it learns",
            remedy="normalise the inputs before the model",
        )


def _tried(experiment: Callable[[], bool]) -> bool:
    """An experiment that cannot be done says nothing."""
    try:
        return experiment()
    except Exception:
        return False


def _standardised(case: Case) -> Case | None:
    """The same case with inputs of mean 0 and standard deviation 1."""
    if isinstance(case.loss, Step) or not isinstance(case.batch, (tuple, list)):
        return None
    *inputs, target = case.batch
    floats = [t for _, t in tensors_in(inputs) if t.dtype.is_floating_point]
    if not floats or not all(isinstance(item, torch.Tensor) for item in inputs):
        return None
    scaled = [(t - t.mean()) / t.std().clamp(min=1e-12) if t.dtype.is_floating_point else t for t in inputs]
    return Case(case.model, case.loss, (*scaled, target))


def _unknown(failed: Fit) -> Cause:
    return Cause(
        code="PM214",
        what=f"one batch cannot be fitted: guessing gives {failed.guess:.4g}, it stays at {failed.end:.4g}",
        remedy="paramedic diagnose train.py: it changes one thing at a time around the whole script",
    )
