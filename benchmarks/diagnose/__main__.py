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
ROOT = HERE.parent.parent
# Programs that live elsewhere, by the cause and the name they have here.
BORROWED = {
    "data/leaked_target": "cases/PM324-target-among-inputs/sick.py",
    "data/permuted_labels": "cases/PM311-input-target-misalignment/sick.py",
    "data/uninformative_images": "cases/PM322-no-learnable-signal/sick.py",
    "healthy/mlp_tabular": "cases/PM311-input-target-misalignment/healthy.py",
    "healthy/weak_signal_returns": "benchmarks/accuracy/healthy/weak_signal_returns.py",
    "model/ignores_input": "cases/PM214-cannot-overfit-one-batch/sick.py",
    "model/labels_sorted_in_loop": "cases/PM216-cannot-learn-simple-rule/sick.py",
    "settings/weight_decay": "cases/PM217-too-much-regularisation/sick.py",
}


def programs() -> dict[str, Path]:
    """`cause/name` and where the program is."""
    own = {f"{path.parent.name}/{path.stem}": path for path in (HERE / "programs").glob("*/*.py")}
    return dict(sorted({**own, **{name: ROOT / path for name, path in BORROWED.items()}}.items()))


def diagnose(name: str, program: Path) -> dict[str, Any]:
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
    return found | {"wall": seconds, "expected": name.partition("/")[0].replace("healthy", "none")}


def main() -> None:
    words = sys.argv[1:]
    rows = []
    for name, program in programs().items():
        if words and not any(word in name for word in words):
            continue
        found = diagnose(name, program)
        first = found["findings"][0]["code"] if found["findings"] else "–"
        right = "yes" if found["cause"] == found["expected"] else "no"
        alarm = found["expected"] == "none" and found.get("verdict") == "sick"
        made, cost = len(found.get("experiments", [])), found.get("cost") or 0
        row = (name.partition("/")[2], found["expected"], found["cause"], "false alarm" if alarm else right, first,
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
