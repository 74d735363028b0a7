"""What can be seen in one step: inputs that do not vary, scales, units that are dead or pinned."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import nn

from paramedic.aliases import Args
from paramedic.capture.facts import readable
from paramedic.testing.case import Called, Case
from paramedic.testing.failure import Cause

TINY, HUGE = 2e-3, 20.0  # standard deviations of inputs that no initialisation is made for
PINNED = 0.8  # share of values at the ends of a sigmoid or tanh


def symptoms(case: Case) -> list[Cause]:
    """The causes that one step shows, most telling first."""
    outputs: dict[str, tuple[nn.Module, torch.Tensor]] = {}
    names = {module: path for path, module in case.model.named_modules()}

    def note(module: nn.Module, args: Args, output: object) -> None:
        if isinstance(output, torch.Tensor) and output.dtype.is_floating_point and output.numel():
            outputs.setdefault(names[module], (module, output))

    hooks = [module.register_forward_hook(note) for module in names if not list(module.children())]
    try:
        called = case.call()
    finally:
        for hook in hooks:
            hook.remove()
    return [*_inputs(case, called), *_units(outputs), *_last(called, outputs)]


def _inputs(case: Case, called: Called) -> Iterator[Cause]:
    floats = [t for t in called.inputs if t.dtype.is_floating_point and readable(t) and t.dim() > 1 and len(t) > 1]
    others = [t for t in called.inputs if not t.dtype.is_floating_point and t.dim() > 0 and len(t) > 1]
    varied = [t for t in (*floats, *others) if not bool((t == t[:1]).all())]
    if (floats or others) and not varied:
        targets = [t for t in case.targets() if t.dim() > 0 and len(t) > 1]
        if targets and all(bool((t == t[:1]).all()) for t in targets):
            yield Cause(
                code="PM308",
                what="all samples of the batch are the same one, inputs and targets",
                remedy="look at the sampler and at __getitem__: the index is probably not used",
            )
        else:
            yield Cause(
                code="PM303",
                what="all samples of the batch have the same input, so nothing can tell their targets apart",
                remedy="print one batch just before the model; a transform probably blanks it",
            )
        return
    for tensor in floats:
        spread = float(tensor.float().std())
        if not TINY < spread < HUGE:
            yield Cause(
                code="PM301",
                what=f"the input has standard deviation {spread:.3g} (shape {tuple(tensor.shape)})",
                remedy="scale it once, to a mean near 0 and a standard deviation near 1",
            )


def _units(outputs: dict[str, tuple[nn.Module, torch.Tensor]]) -> Iterator[Cause]:
    for path, (module, output) in outputs.items():
        if isinstance(module, nn.ReLU) and float((output == 0).float().mean()) > 0.999:
            yield Cause(
                code="PM203",
                what=f"all {output[0].numel()} units of this ReLU give 0 for every sample: no gradient passes",
                remedy="look at the bias and the initialisation of the layer before it",
                where=path,
            )
        low = {nn.Sigmoid: 0.0, nn.Tanh: -1.0}.get(type(module))
        if low is not None:
            ends = ((output - low).abs() < 0.02) | ((output - 1).abs() < 0.02)
            if float(ends.float().mean()) > PINNED:
                yield Cause(
                    code="PM204",
                    what=f"{float(ends.float().mean()):.0%} of this {type(module).__name__}'s values lie at its ends",
                    remedy="initialise with smaller weights (torch's default, or Xavier), or normalise what goes in",
                    where=path,
                )


def _last(called: Called, outputs: dict[str, tuple[nn.Module, torch.Tensor]]) -> Iterator[Cause]:
    """A ReLU as the very last: scores below zero cannot be expressed, and where all are zero nothing is learnt."""
    path, (module, last) = next(reversed(outputs.items()), ("", (None, None)))
    is_output = last is not None and any(t is last or t.data_ptr() == last.data_ptr() for t in called.floats)
    if is_output and isinstance(module, (nn.ReLU, nn.ReLU6)):
        yield Cause(
            code="PM512",
            what=f"the model ends in a {type(module).__name__}: its scores cannot be negative",
            remedy="return the output of the last linear layer as it is",
            where=path,
        )
