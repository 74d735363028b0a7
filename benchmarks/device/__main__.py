"""On a machine with a GPU: is there found what is found on a CPU? `python -m benchmarks.device [WORD …]`.

Programs written for the CPU run unchanged: `bridged.py` makes an accelerator torch's default device. What fails there
by itself is left out, as are cases of several ranks, which do not share one GPU. Prints one table; `--json FILE` keeps
what was found. What has not begun after `--within` seconds is not run, and the last line says how many that are;
`--healthy N` runs one in N of the healthy programs.

Programs whose samples lie in the GPU's memory only because they were bridged, and are picked there one by one, do wait
for their data most of the time. PM701 says so, rightly, and is no false alarm here.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import re
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.accuracy.programs import Program, all_programs
from benchmarks.warm import Warm

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
NAN_MARK = re.compile(r"# <- (PM\d{3})")
EVERY_REAL = 6  # one in so many of the real bugs
TIMEOUT = 90
# A program that does not get along with the device by itself; other failures may be what must be found.
NOT_FOR_DEVICES = re.compile(
    r"(same device|Expected a .* device type|can't convert cuda|re-initialize CUDA|map_location|device='cuda' generator"
    r"|Cannot access data pointer|pin memory|only dense CPU tensors|initialization error)"
)
# Faults on a CPU that are none on a GPU.
ONLY_ON_A_CPU = ("PM410-aliased-state-dict/sick_detached",)  # `.cpu()` copies there
ON_RANKS = re.compile(r"PM80[125678]-.*/sick")
VARIANTS = {"": {}, "bf16": {"BRIDGE_HALF": "1"}, "fused": {"BRIDGE_FUSED": "1"}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A program, what must be found in it, and how it is run."""

    name: str
    group: str
    script: str
    codes: tuple[str, ...] = ()
    line: int | None = None
    variant: str = ""
    bridged: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a program did without us and with us."""

    task: Task
    ran: bool
    same: bool | None = None  # what it printed
    found: tuple[tuple[str, int | None], ...] = ()
    verdict: str = ""
    abstained: str = ""  # why the rule that should have spoken did not
    error: str = ""

    @property
    def right(self) -> bool:
        return bool({code for code, _ in self.found} & set(self.task.codes))

    @property
    def right_line(self) -> bool:
        return any(code in self.task.codes and line == self.task.line for code, line in self.found[:1])


def tasks() -> list[Task]:
    found = [*_cases_and_real(), *_own()]
    for script in sorted((ROOT / "benchmarks/nan/programs").glob("*.py")):
        line, code = _marked(script)
        for variant in VARIANTS:
            name = f"{script.stem} {variant}".strip()
            task = Task(name=name, group="nan", script=str(script), codes=(code,), line=line, variant=variant)
            found.append(task)
    return found


def _cases_and_real() -> list[Task]:
    wanted: list[Program] = []
    real = 0
    for program in all_programs():
        if program.source == "real" and program.is_sick:
            real += 1
        if program.source == "cases" or (program.source == "real" and real % EVERY_REAL == 0):
            wanted.append(program)
    wanted = [program for program in wanted if not ON_RANKS.match(program.name)]
    return [
        Task(name=p.name, group=p.source, script=str(p.script))
        if p.name in ONLY_ON_A_CPU
        else Task(name=p.name, group=p.source, script=str(p.script), codes=p.codes, line=p.line)
        for p in wanted
    ]


def _own() -> list[Task]:
    """Programs that were written for a GPU."""
    scripts = [*sorted((HERE / "programs").glob("*.py")), *sorted(ROOT.glob("cases/PM706*/*.py"))]
    marked = [(script, _marked(script)) for script in scripts]
    return [
        Task(
            name=script.stem if script.parent.name == "programs" else f"PM706/{script.stem}",
            group="gpu", script=str(script), codes=(code,) if code else (), line=line, bridged=False,
        )
        for script, (line, code) in marked
    ]  # fmt: skip


def _marked(script: Path) -> tuple[int | None, str]:
    for number, line in enumerate(script.read_text().splitlines(), 1):
        if mark := NAN_MARK.search(line):
            return number, mark[1]
    return None, ""


def run(task: Task, server: Warm) -> Outcome:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plain = None if task.codes else _run([task.script], task, server, folder)
        if plain is not None and plain.code:
            return Outcome(task=task, ran=False, error=plain.last_line)
        options = ["run", "-q", "--runs", f"{folder}/runs", "--json", f"{folder}/out.json"]
        watched = _run(["paramedic", *options, task.script], task, server, folder)
        out = folder / "out.json"
        if not out.exists():
            return Outcome(task=task, ran=True, error=f"no report: {watched.last_line}")
        report = json.loads(out.read_text())
        same = plain.stdout == watched.stdout if plain is not None else None
        if same is False and plain is not None and _run([task.script], task, server, folder).stdout != plain.stdout:
            same = None  # it never prints the same twice
    alarms = [f for f in report["findings"] if f["severity"] != "note" or f["code"] in task.codes]
    alarms = [finding for finding in alarms if not (task.bridged and _is_bridges(finding))]
    trouble = [line for line in watched.stderr.splitlines() if "detached" in line]
    return Outcome(
        task=task,
        ran=NOT_FOR_DEVICES.search(watched.stderr) is None,
        same=same,
        found=tuple((finding["code"], finding["where"]["line"]) for finding in alarms),
        verdict=report["verdict"],
        abstained="; ".join(r["reason"] for r in report["rules"]["abstained"] if r["code"] in task.codes[:1]),
        error="; ".join(trouble)[:300] or watched.last_line * (watched.code not in (0, 1, 3)),
    )


def _is_bridges(finding: dict[str, Any]) -> bool:
    """Whether it waits for samples that lie where they do because of the bridge."""
    return finding["code"] == "PM701" and any(e["name"] == "samples_on" for e in finding["evidence"])


@dataclass(frozen=True, slots=True)
class Done:
    """How a program ended, and what it printed."""

    code: int
    stdout: str
    stderr: str

    @property
    def last_line(self) -> str:
        return (self.stderr.strip().splitlines() or [""])[-1][:200]


def _run(words: list[str], task: Task, server: Warm, folder: Path) -> Done:
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "BRIDGE_DEVICE": "cuda" if task.bridged else "",
        **VARIANTS[task.variant],
    }
    out, err = folder / "stdout.txt", folder / "stderr.txt"
    words = [str(HERE / "bridged.py"), *words]
    code = server.run(words, cwd=folder, env=environment, out=out, err=err, timeout=TIMEOUT, program="python")
    return Done(code, out.read_text(errors="replace"), err.read_text(errors="replace"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", help="parts of names or groups; all without")
    parser.add_argument("--jobs", type=int, default=14)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--within", type=float, default=480, help="seconds")
    parser.add_argument("--healthy", type=int, default=1, help="one in so many of the healthy programs")
    chosen = parser.parse_args()
    wanted = [t for t in tasks() if not chosen.words or any(w in f"{t.group}/{t.name}" for w in chosen.words)]
    healthy = [t for t in wanted if not t.codes][:: chosen.healthy]
    wanted = [t for t in wanted if t.codes or t in healthy]
    servers: queue.SimpleQueue[Warm] = queue.SimpleQueue()
    for _ in range(chosen.jobs):
        servers.put(Warm())

    until = time.monotonic() + chosen.within

    def one(task: Task) -> Outcome | None:
        if time.monotonic() > until:
            return None
        server = servers.get()
        try:
            return run(task, server)
        finally:
            servers.put(server)

    with ThreadPoolExecutor(chosen.jobs) as pool:
        outcomes = [outcome for outcome in pool.map(one, wanted) if outcome is not None]
    while not servers.empty():
        servers.get().close()
    if chosen.json:
        chosen.json.write_text(json.dumps([asdict(outcome) for outcome in outcomes], indent=1))
    tell(outcomes)
    if len(outcomes) < len(wanted):
        print(f"{len(wanted) - len(outcomes)} of {len(wanted)} programs were not run: the time was up.")


def tell(outcomes: list[Outcome]) -> None:
    print("| programs | run on the GPU | found | line | healthy | alarmed | printed the same |")
    print("|---|---|---|---|---|---|---|")
    for group in dict.fromkeys(o.task.group + (f" {o.task.variant}" if o.task.variant else "") for o in outcomes):
        mine = [o for o in outcomes if o.task.group + (f" {o.task.variant}" if o.task.variant else "") == group]
        ran = [o for o in mine if o.ran]
        sick, healthy = [o for o in ran if o.task.codes], [o for o in ran if not o.task.codes]
        lined, compared = [o for o in sick if o.task.line], [o for o in healthy if o.same is not None]
        print(
            f"| {group} | {len(ran)} of {len(mine)} | {sum(o.right for o in sick)} of {len(sick)} "
            f"| {sum(o.right_line for o in lined)} of {len(lined)} | {len(healthy)} "
            f"| {sum(bool(o.found) for o in healthy)} | {sum(bool(o.same) for o in compared)} of {len(compared)} |"
        )
    print()
    for o in outcomes:
        wrong = o.ran and (o.error or (not o.right_line if o.task.line else not o.right) if o.task.codes else o.found)
        if wrong or not o.ran:
            wanted = f"{'/'.join(o.task.codes)}:{o.task.line}" if o.task.codes else "nothing"
            said = ", ".join(f"{code}:{line}" for code, line in o.found[:3]) or "nothing"
            state = f"wanted {wanted}, said {said} ({o.verdict})" if o.ran else "does not run there"
            print(f"{o.task.group}/{o.task.name}: {state}", *filter(None, (o.abstained, o.error)))


if __name__ == "__main__":
    main()
