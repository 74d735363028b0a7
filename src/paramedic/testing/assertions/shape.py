"""`assert_shapes`: a model's shapes against a contract such as "B 3 H W -> B classes"."""

from __future__ import annotations

import torch
from torch import nn

from paramedic.contracts.contract import Contract, ContractBroken
from paramedic.program.tensors import tensors_in
from paramedic.testing.case import as_call
from paramedic.testing.failure import Cause, CheckFailed
from paramedic.testing.restore import restored


def assert_shapes(model: nn.Module, inputs: object, contract: str, **sizes: int) -> None:
    """Inputs and outputs have the shapes of the contract; a name has one size throughout, or that of `sizes`."""
    __tracebackhide__ = True
    agreed = Contract(contract)
    args, kwargs = as_call(inputs)
    with restored(model), torch.no_grad():
        model.eval()
        output = model(*args, **kwargs)
    given = [tuple(t.shape) for _, t in tensors_in((args, kwargs))]
    returned = [tuple(t.shape) for _, t in tensors_in(output)]
    try:
        agreed.check(given, returned, sizes)
    except ContractBroken as broken:
        cause = Cause(code="PM422", what=str(broken), remedy="repair the model, or correct the contract")
        raise CheckFailed("assert_shapes", f"{contract!r} does not hold", [cause]) from None
