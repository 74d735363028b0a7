"""The pytest plugin: fixtures, `--paramedic-update`, and the code of a failed check in JUnit files.

pytest imports this at its start, so nothing here imports torch before a fixture is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from paramedic.aliases import Function

if TYPE_CHECKING:
    from torch import nn
    from torch.optim import Optimizer


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("paramedic")
    group.addoption("--paramedic-update", action="store_true", help="Store golden steps and quality baselines anew.")


def pytest_configure(config: pytest.Config) -> None:
    from paramedic.testing import updating

    updating.want(bool(config.getoption("--paramedic-update")))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> object:
    """A failed check leaves its code as a property, where JUnit readers find it."""
    code = getattr(call.excinfo.value, "code", "") if call.excinfo is not None else ""
    if call.excinfo is not None and type(call.excinfo.value).__name__ == "CheckFailed" and code:
        item.user_properties.append(("paramedic", code))
    report = yield
    return report


@dataclass(frozen=True, slots=True)
class Synthetic:
    """A tiny task whose best possible error is known."""

    batch: tuple[object, object]  # inputs and targets
    test: tuple[object, object]
    optimum: float  # the smallest error that any model can have on the test part


@pytest.fixture
def seeded() -> Iterator[int]:
    """Random numbers of python, numpy and torch start from 0, and go on as before afterwards."""
    from paramedic.testing.restore import restored

    with restored(seed=0):
        yield 0


@pytest.fixture
def filled() -> Function:
    """`filled(2, 3)`: a tensor with the same values in every run; `filled(2, 3, high=10)`: whole numbers below 10."""

    def make(*shape: int, low: int | None = None, high: int | None = None) -> Any:
        import torch

        generator = torch.Generator().manual_seed(sum(shape))
        if high is not None:
            return torch.randint(low or 0, high, shape, generator=generator)
        return torch.randn(shape, generator=generator)

    return make


@pytest.fixture
def synthetic() -> Callable[..., Synthetic]:
    """`synthetic("gaussians", n=64)`: one of the tasks of `paramedic.synth` as tensors."""

    def make(task: str, *, n: int = 80, seed: int = 0, level: int | None = None, **settings: Any) -> Synthetic:
        from torch.utils.data import default_collate

        from paramedic import synth

        train, test = synth.datasets(task, n=n, seed=seed, level=level, **settings)
        parts = [tuple(default_collate([part[i] for i in range(len(part))])) for part in (train, test)]
        return Synthetic(batch=parts[0], test=parts[1], optimum=float(test.risk))

    return make


@pytest.fixture
def train_steps() -> Callable[..., list[float]]:
    """`train_steps(20, model, loss, batch, optimizer)` trains and returns the losses; the model stays trained."""

    def train(n: int, model: nn.Module, loss: object, batch: object, optimizer: Optimizer | None = None) -> list[float]:
        from paramedic.testing.case import Case
        from paramedic.testing.fitting import adam, advance

        case, chosen, losses = Case(model, loss, batch), optimizer or adam(model, 1e-3), []
        for _ in range(n):
            chosen.zero_grad(set_to_none=True)
            value = case.compute()
            value.backward()
            advance(chosen, case)
            losses.append(float(value.detach()))
        return losses

    return train
