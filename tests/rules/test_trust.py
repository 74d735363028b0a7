"""Healthy programs that once alarmed, each beside the neighbour that is ill and must still be found."""

from __future__ import annotations

import pytest

from workshop import Workshop

HEAD = """
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
"""

TWO_ANSWERS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head, self.extra = nn.Linear(6, 16), nn.Linear(16, 3), nn.Linear(16, 4)
    def forward(self, x):
        h = torch.relu(self.body(x))
        ANSWER

x = torch.randn(200, 6)
y = (x @ torch.randn(6, 3)).argmax(1)
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(30):
    scores = net(x)
    loss = F.cross_entropy(scores[0] if isinstance(scores, tuple) else scores, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
RETURNED = TWO_ANSWERS.replace("ANSWER", "return self.head(h), torch.tanh(self.extra(h))")
LOST = TWO_ANSWERS.replace("ANSWER", "self.extra(h); return self.head(h)")

ONE_CLASS_AFTER_THE_OTHER = """
x = 2 * torch.randn(4, 8)[torch.arange(4).repeat_interleave(60)] + torch.randn(240, 8)
y = torch.arange(4).repeat_interleave(60)
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for rows in ORDER:
    for i in rows.split(15):
        loss = F.cross_entropy(net(x[i]), y[i])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
TASKS = ONE_CLASS_AFTER_THE_OTHER.replace("ORDER", "torch.arange(240).view(4, 60).repeat_interleave(2, 0)")
SORTED = ONE_CLASS_AFTER_THE_OTHER.replace("ORDER", "[torch.arange(240) for _ in range(3)]")

STRANGE_DATA = """
x = torch.randn(400, 8)
y = (x @ torch.randn(8, 3)).argmax(1)
strange = TensorDataset(40 * torch.rand(100, 8), torch.randint(3, (100,)))
train = DataLoader(TensorDataset(x[:300], y[:300]), batch_size=20, shuffle=True)
test = TensorDataset(x[300:], y[300:])
evaluations = {"test": DataLoader(test, batch_size=50), "strange": DataLoader(strange, batch_size=50)}
CHOSEN
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(3):
    net.train()
    for a, b in train:
        loss = F.cross_entropy(net(a), b)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        for name, loader in evaluations.items():
            print(name, sum((net(a).argmax(1) == b).sum().item() for a, b in loader))
"""
TESTED = STRANGE_DATA.replace("CHOSEN", "")
UNSCALED = STRANGE_DATA.replace("CHOSEN", "del evaluations['test']")

TEACHER = """
class Distilled(nn.Module):
    def __init__(self):
        super().__init__()
        self.student, self.teacher = nn.Linear(6, 3), nn.Linear(6, 3)
    def forward(self, x, y):
        said = self.student(x).log_softmax(1)
        with torch.no_grad():
            wanted = self.teacher(x).softmax(1)
        entropy = (wanted * wanted.log()).sum(1).mean()
        return F.nll_loss(said, y) + 0.5 * (entropy - (wanted * said).sum(1).mean())

x = torch.randn(200, 6)
y = (x @ torch.randn(6, 3)).argmax(1)
model = Distilled()
optimizer = torch.optim.Adam(HELD, lr=1e-2)
for step in range(30):
    loss = model(x, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
GIVEN_TEACHER = TEACHER.replace("HELD", "model.student.parameters()")
HELD_TEACHER = TEACHER.replace("HELD", "model.parameters()")

ADAPTED = """
from torch.func import functional_call
net = nn.Sequential(nn.Linear(5, 24), nn.BatchNorm1d(24), nn.ReLU(), nn.Linear(24, 3))
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
def task():
    centres = torch.randn(3, 5)
    y = torch.arange(3).repeat(8)
    return centres[y] + 0.3 * torch.randn(24, 5), y
def adapted(x, y, create_graph):
    weights = dict(net.named_parameters())
    loss = F.cross_entropy(functional_call(net, weights, (x,)), y)
    gradients = torch.autograd.grad(loss, list(weights.values()), create_graph=create_graph)
    return {name: w - 0.2 * g for (name, w), g in zip(weights.items(), gradients)}
for step in range(30):
    x, y = task()
    loss = F.cross_entropy(functional_call(net, adapted(x[::2], y[::2], True), (x[1::2],)), y[1::2])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        for _ in range(3):
            x, y = task()
            weights = adapted(x[::2], y[::2], False)
            with torch.no_grad():
                print((EVALUATED.argmax(1) == y[1::2]).sum())
"""
ON_ITS_TASK = ADAPTED.replace("EVALUATED", "functional_call(net, weights, (x[1::2],))")
AS_IT_IS = ADAPTED.replace("EVALUATED", "net(x[1::2])")


HEADS = """
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 32)
    def forward(self, x):  # (time, batch, 32), with as many samples as each of the four heads has numbers
        time, batch, width = x.shape
        q, k, v = (part.reshape(time, batch * 4, 8).transpose(0, 1) for part in self.qkv(x).chunk(3, -1))
        mixed = (q @ k.transpose(1, 2)).softmax(-1) @ v
        return self.out(mixed.transpose(0, 1).reshape(time, batch, width))

embedding, attention, head = nn.Embedding(10, 32), Attention(), nn.Linear(32, 10)
optimizer = torch.optim.Adam([*embedding.parameters(), *attention.parameters(), *head.parameters()], lr=3e-3)
for step in range(30):
    ids = torch.randint(10, (6, 8))
    loss = F.cross_entropy(head(attention(embedding(ids))).flatten(0, 1), ids.flip(0).flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""

DRAWN_BEFOREHAND = """
import random
class Sums(torch.utils.data.Dataset):
    def __init__(self):
        self.rng = random.Random(0)
        self.samples = [self.draw() for _ in range(160)]
    def draw(self):
        x = torch.tensor([self.rng.gauss(0, 1) for _ in range(4)])
        return x, x.sum()
    def __len__(self):
        return len(self.samples)
    def __getitem__(self, i):
        return self.samples[i]

net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(2):
    for x, y in DataLoader(Sums(), batch_size=8, shuffle=True, num_workers=2):
        loss = F.mse_loss(net(x).squeeze(1), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""

FILLED_UP = """
class Pictures(torch.utils.data.Dataset):
    def __len__(self):
        return 160
    def __getitem__(self, i):
        generator = torch.Generator().manual_seed(i)
        count = 3 + i % 2
        boxes = torch.zeros(4, 4)
        boxes[:count, :2] = torch.randint(0, 20, (count, 2), generator=generator).float()
        boxes[:count, 2:] = boxes[:count, :2] + 6
        return boxes.flatten() / 32 + 0.01 * torch.randn(16, generator=generator), boxes, torch.arange(4) < count

net = nn.Linear(16, 16)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(2):
    for x, boxes, valid in DataLoader(Pictures(), batch_size=8, shuffle=True):
        missed = (net(x).view(-1, 4, 4) - boxes / 32).abs().mean(-1)
        loss = missed[valid].mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""

RELOADED = """
import copy
x = torch.randn(200, 6)
y = (x @ torch.randn(6, 3)).argmax(1)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for step in range(40):
    if step in (3, 20):
        torch.save((net, optimizer), "whole.pt")
        net, optimizer = torch.load("whole.pt", weights_only=False)
        FREEZE
    if step == 6:
        net, optimizer = copy.deepcopy((net, optimizer))
    loss = F.cross_entropy(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
WHOLE = RELOADED.replace("FREEZE", "pass")
FROZEN_IN_A_COPY = RELOADED.replace("FREEZE", "for value in net.state_dict().values(): value.requires_grad = False")


@pytest.mark.parametrize(
    "text", [HEADS, DRAWN_BEFOREHAND, FILLED_UP, RETURNED, TASKS, TESTED, GIVEN_TEACHER, ON_ITS_TASK, WHOLE]
)
def test_a_choice_is_no_alarm(warm_shop: Workshop, text: str) -> None:
    warm_shop.write("train.py", HEAD + text)
    assert warm_shop.run("train.py").alarms == []


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (LOST, "PM403"),
        (SORTED, "PM306"),
        (UNSCALED, "PM318"),
        (HELD_TEACHER, "PM403"),
        (AS_IT_IS, "PM612"),
        (FROZEN_IN_A_COPY, "PM404"),
    ],
)
def test_its_ill_neighbour_is_found(warm_shop: Workshop, text: str, code: str) -> None:
    warm_shop.write("train.py", HEAD + text)
    assert code in [alarm.partition(" ")[0] for alarm in warm_shop.run("train.py").alarms]


def test_an_unpickled_optimizer_goes_on_counting(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", HEAD + WHOLE)
    assert warm_shop.run("train.py").found["run"]["steps"] == 40
