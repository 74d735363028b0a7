"""`paramedic check`: a few optimizer steps, a clean stop, a verdict."""

from __future__ import annotations

import pytest

from workshop import TRAIN, Workshop

COUNTED = """
from torch import nn
import torch

torch.manual_seed(0)
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def step():
    x = torch.randn(16, 4)
    loss = nn.functional.cross_entropy(model(x), (x[:, 0] > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("after step", flush=True)

"""


@pytest.fixture
def warm_shop(warm_shop: Workshop) -> Workshop:
    """How a process starts is not the subject here."""
    return warm_shop


@pytest.mark.parametrize("steps", [1, 7])
def test_the_script_is_stopped_after_exactly_n_steps(warm_shop: Workshop, steps: int) -> None:
    warm_shop.write("train.py", COUNTED + "while True:\n    step()\n")
    done = warm_shop.paramedic("check", "--steps", steps, "--json", "out.json", "train.py")
    assert done.stdout.count("after step") == steps - 1, "the last step does not return to the script"
    assert done.found["run"]["steps"] == steps
    assert done.code == 0


def test_twenty_steps_are_the_default(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", COUNTED + "while True:\n    step()\n")
    done = warm_shop.paramedic("check", "--json", "out.json", "train.py")
    assert done.found["run"]["steps"] == 20
    assert done.code == 0 and "Verdict: healthy." in done.stderr


def test_finally_blocks_context_managers_and_atexit_run(warm_shop: Workshop) -> None:
    body = """
import atexit, contextlib

@contextlib.contextmanager
def logger():
    try:
        yield
    finally:
        print("log closed")

atexit.register(print, "atexit")
with logger():
    try:
        while True:
            step()
    finally:
        print("checkpoint saved")
print("never reached")
"""
    warm_shop.write("train.py", COUNTED + body)
    done = warm_shop.paramedic("check", "--steps", "5", "train.py")
    assert done.code == 0
    assert [line for line in done.stdout.splitlines() if line != "after step"] == [
        "checkpoint saved",
        "log closed",
        "atexit",
    ]


def test_except_exception_in_the_script_does_not_swallow_the_stop(warm_shop: Workshop) -> None:
    body = "while True:\n    try:\n        step()\n    except Exception as error:\n        print('caught', error)\n"
    warm_shop.write("train.py", COUNTED + body)
    done = warm_shop.paramedic("check", "--steps", "5", "train.py")
    assert (done.code, done.stdout.count("after step")) == (0, 4)
    assert "caught" not in done.stdout


def test_even_a_bare_except_cannot_train_on_for_ever(warm_shop: Workshop) -> None:
    body = "for _ in range(40):\n    try:\n        step()\n    except:\n        pass\n"
    warm_shop.write("train.py", COUNTED + body)
    done = warm_shop.paramedic("check", "--steps", "5", "--json", "out.json", "train.py")
    assert done.code == 0 and done.found["verdict"] == "healthy"
    assert done.stdout.count("after step") == 4


def test_a_finding_gives_exit_code_one(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", TRAIN + "train(10**6, softmax=True)\n")
    done = warm_shop.paramedic("check", "--json", "out.json", "train.py")
    assert done.code == 1 and done.codes[0] == "PM502"


def test_an_ignored_finding_gives_exit_code_zero(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", TRAIN + "train(10**6, softmax=True)\n")
    done = warm_shop.paramedic("check", "--ignore", "PM502", "--json", "out.json", "train.py")
    assert done.code == 0 and done.alarms == []


def test_a_script_that_ends_early_keeps_its_verdict(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", COUNTED + "for _ in range(6):\n    step()\nprint('end')\n")
    done = warm_shop.paramedic("check", "--json", "out.json", "train.py")
    assert done.stdout.endswith("end\n") and done.found["run"]["steps"] == 6 and done.code == 0


def test_a_script_that_crashes_does_not_pass_the_check(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", COUNTED + "step()\nraise ValueError('bad')\n")
    done = warm_shop.paramedic("check", "train.py")
    assert done.code == 1 and "ValueError: bad" in done.stderr


def test_steps_must_be_positive(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", "print('ran')")
    done = warm_shop.paramedic("check", "--steps", "0", "train.py")
    assert done.code == 2 and done.stdout == "" and "Traceback" not in done.stderr


def test_lbfgs_closures_count_as_one_step(warm_shop: Workshop) -> None:
    body = """
optimizer = torch.optim.LBFGS(model.parameters(), max_iter=4)
x = torch.randn(64, 4)

def closure():
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), x[:, :2])
    loss.backward()
    return loss

for step in range(100):
    optimizer.step(closure)
    print("after step")
"""
    warm_shop.write("train.py", COUNTED + body)
    done = warm_shop.paramedic("check", "--steps", "6", "--json", "out.json", "train.py")
    assert (done.code, done.stdout.count("after step"), done.alarms) == (0, 5, [])
    assert done.found["run"]["steps"] == 6
