"""A rule is called clear only if it could look: nothing compiled away from it, and no probe of it detached."""

from __future__ import annotations

from pathlib import Path

import pytest

from workshop import Done, Workshop

SCRIPT = """
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
torch.set_num_threads(1)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(4, 8), nn.Linear(8, 3)

    def forward(self, x):
        return self.last(F.relu(self.first(x))).softmax(dim=1)

{extra}
model = Net()
net = {net}
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(30):
    x = torch.randn(32, 4)
    loss = F.cross_entropy(net(x), x[:, :3].argmax(dim=1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
"""
SCRIPTED = """
@torch.jit.script
def unrelated(x: torch.Tensor) -> torch.Tensor:
    return 2 * x
"""
COMPILED = "torch.compile(model, backend='eager')"


def blind(done: Done) -> dict[str, str]:
    return {rule["code"]: rule["reason"] for rule in done.found["rules"]["abstained"] if rule["blind"]}


def test_an_unrelated_scripted_function_hides_nothing(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", SCRIPT.format(extra=SCRIPTED, net="model"))
    done = warm_shop.run("train.py")
    assert done.alarms[0].startswith("PM502") and not blind(done)


def test_what_a_scripted_function_does_inside_is_said_not_to_be_examined(warm_shop: Workshop) -> None:
    healthy = SCRIPT.replace(".softmax(dim=1)", "").replace("net(x)", "unrelated(model(x))")
    warm_shop.write("train.py", healthy.format(extra=SCRIPTED, net="model"))
    done = warm_shop.run("train.py")
    assert done.alarms == [] and "the scripted function unrelated was called" in done.stderr


def test_a_scripted_model_blinds_rules_and_they_say_so(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", SCRIPT.format(extra="", net="torch.jit.script(model)"))
    done = warm_shop.run("train.py")
    assert "PM506" not in done.found["rules"]["clear"] and "torch.jit" in blind(done)["PM506"]
    assert done.found["verdict"] in ("sick", "inconclusive")


def test_a_compiled_program_is_not_called_healthy_unseen(warm_shop: Workshop) -> None:
    healthy = SCRIPT.replace(".softmax(dim=1)", "")
    warm_shop.write("train.py", healthy.format(extra="", net=COMPILED))
    done = warm_shop.run("train.py")
    assert done.alarms == [] and done.found["verdict"] == "inconclusive"
    assert "torch.compile" in done.found["reason"] and "--eager-first" in done.stderr


def test_the_first_steps_run_eagerly_on_request(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", SCRIPT.format(extra="", net=COMPILED))
    done = warm_shop.run("train.py", options=("--eager-first", 10))
    assert done.codes[0] == "PM502" and blind(done) == {}
    warm_shop.write("train.py", SCRIPT.replace(".softmax(dim=1)", "").format(extra="", net=COMPILED))
    done = warm_shop.run("train.py", options=("--eager-first", 10))
    assert done.found["verdict"] == "healthy", done.found["reason"]


def test_a_rule_whose_probe_failed_is_not_clear(warm_shop: Workshop) -> None:
    fail = "from paramedic.at_work import current; current().watcher.guard.detach('ops', ValueError('a fault'))"
    broken = SCRIPT.replace("torch.manual_seed(0)", fail)
    warm_shop.write("train.py", broken.format(extra="", net="model"))
    done = warm_shop.run("train.py")
    assert any("ops failed" in reason for reason in blind(done).values()), done.stderr


@pytest.mark.parametrize("folder", ["elsewhere/site-packages", "unpacked"])
def test_packages_of_another_environment_are_not_the_users_code(shop: Workshop, tmp_path: Path, folder: str) -> None:
    """An environment may borrow the packages of another one, by a .pth file or PYTHONPATH; `pip install --target`
    unpacks packages into any folder."""
    borrowed = tmp_path / folder
    (borrowed / "lent-1.0.dist-info").mkdir(parents=True)
    (borrowed / "lent.py").write_text(
        "import torch.nn.functional as F\ndef loss(x, y):\n    return F.cross_entropy(x, y)\n"
    )
    script = "from lent import loss\n" + SCRIPT.replace("F.cross_entropy", "loss").format(extra="", net="model")
    shop.write("train.py", script)
    done = shop.run("train.py", env={"PYTHONPATH": f"{borrowed}:{shop.env['PYTHONPATH']}"})
    first = done.found["findings"][0]
    assert first["code"] == "PM502" and first["where"]["file"] == "train.py"
