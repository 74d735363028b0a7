"""Run `paramedic diagnose` on programs whose cause is known: python -m benchmarks.diagnose [WORD …].

Writes RESULTS.md beside this file when all programs were run.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"


def diagnose(program: Path) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(program, folder)
        began = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "paramedic", "diagnose", "--json", "out.json", program.name],
            cwd=folder, capture_output=True, text=True, check=False, env=os.environ,
        )  # fmt: skip
        seconds = time.perf_counter() - began
        out = Path(folder, "out.json")
        found: dict[str, Any] = json.loads(out.read_text()) if out.exists() else {"cause": "failed", "findings": []}
    if found["cause"] == "failed":
        print(done.stderr[-2000:])
    return found | {"wall": seconds, "expected": program.parent.name.replace("healthy", "none")}


def main() -> None:
    chosen = [p for p in sorted(PROGRAMS.glob("*/*.py")) if not sys.argv[1:] or any(w in str(p) for w in sys.argv[1:])]
    rows = []
    for program in chosen:
        found = diagnose(program)
        first = found["findings"][0]["code"] if found["findings"] else "–"
        right = "yes" if found["cause"] == found["expected"] else "no"
        alarm = found["expected"] == "none" and found.get("verdict") == "sick"
        made, cost = len(found.get("experiments", [])), found.get("cost") or 0
        row = (program.stem, found["expected"], found["cause"], "false alarm" if alarm else right, first,
               str(made), f"{found['wall']:.0f} s", f"{cost:.0f}×")  # fmt: skip
        print(" | ".join(row), flush=True)
        rows.append(row)
    if not sys.argv[1:]:
        write(rows)


def write(rows: list[tuple[str, ...]]) -> None:
    sick = [row for row in rows if row[1] != "none"]
    healthy = [row for row in rows if row[1] == "none"]
    lines = [
        "# Causes found by `paramedic diagnose`",
        "",
        f"{sum(row[3] == 'yes' for row in sick)} of {len(sick)} causes right; "
        f"{sum(row[2] not in ('none', 'unknown') or row[3] == 'false alarm' for row in healthy)} of {len(healthy)} "
        "healthy programs called sick.",
        "",
        "Cost is the time of all runs together, as a multiple of the baseline's, which starts in no time at all: the",
        "seconds are what a user waits, imports included.",
        "",
        "| program | cause | said | right | first finding | experiments | time | cost |",
        "|---|---|---|---|---|---|---|---|",
        *(f"| {' | '.join(row)} |" for row in rows),
        "",
    ]
    (HERE / "RESULTS.md").write_text("\n".join(lines))


if __name__ == "__main__":
    main()
