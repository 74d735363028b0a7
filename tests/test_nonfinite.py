"""From a NaN to the line that made it: the right operation and line, weights intact, silence where it is due."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from workshop import TRAIN, Workshop

PLANTED = sorted((Path(__file__).parents[1] / "benchmarks" / "nan" / "programs").glob("*.py"))
MARK = re.compile(r"# <- (PM\d{3}) (\w+)")

# A training with one bad step: {bad} computes the loss of step 20, {after} is what the script does after backward().
LOOP = """
import math, torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
first = [p.detach().clone() for p in model.parameters()]
for step in range(40):
    x = torch.randn(16, 6)
    y = x[:, :1].tanh()
    out = model(x)
    gap = (out - y) * (step != 20)
    loss = {loss}
    optimizer.zero_grad()
    loss.backward()
    {after}
    optimizer.step()
print("end", all(bool(torch.isfinite(p).all()) for p in model.parameters()))
"""
ROOT = "gap.pow(2).sum(1).sqrt().mean()"


@pytest.mark.parametrize("program", PLANTED, ids=lambda path: path.stem)
def test_the_operation_and_the_line_are_named(shop: Workshop, program: Path) -> None:
    line, code, op = next(
        (number, *found.groups())
        for number, text in enumerate(program.read_text().splitlines(), 1)
        if (found := MARK.search(text))
    )
    done = shop.run(program)
    first = done.found["findings"][0]
    assert (first["code"], first["where"]["line"]) == (code, line), done.alarms
    named = {item["name"]: item["value"] for item in first["evidence"]}
    assert named.get("operation", op) == op
    assert "detached" not in done.stderr


def test_the_script_is_stopped_before_the_weights_are_spoilt(shop: Workshop) -> None:
    body = LOOP.format(loss=ROOT, after="pass").replace("for step in", "try:\n  for step in", 1)
    head, loop = body.split("try:\n")
    loop, end = loop.split("print(")
    loop = loop.replace("\n    ", "\n      ")
    shop.write("train.py", f"{head}try:\n{loop}finally:\n  print({end}")
    done = shop.run("train.py")
    assert done.code == 3 and done.stdout == "end True\n"
    assert "stopped before optimizer.step() of step 20" in done.stderr and "--on-nan continue" in done.stderr


def test_continue_runs_exactly_like_python(shop: Workshop) -> None:
    shop.write("train.py", LOOP.format(loss=ROOT, after="print(loss.item())"))
    watched, plain = shop.run("train.py", options=("--on-nan", "continue")), shop.python("train.py")
    assert watched.stdout == plain.stdout and watched.code == plain.code == 0
    assert plain.stdout.endswith("end False\n") and watched.codes[0] == "PM103"


@pytest.mark.parametrize(
    "after",
    [
        "if not all(bool(p.grad.isfinite().all()) for p in model.parameters()): continue",
        "for p in model.parameters(): p.grad.nan_to_num_(0.0)",
        "if not math.isfinite(nn.utils.clip_grad_norm_(model.parameters(), 1.0)): optimizer.zero_grad(); continue",
    ],
)
def test_a_script_that_looks_after_itself_is_left_alone(shop: Workshop, after: str) -> None:
    shop.write("train.py", LOOP.format(loss=ROOT, after=after + "\n    print(loss.item())"))
    watched, plain = shop.run("train.py"), shop.python("train.py")
    assert watched.stdout == plain.stdout and watched.code == plain.code == 0
    assert plain.stdout.endswith("end True\n") and watched.alarms == []


def test_a_loss_that_is_tested_before_backward_is_left_alone(shop: Workshop) -> None:
    shop.write(
        "train.py",
        LOOP.format(loss="(gap / gap.abs().sum()).sum()\n    if not loss.isfinite(): continue", after="pass"),
    )
    done = shop.run("train.py")
    assert done.code == 0 and done.alarms == [] and done.stdout == "end True\n"


def test_infinity_is_not_called_nan(shop: Workshop) -> None:
    shop.write("train.py", LOOP.format(loss="-torch.log(gap.pow(2).sum())", after="pass"))
    done = shop.run("train.py")
    first = done.found["findings"][0]
    assert first["code"] == "PM101" and "made inf" in first["what"] and "the loss is inf" in first["what"]


def test_growth_before_the_overflow_is_told(shop: Workshop) -> None:
    shop.write("train.py", LOOP.format(loss="gap.pow(2).mean()", after="pass").replace("lr=0.05", "lr=80.0"))
    done = shop.run("train.py")
    told = [finding for finding in done.found["findings"] if finding["code"] in ("PM101", "PM102", "PM103")]
    assert told and "diverged" in told[0]["why"] and "learning rate" in told[0]["try"]


def test_the_inquest_has_no_side_effects_on_the_script(shop: Workshop) -> None:
    body = """
calls = []
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 1)
        self.register_buffer("seen", torch.zeros(()))
    def forward(self, x):
        self.seen += 1
        return self.fc(x)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(30):
    x = torch.randn(8, 4)
    out = net(x)
    loss = out.pow(2).mean() / (step != 15)
    optimizer.zero_grad()
    loss.backward()
    if step != 15:
        optimizer.step()
print(int(net.seen), torch.rand(1).item(), net.fc.weight.sum().item())
"""
    shop.write("train.py", TRAIN + "torch.manual_seed(3)\n" + body)
    watched, plain = shop.run("train.py"), shop.python("train.py")
    assert watched.stdout == plain.stdout and watched.code == 0
