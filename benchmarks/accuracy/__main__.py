"""What paramedic finds in real bugs, and what it says wrongly of healthy programs: one table.

`healthy/*.py` are healthy programs that look ill. `real/ID-name/{sick,fixed}.py` are bugs from public threads with
their repair; `real/expected.json` names the code, its difficulty, and other codes that would be right as well.
`planned/` holds cases of rules that do not exist yet.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from paramedic.rules.catalogue import all_rules

HERE = Path(__file__).parent
MARK = "# <- PM"


def report_of(script: Path) -> dict[str, Any]:
    """The JSON report of one run."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.json"
        subprocess.run(
            [sys.executable, "-m", "paramedic", "run", "-q", "--runs", folder, "--json", str(out), str(script)],
            cwd=folder, capture_output=True, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"}, timeout=600,
        )  # fmt: skip
        found: dict[str, Any] = json.loads(out.read_text())
    return found


def alarms(report: dict[str, Any]) -> list[dict[str, Any]]:
    return [finding for finding in report["findings"] if finding["severity"] != "note"]


def marked_line(script: Path) -> int | None:
    lines = script.read_text().splitlines()
    return next((number for number, line in enumerate(lines, 1) if MARK in line), None)


def judge(case: Path, expected: dict[str, Any]) -> str:
    sick, fixed = alarms(report_of(case / "sick.py")), alarms(report_of(case / "fixed.py"))
    right = (expected["code"], *expected.get("also", ()))
    first = sick[0] if sick else None
    code = first["code"] if first else "-"
    line, wanted = (first["where"]["line"] if first else None), marked_line(case / "sick.py")
    near = wanted is None or (line is not None and abs(line - wanted) <= 2)
    word = "found" if code in right else "wrong" if first else "missed"
    twin = "silent" if not fixed else f"ALARM {fixed[0]['code']}"
    place = "line" if near and first else "-"
    left = f"{case.name:36} {expected['difficulty']}  wanted {expected['code']}"
    return f"{left}  first {code:6} {word:7} {place:5} fixed {twin}"


def main() -> None:
    known = {rule.code for rule in all_rules()}
    expected = json.loads((HERE / "real" / "expected.json").read_text())
    with ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        healthy = sorted((HERE / "healthy").glob("*.py"))
        false = 0
        for script, report in zip(healthy, pool.map(report_of, healthy), strict=True):
            for finding in alarms(report):
                false += 1
                print(f"FALSE ALARM {script.name}: {finding['code']} {finding['what']}", flush=True)
        print(f"healthy: {len(healthy)} programs, {false} false alarms\n")
        cases = [name for name in sorted(expected) if (HERE / "real" / name / "sick.py").exists()]
        mine = [name for name in cases if expected[name]["code"] in known]
        results = list(pool.map(lambda name: judge(HERE / "real" / name, expected[name]), mine))
    print("\n".join(results))
    hits = sum(" found " in result for result in results)
    print(
        f"\nreal bugs whose rule exists: {hits} of {len(mine)} found first; {len(cases) - len(mine)} await their rule"
    )


if __name__ == "__main__":
    main()
