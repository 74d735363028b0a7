"""`assert_all_move` and `assert_frozen`: which parameters change in a real step of the optimizer."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Sequence

import torch
from torch import nn
from torch.optim import Optimizer

from paramedic.errors import ParamedicError
from paramedic.testing.case import Case
from paramedic.testing.examine import findings_of
from paramedic.testing.failure import Cause, CheckFailed, cause_of
from paramedic.testing.fitting import adam, advance
from paramedic.testing.restore import restored

STEPS = 3  # a factor that starts at zero lets gradients through only from the second step on
ABOUT_MOVEMENT = ("PM215", "PM401", "PM402", "PM403", "PM404", "PM405", "PM407", "PM211", "PM506")


def assert_all_move(
    model: nn.Module, loss: object, batch: object, *, optimizer: Optimizer | None = None, ignore: Sequence[str] = ()
) -> None:
    """Every parameter with `requires_grad` gets a gradient and changes within three steps.

    `ignore` are patterns of names, as in `["encoder.pos*"]`. Modules that are reachable but not registered fail, too.
    """
    __tracebackhide__ = True
    case = Case(model, loss, batch)
    hidden = list(_unregistered(model))
    with restored(model, optimizer):
        before = {name: p.detach().clone() for name, p in model.named_parameters() if p.requires_grad}
        chosen = optimizer if optimizer is not None else adam(model, 1e-3)
        rates = [float(group.get("lr", 1.0)) for group in chosen.param_groups]
        if rates and not any(rates):
            raise ParamedicError("the learning rate is 0", expected="one above 0", fix="step the scheduler once first")
        gradients = _steps(case, chosen)
        held = {id(p) for group in chosen.param_groups for p in group["params"]}
        after = dict(model.named_parameters())
        still = [
            name
            for name, old in before.items()
            if torch.equal(old, after[name].detach()) and not any(fnmatch.fnmatch(name, word) for word in ignore)
        ]
        reasons = [(name, _reason(after[name], gradients.get(name), held)) for name in still]
    if not still and not hidden:
        return
    causes = _explained(case, optimizer) or list(_causes(reasons, hidden))
    count = (
        f"{len(still)} of {len(before)} parameters do not move: {_some(still)}" if still else "parameters are hidden"
    )
    raise CheckFailed("assert_all_move", count, causes)


def assert_frozen(
    model: nn.Module,
    loss: object,
    batch: object,
    *,
    names: Sequence[str] | None = None,
    optimizer: Optimizer | None = None,
) -> None:
    """Parameters that are meant to be frozen stay as they are through three steps, and so do their buffers.

    `names` are patterns of parameter names, as in `["backbone.*"]`; without them those with `requires_grad` off.
    """
    __tracebackhide__ = True
    case = Case(model, loss, batch)
    with restored(model, optimizer):
        wanted = {n: p for n, p in model.named_parameters() if _is_meant(n, p, names)}
        if not wanted:
            raise ParamedicError(f"no parameter is meant by {names or 'requires_grad=False'}", expected="at least one")
        modules = {name.rpartition(".")[0] for name in wanted}
        trained = {n.rpartition(".")[0] for n, p in model.named_parameters() if n not in wanted}
        buffers = {n: b for n, b in model.named_buffers() if n.rpartition(".")[0] in modules - trained}
        before = {n: t.detach().clone() for n, t in {**wanted, **buffers}.items()}
        _steps(case, optimizer if optimizer is not None else adam(model, 1e-3))
        moved = [n for n, old in before.items() if not torch.equal(old, {**wanted, **buffers}[n].detach())]
    weights = [name for name in moved if name in wanted]
    if weights:
        cause = Cause(
            code="PM404",
            what=f"{_some(weights)} should be frozen and changes",
            remedy="requires_grad_(False), and leave them out of the optimizer: weight decay moves them, too",
        )
    elif moved:
        cause = Cause(
            code="PM420",
            what=f"the weights stay, but the running statistics {_some(moved)} still move",
            remedy="call eval() on the frozen modules after model.train()",
        )
    else:
        return
    raise CheckFailed("assert_frozen", f"{len(moved)} frozen tensors changed", [cause])


def _steps(case: Case, optimizer: Optimizer) -> dict[str, float]:
    """The largest gradient norm of each parameter over the steps; parameters without any are left out."""
    found: dict[str, float] = {}
    for _ in range(STEPS):
        optimizer.zero_grad(set_to_none=True)
        loss = case.compute()
        if loss.requires_grad:
            loss.backward()
        for name, parameter in case.model.named_parameters():
            if parameter.grad is not None:
                found[name] = max(found.get(name, 0.0), float(parameter.grad.norm()))
        advance(optimizer, case)
    return found


def _reason(parameter: torch.Tensor, gradient: float | None, held: set[int]) -> str:
    if gradient is None:
        return "PM403"
    if id(parameter) not in held:
        return "PM402"
    return "PM405" if gradient > 0 else "PM215"


def _causes(reasons: list[tuple[str, str]], hidden: list[str]) -> Iterator[Cause]:
    if hidden:
        yield Cause(
            code="PM401",
            what=f"modules in a plain list or dict, which the optimizer never sees: {_some(hidden)}",
            remedy="nn.ModuleList or nn.ModuleDict",
        )
    words = {
        "PM402": ("get a gradient and belong to no optimizer", "pass model.parameters() to the optimizer"),
        "PM403": ("get no gradient", "use them on the way to the loss; look for detach(), no_grad() and argmax()"),
        "PM405": ("get a gradient, are in the optimizer and stay", "look at the learning rate of their group"),
        "PM215": (
            "get a gradient of exactly zero",
            "look for dead units, a zero factor, or a mask of zeros before them",
        ),
    }
    for code, (what, remedy) in words.items():
        names = [name for name, reason in reasons if reason == code]
        if names:
            yield Cause(code=code, what=f"{_some(names)} {what}", remedy=remedy)


def _explained(case: Case, optimizer: Optimizer) -> list[Cause]:
    """What the rules say about it: they know the line."""
    with restored(case.model, optimizer):
        chosen = optimizer if optimizer is not None else adam(case.model, 1e-3)
        found = findings_of(lambda: [_steps(case, chosen) for _ in range(5)])
    return [cause_of(f) for f in found if f.code in ABOUT_MOVEMENT][:2]


def _unregistered(model: nn.Module) -> Iterator[str]:
    known = {id(module) for module in model.modules()}
    for path, module in model.named_modules():
        for name, value in vars(module).items():
            items = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
            if name.startswith("_"):
                continue
            for item in items:
                if (
                    isinstance(item, nn.Module)
                    and id(item) not in known
                    and any(p.requires_grad for p in item.parameters())
                ):
                    yield f"{path}.{name}".lstrip(".")
                    break


def _is_meant(name: str, parameter: torch.Tensor, patterns: Sequence[str] | None) -> bool:
    return not parameter.requires_grad if patterns is None else any(fnmatch.fnmatch(name, word) for word in patterns)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
