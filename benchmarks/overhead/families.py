"""What watching costs other families of models: the same script alone and under `paramedic run`, in turns.

`python -m benchmarks.overhead.families [--turns N] [--steps N]` prints milliseconds per step of the second half of the
loop, medians of the turns, and the seconds that the whole process took longer. On a GPU where there is one.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HEAD = """
import json, time, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
wait = torch.cuda.synchronize if device == "cuda" else (lambda: None)
"""

LOOP = """
opt = torch.optim.AdamW(net.parameters(), 1e-3)
for i in range(STEPS):
    if i == STEPS // 2: wait(); began = time.perf_counter()
    opt.zero_grad(); loss = F.cross_entropy(net(x), y); loss.backward(); opt.step()
wait(); json.dump((time.perf_counter() - began) / (STEPS - STEPS // 2), open("step.json", "w"))
"""

RESIDUAL = """
class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width))
    def forward(self, x): return F.relu(x + self.body(x))
net = nn.Sequential(nn.Conv2d(3, 64, 3, padding=1), *[Block(64) for _ in range(8)],
    nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10)).to(device)
x, y = torch.randn(BATCH, 3, 32, 32, device=device), torch.randint(0, 10, (BATCH,), device=device)
"""

LSTM = """
class Net(nn.Module):
    def __init__(self):
        super().__init__(); self.body = nn.LSTM(64, 256, 2, batch_first=True); self.head = nn.Linear(256, 10)
    def forward(self, x): return self.head(self.body(x)[0][:, -1])
net = Net().to(device)
x, y = torch.randn(BATCH, 64, 64, device=device), torch.randint(0, 10, (BATCH,), device=device)
"""

PROGRAMS = {"ResNet-like": RESIDUAL, "LSTM": LSTM, "ResNet-like, compiled": RESIDUAL + "net = torch.compile(net)\n"}


def run(folder: Path, words: tuple[str, ...]) -> tuple[float, float]:
    """Seconds of a step, and of the whole process."""
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, *words, "train.py"],
        cwd=folder,
        check=True,
        env={**os.environ, "OMP_NUM_THREADS": "4"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return float(json.loads((folder / "step.json").read_text())), time.perf_counter() - began


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--turns", type=int, default=2)
    options.add_argument("--steps", type=int, default=1500)
    options.add_argument("--batch", type=int, default=64)
    options.add_argument("--only", default="", help="programs whose name contains this")
    chosen = options.parse_args()
    print("| program | ms per step | watched | ratio | whole process longer by, s |\n|---|---|---|---|---|")
    for name, body in PROGRAMS.items():
        if chosen.only not in name:
            continue
        with tempfile.TemporaryDirectory() as place:
            text = HEAD + body + LOOP
            text = text.replace("STEPS", str(chosen.steps)).replace("BATCH", str(chosen.batch))
            Path(place, "train.py").write_text(text)
            run(Path(place), ())  # caches are filled
            turns = [
                (run(Path(place), ()), run(Path(place), ("-m", "paramedic", "run", "-q"))) for _ in range(chosen.turns)
            ]
        alone, watched = (statistics.median(turn[way][0] for turn in turns) for way in (0, 1))
        longer = statistics.median(turn[1][1] - turn[0][1] for turn in turns)
        print(
            f"| {name} | {alone * 1e3:.2f} | {watched * 1e3:.2f} | {watched / alone:.3f} | {longer:.2f} |", flush=True
        )


if __name__ == "__main__":
    main()
