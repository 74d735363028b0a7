"""Segfaults, aborts, killed workers, hangs: real processes that die or stand still, and what is said about them."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from paramedic.cli.dump import watched_processes
from workshop import TIMEOUT, TRAIN, Workshop, wait_for_line, wait_until

TRAINING = """
import ctypes, os, sys, threading, time
import torch
from torch import nn

data = torch.utils.data.TensorDataset(torch.randn(64, 4), torch.zeros(64).long())
loader = torch.utils.data.DataLoader(data, batch_size=8)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 3)

    def forward(self, x):
        out = self.head(x)
        if step == 3:
            happen()
        return out

step = 0
def train():
    global step
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        loss = nn.functional.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1

def happen():
    {what}

train()
print("trained", flush=True)
"""
OVERFLOW = """sys.setrecursionlimit(10**9)
    class Endless:
        def __getattr__(self, name):
            return getattr(self, name)
    Endless().x"""
CRASHES = {
    "a segfault": ("ctypes.string_at(0)", signal.SIGSEGV, "Segmentation fault"),
    "an abort": ("os.abort()", signal.SIGABRT, "Aborted"),
    "a bus error": ("os.kill(os.getpid(), 7)", signal.SIGBUS, "Bus error"),
    "a stack overflow": (OVERFLOW, signal.SIGSEGV, "Segmentation fault"),
}


def run_folder(shop: Workshop) -> Path:
    (folder,) = (shop.folder / ".paramedic" / "runs").iterdir()
    return folder


@pytest.mark.parametrize("crash", CRASHES)
def test_a_crash_leaves_a_message_with_stacks_step_module_and_batch(shop: Workshop, crash: str) -> None:
    what, number, cause = CRASHES[crash]
    shop.write("train.py", TRAINING.replace("{what}", what))
    done = shop.run("train.py")
    assert done.code == -number
    told = " ".join(done.stderr.split())
    assert f"paramedic: the run has crashed: {cause} step 3 module net" in told
    assert "batch [0] (8, 4) float32, [1] (8,) int64" in told
    assert "train.py:32 in happen" in told or "train.py:35 in __getattr__" in told
    assert "frame #0: " in told, "native frames"
    kept = (run_folder(shop) / "crash.txt").read_text()
    assert f"the run has crashed: {cause}" in kept and "most recent call first" in kept
    assert not list(run_folder(shop).glob("*-*.txt")), "the raw files are gone"


def test_a_run_that_ends_well_leaves_nothing_but_its_record(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", TRAIN + "train(8)\n")
    done = warm_shop.run("train.py")
    assert done.code == 0
    wait_until(
        lambda: (
            not [p for p in run_folder(warm_shop).iterdir() if not p.name.startswith(("main.db", "log.j", "verdict.j"))]
        )
    )


@pytest.mark.parametrize("what", ["os._exit(5)", "os.kill(os.getpid(), 9)"])
def test_leaving_without_a_word_stays_without_a_word(shop: Workshop, what: str) -> None:
    shop.write("train.py", TRAINING.replace("{what}", what))
    done = shop.run("train.py")
    assert done.code == (5 if "exit" in what else -9) and done.stderr == ""


def test_ctrl_c_is_no_crash(shop: Workshop) -> None:
    shop.write("train.py", TRAINING.replace("{what}", "print('ready', flush=True); time.sleep(60)"))
    process = shop.start("run", "train.py")
    wait_for_line(process, "ready")
    process.send_signal(signal.SIGINT)
    stderr = process.communicate(timeout=TIMEOUT)[1]
    assert process.returncode == -signal.SIGINT
    assert "KeyboardInterrupt" in stderr and "frame #" not in stderr and "crashed" not in stderr


WORKER = """
import ctypes, os, signal
import torch
from torch.utils.data import Dataset, DataLoader

class Pictures(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, i):
        if i == 20:
            {what}
        return torch.zeros(3)

if __name__ == "__main__":
    for x in DataLoader(Pictures(), batch_size=4, num_workers=2, multiprocessing_context="{method}"):
        pass
