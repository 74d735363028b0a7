"""The pytest plugin in real pytest processes."""

from __future__ import annotations

import re

from workshop import Workshop

TESTS = """
import unittest

import torch
import torch.nn.functional as F
from torch import nn

from paramedic import testing


def test_fixtures(seeded, filled, synthetic, train_steps):
    assert torch.equal(filled(2, 3), filled(2, 3)) and int(filled(50, high=4).max()) == 3
    task = synthetic("gaussians", n=60)
    x, y = task.batch
    assert len(x) == len(y) == 48 and 0 <= task.optimum < 0.5
    model = nn.Linear(x[0].numel(), int(y.max()) + 1)
    losses = train_steps(20, model, F.cross_entropy, (x.flatten(1), y), torch.optim.Adam(model.parameters(), lr=0.1))
    assert len(losses) == 20 and losses[-1] < losses[0]


class Mixer(nn.Module):
    def forward(self, x):
        return x - x.mean(0)


def test_mixing():
    testing.assert_batch_independent(Mixer(), torch.randn(4, 3))


class InUnittest(unittest.TestCase):
    def test_golden(self):
        torch.manual_seed(0)
        model = nn.Linear(3, 2)
        testing.golden_step("linear", model, F.mse_loss, (torch.ones(4, 3), torch.zeros(4, 2)))
"""


def test_fixtures_codes_and_updates(shop: Workshop) -> None:
    shop.write("test_it.py", TESTS)
    update = shop.python("-m", "pytest", "-q", "-p", "no:cacheprovider", "--paramedic-update", "-k", "golden")
    assert update.code == 0, update.stdout
    assert (shop.folder / "golden" / "linear.json").exists()
    done = shop.python("-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "1", "--junitxml", "out.xml")
    assert done.code == 1 and "2 passed" in done.stdout and "1 failed" in done.stdout, done.stdout
    assert "PM413 batch-mixing" in done.stdout and "paramedic/testing/assertions" not in done.stdout
    assert re.search(r'<property name="paramedic" value="PM413"', (shop.folder / "out.xml").read_text())


PLAIN = """
import torch
import torch.nn.functional as F
from torch import nn

from paramedic.testing import CheckFailed, assert_frozen, assert_shapes

model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
assert_shapes(model, torch.ones(5, 3), "B 3 -> B classes", classes=2)
try:
    assert_frozen(model, F.mse_loss, (torch.ones(5, 3), torch.zeros(5, 2)), names=["0.*"])
except CheckFailed as failure:
    print(failure.code)
assert_shapes(model, torch.ones(5, 3), "B 3 -> B 7")
"""


def test_the_same_checks_without_pytest(shop: Workshop) -> None:
    """In unittest, where a failed check is a failure and not an error; and in a plain script."""
    shop.write("test_it.py", TESTS + "\n    def test_mixing(self):\n        test_mixing()\n")
    done = shop.python("-m", "unittest", "test_it.InUnittest.test_mixing")
    assert done.code == 1 and "FAILED (failures=1)" in done.stderr and "PM413 batch-mixing" in done.stderr, done.stderr
    shop.write("plain.py", PLAIN)
    plain = shop.python("plain.py")
    assert plain.code == 1 and plain.stdout.strip() == "PM404"
    assert "CheckFailed: assert_shapes: 'B 3 -> B 7' does not hold" in plain.stderr, plain.stderr


def test_torch_is_not_imported_before_it_is_needed(shop: Workshop) -> None:
    program = (
        "import sys, paramedic, paramedic.testing.plugin, paramedic.contracts.contract; print('torch' in sys.modules)"
    )
    assert shop.python("-c", program).stdout.strip() == "False"
