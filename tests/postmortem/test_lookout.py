"""Errors told while the run goes on: once, only when certain, and never by the training process."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from paramedic.rules.catalogue import all_rules
from workshop import TRAIN, Workshop

# Looks at a record between the steps of the training that writes it.
LOOKS = (
    TRAIN
    + """
import paramedic
from paramedic.postmortem.lookout import Lookout, line
from paramedic.rules.catalogue import all_rules

watch = paramedic.watch()
lookout = Lookout(watch.folder, all_rules(), {})
for steps in (12, 2, 12, 12):
    train(steps, softmax={softmax})
    watch.diagnose()  # what is recorded is written
    print([line(finding) for finding in lookout.look()], lookout.expects)
"""
)


def test_a_certain_error_is_told_once_when_a_second_look_confirms_it(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", LOOKS.replace("{softmax}", "True"))
    done = warm_shop.python("train.py")
    first, too_soon, second, third = done.stdout.splitlines()
    assert first == too_soon == "[] True", done.stderr
    assert "PM502 softmax-before-cross-entropy, train.py:" in second and second.endswith("] False")
    assert "rows sum to 1" in second and third == "[] False"


def test_of_a_healthy_run_nothing_is_told(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", LOOKS.replace("{softmax}", "False"))
    assert warm_shop.python("train.py").stdout.splitlines() == ["[] False"] * 4


def test_a_certain_warning_is_told_with_its_own_mark(warm_shop: Workshop) -> None:
    script = LOOKS.replace("{softmax}", "False")
    early = "torch.optim.lr_scheduler.StepLR(torch.optim.SGD([torch.zeros(1, requires_grad=True)], 0.1), 5).step()\n"
    warm_shop.write("train.py", script.replace("lookout = ", early + "lookout = "))
    done = warm_shop.python("train.py")
    assert "paramedic: ▲ PM607 scheduler-before-optimizer, train.py:" in done.stdout.splitlines()[2], done.stdout


# A later step could still put these modules into an optimizer.
FORGOTTEN = """
import torch
from torch import nn
import paramedic
from paramedic.postmortem.lookout import Lookout, line
from paramedic.rules.catalogue import all_rules

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(4, 8), nn.Linear(8, 8)]
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x).relu()
        return self.head(x)

torch.manual_seed(0)
torch.set_num_threads(1)
watch = paramedic.watch()
lookout = Lookout(watch.folder, all_rules(), {})
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for steps in (30, 20, 20, 20):
    for _ in range(steps):
        x = torch.randn(16, 4)
        loss = nn.functional.cross_entropy(model(x), x[:, :3].argmax(dim=1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    found = [finding.code for finding in watch.diagnose().findings]
    print([line(finding) for finding in lookout.look()], lookout.expects)
print(found[0])
"""


def test_what_a_later_step_might_undo_waits_for_the_verdict(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", FORGOTTEN)
    done = warm_shop.python("train.py")
    assert done.stdout.splitlines() == [*["[] False"] * 4, "PM401"], done.stderr


def test_symptoms_and_notes_never_last() -> None:
    lasting = [rule for rule in all_rules() if rule.lasting]
    assert {rule.severity for rule in lasting} == {"error", "warning"}
    assert not any(rule.symptom or rule.reads == "audit" for rule in lasting)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="the attendant needs Linux")
def test_paramedic_watch_tells_it_too(warm_shop: Workshop) -> None:
    script = TRAIN + "\nimport paramedic\n\nwith paramedic.watch():\n    train(100_000, pause=0.05, softmax=True)\n"
    warm_shop.write("train.py", script)
    command = [sys.executable, "train.py"]
    process = subprocess.Popen(command, cwd=warm_shop.folder, env=warm_shop.env, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    watchdog = threading.Timer(240, process.kill)
    watchdog.start()
    said = process.stderr.readline()
    process.kill()
    process.communicate()
    watchdog.cancel()
    assert said.startswith("paramedic: ✗ PM502 softmax-before-cross-entropy, train.py:"), said


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="the attendant needs Linux")
def test_the_line_comes_while_the_script_trains(shop: Workshop) -> None:
    shop.write("train.py", TRAIN + "train(100_000, pause=0.05, softmax=True)\n")
    process = shop.start("run", "train.py")
    assert process.stderr is not None
    watchdog = threading.Timer(240, process.kill)
    watchdog.start()
    said = process.stderr.readline()
    assert said.startswith("paramedic: ✗ PM502 softmax-before-cross-entropy, train.py:"), said
    assert process.poll() is None, "it trains on"
    process.send_signal(signal.SIGTERM)
    rest = process.communicate()[1]
    watchdog.cancel()
    assert "Verdict: sick." in rest and rest.count("paramedic: ✗") == 0
