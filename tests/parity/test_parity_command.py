"""`paramedic compare` on models, checkpoints, runs and commits, as a user types it."""

from __future__ import annotations

import json
import subprocess

from workshop import TRAIN, Workshop

NET = """
from torch import nn

class Net(nn.Module):
    def __init__(self, eps=1e-5):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4, eps=eps))

    def forward(self, x):
        return self.layers(x).relu()

def build():
    import torch
    torch.manual_seed(0)
    return Net()

def other():
    import torch
    torch.manual_seed(0)
    return Net(eps=0.01)
"""


def test_two_models_from_files(warm_shop: Workshop) -> None:
    warm_shop.write("net.py", NET)
    done = warm_shop.paramedic("compare", "net.py:build", "net.py:other", "--input", "3,4", "--json", "out.json")
    assert done.code == 1 and "First difference: layers.1 (LayerNorm)" in done.stdout and "confirmed" in done.stdout
    found = json.loads((warm_shop.folder / "out.json").read_text())
    assert found["verdict"] == "differ" and found["parts"][0]["b"] == "layers.1" and found["schema_version"] == 1
    assert warm_shop.paramedic("compare", "net.py:build", "net.py:build", "--input", "3,4").code == 0


def test_what_cannot_be_compared_is_said(shop: Workshop) -> None:
    for words in (("only.pt",), ("a.pt", "b.pt"), ("--git", "HEAD")):
        done = shop.paramedic("compare", *words)
        assert done.code == 2 and done.stderr.startswith("paramedic: ") and "Traceback" not in done.stderr


def test_two_runs_part_where_the_learning_rate_takes_effect(warm_shop: Workshop) -> None:
    for rate in ("0.1", "0.1", "0.2"):
        warm_shop.write("train.py", TRAIN.replace("lr=0.1", f"lr={rate}") + "train(4)\n")
        warm_shop.run("train.py", options=("--every", "1"))
    first, second, third = sorted(path.name for path in (warm_shop.folder / ".paramedic" / "runs").iterdir())
    assert warm_shop.paramedic("compare", first, second).code == 0
    done = warm_shop.paramedic("compare", second, third, "--html", "out.html")
    text = " ".join(done.stdout.split())
    assert done.code == 1 and "First difference: the update of" in text and "at step 0" in text
    assert "lr: 0.1 in a, 0.2 in b" in text and "+ optimizer = torch.optim.SGD(model.parameters(), lr=0.2)" in text
    assert "<svg" in (warm_shop.folder / "out.html").read_text()


def test_the_same_script_at_two_commits(shop: Workshop) -> None:
    def git(*words: str) -> None:
        who = ("-c", "user.name=n", "-c", "user.email=e@x")
        subprocess.run(["git", *who, *words], cwd=shop.folder, check=True, capture_output=True)

    shop.write("net.py", NET)
    shop.write(
        "train.py",
        "import torch\nfrom net import build\nmodel = build()\noptimizer = torch.optim.SGD(model.parameters(), 0.1)\n"
        "for _ in range(3):\n    model(torch.randn(8, 4)).sum().backward()\n    optimizer.step()\n",
    )
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "first")
    shop.write("net.py", NET.replace(".relu()", ".tanh()"))
    done = shop.paramedic("compare", "--git", "HEAD", "train.py")
    text = " ".join(done.stdout.split())
    assert done.code == 1 and "the output of Net differs at step 0; all before it is equal" in text
    assert "+ return self.layers(x).tanh()" in text and "net.py" in text
    assert (shop.folder / "net.py").read_text() == NET.replace(".relu()", ".tanh()").lstrip(), (
        "the user's files are left alone"
    )
