"""Nothing of ours grows with a loop that has no optimizer, and nothing large is copied."""

from __future__ import annotations

import json
import sqlite3
import sys

import pytest
import torch

from paramedic.capture.facts import content_hash, values
from paramedic.capture.probes.model.marks import mark
from paramedic.record.reader import open_runs
from workshop import Workshop

ROUNDS = """
import gc, json, torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
alive = []
for i in range(3000):
    if i % 1000 == 999:
        gc.collect()
        alive.append(len(gc.get_objects()))
    x, y = torch.randn(4, 8), torch.randint(0, 3, (4,))
    ROUND
json.dump(alive, open("alive.json", "w"))
print(sum(p.sum().item() for p in model.parameters()), torch.rand(()).item())
"""
UPDATE = """
    with torch.no_grad():
        for p in model.parameters():
            p -= 0.1 * p.grad
"""
BY_HAND = "model.zero_grad()\n    F.cross_entropy(model(x), y).backward()" + UPDATE
BY_GRAD = """loss = F.cross_entropy(model(x), y)
    for p, g in zip(model.parameters(), torch.autograd.grad(loss, list(model.parameters()))):
        p.data -= 0.1 * g
"""
FORGOTTEN_STEP = """F.cross_entropy(model(x), y).backward()
    if i == 0: optimizer = torch.optim.SGD(model.parameters(), 0.1)
    optimizer.zero_grad()
"""
slow = pytest.mark.slow


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(BY_HAND, id="updates-by-hand"),
        pytest.param("F.cross_entropy(model(x), y).item()", id="never-a-backward"),
        pytest.param(BY_GRAD, id="autograd.grad", marks=slow),
        pytest.param(FORGOTTEN_STEP, id="an-optimizer-that-never-steps", marks=slow),
        pytest.param("with torch.no_grad(): F.cross_entropy(model(x), y)", id="inference", marks=slow),
    ],
)
def test_a_loop_without_an_optimizer_leaves_nothing_behind(warm_shop: Workshop, code: str) -> None:
    warm_shop.write("train.py", ROUNDS.replace("ROUND", code))
    watched = warm_shop.run("train.py")
    _, middle, end = json.loads((warm_shop.folder / "alive.json").read_text())
    assert end - middle < 1000  # of 1,000 rounds, each of which used to leave more than ten
    events = sqlite3.connect(warm_shop.records()[0]).execute("SELECT COUNT(*) FROM events").fetchone()[0]
    assert events < 1000
    assert watched.stdout == warm_shop.python("train.py").stdout
    assert "detached" not in watched.stderr


def test_an_optimizer_after_rounds_by_hand_is_looked_at_as_ever(warm_shop: Workshop) -> None:
    never_cleared = """
if i < 300:
        F.cross_entropy(model(x), y).backward()
        for p in model.parameters(): p.data -= 0.1 * p.grad; p.grad = None
    elif i < 400:
        if i == 300: optimizer = torch.optim.SGD(model.parameters(), 0.001)
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
"""
    warm_shop.write("train.py", ROUNDS.replace("ROUND", never_cleared.strip()))
    done = warm_shop.run("train.py")
    assert "PM601" in done.codes
    assert done.found["run"]["steps"] == 100
    (run,) = open_runs(warm_shop.records()[0].parent)
    assert done.found["run"]["around"] > run.meta["around"] > 0  # the verdict is part of the stated cost


def test_of_many_parameters_the_one_without_a_gradient_is_found(warm_shop: Workshop) -> None:
    warm_shop.write(
        "train.py",
        """
        import torch
        from torch import nn
        import torch.nn.functional as F
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.scales = nn.ParameterList([nn.Parameter(torch.ones(4)) for _ in range(1200)])
                self.unused, self.head = nn.Linear(4, 4), nn.Linear(4, 3)
            def forward(self, x):
                return self.head(x * torch.stack(list(self.scales)).mean(0))
        net = Net()
        optimizer = torch.optim.SGD(net.parameters(), 0.1)
        for _ in range(12):
            optimizer.zero_grad()
            F.cross_entropy(net(torch.randn(8, 4)), torch.randint(0, 3, (8,))).backward()
            optimizer.step()
        """,
    )
    done = warm_shop.run("train.py")
    assert {"PM403", "PM412"} & set(done.codes)
    assert "unused" in json.dumps(done.found["findings"])
    assert done.found["run"]["steps"] == 12


