"""Where weights come from and go to: loads, copies, shared layers, resumes. Each fault beside what looks like it."""

from __future__ import annotations

import pytest

from workshop import Done, Workshop

# Two stages in one script, healthy as it stands: weights go through a file from one model into another.
PROGRAM = """
import copy, io
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
x = torch.randn(512, 8)
y = (x @ torch.randn(8, 3)).argmax(1)

def init(m):
    if isinstance(m, nn.Linear):
        nn.init.xavier_uniform_(m.weight)

def net():
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 3))

def train(model, optimizer, start, stop):
    for epoch in range(start, stop):
        for rows in torch.randperm(512).split(32):
            loss = F.cross_entropy(model(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return epoch

first = net()
optimizer = torch.optim.Adam(first.parameters(), lr=3e-3)
epoch = train(first, optimizer, 0, 3)
file = io.BytesIO()
torch.save({"model": first.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, file)
file.seek(0)
saved = torch.load(file)
second = net()
second.load_state_dict(saved["model"])
pass  # between
optimizer = torch.optim.Adam(second.parameters(), lr=3e-3)
pass  # resume
train(second, optimizer, 0, 3)  # goes on
"""


def judged(shop: Workshop, *changes: tuple[str, str]) -> Done:
    text = PROGRAM
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    shop.write("train.py", text)
    return shop.run("train.py")


RESTORED = ("pass  # resume", "optimizer.load_state_dict(saved['optimizer'])")
GOES_ON = ("0, 3)  # goes on", "saved['epoch'] + 1, 6)")


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ((), None),  # fine-tuning: a new optimizer, and epochs are counted anew
        ((GOES_ON, RESTORED), None),
        ((GOES_ON,), "PM609"),
        (
            (("for epoch in range(start, stop):", "for turn in range(start, stop):"), ("return epoch", "return turn")),
            None,
        ),
        ((("pass  # between", "second.apply(init)"),), "PM409"),
        ((("pass  # between", "second[4].apply(init)"),), None),  # a new head
        (
            (("pass  # between", "[p.data.mul_(torch.rand_like(p) < 0.2) for p in second.parameters()]"),),
            None,
        ),  # pruned
    ],
    ids=[
        "fine-tuned",
        "resumed",
        "without-its-optimizer",
        "left-over-variable",
        "initialised-again",
        "new-head",
        "pruned",
    ],
)
def test_what_a_checkpoint_held_is_used(
    warm_shop: Workshop, changes: tuple[tuple[str, str], ...], code: str | None
) -> None:
    done = judged(warm_shop, *changes)
    assert [alarm[:5] for alarm in done.alarms] == ([code] if code else []), done.alarms


def test_a_model_that_was_tested_may_begin_anew(warm_shop: Workshop) -> None:
    """The folds of a cross-validation: the best weights are loaded for the test, then all of them are made new."""
    done = judged(
        warm_shop,
        ("second = net()\n", "second = first\n"),
        ("pass  # between", "second(x).argmax(1); second.apply(init)"),
    )
    assert done.alarms == []


SHARED = """
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)

def stack(layer, n):
    return nn.ModuleList([layer for _ in range(n)])

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        MAKE
        self.out = nn.Linear(16, 1)

    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return self.out(x)

net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(60):
    x = torch.randn(32, 16)
    loss = F.mse_loss(net(x), x[:, :1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("make", "codes"),
    [
        ("self.layers = stack(nn.Linear(16, 16), 3)", ["PM406"]),
        (
            "layer = nn.Linear(16, 16)\n        self.layers = nn.ModuleList([layer] * 3)",
            [],
        ),  # named where the list is made
    ],
    ids=["handed-over", "named"],
)
def test_one_layer_in_all_places(warm_shop: Workshop, make: str, codes: list[str]) -> None:
    warm_shop.write("train.py", SHARED.replace("MAKE", make))
    assert [alarm[:5] for alarm in warm_shop.run("train.py").alarms] == codes


TWO_LOSSES = """
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
trunk, head = nn.Linear(8, 16), nn.Linear(16, 2)
of_trunk, of_head = torch.optim.SGD(trunk.parameters(), lr=0.05), torch.optim.SGD(head.parameters(), lr=0.05)
truth = torch.randn(8, 2)
for _ in range(60):
    x = torch.randn(64, 8)
    y = x @ truth
    of_trunk.zero_grad()
    of_head.zero_grad()
    F.mse_loss(head(torch.tanh(trunk(x)))[:, 0], y[:, 0]).backward()
    of_head.step()
    of_head.zero_grad()
    (SIGN * F.mse_loss(head(torch.tanh(trunk(x)))[:, SIDE], y[:, SIDE])).backward()
    of_trunk.step()
"""


@pytest.mark.parametrize(("sign", "side", "codes"), [(1, 1, []), (-1, 0, ["PM601"])], ids=["agree", "opposed"])
def test_gradients_of_two_losses(warm_shop: Workshop, sign: int, side: int, codes: list[str]) -> None:
    """A part that collects gradients on purpose, and one that steps on its opponent's gradients as well."""
    warm_shop.write("train.py", TWO_LOSSES.replace("SIGN", str(sign)).replace("SIDE", str(side)))
    assert [code for code in warm_shop.run("train.py").codes if code == "PM601"] == codes


TARGET = """
import copy
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
online = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 2))
target = copy.deepcopy(online)
optimizer = torch.optim.Adam(online.parameters(), lr=1e-3)
for step in range(60):
    state, after, reward = torch.randn(32, 6), torch.randn(32, 6), torch.randn(32)
    wanted = reward + 0.9 * target(after).max(1).values
    loss = F.smooth_l1_loss(online(state)[:, 0], wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 15 == 14:
        UPDATE
"""


@pytest.mark.parametrize(
    ("update", "codes"),
    [
        ("target.load_state_dict(online.state_dict())", []),
        ("online.load_state_dict(target.state_dict())", ["PM418"]),
        ("pass", []),  # nobody uses the gradients that a target network gets
    ],
    ids=["follows", "set-back", "stays"],
)
def test_a_target_network(warm_shop: Workshop, update: str, codes: list[str]) -> None:
    warm_shop.write("train.py", TARGET.replace("UPDATE", update))
    assert [code for code in warm_shop.run("train.py").codes if code in ("PM402", "PM418")] == codes
