"""Bundles and replay: a failing step in one file, run again with the very same loss."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from paramedic.capture.inquest.spikes import Spikes
from paramedic.record.writer import NOWHERE
from workshop import Workshop, wait_until

TRAIN = """
import random, torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(1)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Dropout(0.3))
        self.out = nn.Linear(8, 1)
    def forward(self, x):
        return self.out(self.body(x))

def distance(a, b):
    return (a - b).pow(2).sum(1).sqrt()

def main():
    model = Net()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for step in range(30):
        x = torch.randn(16, 6)
        out = model(x)
        target = out.detach() if step == 17 else x[:, :1]
        loss = distance(out, target).mean() + 0.1 * out.pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

main()
"""


@pytest.fixture
def bundle(warm_shop: Workshop) -> Path:
    warm_shop.write("train.py", TRAIN)
    done = warm_shop.run("train.py")
    assert done.code == 3 and done.codes[0] == "PM103"
    (found,) = warm_shop.folder.glob(".paramedic/runs/*/*.pt")
    assert f"paramedic replay {found.relative_to(warm_shop.folder)}" in done.stderr
    return found


def test_the_step_is_run_again_with_the_same_loss(warm_shop: Workshop, bundle: Path) -> None:
    done = warm_shop.paramedic("replay", bundle, "--yes")
    assert done.code == 1
    assert "step 17 again" in done.stderr and "bit for bit the same" in done.stderr
    assert "sqrt at train.py:15 is where it starts" in done.stderr
    every = warm_shop.paramedic("replay", bundle, "--ops", "--yes").stderr
    assert every.count("\n") > done.stderr.count("\n") - 3 and "model.body.1" in every


def test_a_bundle_becomes_a_test_that_passes_once_the_line_is_repaired(warm_shop: Workshop, bundle: Path) -> None:
    assert warm_shop.paramedic("replay", bundle, "--test", "test_step.py", "--yes").code == 0
    command = [sys.executable, "-m", "pytest", "-q", "test_step.py"]
    broken = subprocess.run(
        command, cwd=warm_shop.folder, env=warm_shop.env, capture_output=True, text=True, check=False
    )
    assert broken.returncode == 1 and "where it starts" in broken.stdout
    warm_shop.write("train.py", "# repaired\n" + TRAIN.replace(".sum(1).sqrt()", ".sum(1).add(1e-12).sqrt()"))
    repaired = subprocess.run(
        command, cwd=warm_shop.folder, env=warm_shop.env, capture_output=True, text=True, check=False
    )
    assert repaired.returncode == 0, repaired.stdout


def test_a_bundle_that_holds_code_is_refused(warm_shop: Workshop) -> None:
    warm_shop.write(
        "evil.py",
        "import os, torch\nclass E:\n    def __reduce__(self):\n        return os.mkdir, ('hacked',)\n"
        "torch.save({'format': 1, 'x': E()}, 'evil.pt')\n",
    )
    assert warm_shop.python("evil.py").code == 0
    done = warm_shop.paramedic("replay", "evil.pt")
    assert done.code == 2 and "refused" in done.stderr and "Traceback" not in done.stderr
    assert not (warm_shop.folder / "hacked").exists()


def test_a_moved_script_gives_a_clear_message_and_can_be_named(warm_shop: Workshop, bundle: Path) -> None:
    (warm_shop.folder / "train.py").rename(warm_shop.folder / "moved.py")
    done = warm_shop.paramedic("replay", bundle, "--yes")
    assert done.code == 2 and "no longer exists" in done.stderr and "Traceback" not in done.stderr
    (warm_shop.folder / "sub").mkdir()
    (warm_shop.folder / "moved.py").rename(warm_shop.folder / "sub" / "train.py")
    assert "bit for bit the same" in warm_shop.paramedic("replay", bundle, "--", "sub/train.py").stderr


def test_the_batch_can_be_kept_out(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", TRAIN)
    assert warm_shop.run("train.py", options=("--no-data",)).code == 3
    (found,) = warm_shop.folder.glob(".paramedic/runs/*/*.pt")
    program = (
        f"import torch; b = torch.load({str(found)!r}, weights_only=True); print(b['variables'], list(b['models']))"
    )
    assert warm_shop.python("-c", program).stdout == "{} ['model']\n"


def test_a_crash_leaves_a_bundle_that_fails_again(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", TRAIN.replace("out.detach() if step == 17", "out.detach()[:, [1]] if step == 17"))
    done = warm_shop.run("train.py")
    assert done.code == 1
    (found,) = warm_shop.folder.glob(".paramedic/runs/*/*.pt")
    again = warm_shop.paramedic("replay", found, "--yes")
    assert again.code == 1 and "fails again: IndexError" in again.stderr and "Traceback" not in again.stderr


def test_a_running_run_is_asked_for_its_step(shop: Workshop) -> None:
    slow = TRAIN.replace("        optimizer.step()", "        optimizer.step()\n        __import__('time').sleep(0.1)")
    shop.write("train.py", slow.replace("step == 17", "False").replace("range(30)", "range(400)"))
    process = shop.start("run", "train.py")
    try:
        wait_until(lambda: bool(shop.records()))
        done = shop.paramedic("bundle", "--wait", "60")
        assert done.code == 0, done.stderr
        assert (shop.folder / done.stdout.strip()).is_file() and process.poll() is None
    finally:
        process.terminate()
        process.communicate()
    assert not list(shop.folder.glob(".paramedic/runs/*/.bundle-*"))
    again = shop.paramedic("replay", done.stdout.strip(), "--yes").stderr
    assert "bit for bit the same" in again and "Everything is finite" in again


def test_a_spike_is_kept_on_request_and_training_goes_on(warm_shop: Workshop) -> None:
    """Dropout and a batch that is drawn in the loop: only with the random state as it was does the loss come again."""
    wild = "x = torch.randn(16, 6)\n        x[3] *= 1e4 if step == 50 else 1"
    text = (
        TRAIN.replace("range(30)", "range(80)").replace("step == 17", "False").replace("x = torch.randn(16, 6)", wild)
    )
    warm_shop.write("train.py", text.replace("\nmain()", "    print(loss.item())\n\nmain()"))
    plain, done = warm_shop.run("train.py"), warm_shop.run("train.py", options=("--bundle-spikes",))
    assert plain.code == done.code == 0 and plain.stdout == done.stdout
    (found,) = warm_shop.folder.glob(".paramedic/runs/*/*.pt")
    assert found.name == "main-step50.pt" and "spike in step 50: the loss is " in done.stderr
    again = warm_shop.paramedic("replay", found, "--yes")
    assert again.code == 0 and "bit for bit the same" in again.stderr, again.stderr
    assert "x        (16, 6) float32 cpu" in again.stderr, "the batch is shown"
    refused = warm_shop.paramedic("replay", found, "--test", "test_step.py", "--yes")
    assert refused.code == 2 and "did not fail" in refused.stderr


def test_ordinary_losses_are_no_spikes() -> None:
    noise = random.Random(0)
    falling = [5 * 0.99**step * noise.uniform(0.7, 1.3) for step in range(400)]
    heavy = [noise.lognormvariate(0, 0.5) for _ in range(400)]
    restart = [1.0 + 0.1 * noise.random() + (step > 200) * 0.3 for step in range(400)]
    for curve in (falling, heavy, restart, [0.0] * 400, [-3 + 0.1 * noise.random() for _ in range(400)]):
        watch = Spikes()
        assert not [step for step, value in enumerate(curve) if watch.look(NOWHERE, value, None)]
    watch = Spikes()
    curve = [2.5 + 0.1 * noise.random() + 5 * (step in (100, 200)) for step in range(300)]
    assert [step for step, value in enumerate(curve) if watch.look(NOWHERE, None, value)] == [100, 200]
