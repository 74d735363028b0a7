"""What watching costs on the CPU: the same script alone, under paramedic and with other tools, in turns.

Two ratios of wall time to the script alone: of the whole process (imports, training, the verdict at the end), and of
the second half of the training loop, when the first look is over. `--scale 0.1` shortens the loops.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

TURNS = 3
HEAD = """
import json, time, torch, torch.nn as nn, torch.nn.functional as F
torch.set_num_threads(1); torch.manual_seed(0)
prototypes = torch.rand(10, 64)  # as large as scikit-learn's digits
y = torch.randint(0, 10, (1797,)); x = (prototypes[y] + 0.3 * torch.randn(1797, 64)).clamp(0, 1)
"""
LOOP = """
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=64, shuffle=True)
opt = torch.optim.Adam(net.parameters(), 1e-3)
BEFORE
times = [time.perf_counter()]
for epoch in range(EPOCHS):
    net.train()
    for xb, yb in loader:
        opt.zero_grad(); loss = F.cross_entropy(net(xb), yb); loss.backward(); opt.step()
        STEP
    net.eval()
    with torch.no_grad(): hits = (net(x[:256]).argmax(1) == y[:256]).float().mean()
    times.append(time.perf_counter())
AFTER
json.dump(times, open("times.json", "w"))
"""
PROGRAMS = {
    "MLP": ("net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Dropout(0.1), nn.Linear(256, 10))", 700),
    "small CNN": (
        "x = x.reshape(-1, 1, 8, 8)\n"
        "net = nn.Sequential(nn.Conv2d(1, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),\n"
        "    nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(1024, 10))",
        200,
    ),
    "tiny transformer": (
        "x = x.reshape(-1, 8, 8)\n"
        "class Net(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__(); self.up = nn.Linear(8, 64); self.out = nn.Linear(64, 10)\n"
        "        layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)\n"
        "        self.body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)\n"
        "    def forward(self, x): return self.out(self.body(self.up(x)).mean(1))\n"
        "net = Net()",
        90,
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """A way to run the script: words before it, or lines put into it, for tools that ask for that."""

    name: str
    words: tuple[str, ...] = ()
    before: str = ""
    step: str = "pass"
    after: str = ""
    package: str = "torch"


WAYS = (
    Way(name="alone"),
    Way(name="paramedic", words=("-m", "paramedic", "run", "-q")),
    Way(
        name="torch-audit, every 10th step",
        package="torch_audit",
        before="from torch_audit import autopatch; audit = autopatch(net, optimizer=opt, every_n_steps=10)",
        after="audit.finish(report=False)",
    ),
    Way(
        name="torchmortem",
        package="torchmortem",
        before="import torchmortem; autopsy = torchmortem.Autopsy(net, optimizer=opt).__enter__()",
        step="autopsy.step(loss=loss.item())",
        after="autopsy.__exit__(None, None, None)",
    ),
    Way(name="torch anomaly mode", before="torch.autograd.set_detect_anomaly(True, check_nan=True)"),
)


def seconds(way: Way, text: str, folder: Path) -> tuple[float, float]:
    """Of the whole process, and of the second half of its loop."""
    script = folder / "train.py"
    script.write_text(text.replace("BEFORE", way.before).replace("STEP", way.step).replace("AFTER", way.after))
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, *way.words, "train.py"],
        cwd=folder,
        check=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    whole = time.perf_counter() - began
    times: list[float] = json.loads((folder / "times.json").read_text())
    return whole, times[-1] - times[len(times) // 2]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--scale", type=float, default=1.0)
    options.add_argument("--only", default="", help="programs whose name contains this")
    chosen = options.parse_args()
    print("| program | way | whole s | ratio | second half s | ratio |\n|---|---|---|---|---|---|")
    ways = [way for way in WAYS if importlib.util.find_spec(way.package)]
    for name, (net, epochs) in PROGRAMS.items():
        if chosen.only not in name:
            continue
        text = HEAD + net + LOOP.replace("EPOCHS", str(max(4, round(epochs * chosen.scale))))
        measured: dict[str, list[tuple[float, float]]] = {way.name: [] for way in ways}
        for _ in range(TURNS):
            for way in ways:
                try:
                    measured[way.name].append(seconds(way, text, Path(tempfile.mkdtemp())))
                except subprocess.CalledProcessError as failed:
                    print(f"| {name} | {way.name} | failed with exit code {failed.returncode} | | | |", flush=True)
        tell(name, measured)
    missing = [way.name for way in WAYS if way not in ways]
    if missing:
        print("not installed:", ", ".join(missing))


def tell(program: str, measured: dict[str, list[tuple[float, float]]]) -> None:
    middle = {
        way: [statistics.median(column) for column in zip(*rows, strict=True)] for way, rows in measured.items() if rows
    }
    whole, half = middle["alone"]
    for way, (w, h) in middle.items():
        print(f"| {program} | {way} | {w:.2f} | {w / whole:.3f} | {h:.2f} | {h / half:.3f} |", flush=True)


if __name__ == "__main__":
    main()
