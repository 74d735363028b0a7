"""Programs are run under paramedic, several at a time, and their reports kept."""

from __future__ import annotations

import json
import os
import queue
import re
import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.accuracy.programs import Program
from benchmarks.warm import Warm

SEED = re.compile(r"\b((?:manual_seed|seed|default_rng|RandomState|seed_everything)\()(\d+)(?=[,)])")
TIMEOUT = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What was said of one run of one program: findings, most important first, and those that are more than notes."""

    program: str
    source: str
    seed: int
    findings: tuple[tuple[str, int | None], ...] = ()  # code and line
    alarms: tuple[tuple[str, str], ...] = ()  # code and what it says
    abstained: str = ""  # of a sick program: why the rule that should have spoken did not
    verdict: str = ""

    def as_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, line: str) -> Result:
        fields: dict[str, Any] = json.loads(line)
        fields["findings"] = tuple((code, number) for code, number in fields["findings"])
        fields["alarms"] = tuple((code, what) for code, what in fields["alarms"])
        return cls(**fields)


def run_all(programs: list[tuple[Program, int]], jobs: int) -> Iterator[Result]:
    """Every program with its seed; results come as they are ready."""
    servers: queue.SimpleQueue[Warm] = queue.SimpleQueue()
    for _ in range(jobs):
        servers.put(Warm())

    def one(order: tuple[Program, int]) -> Result:
        server = servers.get()
        try:
            return run(*order, server)
        finally:
            servers.put(server)

    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(one, programs)
    while not servers.empty():
        servers.get().close()


def run(program: Program, seed: int, server: Warm) -> Result:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        script = with_seed(program.script, seed, folder / "program") if seed else program.script
        args = ["run", "-q", "--runs", name, "--json", "out.json", str(script)]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        server.run(
            args, cwd=folder, env=environment, out=folder / "stdout.txt", err=folder / "stderr.txt", timeout=TIMEOUT
        )
        report = json.loads((folder / "out.json").read_text()) if (folder / "out.json").exists() else None
    if report is None:
        return Result(program=program.name, source=program.source, seed=seed, verdict="no report")
    found = report["findings"]
    reasons = {rule["code"]: rule["reason"] for rule in report["rules"]["abstained"]}
    return Result(
        program=program.name,
        source=program.source,
        seed=seed,
        findings=tuple((finding["code"], finding["where"]["line"]) for finding in found),
        alarms=tuple((finding["code"], finding["what"]) for finding in found if finding["severity"] != "note"),
        abstained=reasons.get(program.codes[0], "") if program.codes else "",
        verdict=report["verdict"],
    )


def with_seed(script: Path, seed: int, folder: Path) -> Path:
    """A copy of the script's folder in which every seed it sets is another one; its lines stay where they are."""
    shutil.copytree(script.parent, folder, ignore=shutil.ignore_patterns("__pycache__", ".paramedic"))
    copy = folder / script.name
    copy.write_text(SEED.sub(lambda found: f"{found[1]}{int(found[2]) + 1000 * seed}", copy.read_text()))
    return copy
