"""Summaries are invisible to the script: its modes, its random numbers, its gradients, its tensors."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from paramedic.record.summary import from_row
from statistics_engines import each_engine
from statistics_reference import FLOATS, Engine, assert_same, fresh_seed, random, reference, rows_of


class SeesFunctions(TorchFunctionMode):
    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise AssertionError(f"the script's mode saw {function}")


class SeesOps(TorchDispatchMode):
    def __torch_dispatch__(self, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise AssertionError(f"the script's mode saw {op}")


@contextmanager
def deterministic() -> Iterator[None]:
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)


SURROUNDINGS: dict[str, Any] = {
    "function mode": SeesFunctions,
    "dispatch mode": SeesOps,
    "autocast": lambda: torch.autocast("cpu", torch.bfloat16),
    "deterministic": deterministic,
    "strict numpy": lambda: np.errstate(all="raise"),
    "inference mode": torch.inference_mode,
    "grad": torch.enable_grad,
}


@each_engine
@pytest.mark.parametrize("name", SURROUNDINGS)
def test_same_numbers_in_any_surroundings(engine: Engine, name: str) -> None:
    fresh_seed()
    tensors = [random(size, dtype) for size in (50, 20_000) for dtype in FLOATS]
    tensors += [torch.nn.Parameter(random((30, 7), torch.float32))]
    tensors += [torch.full((50,), 1e30), torch.tensor([1e-30, torch.nan])]
    wanted = [reference(tensor) for tensor in tensors]
    out = torch.empty(len(tensors), 42, dtype=torch.float64)
    surroundings: AbstractContextManager[Any] = SURROUNDINGS[name]()
    with surroundings:
        reasons = engine(tensors, out, seen=1 << 30)
    assert reasons == [None] * len(tensors)
    for row, want in zip(out.tolist(), wanted, strict=True):
        assert_same(from_row(row), want, eps=1e-5)


@each_engine
def test_nothing_is_changed(engine: Engine) -> None:
    fresh_seed()
    weight = torch.nn.Parameter(random((40, 30), torch.float32))
    loss = (weight.t() ** 2).sum()
    loss.backward()
    hidden = (weight * 2).t()
    copies = [weight.detach().clone(), weight.grad.clone(), hidden.detach().clone()]
    versions = [weight._version, weight.grad._version, hidden._version]
    state = torch.get_rng_state(), np.random.get_state()[1].copy()
    sparse = torch.sparse_coo_tensor(torch.tensor([[1, 1, 2]]), torch.ones(3), (5,), check_invariants=True)
    rows_of([weight, weight.grad, hidden, sparse], engine)
    assert versions == [weight._version, weight.grad._version, hidden._version]
    for tensor, copy in zip([weight, weight.grad, hidden], copies, strict=True):
        assert torch.equal(tensor, copy)
    assert torch.equal(state[0], torch.get_rng_state()) and (state[1] == np.random.get_state()[1]).all()
    assert hidden.requires_grad and hidden.grad_fn is not None and not sparse.is_coalesced()
    hidden.sum().backward()  # what autograd has saved is still good


@each_engine
def test_neither_a_graph_nor_a_reference_is_kept(engine: Engine) -> None:
    weight = torch.nn.Parameter(torch.randn(5000))
    hidden = weight * 2
    rows_of([weight, hidden], engine)
    gone = weakref.ref(hidden)
    del hidden
    gc.collect()
    assert gone() is None


@each_engine
def test_checkpointed_regions_recompute_the_same(engine: Engine) -> None:
    """Selective checkpointing counts operations by a dispatch mode; one more of ours would break its replay."""
    from torch.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts

    layer = torch.nn.Linear(8, 8)
    layer.register_forward_hook(lambda module, inputs, output: rows_of([output], engine) and None)
    x = torch.randn(3, 8, requires_grad=True)
    contexts = partial(create_selective_checkpoint_contexts, [torch.ops.aten.addmm.default])
    checkpoint(layer, x, use_reentrant=False, context_fn=contexts).sum().backward()
    assert x.grad is not None
