"""The loss of one batch after parts and multiples of the very update that the optimizer has just made."""

from __future__ import annotations

import math

import torch

from paramedic.aliases import Fields
from paramedic.capture.apart.gradients import gradients
from paramedic.capture.step.step import NotAgain, Step
from paramedic.record.facts import TRIED

Moved = list[tuple[torch.Tensor, torch.Tensor]]  # parameters as they are now, and what they were before the update


def tried(step: Step, moved: Moved, before: float) -> Fields | None:
    """None where these statements call no model. For a forked process: it overwrites the parameters."""
    updates = [parameter.detach() - old for parameter, old in moved]
    _put(moved, updates, 0.0)
    loss = step.whole()
    if not step.answers:
        return None
    parameters = [parameter for parameter, _ in moved]
    found = gradients(loss, parameters)
    slopes = [torch.zeros_like(p) if slope is None else slope for p, slope in zip(parameters, found, strict=True)]
    losses = []
    for factor in TRIED:
        _put(moved, updates, factor)
        losses.append(_number(float(step.whole().detach())))
    _put(moved, updates, 0.0)
    if float(step.whole().detach()) != float(loss.detach()):
        raise NotAgain("the step gives another loss when it is run a second time")
    weights = [old for _, old in moved]
    size, weight, steep = _norm(updates), _norm(weights), _norm(slopes)
    return {
        "loss": float(loss.detach()),
        "same": abs(float(loss.detach()) - before) <= 1e-5 * max(abs(before), 1e-30),
        "losses": losses,
        "slope": _number(_along(slopes, updates)),
        "downhill": _number(-_along(slopes, updates) / max(size * steep, 1e-300)),
        "size": _number(size / max(weight, 1e-300)),
        "towards_zero": _number(-_along(weights, updates) / max(size * weight, 1e-300)),
    }


def _put(moved: Moved, updates: list[torch.Tensor], factor: float) -> None:
    with torch.no_grad():
        for (parameter, before), update in zip(moved, updates, strict=True):
            parameter.copy_(before + factor * update)


def _along(a: list[torch.Tensor], b: list[torch.Tensor]) -> float:
    return sum(float((x.detach().double() * y.double()).sum()) for x, y in zip(a, b, strict=True))


def _norm(tensors: list[torch.Tensor]) -> float:
    return math.sqrt(sum(float(tensor.detach().double().square().sum()) for tensor in tensors))


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
