"""`assert_deterministic` and `assert_resumes`: the same start gives the same end."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer

from paramedic.findings.words import listed
from paramedic.testing.case import Case, as_call
from paramedic.testing.changing import distance, frozen_run
from paramedic.testing.failure import Cause, CheckFailed
from paramedic.testing.fitting import adam, advance
from paramedic.testing.restore import random_state, restored, seed_all


def assert_deterministic(model: nn.Module, inputs: object) -> None:
    """In evaluation mode the same inputs give the same outputs, bit by bit, whatever the random state."""
    __tracebackhide__ = True
    batch = as_call(inputs)
    with restored(model), torch.no_grad():
        first, again, other = (frozen_run(model, batch, seed) for seed in (0, 0, 1))
        seed_all(0)
        before = random_state()[2]
        frozen_run(model, batch, 0)
        draws = not torch.equal(before, random_state()[2])
    same = all(distance(a, b) == 0 for a, b in zip(first, again, strict=True))
    gap = max((distance(a, b) for a, b in zip(first, other if same else again, strict=True)), default=0.0)
    if same and gap == 0:
        return
    if same or draws:
        cause = Cause(
            code="PM613",
            what="random numbers are drawn in evaluation mode",
            remedy="F.dropout(x, p, training=self.training), and no sampling in forward() when not self.training",
        )
    else:
        cause = Cause(
            code="PM901",
            what="the same inputs, weights and random state give different outputs: some operation varies",
            remedy="torch.use_deterministic_algorithms(True) names it",
        )
    raise CheckFailed("assert_deterministic", f"two runs in evaluation mode differ by {gap:.3g}", [cause])


def assert_resumes(
    model: nn.Module,
    loss: Any,
    batch: Any,
    *,
    optimizer: Any = None,
    save: Callable[[], Any] | None = None,
    load: Callable[[Any], None] | None = None,
) -> None:
    """Saved, loaded and continued gives the same losses as not interrupted.

    `save()` returns what is written to the checkpoint and `load(checkpoint)` reads it; by default the state dicts of
    the model and the optimizer. It goes through torch.save and torch.load.
    """
    __tracebackhide__ = True
    case = Case(model, loss, batch)
    with restored(model, optimizer):
        chosen = optimizer if optimizer is not None else adam(model, 1e-3)
        save = save or (lambda: {"model": model.state_dict(), "optimizer": chosen.state_dict()})
        load = load or (
            lambda found: (model.load_state_dict(found["model"]), chosen.load_state_dict(found["optimizer"]))[0]
        )
        _losses(case, chosen, 3, seed=0)
        saved = _held(model)
        buffer = io.BytesIO()
        torch.save(save(), buffer)
        expected = _losses(case, chosen, 3, seed=1)
        _spoil(model, chosen)
        buffer.seek(0)
        load(torch.load(buffer, weights_only=False))  # it was written a moment ago, by the caller's own save()
        lost = [name for name, value in _held(model).items() if name in saved and not _same(value, saved[name])]
        resumed = _losses(case, chosen, 3, seed=1)
    differ = [n for n, (a, b) in enumerate(zip(expected, resumed, strict=True)) if a != b and not (a != a and b != b)]
    if not differ:
        return
    step = differ[0]
    raise CheckFailed(
        "assert_resumes",
        f"{step + 1} steps after loading the loss is {resumed[step]:.7g}, without interruption {expected[step]:.7g}",
        [_lacking(model, lost)],
    )


def _held(model: nn.Module) -> dict[str, object]:
    """What a model's outputs may depend on: its tensors, and numbers that its modules keep as plain attributes."""
    tensors = {
        name: t.detach().clone() for name, t in model.state_dict(keep_vars=True).items() if isinstance(t, torch.Tensor)
    }
    plain = {
        f"{path}.{name}".lstrip("."): value.detach().clone() if isinstance(value, torch.Tensor) else value
        for path, module in model.named_modules()
        for name, value in vars(module).items()
        if isinstance(value, (int, float, torch.Tensor)) and name != "training"
    }
    return plain | tensors


def _same(one: object, other: object) -> bool:
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return one.shape == other.shape and torch.equal(one.nan_to_num(), other.nan_to_num())
    return one is other or one == other


def _lacking(model: nn.Module, lost: list[str]) -> Cause:
    """What was not there again after loading; the optimizer's state where the model is as it was."""
    shown = listed(lost)
    if lost and not any(name in model.state_dict() for name in lost):
        what = f"{shown}: attributes that change in training and are not in the model's state_dict()"
        remedy = 'keep such values as buffers: self.register_buffer("name", torch.tensor(0.0))'
    elif lost:
        what, remedy = f"weights or buffers: {shown}", "save and load the state_dict() of the whole model"
    else:
        what = "the optimizer's state (momentum, Adam's averages), learning rate or scheduler"
        remedy = "save and load the state_dict() of all of them"
    return Cause(code="PM609", what=f"the checkpoint lacks {what}", remedy=remedy)


def _losses(case: Case, optimizer: Optimizer, steps: int, *, seed: int) -> list[float]:
    seed_all(seed)
    found = []
    for _ in range(steps):
        optimizer.zero_grad(set_to_none=True)
        loss = case.compute()
        loss.backward()
        advance(optimizer, case)
        found.append(float(loss.detach()))
    return found


def _spoil(model: nn.Module, optimizer: Optimizer) -> None:
    """As in a new process: other weights, an empty optimizer."""
    with torch.no_grad():
        for tensor in (*model.parameters(), *model.buffers()):
            if tensor.dtype.is_floating_point:
                tensor.add_(torch.rand_like(tensor) + 0.1)
    optimizer.state.clear()
