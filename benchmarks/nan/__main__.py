"""Who names the operation and the line that made a NaN, who alarms for nothing, and how soon: one table.

`programs/*.py` have one fault each, marked `# <- CODE operation`; `healthy/*.py` and the healthy programs beside the
cases of the family PM1 only look like them. Each program is run under paramedic and under every peer.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
MARK = re.compile(r"# <- PM\d{3} (\w+)")
BACKWARD = re.compile(r"Error detected in (\w+?)Backward\w*\.")  # as torch's anomaly mode says it
FORWARD = re.compile(r"not finite: _?(\w+)")  # as peers.py says it
TOOLS = {
    "paramedic": "paramedic",
    "anomaly": "torch anomaly mode",
    "transformers": "DebugUnderflowOverflow",
    "operations": "every op (RETURNN's rule)",
}
STAMP = "; print('{0}', __import__('time').time(), flush=True)"


@dataclass(slots=True)
class Heard:
    """What a command said, and when."""

    text: str
    stamps: list[tuple[str, float]]  # the calls that begin and end a step, with their times
    told: float | None  # when the finding came
    report: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Said:
    """What a tool makes of a program."""

    alarm: bool
    op: str = ""
    line: int | None = None
    seconds: float | None = None  # from zero_grad() or the last good step until it was said
    step: float = 0.0  # seconds that a step takes

    def verdict(self, op: str, line: int) -> str:
        right = [word for word, fits in (("op", self.op == op), ("line", self.line == line)) if fits]
        return " + ".join(right) if right else f"✗ {self.op or '?'}, line {self.line}" if self.alarm else "silent"


def listen(words: list[str], script: Path) -> Heard:
    """Run a command on the script, which says on the line of each optimizer step what time it is."""
    env = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    heard = Heard("", [], None, None)
    with tempfile.TemporaryDirectory() as folder:
        timed = Path(folder) / script.name
        text = script.read_text()
        for call in ("optimizer.zero_grad()", "optimizer.step()"):
            text = text.replace(call, call + STAMP.format(call))
        timed.write_text(text)
        process = subprocess.Popen(
            [sys.executable, *words, str(timed)],
            cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        for line in process.stdout or ():
            heard.text += line
            if line.startswith("optimizer."):
                heard.stamps.append((line.split()[0], float(line.split()[1])))
            elif heard.told is None and line.startswith("✗ PM"):
                heard.told = time.time()
        process.wait()
        if (report := Path(folder) / "out.json").exists():
            heard.report = json.loads(report.read_text())
    return heard


def paramedic(script: Path) -> Said:
    heard = listen(["-m", "paramedic", "run", "--json", "out.json"], script)
    assert heard.report is not None, heard.text
    found = [finding for finding in heard.report["findings"] if finding["severity"] != "note"]
    if not found:
        return Said(False)
    named = {item["name"]: item["value"] for item in found[0]["evidence"]}
    op = named.get("operation") or ("step" if ".step()" in found[0]["what"] else "")
    steps = [moment for call, moment in heard.stamps if call == "optimizer.step()"]
    laps = [after - before for before, after in itertools.pairwise(steps)]
    stopped = heard.report["run"]["exit_code"] == 3 and heard.told is not None
    seconds = heard.told - heard.stamps[-1][1] if stopped else None
    return Said(True, op, found[0]["where"]["line"], seconds, statistics.median(laps or [0.0]))


def peer(tool: str, script: Path) -> Said:
    text = listen(["-m", "benchmarks.nan.peers", tool], script).text
    if "Traceback" not in text:
        return Said(False)
    place = re.compile(rf'File "[^"]*{script.name}", line (\d+)')
    backward, forward = BACKWARD.search(text), FORWARD.search(text)
    if backward:
        traceback = text[backward.end() :].partition("(Triggered internally")[0]
        return Said(True, backward[1].lower(), int(place.findall(traceback)[-1]))
    places = place.findall(text)
    return Said(True, forward[1] if forward else "", int(places[-1]) if places else None)


def ask(tool: str, script: Path) -> Said:
    return paramedic(script) if tool == "paramedic" else peer(tool, script)


def planted(script: Path) -> tuple[str, dict[str, str], Said]:
    """One row of the table, each tool's verdict, and paramedic's answer with its times."""
    line, op = next(
        (number, found[1])
        for number, text in enumerate(script.read_text().splitlines(), 1)
        if (found := MARK.search(text))
    )
    said = {tool: ask(tool, script) for tool in TOOLS}
    verdicts = {tool: answer.verdict(op, line) for tool, answer in said.items()}
    mine = said["paramedic"]
    times = f"{mine.seconds:.2f} s" if mine.seconds is not None else "after the run"
    return f"| {script.stem} | {op}, line {line} | {' | '.join(verdicts.values())} | {times} |", verdicts, mine


def main() -> None:
    head = ["| program | fault | " + " | ".join(TOOLS.values()) + " | told after |", "|---" * (len(TOOLS) + 3) + "|"]
    rows, verdicts, answers = [], [], []
    for script in sorted((HERE / "programs").glob("*.py")):
        row, verdict, answer = planted(script)
        print(row, flush=True)
        rows.append(row)
        verdicts.append(verdict)
        answers.append(answer)
    healthy = sorted([*(HERE / "healthy").glob("*.py"), *(ROOT / "cases").glob("PM1*/healthy*.py")])
    alarms: dict[str, list[str]] = {tool: [] for tool in TOOLS}
    for script in healthy:
        name = script.stem if script.parent.name == "healthy" else script.parent.name
        for tool in TOOLS:
            if ask(tool, script).alarm:
                alarms[tool].append(name)
                print(f"FALSE ALARM of {tool}: {name}", flush=True)
    summary = ["| | operation | line | false alarms |", "|---|---|---|---|"]
    for tool, name in TOOLS.items():
        counts = [sum(word in verdict[tool].split(" + ") for verdict in verdicts) for word in ("op", "line")]
        told = f"{len(alarms[tool])} of {len(healthy)}" + (f": {', '.join(alarms[tool])}" if alarms[tool] else "")
        summary.append(f"| {name} | {counts[0]} of {len(rows)} | {counts[1]} of {len(rows)} | {told} |")
    waits = [(answer.seconds, 3 * answer.step + 1) for answer in answers if answer.seconds is not None]
    slowest = max((seconds for seconds, _ in waits), default=0.0)
    kept = sum(seconds <= allowed for seconds, allowed in waits)
    speed = f"From the beginning of the failing step to the finding on the screen: {slowest:.2f} s at most; within"
    speed += f" 3 steps and 1 s in {kept} of {len(waits)} programs that were stopped."
    print("\n".join(["", *summary, "", speed]))
    intro = (HERE / "ABOUT.md").read_text()
    (HERE / "RESULTS.md").write_text("\n".join([intro, *summary, "", speed, "", *head, *rows, ""]))


if __name__ == "__main__":
    main()
