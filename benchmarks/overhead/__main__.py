"""What watching costs on the CPU: the same script alone and under paramedic, in turns, and the ratio of their times.

Seconds are process time of the training loop, so other programs on the machine disturb little.
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

TURNS = 3
HEAD = """
import time, torch, torch.nn as nn, torch.nn.functional as F
from sklearn.datasets import load_digits
torch.set_num_threads(1); torch.manual_seed(0)
x, y = load_digits(return_X_y=True)
x, y = torch.tensor(x / 16, dtype=torch.float32), torch.tensor(y)
"""
LOOP = """
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=64, shuffle=True)
opt = torch.optim.Adam(net.parameters(), 1e-3)
started = time.process_time()
for epoch in range(EPOCHS):
    net.train()
    for xb, yb in loader:
        opt.zero_grad(); loss = F.cross_entropy(net(xb), yb); loss.backward(); opt.step()
    net.eval()
    with torch.no_grad(): hits = (net(x[:256]).argmax(1) == y[:256]).float().mean()
print("loop", time.process_time() - started)
"""
PROGRAMS = {
    "MLP on digits": ("net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Dropout(0.1), nn.Linear(256, 10))", 60),
    "small CNN": (
        "x = x.reshape(-1, 1, 8, 8)\n"
        "net = nn.Sequential(nn.Conv2d(1, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),\n"
        "    nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(1024, 10))",
        20,
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
        12,
    ),
}


def seconds(words: list[str], script: Path) -> float:
    done = subprocess.run(
        [sys.executable, *words, str(script)],
        cwd=script.parent, capture_output=True, text=True, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    found = re.search(r"loop ([\d.]+)", done.stdout)
    assert found, done.stderr
    return float(found.group(1))


def main() -> None:
    print(f"{'program':20} {'alone s':>8} {'watched s':>10} {'ratio':>7}")
    folder = Path(tempfile.mkdtemp())
    for name, (net, epochs) in PROGRAMS.items():
        script = folder / "train.py"
        script.write_text(HEAD + net + LOOP.replace("EPOCHS", str(epochs)))
        alone, watched = [], []
        for _ in range(TURNS):
            alone.append(seconds([], script))
            watched.append(seconds(["-m", "paramedic", "run", "-q"], script))
        a, w = statistics.median(alone), statistics.median(watched)
        print(f"{name:20} {a:8.2f} {w:10.2f} {w / a:6.2f}x", flush=True)


if __name__ == "__main__":
    main()
