"""`paramedic test` on every sick and healthy program of the data, model and loss families, peers on the same material.

Each program runs in a fork of this process: it is taken apart, and then its own checks and the peers' are run on it.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
FAMILIES = ("PM3", "PM4", "PM5")
LIMIT = 180  # seconds per program


def programs() -> list[Path]:
    """Families in turn, so that a run that is stopped early has looked at all of them."""
    found = [path for path in (ROOT / "cases").iterdir() if path.name.startswith(FAMILIES)]
    folders = sorted(found, key=lambda path: (path.name[3:5], path.name))
    return [folder / f"{kind}.py" for folder in folders for kind in ("sick", "healthy")]


def examine(script: Path) -> dict[str, Any]:
    """What our checks and the peers' say; or why nothing could be asked."""
    from paramedic.errors import ParamedicError
    from paramedic.launch import Target
    from paramedic.testing import assert_no_fault
    from paramedic.testing.script.running import first_step
    from paramedic.testing.script.storing import store_training
    from paramedic.testing.script.writing import run_check, that_apply

    warnings.simplefilter("ignore")
    found: dict[str, Any] = {"failed": [], "codes": [], "errors": []}
    try:
        step = first_step(Target(name=str(script), args=()))
    except ParamedicError as error:
        return {"skipped": error.what.replace(str(script), script.name)}
    training = None
    try:
        training, _ = store_training(script, [], step, Path("t.fixture"))
    except ParamedicError as error:
        found["whole_only"] = error.what
    for name in that_apply(training) if training is not None else ():
        ask(found, name, lambda name=name: run_check(name, training))
    ask(found, "no_known_fault", lambda: assert_no_fault(script, folder=script.parent))
    return found | (ask_peers(training) if training is not None else {})


def ask(found: dict[str, Any], name: str, check: Callable[[], None]) -> None:
    from paramedic.testing import CheckFailed

    try:
        check()
    except CheckFailed as failure:
        found["failed"].append(name)
        found["codes"] += [cause.code for cause in failure.causes]
    except Exception as error:
        found["errors"].append(f"{name}: {type(error).__name__}: {error}"[:200])


def ask_peers(training: Any) -> dict[str, Any]:
    from benchmarks.testing import peers

    def loss(output: Any, target: Any) -> Any:
        return training.loss(lambda *args, **kwargs: output, training.batch)

    said = {}
    for peer in peers.installed():
        with contextlib.suppress(Exception):
            inputs = training.arguments
            inputs = inputs[0] if isinstance(inputs, tuple) and len(inputs) == 1 else inputs
            said[peer] = peers.ask(peer, training.model, inputs, 0, loss, training.optimizer)
    return said


def in_a_fork(script: Path) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        pid = os.fork()
        if pid == 0:
            code = 1
            with contextlib.suppress(BaseException):
                os.chdir(folder)
                null = os.open(os.devnull, os.O_WRONLY)
                os.dup2(null, 1), os.dup2(null, 2)
                answer.write_text(json.dumps(examine(script)))
                code = 0
            os._exit(code)
        end = time.monotonic() + LIMIT
        while os.waitpid(pid, os.WNOHANG) == (0, 0):
            if time.monotonic() > end:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                return {"skipped": f"took longer than {LIMIT} s"}
            time.sleep(0.05)
        return json.loads(answer.read_text()) if answer.exists() else {"skipped": "the fork died"}


def report() -> str:
    import sklearn.datasets  # noqa: F401  (before the forks)
    import torch

    import paramedic.testing.script.storing
    import paramedic.watching  # noqa: F401

    torch.set_num_threads(1)
    known = Path(os.environ.get("PARAMEDIC_CASES", tempfile.mktemp(suffix=".json")))
    results: dict[str, Any] = json.loads(known.read_text()) if known.exists() else {}
    for script in programs():
        name = f"{script.parent.name}/{script.stem}"
        if name not in results:
            results[name] = in_a_fork(script)
            print(name, results[name], file=sys.stderr, flush=True)
            known.write_text(json.dumps(results))
    return summary(results)


def summary(results: dict[str, Any]) -> str:
    from benchmarks.testing import peers

    others = [peer for peer in peers.installed() if any(peer in found for found in results.values())]
    rows = ["| case | sick: fails | names | healthy: fails | " + "".join(f"{p}: sick | healthy | " for p in others)]
    rows.append("|---|---|---|---|" + "---|---|" * len(others))
    counts = {who: [0, 0, 0, 0] for who in ("paramedic", *others)}  # sick, found, healthy, false
    named = applied = 0
    skipped = []
    for folder in sorted({name.partition("/")[0] for name in results}):
        sick, healthy = results.get(f"{folder}/sick", {}), results.get(f"{folder}/healthy", {})
        code = folder[:5]
        if "skipped" in sick:
            skipped.append(f"{code} ({sick['skipped']})")
            continue
        applied += 1
        named += code in sick["codes"]
        cells = [
            folder,
            ", ".join(sick["failed"]) or "–",
            "✓" if code in sick["codes"] else ", ".join(sick["codes"][:1]),
        ]
        cells.append(", ".join(healthy.get("failed", ["not asked"])) or "–")
        for who in ("paramedic", *others):
            key = "failed" if who == "paramedic" else who
            for place, found in ((0, sick), (2, healthy)):
                if key in found:
                    counts[who][place] += 1
                    counts[who][place + 1] += bool(found[key])
            if who != "paramedic":
                cells += [", ".join(f.get(who, ["?"])) or "–" for f in (sick, healthy)]
        rows.append("| " + " | ".join(cells) + " |")
    lines = [
        f"- {who}: fails on {c[1]} of {c[0]} sick programs, and on {c[3]} of {c[2]} healthy ones"
        for who, c in counts.items()
    ]
    lines.append(f"- paramedic names the very code of the case in {named} of {applied}")
    whole = sum("whole_only" in found for found in results.values())
    lines.append(
        f"- could not be taken apart, so that only no_known_fault (assert_no_fault) was asked: {whole} programs"
    )
    lines.append(f"- {len(skipped)} sick programs got no test: {'; '.join(skipped)}")
    return "\n".join([*lines, "", *rows])
