"""Shells and the debugger, driven through a real terminal; and what happens where there is none."""

from __future__ import annotations

import os
import pty
import select
import signal
import sys
import time

import pytest

from paramedic.capture.reassembly import reassembled
from workshop import Workshop

LOOP = """
import torch
from torch import nn
import paramedic

torch.manual_seed(0)
data = torch.utils.data.TensorDataset(torch.randn(64, 4), torch.randn(64, 1))
loader = torch.utils.data.DataLoader(data, batch_size=8)

def train():
    net = nn.Linear(4, 1)
    sgd = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        squares = nn.functional.mse_loss(net(x), y)
        sgd.zero_grad()
        squares.backward()
        sgd.step()
        {extra}
    print("last", squares.item())

train()
"""


def talk(shop: Workshop, command: list[str], answers: list[tuple[str, str]]) -> str:
    """Run a command in a terminal; after each text that is waited for, something is typed."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(shop.folder)
        environment = shop.env | {"TERM": "dumb", "COLUMNS": "80", "IPYTHONDIR": str(shop.folder / "ipython")}
        os.execve(command[0], command, environment)
    seen, since, end = b"", 0, time.monotonic() + 120
    while time.monotonic() < end:
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                seen += os.read(terminal, 1 << 16)
            except OSError:  # the other side is gone
                break
        if answers and answers[0][0].encode() in seen[since:]:
            since = len(seen)
            os.write(terminal, answers.pop(0)[1].encode() + b"\n")
    else:
        os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(terminal)
    assert not answers, f"never came: {answers[0][0]!r} in {seen.decode(errors='replace')}"
    return seen.decode(errors="replace")


def command(*args: str) -> list[str]:
    return [sys.executable, "-m", "paramedic", "run", "-q", *args]


def test_shell_at_a_step_has_everything_in_scope_and_the_run_goes_on(shop: Workshop) -> None:
    shop.write("train.py", LOOP.format(extra="pass"))
    look = (
        "print(len(gradients), loss is squares, type(optimizer).__name__, model.weight.grad is not None, batch[0] is x)"
    )
    seen = talk(shop, command("--shell-at", "3", "train.py"), [("In [1]:", look), ("In [2]:", "exit")])
    assert "a shell before the update of step 3" in seen
    assert "2 True SGD True True" in seen and "last " in seen and "Verdict" in seen


def test_a_batch_is_put_together_from_its_tensors() -> None:
    assert reassembled({"": 1}) == 1
    assert reassembled({"[0]": 1, "[2]": 3}) == [1, None, 3]
    assert reassembled({"['ids']": 1, "['more'][0]": 2}) == {"ids": 1, "more": [2]}
    assert reassembled({"[a(1)]x": 1}) == {"[a(1)]x": 1}


def test_a_shell_in_the_code_has_the_variables_of_that_place(shop: Workshop) -> None:
    shop.write("train.py", LOOP.format(extra="if x[0, 0] == data[8][0][0]: paramedic.shell()"))
    asked = [("In [1]:", "print('rows', len(x), model.weight.shape)"), ("In [2]:", "exit")]
    seen = talk(shop, command("train.py"), asked)
    assert "a shell at train.py:17" in seen and "rows 8 torch.Size([1, 4])" in seen and "last " in seen


def test_without_ipython_python_does_it(shop: Workshop) -> None:
    shop.write("IPython.py", "raise ImportError")
    shop.write("train.py", LOOP.format(extra="if x[0, 0] == data[8][0][0]: paramedic.shell()"))
    seen = talk(shop, command("train.py"), [(">>> ", "print('rows', len(x))"), (">>> ", "exit()")])
    assert "rows 8" in seen and "last " in seen


@pytest.mark.parametrize("prompt", ["ipdb>", "(Pdb)"])
def test_pdb_opens_where_it_failed(shop: Workshop, prompt: str) -> None:
    if prompt == "(Pdb)":
        shop.write("IPython.py", "raise ImportError")
    shop.write("train.py", "import torch\ndef f(size):\n    return torch.zeros(size) + None\nf(3)\n")
    seen = talk(shop, command("--pdb", "train.py"), [(prompt, "p size * 7"), (prompt, "q")])
    assert "21" in seen and "Verdict" in seen


def test_without_a_terminal_the_run_goes_on_at_once_and_says_so(shop: Workshop) -> None:
    shop.write("train.py", LOOP.format(extra="if x[0, 0] == data[8][0][0]: paramedic.shell()"))
    plain = shop.python("train.py")
    done = shop.run("train.py", options=("--shell-at", "2", "--pdb"))
    assert done.code == 0 and done.stdout == plain.stdout
    assert "a shell before the update of step 2 ignored: no terminal" in done.stderr
    assert "a shell at train.py:17 ignored" in done.stderr and "a shell at train.py:17" in plain.stderr
    assert done.found["verdict"] == "healthy"


SPOILT = """
import torch
torch.manual_seed(0)
w = torch.nn.Linear(3, 1, bias=False)
sgd = torch.optim.SGD(w.parameters(), lr=0.1)
for step in range(6):
    x = torch.randn(8, 3) * (step != 4)
    distance = w(x).abs().sqrt().mean()
    sgd.zero_grad()
    distance.backward()
    sgd.step()
"""


def test_on_nan_and_replay_open_a_shell_with_the_failing_step(shop: Workshop) -> None:
    shop.write("train.py", SPOILT)
    asked = [("In [1]:", "print('sum', float(x.sum()), w.weight.isfinite().all())"), ("In [2]:", "exit")]
    seen = talk(shop, command("--on-nan", "shell", "train.py"), asked)
    assert "a shell before the step 4 that would corrupt the weights" in seen
    assert "sum 0.0 tensor(True)" in seen and "stopped before optimizer.step()" in seen and "Verdict" in seen
    (bundle,) = shop.folder.glob(".paramedic/runs/*/*.pt")
    asked = [("In [1]:", "print('ops', len(ops), 'loss', loss.item(), bundle['step'])"), ("In [2]:", "exit")]
    seen = talk(shop, [sys.executable, "-m", "paramedic", "replay", str(bundle), "--shell", "--yes"], asked)
    assert "bit for bit the same" in seen and "loss 0.0 4" in seen
