"""`assert_learns`: can the model fit one batch, down to what the loss allows?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer

from paramedic.findings import Finding
from paramedic.testing.case import Case
from paramedic.testing.diagnosis import VAGUE, causes
from paramedic.testing.examine import findings_of
from paramedic.testing.failure import Cause, CheckFailed, cause_of
from paramedic.testing.fitting import Fit, adam, fit
from paramedic.testing.floor import floor_of, guess_of
from paramedic.testing.restore import restored
from paramedic.testing.symptoms import symptoms

RATES = (3e-3, 3e-2, 3e-4)
WATCHED = 40  # steps that the rules are shown
ALWAYS = ("PM308", "PM303")  # a batch of which all samples are one
BAD_START = 3  # times the loss of guessing, before the first step: such a fault is worth fixing even if it is overcome
PATIENCE = 4  # times as many steps where the loss is still falling
MOST_OF_IT = 0.7  # of the way to the floor: enough where nothing is known to be wrong
SETTLING = 300  # forward passes that running statistics are given to arrive


def assert_learns(
    model: nn.Module, loss: object, batch: object, *, optimizer: Optimizer | None = None, steps: int = 300
) -> None:
    """The model fits this batch: the loss comes near its own floor, which is found by training outputs alone.

    `loss(output, target)` is the loss function, `batch` is (inputs …, target). Dropout is off. With `optimizer`, that
    one must bring the loss down; if it is merely slow, Adam may finish. Fails also where the rules see a fault at the
    loss or in the model although the loss falls. The failure names the cause.
    """
    __tracebackhide__ = True
    case = Case(model, loss, batch)
    with restored(model, optimizer):
        floor = floor_of(case)
        if floor == float("-inf"):
            raise CheckFailed("assert_learns", "the loss has no floor: it can be made as small as one likes", [_sign()])
        guess, floor = guess_of(case, floor)
    found = _watched(case, optimizer)
    # Where the rules have found a fault already, there is no point in giving it all the time in the world.
    result = _train(case, optimizer, steps, guess, floor, patient=not _faults(found))
    if result.reached:
        wrong = _wrong(case, found, result)
        if wrong:
            raise CheckFailed("assert_learns", f"the loss comes down to {result.end:.4g}, and yet:", wrong)
        _check_evaluation(case, optimizer, result, steps)
        return
    known = causes(case, optimizer, result, found, steps)
    if result.progress > MOST_OF_IT and all(cause.code in VAGUE for cause in known):
        return  # a small model, or one that may not see all of a noisy input: no fault that anybody could name
    words = f"after {len(result.losses)} steps on one batch the loss is {result.end:.4g}; guessing gives"
    what = f"{words} {guess:.4g}, and {floor:.4g} is possible"
    raise CheckFailed("assert_learns", what, known)


def _wrong(case: Case, found: tuple[Finding, ...], result: Fit) -> list[Cause]:
    """Faults that do not keep the loss from falling, or that only another optimizer could overcome."""
    with restored(case.model):
        seen = symptoms(case)
    bad_start = result.start > BAD_START * result.guess > 0
    return _faults(found) + [cause for cause in seen if not result.easily or bad_start or cause.code in ALWAYS]


def _faults(found: tuple[Finding, ...]) -> list[Cause]:
    return [cause_of(f) for f in found if f.severity == "error" and f.confidence >= 0.85]


def _watched(case: Case, optimizer: Optimizer) -> tuple[Finding, ...]:
    with restored(case.model, optimizer):
        chosen = optimizer or _own(case.model, RATES[0])
        return findings_of(lambda: fit(case, chosen, WATCHED, guess=float("inf"), floor=float("-inf")))


def _train(case: Case, optimizer: Optimizer, steps: int, guess: float, floor: float, *, patient: bool) -> Fit:
    """With the given optimizer; and where that is only slow, or none was given, with Adam."""
    best: Fit | None = None
    if optimizer is not None:
        with restored(case.model, optimizer):
            best = fit(case, optimizer, steps, guess=guess, floor=floor)
        if best.reached or not best.is_moving:
            return best
    tried: list[tuple[Fit, float]] = []
    for rate in RATES if patient or best is None else ():
        with restored(case.model):
            tried.append((fit(case, _own(case.model, rate), steps, guess=guess, floor=floor), rate))
        if tried[-1][0].reached:
            return replace(tried[-1][0], easily=optimizer is None)
    found, rate = min(
        tried, key=lambda one: one[0].end if one[0].end == one[0].end else float("inf"), default=(best, 0.0)
    )
    assert found is not None
    if patient and found.is_moving and tried:
        with restored(case.model):
            found = fit(case, _own(case.model, rate), PATIENCE * steps, guess=guess, floor=floor)
        return replace(found, easily=optimizer is None)
    return found


def _own(model: nn.Module, rate: float) -> object:
    if not any(p.requires_grad for p in model.parameters()):
        cause = Cause(code="PM404", what="no parameter has requires_grad", remedy="unfreeze what is to be trained")
        raise CheckFailed("assert_learns", "there is nothing to train", [cause])
    return adam(model, rate)


def _check_evaluation(case: Case, optimizer: Optimizer, result: Fit, steps: int) -> None:
    """What was learnt in training mode must be there in evaluation mode, once running statistics had time to settle."""
    norms = [m for m in case.model.modules() if getattr(m, "running_mean", None) is not None]
    if not norms:
        return
    with restored(case.model, optimizer):
        chosen = optimizer or _own(case.model, RATES[0])
        fit(case, chosen, steps, guess=result.guess, floor=result.floor)
        for _ in _until_settled(norms):
            with torch.no_grad():
                case.compute()
        case.model.eval()
        with torch.no_grad():
            value = float(case.compute())
    if value > result.goal + 0.5 * (result.guess - result.floor):
        raise CheckFailed(
            "assert_learns",
            f"learnt in training mode (loss {result.end:.4g}), lost in evaluation mode ({value:.4g} on the same batch)",
            [_stale(case.model)],
        )


def _until_settled(norms: list[Any]) -> Iterator[int]:
    momenta = [m.momentum for m in norms if m.momentum]
    needed = int(5 / min(momenta)) if momenta else SETTLING
    return iter(range(min(needed, SETTLING)))


def _stale(model: nn.Module) -> Cause:
    for path, module in model.named_modules():
        momentum = getattr(module, "momentum", None)
        if getattr(module, "running_mean", None) is not None and momentum is not None and momentum < 1e-3:
            return Cause(
                what=f"{type(module).__name__} has momentum {momentum:g}: its running statistics never follow the data",
                remedy="momentum=0.1 (torch's momentum is the weight of the new batch)",
                where=path,
            )
    return Cause(
        what="running statistics of a norm layer, or another difference between train() and eval()",
        remedy="compare the outputs of both modes layer by layer",
    )


def _sign() -> Cause:
    return Cause(
        code="PM516",
        what="training the outputs alone drives the loss towards minus infinity",
        remedy="look at its sign: likelihoods are maximised, losses minimised",
    )
