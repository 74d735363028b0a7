"""Two optimizers fed with the same gradients: the step at which they diverge, and the setting that is to blame."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch

from paramedic.aliases import Fields
from paramedic.parity.causes.candidate import Labels, differing, shown
from paramedic.parity.comparison import Comparison, Part
from paramedic.parity.measure import Difference, difference

STEPS = 20
DROP_AT = 10  # the learning rate falls here: some forms of momentum only part then
ALLOWED = 1e-9  # of an update, which is a difference of two larger numbers
NAMES = {
    "learning_rate": "lr", "beta_1": "beta1", "beta_2": "beta2", "epsilon": "eps", "rho": "alpha",
    "weight_decay": "weight_decay", "momentum": "momentum", "nesterov": "nesterov", "amsgrad": "amsgrad",
    "centered": "centered",
}  # fmt: skip
FORMS = {
    frozenset(("Adam", "AdamW")): "Adam adds weight decay to the gradient, AdamW takes it from the weights",
    "keras Adam": "Keras adds epsilon before the bias correction (epsilon hat), torch after it",
    "keras RMSprop": "Keras adds epsilon inside the square root, torch outside",
    "keras SGD": "Keras puts the learning rate into the momentum, torch outside: they diverge when it changes",
}
Make = Callable[[Any], Any]


def add_optimizers(found: Comparison, make_a: Make, make_b: Make) -> None:
    """Put the first difference of the two optimizers into the comparison."""
    first, second = run(make_a), run(make_b)
    step, error = _parted(first, second)
    if step is None:
        found.notes.append(f"the optimizers agree over {STEPS} steps with the same gradients")
        return
    a, b = settings_of(make_a), settings_of(make_b)
    cause, change, agreement = _cause(make_a, make_b, a, b, first)
    found.parts.append(
        Part(
            a="the optimizer",
            b="the optimizer",
            kind=f"{_kind(make_a)} / {_kind(make_b)}",
            error=error.relative,
            largest=error.largest,
            index=error.index,
            place=f"step {step}",
            cause=cause,
            change=change,
            confirmed=agreement is not None,
            agreement=agreement,
            hints=tuple(_hints(make_a, make_b, a, b)),
        )
    )
    lead = "The outputs agree, the optimizers do not" if found.agrees else found.sentence.rstrip(".")
    found.verdict = "differ"
    found.sentence = f"{lead}: they diverge at step {step}."


def run(make: Make, **changed: object) -> list[torch.Tensor]:
    """The parameters before and after every step, with small gradients, for which eps matters."""
    random = torch.Generator().manual_seed(0)
    start = torch.randn(6, 5, generator=random, dtype=torch.float64)
    gradients = [1e-3 * torch.randn(6, 5, generator=random, dtype=torch.float64) for _ in range(STEPS)]
    states = _keras(make, start, gradients) if _is_keras(make) else _torch(make, start, gradients, changed)
    return [start, *states]


def _torch(
    make: Make, start: torch.Tensor, gradients: list[torch.Tensor], changed: dict[str, object]
) -> list[torch.Tensor]:
    parameter = torch.nn.Parameter(start.clone())
    optimizer = make([parameter])
    for group in optimizer.param_groups:
        group.update(changed)
    states = []
    for step, gradient in enumerate(gradients):
        if step == DROP_AT:
            for group in optimizer.param_groups:
                group["lr"] *= 0.1
        parameter.grad = gradient.clone()
        optimizer.step()
        states.append(parameter.detach().clone())
    return states


def _keras(make: Make, start: torch.Tensor, gradients: list[torch.Tensor]) -> list[torch.Tensor]:
    import keras
    import numpy as np

    from paramedic.parity.sides.keras_side import _double

    states = []
    with _double():
        variable = keras.Variable(start.numpy(), dtype="float64")
        optimizer = make([variable])
        for step, gradient in enumerate(gradients):
            if step == DROP_AT:
                optimizer.learning_rate = float(keras.ops.convert_to_numpy(optimizer.learning_rate)) * 0.1
            optimizer.apply([keras.ops.convert_to_tensor(gradient.numpy(), dtype="float64")], [variable])
            states.append(torch.as_tensor(np.array(keras.ops.convert_to_numpy(variable))))
    return states


def _parted(a: list[torch.Tensor], b: list[torch.Tensor]) -> tuple[int | None, Difference]:
    """By the updates, which are much smaller than the parameters."""
    for step in range(STEPS):
        error = difference(a[step + 1] - a[step], b[step + 1] - b[step])
        if error.relative > ALLOWED:
            return step, error
    return None, Difference(0.0, 0.0)


def settings_of(make: Make) -> Fields:
    """With torch's names."""
    made = _made(make)
    if _is_keras(make):
        return {
            new: getattr(made, old, None) for old, new in NAMES.items() if old != "learning_rate" and hasattr(made, old)
        } | {"lr": float(made.learning_rate)}
    group = {name: value for name, value in made.param_groups[0].items() if name != "params"}
    if "betas" in group:
        group["beta1"], group["beta2"] = group.pop("betas")
    return group


def _cause(
    make_a: Make, make_b: Make, a: dict[str, object], b: dict[str, object], wanted: list[torch.Tensor]
) -> tuple[str, str, float | None]:
    """Each setting that differs is tried; then all together."""
    labels = Labels(reference="a", mine="b")
    names = [name for name in differing(a, b) if not (a[name] in (None, 0) and b[name] in (None, 0))]
    if not _is_keras(make_b):
        for group in [[name] for name in names] + ([names] if len(names) > 1 else []):
            changed = _as_group({name: a[name] for name in group}, b)
            step, _ = _parted(wanted, run(make_b, **changed))
            if step is None:
                told = "; ".join(labels.versus(name, a[name], b[name]) for name in group)
                words = " and ".join(f"{name}={shown(a[name])}" for name in group)
                return told, f"{words} in b", 0.0
    forms = _forms(make_a, make_b)
    return ("; ".join([*(labels.versus(n, a[n], b[n]) for n in names), *forms]), "", None)


def _as_group(changed: dict[str, object], known: dict[str, object]) -> dict[str, object]:
    """As torch holds it: betas are a pair."""
    if "beta1" in changed or "beta2" in changed:
        changed["betas"] = (changed.pop("beta1", known["beta1"]), changed.pop("beta2", known["beta2"]))
    return changed


def _hints(make_a: Make, make_b: Make, a: dict[str, object], b: dict[str, object]) -> Iterator[str]:
    if _kind(make_a) != _kind(make_b):
        yield f"a has {_kind(make_a)}, b has {_kind(make_b)}"
    yield from _forms(make_a, make_b)


def _forms(make_a: Make, make_b: Make) -> list[str]:
    kinds = [_kind(make_a), _kind(make_b)]
    found = [FORMS[key] for key in (frozenset(kinds),) if key in FORMS]
    if _is_keras(make_a) != _is_keras(make_b):
        found += [FORMS[key] for key in (f"keras {kinds[0]}",) if key in FORMS]
    return found


def _made(make: Make) -> Any:
    return make([torch.nn.Parameter(torch.zeros(1, dtype=torch.float64))])


def _kind(make: Make) -> str:
    return type(_made(make)).__name__


def _is_keras(make: Make) -> bool:
    keras = sys.modules.get("keras")
    return keras is not None and isinstance(_made(make), keras.optimizers.Optimizer)
