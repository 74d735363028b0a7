"""From a NaN to the line that made it: the right operation and line, weights intact, silence where it is due."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from workshop import ROOT, TRAIN, Workshop

NAN = ROOT / "benchmarks" / "nan"
PLANTED = sorted((NAN / "programs").glob("*.py"))
HEALTHY = sorted((NAN / "healthy").glob("*.py"))
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
def test_the_operation_and_the_line_are_named(warm_shop: Workshop, program: Path) -> None:
    line, code, op = next(
        (number, *found.groups())
        for number, text in enumerate(program.read_text().splitlines(), 1)
        if (found := MARK.search(text))
    )
    done = warm_shop.run(program)
    first = done.found["findings"][0]
    assert (first["code"], first["where"]["line"]) == (code, line), done.alarms
    named = {item["name"]: item["value"] for item in first["evidence"]}
    assert named.get("operation", op) == op
    same = "yes, same loss" if program.stem != "backward_recurrent" else "yes, but the loss differed"
    assert named.get("reproduced", same) == same  # a state that was overwritten since cannot be had again
    assert "detached" not in done.stderr


@pytest.mark.parametrize("program", HEALTHY, ids=lambda path: path.stem)
def test_infinities_and_nans_that_are_meant_are_left_alone(warm_shop: Workshop, program: Path) -> None:
    done = warm_shop.run(program)
    assert done.code == 0 and done.alarms == [] and "detached" not in done.stderr


def test_the_script_is_stopped_before_the_weights_are_spoilt(warm_shop: Workshop) -> None:
    body = LOOP.format(loss=ROOT, after="pass").replace("for step in", "try:\n  for step in", 1)
    head, loop = body.split("try:\n")
    loop, end = loop.split("print(")
    loop = loop.replace("\n    ", "\n      ")
    warm_shop.write("train.py", f"{head}try:\n{loop}finally:\n  print({end}")
    done = warm_shop.run("train.py")
    assert done.code == 3 and done.stdout == "end True\n"
    assert "stopped before optimizer.step() of step 20" in done.stderr and "--on-nan continue" in done.stderr
    assert "  begins:    train.py:14, the derivative of sqrt\n" in done.stderr


def test_continue_runs_exactly_like_python(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", LOOP.format(loss=ROOT, after="print(loss.item())"))
    watched, plain = warm_shop.run("train.py", options=("--on-nan", "continue")), warm_shop.python("train.py")
    assert watched.stdout == plain.stdout and watched.code == plain.code == 0
    assert plain.stdout.endswith("end False\n") and watched.codes[0] == "PM103"


GUARDS = [
    "if not all(bool(p.grad.isfinite().all()) for p in model.parameters()): continue",
    "for p in model.parameters(): p.grad.nan_to_num_(0.0)",
    "if not math.isfinite(nn.utils.clip_grad_norm_(model.parameters(), 1.0)): optimizer.zero_grad(); continue",
]


def test_a_script_that_looks_after_itself_is_left_alone(warm_shop: Workshop) -> None:
    trainings = [LOOP.format(loss=ROOT, after=guard + "\n    print(loss.item())") for guard in GUARDS]
    warm_shop.write("train.py", "".join(trainings))
    watched, plain = warm_shop.run("train.py"), warm_shop.python("train.py")
    assert watched.stdout == plain.stdout and watched.code == plain.code == 0
    assert plain.stdout.count("end True\n") == len(GUARDS) and watched.alarms == []


def test_a_loss_that_is_tested_before_backward_is_left_alone(warm_shop: Workshop) -> None:
    warm_shop.write(
        "train.py",
        LOOP.format(loss="(gap / gap.abs().sum()).sum()\n    if not loss.isfinite(): continue", after="pass"),
    )
    done = warm_shop.run("train.py")
    assert done.code == 0 and done.alarms == [] and done.stdout == "end True\n"


def test_infinity_is_not_called_nan(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", LOOP.format(loss="-torch.log(gap.pow(2).sum())", after="pass"))
    done = warm_shop.run("train.py")
    first = done.found["findings"][0]
    assert first["code"] == "PM101" and "log(0) gave -inf" in first["what"] and "the loss is inf" in first["what"]


def test_growth_before_the_overflow_is_told(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", LOOP.format(loss="gap.pow(2).mean()", after="pass").replace("lr=0.05", "lr=80.0"))
    done = warm_shop.run("train.py")
    told = [finding for finding in done.found["findings"] if finding["code"] in ("PM101", "PM102", "PM103")]
    assert told and "diverged" in told[0]["why"] and "learning rate" in told[0]["try"]


def test_the_inquest_has_no_side_effects_on_the_script(warm_shop: Workshop) -> None:
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
total = 0.0
for step in range(30):
    x = torch.randn(8, 4)
    if step == 15:
        x[0] += float("inf")  # run again, it must not touch the batch that backward() needs
    out = net(x)
    loss = out.pow(2).mean() / (step != 15)
    optimizer.zero_grad()
    loss.backward()
    total += x[1:].sum().item()
    if step != 15:
        optimizer.step()
print(int(net.seen), total, torch.rand(1).item(), net.fc.weight.sum().item())
"""
    warm_shop.write("train.py", TRAIN + "torch.manual_seed(3)\n" + body)
    watched, plain = warm_shop.run("train.py"), warm_shop.python("train.py")
    assert watched.stdout == plain.stdout and watched.code == 0


