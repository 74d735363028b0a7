"""python -m benchmarks.audit.unseen [second | … | sixth | NAME …]: faults of strangers, and odd healthy data."""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import sklearn.ensemble
import sklearn.neighbors
import sklearn.svm  # noqa: F401

from benchmarks.audit.unseen import clean, fourth, pictures, scripts, tables, texts, third
from benchmarks.audit.unseen.case import Case, Plant
from benchmarks.audit.unseen.written import planted

SECOND: tuple[Plant, ...] = (*tables.FAULTS, *pictures.FAULTS, *texts.FAULTS, *scripts.FAULTS, *clean.CLEAN)
THIRD: tuple[Plant, ...] = (*third.FAULTS, *third.CLEAN)
FOURTH: tuple[Plant, ...] = (*fourth.FAULTS, *fourth.CLEAN)
FIFTH, SIXTH, SEVENTH = planted("fifth"), planted("sixth"), planted("seventh")


def audited(case: Case, here: Path) -> list[dict[str, Any]]:
    """`paramedic audit` in a fork: its libraries are loaded already, which is most of what a small audit costs."""
    child = multiprocessing.get_context("fork").Process(target=_audit, args=(case, here))
    child.start()
    child.join(300)
    if child.exitcode not in (0, 1) or not (here / "verdict.json").exists():
        said = (here / "said.txt").read_text()[-200:]
        return [{"code": f"exit {child.exitcode}", "severity": "error", "what": said, "samples": []}]
    found: list[dict[str, Any]] = json.loads((here / "verdict.json").read_text())["findings"]
    return found


def _audit(case: Case, here: Path) -> None:
    from paramedic.__main__ import main

    os.chdir(here)
    with (here / "said.txt").open("w") as said:
        os.dup2(said.fileno(), 1)
        os.dup2(said.fileno(), 2)
    sys.argv = ["paramedic", "audit", *case.args, "--json", "verdict.json", "--quiet"]
    main()


def names_all(case: Case, findings: list[dict[str, Any]]) -> bool:
    """At least four fifths of the samples and of the files, and hardly others; each column."""
    named = {sample for finding in findings for sample in finding["samples"]}
    said = " ".join(
        word for f in findings for word in (f["what"], *map(str, f.get("columns", ())), *map(str, f.get("files", ())))
    )
    if case.rows and (len(named & case.rows) < 0.8 * len(case.rows)):
        return False
    if case.rows and len(named - case.rows - case.spare) > max(2, 0.3 * len(case.rows)):
        return False
    if case.files and sum(name in said for name in case.files) < 0.8 * len(case.files):
        return False
    return all(column in said for column in case.columns)


def judged(case: Case, findings: list[dict[str, Any]]) -> str:
    fitting = [f for f in findings if f["code"] in case.codes]
    alarms = [f for f in fitting if f["severity"] != "note"]
    for found, answer in ((alarms, "right"), (fitting, "in part" if alarms else "note")):
        by_code = [[f for f in found if f["code"] == code] for code in case.codes]
        if any(said and names_all(case, said) for said in by_code):
            return answer
    return "in part" if alarms else "missed"


def shown(findings: list[dict[str, Any]], without: tuple[str, ...]) -> str:
    return "; ".join(
        f"{f['code']} {f['what'][:90]}" for f in findings if f["code"] not in without and f["severity"] != "note"
    )


def main() -> None:
    sets = {"second": SECOND, "third": THIRD, "fourth": FOURTH, "fifth": FIFTH, "sixth": SIXTH, "seventh": SEVENTH}
    wanted = {plant.__name__ for name in sys.argv[1:] for plant in sets.get(name, ())} | set(sys.argv[1:])
    scores: dict[str, int] = {}
    print("| planted | expected | answer | other alarms |\n|---|---|---|---|", flush=True)
    for number, plant in enumerate((*SECOND, *THIRD, *FOURTH, *FIFTH, *SIXTH, *SEVENTH)):
        if wanted and plant.__name__ not in wanted:
            continue
        with tempfile.TemporaryDirectory() as folder:
            case = plant(Path(folder), np.random.default_rng(number))
            findings = audited(case, Path(folder))
        others = shown(findings, case.codes)
        answer = judged(case, findings) if case.codes else ("ALARM" if others else "silent")
        scores[answer] = scores.get(answer, 0) + 1
        print(
            f"| {plant.__name__} | {' or '.join(case.codes) or '–'} | {answer} | {others.replace('|', '/')} |",
            flush=True,
        )
    print("\n" + ", ".join(f"{count} {answer}" for answer, count in scores.items()))


if __name__ == "__main__":
    main()
