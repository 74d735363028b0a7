"""What watching costs where it is easily forgotten: memory with large tensors, loops without an optimizer, many parts.

Each program runs alone and watched. Wall and processor seconds are those of the whole process, "steady" is the
processor time of the second half of its loop, peak is the largest resident memory of the process or a child of it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.cost.programs import HEAD, PROGRAMS

WATCHED = ("-m", "paramedic", "run", "-q")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Of one run of a program."""

    wall: float
    processor: float
    steady: float
    peak: float  # MB
    record: int  # bytes


def measure(text: str, words: tuple[str, ...]) -> Cost:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "train.py").write_text(text)
        began = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, *words, "train.py"],
            cwd=folder,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"a program ended with {process.returncode}:\n{text}")
        _, middle, end = json.loads((folder / "halves.json").read_text())
        return Cost(
            wall=time.perf_counter() - began,
            processor=used.ru_utime + used.ru_stime,
            steady=end - middle,
            peak=used.ru_maxrss / 1000,
            record=sum(file.stat().st_size for file in folder.rglob(".paramedic/**/*") if file.is_file()),
        )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--scale", type=float, default=1.0, help="of the number of steps")
    options.add_argument("--only", nargs="+", default=[""], help="programs whose name contains one of these")
    chosen = options.parse_args()
    columns = ("wall s", "processor s", "steady s", "peak MB", "record MB")
    print("| program | " + " | ".join(columns) + " |\n" + "|---" * (len(columns) + 1) + "|")
    for name, (body, steps) in PROGRAMS.items():
        if any(word in name for word in chosen.only):
            text = HEAD + body.replace("STEPS", str(max(8, round(steps * chosen.scale))))
            print(row(name, measure(text, ()), measure(text, WATCHED)), flush=True)


def row(name: str, plain: Cost, watched: Cost) -> str:
    pairs = [
        (plain.wall, watched.wall),
        (plain.processor, watched.processor),
        (plain.steady, watched.steady),
        (plain.peak, watched.peak),
    ]
    cells = [f"{before:.4g} → {after:.4g} ({after / max(before, 1e-9):.2f}×)" for before, after in pairs]
    return f"| {name} | " + " | ".join([*cells, f"{watched.record / 1e6:.2f}"]) + " |"


if __name__ == "__main__":
    main()
