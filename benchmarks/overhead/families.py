"""What watching costs other families of models: the same script alone and under `paramedic run`, in turns.

`python -m benchmarks.overhead.families [--turns N] [--steps N]` prints milliseconds per step of the last tenth of the
loop, medians of the turns, and the seconds that the whole process took longer; with `--anomaly` beside them torch's
anomaly mode. On a GPU where there is one; the model of GPT-2's size only there. What has not begun after `--within`
seconds is not run.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch

HEAD = """
import json, time, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
wait = torch.cuda.synchronize if device == "cuda" else (lambda: None)
"""

LOOP = """
opt = torch.optim.AdamW(net.parameters(), 1e-3)
for i in range(STEPS):
    if i == STEPS * 9 // 10: wait(); began = time.perf_counter()
    opt.zero_grad(); loss = F.cross_entropy(net(x), y); loss.backward(); opt.step()
wait(); json.dump((time.perf_counter() - began) / (STEPS - STEPS * 9 // 10), open("step.json", "w"))
"""

GPT2 = """
from benchmarks.overhead.gpt2 import GPT, LENGTH, VOCABULARY
net = GPT().to(device)
opt = torch.optim.AdamW(net.parameters(), 3e-4, fused=True)
ids = torch.randint(0, VOCABULARY, (4, LENGTH + 1), device=device)
for i in range(STEPS):
    if i == STEPS * 9 // 10: wait(); began = time.perf_counter()
    opt.zero_grad()
    with torch.autocast("cuda", torch.bfloat16):
        loss = F.cross_entropy(net(ids[:, :-1]).view(-1, VOCABULARY), ids[:, 1:].reshape(-1))
    loss.backward(); opt.step()
wait(); json.dump((time.perf_counter() - began) / (STEPS - STEPS * 9 // 10), open("step.json", "w"))
"""

MLP = """
net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10)).to(device)
x, y = torch.randn(BATCH, 64, device=device), torch.randint(0, 10, (BATCH,), device=device)
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

PROGRAMS = {
    "MLP": MLP + LOOP,
    "ResNet-like": RESIDUAL + LOOP,
    "ResNet-like, compiled": RESIDUAL + "net = torch.compile(net)\n" + LOOP,
    "GPT-2 small, batch 4": GPT2,
    "LSTM": LSTM + LOOP,
}
ANOMALY = "import runpy, torch; torch.autograd.set_detect_anomaly(True); runpy.run_path('train.py')"
WATCHED = ("-m", "paramedic", "run", "-q", "train.py")
FEWER = 6  # times the steps: anomaly mode is as slow in the first steps as in the last


def run(folder: Path, words: tuple[str, ...]) -> tuple[float, float]:
    """Seconds of a step, and of the whole process."""
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, *words],
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
    options.add_argument("--steps", type=int, default=1800)
    options.add_argument("--batch", type=int, default=64)
    options.add_argument("--anomaly", action="store_true")
    options.add_argument("--within", type=float, default=3600, help="seconds")
    options.add_argument("--only", default="", help="programs whose name contains this")
    options.add_argument("--without", default="nothing", help="programs whose name contains this are left out")
    chosen = options.parse_args()
    until = time.monotonic() + chosen.within
    print("| program | ms per step | watched | ratio | lowest … highest | longer by, s | anomaly mode |")
    print("|---|---|---|---|---|---|---|")
    for name, body in PROGRAMS.items():
        if time.monotonic() > until:
            print(f"{name} was not run: the time was up.")
            continue
        if chosen.only not in name or chosen.without in name or (body is GPT2 and not torch.cuda.is_available()):
            continue
        with tempfile.TemporaryDirectory() as place:
            folder, text = Path(place), (HEAD + body).replace("BATCH", str(chosen.batch))
            (folder / "train.py").write_text(text.replace("STEPS", str(chosen.steps // FEWER)))
            anomalous = run(folder, ("-c", ANOMALY))[0] if chosen.anomaly else math.nan
            (folder / "train.py").write_text(text.replace("STEPS", str(chosen.steps)))
            turns = [(run(folder, ("train.py",)), run(folder, WATCHED)) for _ in range(chosen.turns)]
        alone, watched = (statistics.median(turn[way][0] for turn in turns) for way in (0, 1))
        ratios = [turn[1][0] / turn[0][0] for turn in turns]
        longer = statistics.median(turn[1][1] - turn[0][1] for turn in turns)
        print(
            f"| {name} | {alone * 1e3:.2f} | {watched * 1e3:.2f} | {watched / alone:.3f} "
            f"| {min(ratios):.3f} … {max(ratios):.3f} | {longer:.2f} | {anomalous / alone:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