"""


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_worker_that_crashed_is_named_with_its_line(shop: Workshop, method: str) -> None:
    shop.write("train.py", WORKER.format(what="ctypes.string_at(0)", method=method))
    done = shop.run("train.py", options=("-q",))
    told = " ".join(done.stderr.split())
    assert done.code == 1
    assert "died of a Segmentation fault" in told and "train.py:11 in __getitem__" in told


def test_a_worker_that_was_killed_gets_figures_on_memory(shop: Workshop) -> None:
    shop.write(
        "train.py",
        WORKER.format(what="import time; time.sleep(1); os.kill(os.getpid(), signal.SIGKILL)", method="fork"),
    )
    done = shop.run("train.py", options=("-q",))
    told = " ".join(done.stderr.split())
    assert "was killed from outside. Unless somebody killed it, memory ran out" in told, done.stderr
    assert "GiB free of" in told and "/dev/shm" in told


def start_hanging(shop: Workshop, what: str) -> subprocess.Popen[str]:
    shop.write("train.py", TRAINING.replace("{what}", what))
    process = shop.start("run", "-q", "train.py")
    wait_for_line(process, "hanging")
    wait_until(lambda: process.pid in watched_processes())
    return process


# A deadlock that ends once the test has seen enough of it, and in any case some day.
LOCKED = """lock = threading.Lock(); lock.acquire(); print('hanging', flush=True)
    for _ in range(500): os.path.exists('seen') or lock.acquire(timeout=0.2)"""


def test_a_hanging_run_says_where_it_is_and_goes_on(shop: Workshop) -> None:
    process = start_hanging(shop, LOCKED)
    for _ in range(2):
        told = shop.paramedic("dump", process.pid)
        assert told.code == 0, told.stderr
        assert "train.py:33 in happen" in told.stdout and "train.py:25 in train" in told.stdout
        assert "x (8, 4) float32 cpu · " in " ".join(told.stdout.split())
        assert "step     3" in told.stdout
    process.send_signal(signal.SIGUSR1)
    wait_until(lambda: (run_folder(shop) / "dump.txt").read_text().count("where the run is now") >= 3)
    shop.write("seen", "")
    stdout, stderr = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 0 and "trained" in stdout
    assert stderr.count("the values where the run is now") == 1, "what was asked for elsewhere is shown elsewhere"


def test_a_run_stuck_in_native_code_still_says_where_it_is(shop: Workshop) -> None:
    stuck = "print('hanging', flush=True); end = time.time() + 12\n"
    stuck += "    while time.time() < end: ctypes.PyDLL(None).usleep(900_000)"
    holds_the_lock = "import ctypes as c; sys.setswitchinterval(100); "
    process = start_hanging(shop, holds_the_lock + stuck)
    told = shop.paramedic("dump", process.pid)
    assert told.code == 0, told.stderr
    assert "python does not respond: it is busy in native code" in told.stdout
    assert "train.py:33 in happen" in told.stdout
    assert process.communicate(timeout=TIMEOUT)[0].endswith("trained\n")


def test_a_signal_handler_of_the_scripts_own_is_left_alone(shop: Workshop) -> None:
    own = "import signal; signal.signal(signal.SIGUSR1, lambda *_: print('mine', flush=True)); " + LOCKED
    process = start_hanging(shop, own)
    process.send_signal(signal.SIGUSR1)
    wait_for_line(process, "mine")
    shop.write("seen", "")
    stdout, stderr = process.communicate(timeout=TIMEOUT)
    assert "trained" in stdout and "where the run is now" not in stderr


def test_a_stranger_is_not_sent_a_deadly_signal(shop: Workshop) -> None:
    stranger = subprocess.Popen(["sleep", "60"])
    done = shop.paramedic("dump", stranger.pid)
    assert done.code == 2 and f"no process {stranger.pid} is being watched" in done.stderr
    assert stranger.poll() is None
    stranger.kill()
    stranger.wait()


def test_the_script_sees_no_child_that_is_not_its_own(shop: Workshop) -> None:
    text = "import os, time\ntime.sleep(2)\ntry:\n    os.wait()\nexcept ChildProcessError:\n    print('none')\n"
    shop.write("train.py", TRAIN + text)
    done = shop.run("train.py")
    assert done.stdout == "none\n"
    assert os.path.isdir(run_folder(shop))
