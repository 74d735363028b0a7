"""Contracts: what fits, what does not, and what a watched run says."""

from __future__ import annotations

import pytest

import paramedic
from paramedic.contracts.contract import Contract, ContractBroken
from paramedic.errors import ParamedicError
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
        ("B T, #B #T -> B k=4", [(2, 5), (1, 5)], [(2, 4)]),
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
        ("g, (g d) -> ()", [(5,), (12,)], [()], "dimension 0 ((g d)) is 12 and no multiple of 5"),
        ("B T, #B T -> B T", [(2, 5), (3, 5)], [(2, 5)], "dimension 0 (#B) is 3 instead of 2"),
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


ANNOTATED = """
import torch
from jaxtyping import Float, Int, jaxtyped
from torch import nn

Mask = Int[torch.Tensor, "batch time"]


class Pool(nn.Module):
    @jaxtyped(typechecker=None)
    def forward(
        self,
        x: Float[torch.Tensor, "batch time dim=8"],
        mask: Mask | None = None,
    ) -> tuple[Float[torch.Tensor, "batch dim"], "Float[torch.Tensor, '*batch 1']"]:
        weights = x.mean(-1, keepdim=True).softmax(1)
        return (weights * x).sum(1), weights


class Wrong(Pool):
    def forward(self, x: Float[torch.Tensor, "batch time _"], mask: Mask) -> Float[torch.Tensor, "batch time"]:
        return super().forward(x)[0]


torch.manual_seed(0)
head = nn.Linear(8, 2)
pool, wrong = Pool(), Wrong()
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
for step in range(4):
    x, mask = torch.randn(4, 6, 8), torch.ones(4, 6).long()
    h = pool(x, mask)[0] + pool(x)[0] + wrong(x, mask)
    loss = head(h).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_annotations_of_jaxtyping_as_it_is_installed(warm_shop: Workshop) -> None:
    """Behind its decorator, by an alias, in quotes and in a tuple; only the one that is wrong is told."""
    warm_shop.write("train.py", ANNOTATED)
    done = warm_shop.run("train.py")
    found = [finding for finding in done.found["findings"] if finding["code"] == "PM422"]
    assert [finding["severity"] for finding in found] == ["error"], done.stderr
    assert "Wrong.forward: what it returns is annotated as (batch, time) and is (4, 8)" in found[0]["what"]
    assert "dimension 1 (time) is 8 instead of 6 (batch = 4, time = 6)" in found[0]["what"]


TYPED = """
import torch
from torch import nn
from torchtyping import TensorType, is_float

WIDTH = 8
Frames = TensorType["batch", "time", WIDTH]


class Pool(nn.Module):
    def forward(self, x: Frames, mask: TensorType["batch", "time", torch.int64]) -> TensorType["batch", "w": 8, float]:
        return x.mean(1)


class Any(nn.Module):
    def forward(self, x: TensorType[..., -1], y: TensorType[is_float], z: TensorType[float]) -> TensorType["b": ..., 8]:
        return x + y + z


class Wrong(nn.Module):
    def forward(self, x: Frames) -> TensorType["batch", "width": 4]:
        return x.mean(1)


torch.manual_seed(0)
head = nn.Linear(8, 2)
pool, free, wrong = Pool(), Any(), Wrong()
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
for step in range(4):
    x, mask = torch.randn(4, 6, 8), torch.ones(4, 6).long()
    h = pool(x, mask) + wrong(x) + free(x, x, x).sum(1)
    loss = head(h).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_annotations_of_torchtyping_as_it_is_installed(warm_shop: Workshop) -> None:
    """With sizes, names for sizes, an alias, and parts that say nothing of the shape.

    Its own check at run time needs `Tensor.names`, which torch 2.13 no longer has; annotations are all that is left.
    """
    pytest.importorskip("torchtyping")
    warm_shop.write("train.py", TYPED)
    done = warm_shop.run("train.py")
    found = [finding for finding in done.found["findings"] if finding["code"] == "PM422"]
    assert done.code == 0 and [finding["severity"] for finding in found] == ["error"], done.stderr
    assert "Wrong.forward: what it returns is annotated as (batch, width=4) and is (4, 8)" in found[0]["what"]