COUNTED = """
import signal
draw, calls = torch.Generator().manual_seed(1), []
def noise(module, given):
    calls.append(1)
    return given[0] + 0.01 * torch.randn(given[0].shape, generator=draw)
model.register_forward_pre_hook(noise)
{setting}
"""


@pytest.mark.parametrize("setting", ["pass", "signal.signal(signal.SIGCHLD, lambda *_: None)"])
def test_what_a_step_uses_beside_its_tensors_is_not_used_up(warm_shop: Workshop, setting: str) -> None:
    """Where the program would notice another process, the step is not run again, and that is said."""
    body = LOOP.format(loss=ROOT, after="print(loss.item())\n    if step == 20: continue")
    body = body.replace("first = ", COUNTED.format(setting=setting) + "first = ") + "print(len(calls))\n"
    warm_shop.write("train.py", body)
    plain, watched = warm_shop.python("train.py"), warm_shop.run("train.py", options=("--on-nan", "continue"))
    assert watched.stdout == plain.stdout and plain.stdout.endswith("40\n") and watched.code == 0
    why = "a failing step was not run again: the program handles SIGCHLD, and would notice another process"
    assert (why in watched.found["run"]["notices"]) == (setting != "pass")
    if setting != "pass":  # a run that stops anyway is worth it
        script = warm_shop.write("train.py", body.replace("if step == 20: continue", "pass"))
        line = warm_shop.run("train.py").found["findings"][0]["where"]["line"]
        assert ROOT in script.read_text().splitlines()[line - 1]


def test_large_but_finite_gradients_are_no_alarm(warm_shop: Workshop) -> None:
    """Their norm, and their sum in half precision, overflow although nothing is wrong with them."""
    huge = LOOP.format(loss="out.sub(y).pow(2).mean() * 1e30", after="pass").replace("lr=0.05", "lr=1e-32")
    warm_shop.write("train.py", huge)
    done = warm_shop.run("train.py")
    assert done.code == 0 and not [code for code in done.codes if code.startswith("PM10")]


def test_a_compiled_model_is_traced_as_it_was_written(warm_shop: Workshop) -> None:
    text = LOOP.format(loss=ROOT, after="pass").replace("model(x)", "fast(x)")
    warm_shop.write("train.py", text.replace("first =", "fast = torch.compile(model, backend='eager'); first ="))
    done = warm_shop.run("train.py")
    assert (done.found["findings"][0]["code"], done.found["findings"][0]["where"]["line"]) == ("PM103", 13)


@pytest.mark.parametrize("search", ["None", "'strong_wolfe'"])
def test_a_line_search_may_look_at_steps_that_are_too_long(warm_shop: Workshop, search: str) -> None:
    script = f"""
    import torch
    torch.manual_seed(0)
    w = torch.nn.Parameter(torch.full((2,), 5.0))
    optimizer = torch.optim.LBFGS([w], lr=40.0, max_iter=8, line_search_fn={search})
    def closure():
        optimizer.zero_grad()
        loss = torch.cosh(w * 20).log().sum() + w.pow(2).sum()
        loss.backward()
        return loss
    for _ in range(3):
        optimizer.step(closure)
    print("end", bool(w.isfinite().all()))
    """
    warm_shop.write("train.py", script)
    done = warm_shop.run("train.py")
    if search == "None":
        assert done.code == 3 and "stopped before optimizer.step()" in done.stderr
    else:
        assert done.code == 0 and done.stdout == warm_shop.python("train.py").stdout
