"""What torchtest2 and pytest-torch say to a model, a loss and a batch; they are asked where they are installed."""

from __future__ import annotations

import contextlib
import importlib.util
import io
from collections.abc import Callable
from typing import Any

import torch

Loss = Callable[[Any, Any], torch.Tensor]


def installed() -> list[str]:
    names = {"torchtest2": "torchtest2", "pytest-torch": "pytest_torch"}
    return [name for name, module in names.items() if importlib.util.find_spec(module) is not None]


def ask(peer: str, model: Any, inputs: Any, target: Any, loss: Loss, optimizer: Any) -> list[str]:
    """The names of the checks that object."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return (_torchtest2 if peer == "torchtest2" else _pytest_torch)(model, inputs, target, loss, optimizer)


def _torchtest2(model: Any, inputs: Any, target: Any, loss: Loss, optimizer: Any) -> list[str]:
    import torchtest2

    report = torchtest2.check_model(model, inputs, target, loss_fn=loss, optimizer=optimizer)
    return [f"{r.name} ({r.status.name.lower()})" for r in report.results if r.status.name in ("WARN", "FAIL")]


def _pytest_torch(model: Any, inputs: Any, target: Any, loss: Loss, optimizer: Any) -> list[str]:
    import pytest_torch

    def on_output(output: Any) -> torch.Tensor:
        return loss(output, target)

    found = []
    group = {k: v for k, v in optimizer.param_groups[0].items() if k in ("lr", "weight_decay", "momentum")}
    checks: dict[str, Callable[[], Any]] = {
        "gradients_finite": lambda: pytest_torch.assert_gradients_finite(model, inputs, on_output),
        "params_grad": lambda: pytest_torch.assert_all_params_receive_grad(model, inputs, on_output),
        "coverage": lambda: pytest_torch.assert_optimizer_coverage(model, optimizer),
        "overfit": lambda: pytest_torch.assert_overfits_one_batch(
            model, inputs, on_output, optimizer=lambda parameters: type(optimizer)(parameters, **group)
        ),
        "batch_invariant": lambda: pytest_torch.assert_batch_invariant(model.eval(), inputs),
    }
    for name, check in checks.items():
        try:
            model.train()
            check()
        except AssertionError:
            found.append(name)
        except Exception:  # the check does not apply to this model
            continue
    return found
