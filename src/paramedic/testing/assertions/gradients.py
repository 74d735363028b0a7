"""`assert_gradients`: the analytic gradient against the numerical one, in float64."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import nn

from paramedic.program.tensors import tensors_in
from paramedic.testing.case import as_call
from paramedic.testing.changing import changed
from paramedic.testing.failure import Cause, CheckFailed
from paramedic.testing.restore import restored


def assert_gradients(function: object, inputs: object, *, atol: float = 1e-5, rtol: float = 1e-3) -> None:
    """Gradients with respect to inputs and parameters agree with finite differences. For functions and modules."""
    __tracebackhide__ = True
    own = copy.deepcopy(function).double() if isinstance(function, nn.Module) else function
    batch = changed(as_call(inputs), lambda t: t.double() if t.dtype.is_floating_point else t)
    with restored(own if isinstance(own, nn.Module) else None):
        tensors = {f"input{path}": t for path, t in tensors_in(batch) if t.dtype.is_floating_point}
        if isinstance(own, nn.Module):
            own.eval()
            tensors |= {name: p for name, p in own.named_parameters() if p.requires_grad}
        for tensor in tensors.values():
            tensor.requires_grad_()
        for name, tensor in tensors.items():
            gap = _gap(own, batch, tensor, atol, rtol)
            if gap is not None:
                cause = Cause(
                    what=f"the gradient of {name} should be {gap[1]:.6g} and is {gap[0]:.6g} (a random direction)",
                    remedy="look at the backward() of custom autograd functions, at detach() and at .data",
                    where=name,
                )
                raise CheckFailed("assert_gradients", f"the gradient of {name} is wrong", [cause])


def _gap(function: Any, batch: Any, tensor: torch.Tensor, atol: float, rtol: float) -> tuple[float, float] | None:
    """Along a few random directions: what autograd says and what finite differences say, where they disagree."""
    args, kwargs = batch
    generator = torch.Generator().manual_seed(0)

    def value() -> torch.Tensor:
        outputs = [t for _, t in tensors_in(function(*args, **kwargs)) if t.dtype.is_floating_point]
        total = torch.zeros((), dtype=torch.float64)
        for number, output in enumerate(outputs):
            weights = torch.randn(output.shape, generator=torch.Generator().manual_seed(number), dtype=torch.float64)
            total = total + (output * weights.to(output.device)).sum()
        return total

    for _ in range(3):
        direction = torch.randn(tensor.shape, generator=generator, dtype=torch.float64).to(tensor.device)
        (gradient,) = torch.autograd.grad(value(), tensor, allow_unused=True)
        analytic = 0.0 if gradient is None else float((gradient * direction).sum())
        step = 1e-6 * max(float(tensor.detach().abs().max()), 1.0)
        with torch.no_grad():
            tensor.add_(step * direction)
            high = float(value())
            tensor.sub_(2 * step * direction)
            low = float(value())
            tensor.add_(step * direction)
        numerical = (high - low) / (2 * step)
        if abs(analytic - numerical) > atol + rtol * max(abs(analytic), abs(numerical)):
            return analytic, numerical
    return None
