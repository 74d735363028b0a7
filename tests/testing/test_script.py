"""`paramedic test`: a test file that passes on a healthy script and fails, with the cause, on a sick one."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from paramedic.errors import ParamedicError
from paramedic.launch import Target
from paramedic.testing import load_training
from paramedic.testing.script.running import first_step
from paramedic.testing.script.storing import store_training
from workshop import Workshop

TOP = """
import argparse
import torch
from torch import nn
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--dim", type=int, default=8)
args = parser.parse_args()

class Net(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.body, self.head = nn.Linear(4, dim), nn.Linear(dim, 3)

    def forward(self, x):
        return self.head(self.body(x).relu())

torch.manual_seed(0)
model = Net(args.dim)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(1000):
    x = torch.randn(16, 4)
    y = x[:, :3].argmax(dim=1)
    out = model(x)
    loss = F.cross_entropy(out, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
raise SystemExit("the training was run")
"""

MAIN = """
import torch
from torch import nn

def batches():
    while True:
        x = torch.randn(8, 4)
        yield x, x.sum(1, keepdim=True)

def train(net, criterion, optimizer):
    for x, y in batches():
        optimizer.zero_grad()
        loss = criterion(net(x), y) + 0.0
        loss.backward()
        optimizer.step()

def main():
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
    model[0].weight.data.mul_(0.5)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    train(model, nn.MSELoss(), optimizer)

if __name__ == "__main__":
    main()
"""

TRAINER = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, dim, act=nn.ReLU):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, dim), act(), nn.Linear(dim, 1))

    def forward(self, x):
        return self.layers(x)

class Trainer:
    def __init__(self, model, lr):
        self.model, self.loss, self.scale = model, nn.MSELoss(), 2.0
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)

    def compute(self, x, y):
        return self.scale * self.loss(self.model(x), y)

    def fit(self):
        for _ in range(1000):
            x = torch.randn(8, 4)
            loss = self.compute(x, x.sum(1, keepdim=True))
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

Trainer(Net(6, act=nn.Tanh), lr=3e-3).fit()
"""


def test_a_test_that_follows_its_script(warm_shop: Workshop) -> None:
    script = warm_shop.write("train.py", TOP)
    done = warm_shop.paramedic("test", "-o", "tests/test_training.py", "train.py", "--dim", "12")
    assert done.code == 0, done.stderr
    text = (warm_shop.folder / "tests" / "test_training.py").read_text()
    assert "assert_learns" in text and "assert_batch_independent" in text and "# A model that cannot fit" in text
    compile(text, "test_training.py", "exec")
    assert warm_shop.paramedic("test", "-o", "tests/test_training.py", "train.py").code == 2, "nothing is overwritten"

    pytest_run = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests")
    healthy = warm_shop.python(*pytest_run)
    assert healthy.code == 0, healthy.stdout
    script.write_text(script.read_text().replace("out = model(x)", "out = model(x).softmax(dim=1)"))
    sick = warm_shop.python(*pytest_run)
    assert sick.code == 1 and "PM502" in sick.stdout and "test_learns" in sick.stdout, sick.stdout


@pytest.mark.parametrize(("source", "args"), [(TOP, ("--dim", "5")), (MAIN, ()), (TRAINER, ())])
def test_scripts_of_several_kinds(tmp_path: Path, source: str, args: tuple[str, ...]) -> None:
    script, fixture = tmp_path / "train.py", tmp_path / "t.fixture"
    script.write_text(source)
    step = first_step(Target(name=str(script), args=args))
    store_training(script, list(args), step, fixture)
    training = load_training(script, fixture)
    value = training.loss(training.model, training.batch)
    assert float(value.detach()) == pytest.approx(step.loss, rel=1e-5) and value.requires_grad
    held = [id(p) for group in training.optimizer.param_groups for p in group["params"]]
    assert held == [id(p) for p in training.model.parameters()]
    assert type(training.optimizer) is type(step.optimizer)
    assert training.optimizer.param_groups[0]["lr"] == step.optimizer.param_groups[0]["lr"]
    assert all(torch.equal(step.state[name], value) for name, value in training.model.state_dict().items())


def test_a_script_that_does_not_train(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("print('nothing')\n")
    with pytest.raises(ParamedicError, match="did not come to a training step"):
        first_step(Target(name=str(script), args=()))
