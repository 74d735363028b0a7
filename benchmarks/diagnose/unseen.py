"""Run `paramedic diagnose` on the programs in unseen/, which were written before its code was read.

    python -m benchmarks.diagnose.unseen SCORE [--jobs N] [--keep FOLDER] [WORD …]

SCORE is the name under which it is kept in unseen/scores.json, from which UNSEEN.md is written. N programs run at a
time; `--keep` keeps what was said and the records. A program is a file, or a folder with a train.py in it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
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
written after that repair and scored once; `second-repaired` is what became of misses that were repaired then. `third`
are twenty more programs by other hands, scored once before the next repair, and `fourth` twelve more;
`fourth-repaired` is what became of its misses, and of the earlier programs that are nearest to the repairs. `fifth`
are twelve more by another hand, scored once before any repair; `fifth-repaired` is what became of its wrong verdicts,
and of the earlier policy gradients. `sixth` are twelve more by yet another hand, scored once before any repair, and
`sixth-repaired` what became of its wrong verdicts. `seventh` are ten more, scored once by somebody else before their
repair (torch 2.11, 16 cores, ten at a time); three wrong verdicts were then repaired and seen right in one run each
(watch_activity, gru_load, triplet_digits). *Unknown* is the honest answer where no cause is found, and states
no certainty. Cost is the time of all runs as a multiple of the baseline's, on a busy machine."""
BANDS = ((0.0, 0.6), (0.6, 0.75), (0.75, 0.9), (0.9, 1.01))


def placed(name: str, folder: Path) -> Path:
    """The program in a folder of its own, with the files that lie beside it."""
    if (PROGRAMS / name).is_dir():
        shutil.copytree(PROGRAMS / name, folder, dirs_exist_ok=True)
        return folder / "train.py"
    return Path(shutil.copy(PROGRAMS / f"{name}.py", folder))


def diagnose(name: str, folder: Path) -> dict[str, Any]:
    """What is said of one program, with what a reader wants to see of it."""
    program = placed(name, folder)
    began = time.perf_counter()
    source = program.read_text()
    needed = [library for library in HEAVY if library.partition(".")[0] in source]
    start = f"import sys{''.join(f', {library}' for library in needed)}; from paramedic.__main__ import main; main()"
    command = [sys.executable, "-c", start, "diagnose", "--jobs", "1", "--time-limit", "2000"]
    done = subprocess.run(
        [*command, "--json", "out.json", program.name],
        cwd=folder, capture_output=True, text=True, check=False,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )  # fmt: skip
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


def keep(score: str, said: dict[str, Any]) -> None:
    scores = json.loads(SCORES.read_text()) if SCORES.exists() else {}
    scores.setdefault(score, {}).update(said)
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
    right = sum(is_right(one, expected[name]) for name, one in sick.items())
    fine = sum(is_right(one, expected[name]) for name, one in healthy.items())
    unknown = sum(one["cause"] == "unknown" for one in sick.values())
    alarms = sum(one["cause"] not in ("none", "unknown") or one.get("verdict") == "sick" for one in healthy.values())
    costs = sorted(one["cost"] for one in said.values() if one.get("cost"))
    lines = [
        f"## {score}",
        "",
        f"{right} of {len(sick)} causes right, {unknown} called unknown; of {len(healthy)} healthy programs {fine} "
        f"called healthy and {alarms} sick. Median cost {costs[len(costs) // 2] if costs else 0}× the baseline.",
        "",
        "| program | cause | said | certainty | first finding | experiments | cost |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, one in sorted(said.items()):
        sure = "–" if one.get("confidence") is None else f"{one['confidence']:.0%}"
        wanted = " or ".join([expected[name]["cause"], *expected[name].get("also", ())])
        row = (name, wanted, one["cause"], sure, one.get("first", "–"), one.get("experiments", 0))
        lines.append(f"| {' | '.join(map(str, row))} | {one.get('cost', 0)}× |")
    return [*lines, "", *reliability(said, expected)]


def is_right(one: dict[str, Any], expected: dict[str, Any]) -> bool:
    return one["cause"] in (expected["cause"], *expected.get("also", ()))


def reliability(said: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    """How often a stated certainty was right; unknown states none."""
    lines = ["| stated certainty | programs | right |", "|---|---|---|"]
    stated = [
        (one["confidence"], is_right(one, expected[name]))
        for name, one in said.items()
        if one.get("confidence") is not None and one["cause"] != "unknown"
    ]
    for low, high in BANDS:
        band = [right for sure, right in stated if low <= sure < high]
        if band:
            lines.append(f"| {low:.0%} to {min(high, 1):.0%} | {len(band)} | {sum(band)} |")
    return [*lines, ""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("score")
    parser.add_argument("words", nargs="*")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", type=Path)
    asked = parser.parse_args()
    known = json.loads((PROGRAMS / "expected.json").read_text())
    names = [word for word in asked.words if word in known] or [
        name for name in known if not asked.words or any(word in name for word in asked.words)
    ]
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(asked.jobs) as pool:

        def one(name: str) -> tuple[str, dict[str, Any]]:
            folder = (asked.keep or Path(scratch)).absolute() / name
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            return name, diagnose(name, folder)

        for name, said in pool.map(one, names):
            print(name, said, flush=True)
            keep(asked.score, {name: said})


if __name__ == "__main__":
    main()
