"""Programs of a benchmark, several at a time, until the time is up."""

from __future__ import annotations

import json
import queue
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.accuracy.programs import Program
from benchmarks.warm import Warm

Row = TypeVar("Row")


def each(programs: list[Program], work: Callable[[Program, Warm], Row], *, jobs: int, seconds: float) -> Iterator[Row]:
    """What `work` makes of each program, as it is ready; none is begun once the seconds are over."""
    until = time.monotonic() + seconds
    servers: queue.SimpleQueue[Warm] = queue.SimpleQueue()
    for _ in range(min(jobs, len(programs)) if seconds > 0 else 0):
        servers.put(Warm())

    def one(program: Program) -> Row | None:
        if time.monotonic() >= until:
            return None
        server = servers.get()
        try:
            return work(program, server)
        except Exception as error:  # one program that ends its server must not end the benchmark
            print(f"{program.name}: {type(error).__name__}: {error}", flush=True)
            server = Warm()
            return None
        finally:
            servers.put(server)

    with ThreadPoolExecutor(jobs) as pool:
        for ready in as_completed([pool.submit(one, program) for program in programs]):
            row = ready.result()
            if row is not None:
                yield row
    while not servers.empty():
        servers.get().close()


def kept(file: Path) -> Iterator[dict[str, Any]]:
    """The rows of a file of results, one JSON object per line; later ones may replace earlier ones."""
    yield from map(json.loads, file.read_text().splitlines() if file.exists() else [])


def keep(file: Path, row: str) -> None:
    """At once: what was measured survives whatever ends the benchmark."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a") as stream:
        print(row, file=stream)
