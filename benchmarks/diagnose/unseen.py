"""Run `paramedic diagnose` on the programs in unseen/, which were written before its code was read.

    python -m benchmarks.diagnose.unseen raw|repaired [WORD …]

Keeps what was said in unseen/scores.json, under the name of the score, and writes UNSEEN.md from it.
`KEEP=FOLDER` keeps the records.
"""

from __future__ import annotations

import fcntl
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
PROGRAMS = HERE / "unseen"
SCORES = PROGRAMS / "scores.json"
HEAVY = (
    "lightning",
    "transformers.trainer",
    "accelerate",
    "sklearn.datasets",
)  # imported once, not in every experiment
INTRODUCTION = """\
Written with PyTorch alone, the Hugging Face Trainer, Lightning or Accelerate, by somebody who had read neither the
verdict's rules nor the other programs; `raw` is the score before anything was repaired. The programs of `second` were
written after that repair and scored once; `second-repaired` is what became of misses that were repaired then. *Unknown*
is the honest answer where no cause is found, and states no certainty. Cost is the time of all runs as a multiple of the
baseline's, on a busy machine."""
BANDS = ((0.0, 0.6), (0.6, 0.75), (0.75, 0.9), (0.9, 1.01))


def diagnose(name: str, folder: Path) -> dict[str, Any]:
    """What is said of one program, with what a reader wants to see of it."""
    shutil.copy(PROGRAMS / f"{name}.py", folder)
    began = time.perf_counter()
    source = (PROGRAMS / f"{name}.py").read_text()
    needed = [library for library in HEAVY if library.partition(".")[0] in source]
    start = f"import sys{''.join(f', {library}' for library in needed)}; from paramedic.__main__ import main; main()"
    command = [sys.executable, "-c", start, "diagnose", "--jobs", "1", "--time-limit", "2000"]
    done = subprocess.run(
        [*command, "--json", "out.json", f"{name}.py"], cwd=folder, capture_output=True, text=True, check=False
    )
    (folder / "said.txt").write_text(done.stderr)
    out = folder / "out.json"
    if not out.exists():
        return {"cause": "failed", "why": done.stderr[-500:]}
    found = json.loads(out.read_text())
    first = found["findings"][0] if found["findings"] else {"code": "–", "where": None}
    return {
        "cause": found["cause"],
        "confidence": found.get("confidence"),
        "verdict": found["verdict"],
        "first": first["code"],
        "line": (first.get("where") or {}).get("line"),
        "experiments": len(found["experiments"]),
        "cost": round(found.get("cost") or 0, 1),
        "seconds": round(time.perf_counter() - began),
    }


def keep(score: str, name: str, said: dict[str, Any]) -> None:
    """Several of these may run at a time."""
    with (Path(tempfile.gettempdir(), "paramedic-unseen.lock")).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        scores = json.loads(SCORES.read_text()) if SCORES.exists() else {}
        scores.setdefault(score, {})[name] = said
        SCORES.write_text(json.dumps(scores, indent=1, sort_keys=True) + "\n")
        (HERE / "UNSEEN.md").write_text(table(scores))


def table(scores: dict[str, Any]) -> str:
    expected = json.loads((PROGRAMS / "expected.json").read_text())
    lines = ["# Causes found on programs written before the code was read", "", INTRODUCTION, ""]
    for score in sorted(scores):
        lines += section(score, scores[score], expected)
    return "\n".join(lines)


def section(score: str, said: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    sick = {name: one for name, one in said.items() if expected[name]["cause"] != "none"}
    healthy = {name: one for name, one in said.items() if name not in sick}
    right = sum(one["cause"] == expected[name]["cause"] for name, one in sick.items())
    unknown = sum(one["cause"] == "unknown" for one in sick.values())
    alarms = sum(one["cause"] not in ("none", "unknown") or one.get("verdict") == "sick" for one in healthy.values())
    costs = sorted(one["cost"] for one in said.values() if one.get("cost"))
    lines = [
        f"## {score}",
        "",
        f"{right} of {len(sick)} causes right, {unknown} called unknown; {alarms} of {len(healthy)} healthy programs "
        f"called sick. Median cost {costs[len(costs) // 2] if costs else 0}× the baseline.",
        "",
        "| program | cause | said | certainty | first finding | experiments | cost |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, one in sorted(said.items()):
        sure = "–" if one.get("confidence") is None else f"{one['confidence']:.0%}"
        row = (name, expected[name]["cause"], one["cause"], sure, one.get("first", "–"), one.get("experiments", 0))
        lines.append(f"| {' | '.join(map(str, row))} | {one.get('cost', 0)}× |")
    return [*lines, "", *reliability(said, expected)]


def reliability(said: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    """How often a stated certainty was right; unknown states none."""
    lines = ["| stated certainty | programs | right |", "|---|---|---|"]
    stated = [
        (one["confidence"], one["cause"] == expected[name]["cause"])
        for name, one in said.items()
        if one.get("confidence") is not None and one["cause"] != "unknown"
    ]
    for low, high in BANDS:
        band = [right for sure, right in stated if low <= sure < high]
        if band:
            lines.append(f"| {low:.0%} to {min(high, 1):.0%} | {len(band)} | {sum(band)} |")
    return [*lines, ""]


def main() -> None:
    score, *words = sys.argv[1:]
    for name in json.loads((PROGRAMS / "expected.json").read_text()):
        if words and not any(word in name for word in words):
            continue
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(os.environ["KEEP"], name) if "KEEP" in os.environ else Path(scratch)
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True, exist_ok=True)
            said = diagnose(name, folder)
        print(name, said, flush=True)
        keep(score, name, said)


if __name__ == "__main__":
    main()
