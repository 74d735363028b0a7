"""Contracts: what fits, what does not, and what a watched run says."""

from __future__ import annotations

import pytest

import paramedic
from paramedic.errors import ParamedicError
from paramedic.shapes.contract import Contract, ContractBroken
from workshop import Workshop

SCRIPT = """
import torch
import torch.nn.functional as F
from torch import nn

import paramedic


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(8, 16), nn.Linear(16, 3)

    @paramedic.shapes("B 8 -> B classes")
    def forward(self, x):
        h = self.body(x)  # (batch, 20)
        return self.head(h.relu())


@paramedic.shapes("B C, B -> ()")
def loss_of(out, y):
    return F.cross_entropy(out, y, reduction="none").mean(keepdim=True, dim=0)


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(20):
    x = torch.randn(16, 8)
    loss = loss_of(net(x), x[:, :3].argmax(1)).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("contract", "given", "returned"),
    [
        ("B T -> B C", [(2, 5)], [(2, 7)]),
        ("B T 80, B T -> B C", [(2, 5, 80), (2, 5)], [(2, 7)]),
        ("B ... C -> B C", [(2, 5, 6, 3)], [(2, 3)]),
        ("B (h d) -> B h d", [(2, 12)], [(2, 3, 4)]),
        ("_ _ -> ()", [(2, 12)], [()]),
    ],
)
def test_shapes_that_fit(contract: str, given: list[tuple[int, ...]], returned: list[tuple[int, ...]]) -> None:
    Contract(contract).check(given, returned, {"h": 3} if "h" in contract else None)


@pytest.mark.parametrize(
    ("contract", "given", "returned", "said"),
    [
        ("B T -> B C", [(2, 5)], [(5, 7)], "dimension 0 (B) is 5 instead of 2 (B = 2, T = 5"),
        ("B T -> B C", [(2, 5, 1)], [(2, 7)], "3 dimensions instead of 2"),
        ("B 80 -> B", [(2, 79)], [(2,)], "is 79 instead of 80"),
        ("B (h d) -> B h d", [(2, 12)], [(2, 3, 5)], "dimension 2 (d) is 5 instead of 4"),
        ("B, B -> B", [(2,)], [(2,)], "only 1 tensors were seen"),
    ],
)
def test_shapes_that_do_not(
    contract: str, given: list[tuple[int, ...]], returned: list[tuple[int, ...]], said: str
) -> None:
    with pytest.raises(ContractBroken) as caught:
        Contract(contract).check(given, returned, {"h": 3} if "h" in contract else None)
    assert said in str(caught.value)


def test_the_decorator_changes_nothing_unwatched() -> None:
    @paramedic.shapes("B -> B")
    def double(x: int) -> int:
        """Twice."""
        return 2 * x

    assert double(4) == 8 and double.__doc__ == "Twice." and double.__name__ == "double"
    with pytest.raises(ParamedicError, match="no arrow"):
        paramedic.shapes("B T")


def test_broken_contracts_are_findings_of_a_watched_run(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", SCRIPT)
    done = warm_shop.run("train.py")
    found = [(f["code"], f["severity"], f["where"]["line"]) for f in done.found["findings"] if f["code"] == "PM422"]
    assert ("PM422", "error", 19) in found, "the loss is not a scalar"
    assert ("PM422", "note", 15) in found, "the comment says 20"
    assert len(found) == 2, "forward() keeps its contract"
