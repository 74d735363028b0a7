"""`assert_no_nan` and `assert_output_range`: are all values finite, and where they belong?"""

from __future__ import annotations

import torch
from torch import nn
from torch.optim import Optimizer

from paramedic.aliases import Args
from paramedic.program.tensors import tensors_in
from paramedic.testing.case import Case, as_call
from paramedic.testing.failure import Cause, CheckFailed
from paramedic.testing.fitting import adam, advance
from paramedic.testing.restore import restored


def assert_no_nan(
    model: nn.Module, loss: object, batch: object, *, optimizer: Optimizer | None = None, steps: int = 5
) -> None:
    """Inputs, all outputs of all modules, the loss, the gradients and the updated weights are finite for some steps."""
    __tracebackhide__ = True
    case = Case(model, loss, batch)
    for path, tensor in tensors_in(batch):
        if (bad := _bad(tensor)) is not None:
            _fail(f"the batch{path} holds {bad}", "PM105", "clean the data, or mask what is missing", "")
    with restored(model, optimizer):
        chosen = optimizer if optimizer is not None else adam(model, 1e-3)
        for step in range(steps):
            _one_step(case, chosen, step)


def assert_output_range(model: nn.Module, inputs: object, low: float, high: float) -> None:
    """In evaluation mode every output lies within [low, high]; and they are not all one number."""
    __tracebackhide__ = True
    args, kwargs = as_call(inputs)
    with restored(model), torch.no_grad():
        model.eval()
        outputs = [(p, t) for p, t in tensors_in(model(*args, **kwargs)) if t.dtype.is_floating_point]
    for path, output in outputs:
        outside = ~((output >= low) & (output <= high))
        if bool(outside.any()):
            index = tuple(int(n) for n in outside.nonzero()[0])
            worst = output[index]
            cause = Cause(
                code="PM512",
                what=f"output{path}{list(index)} is {float(worst):.4g}; values go from "
                f"{float(output.min()):.4g} to {float(output.max()):.4g}",
                remedy="check the last activation against what the loss and the targets expect",
            )
            count = int(outside.sum())
            raise CheckFailed(
                "assert_output_range", f"{count} of {output.numel()} values outside [{low}, {high}]", [cause]
            )


def _one_step(case: Case, optimizer: Optimizer, step: int) -> None:
    __tracebackhide__ = True
    found: list[tuple[str, str]] = []
    names = {module: path for path, module in case.model.named_modules()}

    def note(module: nn.Module, args: Args, output: object) -> None:
        bad = next((b for _, t in tensors_in(output) if (b := _bad(t)) is not None), None)
        clean = all(_bad(t) is None for _, t in tensors_in(args))
        if bad is not None and clean:
            found.append((names[module], f"{type(module).__name__} gives {bad} from finite inputs"))

    hooks = [module.register_forward_hook(note) for module in names]
    try:
        optimizer.zero_grad(set_to_none=True)
        loss = case.compute()
    finally:
        for hook in hooks:
            hook.remove()
    where = f"in step {step}"
    advice = "paramedic run names the operation and its line; look for log, division, sqrt and exp"
    if (bad := _bad(loss)) is not None:
        path, what = found[0] if found else ("", f"the model's outputs are finite, the loss is {bad}")
        _fail(f"{where} the loss is {bad}", "PM102" if found else "PM101", advice, path, what)
    loss.backward()
    for name, parameter in case.model.named_parameters():
        if parameter.grad is not None and (bad := _bad(parameter.grad)) is not None:
            _fail(f"{where} the gradient of {name} holds {bad}, the loss is finite", "PM103", advice, name)
    advance(optimizer, case)
    for name, parameter in case.model.named_parameters():
        if (bad := _bad(parameter)) is not None:
            _fail(f"{where} the update of {name} makes {bad}", "PM104", "lower the learning rate, or raise eps", name)


def _bad(tensor: torch.Tensor) -> str | None:
    """What is not finite, in words. All values count: a single NaN is one too many."""
    if not tensor.dtype.is_floating_point or bool(torch.isfinite(tensor).all()):
        return None
    nan, inf = int(torch.isnan(tensor).sum()), int(torch.isinf(tensor).sum())
    return f"{nan} NaN and {inf} inf" if nan and inf else f"{nan} NaN" if nan else f"{inf} inf"


def _fail(what: str, code: str, remedy: str, where: str, detail: str = "") -> None:
    __tracebackhide__ = True
    raise CheckFailed("assert_no_nan", what, [Cause(code=code, what=detail or what, remedy=remedy, where=where)])
