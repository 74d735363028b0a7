"""Is the stated cost what a stopwatch shows? Five scripts, alone and under `paramedic run`, in turns.

`python -m benchmarks.overhead.stated [--turns N]` prints, for each script, the seconds that paramedic states and the
seconds by which the median run took longer, of the whole process.
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

from benchmarks.overhead.__main__ import HEAD, LOOP, PROGRAMS

LSTM = (
    "x = x.reshape(-1, 8, 8)\n"
    "class Net(nn.Module):\n"
    "    def __init__(self):\n"
    "        super().__init__(); self.body = nn.LSTM(8, 64, batch_first=True); self.out = nn.Linear(64, 10)\n"
    "    def forward(self, x): return self.out(self.body(x)[0][:, -1])\n"
    "net = Net()"
)
DEEP = (
    "net = nn.Sequential(nn.Linear(64, 64), *[m for _ in range(60) for m in (nn.Linear(64, 64), nn.ReLU())],"
    " nn.Linear(64, 10))"
)
SCRIPTS = {name: (net, round(epochs * 0.15)) for name, (net, epochs) in PROGRAMS.items()}
SCRIPTS |= {"LSTM": (LSTM, 15), "60 layers": (DEEP, 10)}


def seconds(words: list[str], folder: Path) -> float:
    began = time.perf_counter()
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, *words, "train.py"]
    subprocess.run(command, cwd=folder, check=True, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return time.perf_counter() - began


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--turns", type=int, default=3)
    turns = options.parse_args().turns
    print(
        "| script | alone s | watched s | by stopwatch s | stated s | off by, of the run |\n|---|---|---|---|---|---|"
    )
    for name, (net, epochs) in SCRIPTS.items():
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            text = HEAD + net + LOOP.replace("EPOCHS", str(max(4, epochs)))
            (folder / "train.py").write_text(text.replace("BEFORE", "").replace("STEP", "pass").replace("AFTER", ""))
            alone, watched, stated = [], [], []
            for _ in range(turns):
                alone.append(seconds([], folder))
                watched.append(seconds(["-m", "paramedic", "run", "-q", "--json", "out.json"], folder))
                run = json.loads((folder / "out.json").read_text())["run"]
                stated.append(run["overhead"] * run["seconds"] + (run["around"] or 0.0))
        plain, with_us, said = (statistics.median(column) for column in (alone, watched, stated))
        took = with_us - plain
        print(
            f"| {name} | {plain:.2f} | {with_us:.2f} | {took:.2f} | {said:.2f} | {abs(said - took) / plain:.1%} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