LARGE = """
import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("bank", torch.ones(800_000, 64))  # 200 MB each: this,
        self.table, self.head = nn.Embedding(800_000, 64), nn.Linear(64, 3)
        nn.init.ones_(self.table.weight)  # this,
    def forward(self, ids, x):
        return self.head(self.table(ids).mean(1) + self.bank[:8] + x.mean(1))
net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for _ in range(10):
    ids, x = torch.randint(0, 800_000, (8, 4)), torch.ones(8, 100_000, 64)  # and this
    optimizer.zero_grad()
    F.cross_entropy(net(ids, x), torch.randint(0, 3, (8,))).backward()
    optimizer.step()
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_what_is_large_is_not_copied(shop: Workshop) -> None:
    shop.write("train.py", LARGE)
    watched = shop.run("train.py")
    plain, ours = int(shop.python("train.py").stdout), int(watched.stdout)
    assert ours < 1.1 * plain + 100_000  # kB, for our own code and the libraries it needs
    assert "detached" not in watched.stderr


def test_marked_parameters_are_those_that_moved() -> None:
    torch.manual_seed(0)
    shapes = [(4,), (4,), (3, 5), (), (200, 100), (300, 90)]
    parameters = [torch.nn.Parameter(torch.randn(shape)) for shape in shapes]
    parameters[4].data = parameters[4].data.t().contiguous().t()  # large, and not laid out row by row
    frozen, without = parameters[1], torch.nn.Parameter(torch.ones(4))
    for p in parameters:
        p.grad = torch.empty_like(p).copy_(torch.randn(p.shape))
    parameters[2].grad = torch.zeros(3, 5)
    marks = mark([*parameters, without], [0.1] * 7)
    assert sorted(place for some in marks for place in some.places) == list(range(6))
    with torch.no_grad():
        for p in [p for p in parameters if p is not frozen]:
            p -= 0.1 * p.grad
    moved = {place: m for some in marks for place, m in zip(some.places, some.moved().tolist(), strict=True)}
    sloped = {place: g for some in marks for place, g in zip(some.places, some.with_gradient().tolist(), strict=True)}
    assert moved == {0: 1, 1: 0, 2: -1, 3: 1, 4: 1, 5: 1}
    assert sloped == {0: 1, 1: 1, 2: 0, 3: 1, 4: 1, 5: 1}


def test_values_of_a_large_tensor_are_those_of_its_pieces_together() -> None:
    torch.manual_seed(0)
    x = torch.randn(1000, 700)
    x[3, 4], x[5, 6], x[900, 2] = float("nan"), float("inf"), float("-inf")
    finite = x[x.isfinite()].double()
    low, high, mean, deviation, nan, inf, size = values(x).tolist()
    assert [low, high, nan, inf, size] == [finite.min(), finite.max(), 1, 2, 700_000]
    assert mean == pytest.approx(float(finite.mean()))
    assert deviation == pytest.approx(float(finite.std(correction=0)))


def test_a_hash_is_that_of_the_values_however_they_lie_in_memory() -> None:
    x = torch.arange(600_000).reshape(600, 1000)
    turned = x.t().contiguous().t()
    assert content_hash(x) == content_hash(turned) != content_hash(x.flip(0))


EVALUATION_WITH_GRADIENTS = """
import gc, torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)


class Kept(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return gradient


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.head = nn.Linear(8, 16), nn.Linear(16, 3)

    def forward(self, x):
        return self.head(Kept.apply(torch.relu(self.first(x))))


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(32, 8), torch.randint(0, 3, (32,))
for step in range(6):
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
model.train(MODE)
right = total = 0.0
for batch in range(40):
    scores = model(x)
    right += (scores.argmax(1) == y).float().mean().item()
    total += F.cross_entropy(scores, y).item()
print("graphs", sum(type(found).__name__ == "KeptBackward" for found in gc.get_objects()))
"""


@pytest.mark.parametrize(("mode", "most"), [("False", 4), ("True", 8)])
def test_an_evaluation_with_gradients_keeps_few_graphs(warm_shop: Workshop, mode: str, most: int) -> None:
    """Each graph holds all activations of a batch: what we remember must not keep them alive."""
    done = warm_shop.run(warm_shop.write("train.py", EVALUATION_WITH_GRADIENTS.replace("MODE", mode)))
    assert done.code == 0 and int(done.stdout.split()[-1]) <= most
