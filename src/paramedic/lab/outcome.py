"""What the record of an experiment says: the robust first and last loss, and how sure the last one is."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from statistics import mean, median, pstdev

from paramedic.aliases import Fields
from paramedic.errors import ParamedicError
from paramedic.lab.experiment import Experiment, Result, Status
from paramedic.lab.printed import metrics
from paramedic.record.facts import Ended, Intervention, OutOfMemory
from paramedic.record.reader import Run, open_runs
from paramedic.settings import Settings

ANSWER = "answer.json"


def measure(
    experiment: Experiment, folder: Path, status: Status, *, reason: str, seconds: float, wanted: Settings
) -> Result:
    """Read the run's record, as far as there is one."""
    known: Fields = {"name": experiment.name, "changed": experiment.changed, "run": str(folder)}
    known |= {"seconds": round(seconds, 2), "reason": reason, "status": status}
    if (folder / ANSWER).exists():
        return Result(**known, answer=json.loads((folder / ANSWER).read_text()))
    try:
        runs = open_runs(folder)
        refused = [run for run in runs if (told := run.first(Intervention)) is not None and not told.applied]
        run = next((run for run in [*runs, *refused] if run.steps or run in refused), None)
    except ParamedicError:
        run = None
    if run is None:
        known["reason"] = _last_words(folder) or reason
        if status in ("ended", "stopped"):
            known |= {"status": "crashed", "reason": known["reason"] or "no optimizer step was taken"}
        return Result(**known)
    if status == "ended" and _was_stopped(run, wanted):
        status = "stopped"
    state = _state(run, status, reason)
    if "noted" in state and (found := metrics(folder / "output.txt")):
        state["noted"]["printed"] = found
    examined = bool((state.get("noted") or {}).get("examined"))
    return Result(**(known | state | _curve(run, experiment, examined=examined)))


def _last_words(folder: Path) -> str:
    """What the script printed when it failed: the last line of a traceback names the error."""
    output = folder / "output.txt"
    lines = output.read_text(errors="replace").splitlines() if output.exists() else []
    errors = [line.strip() for line in lines if re.match(r"[\w.]*(Error|Exception|Interrupt|Exit)\b", line)]
    return errors[-1][:200] if errors else ""


def _was_stopped(run: Run, wanted: Settings) -> bool:
    """Whether the script would have gone on."""
    enough = wanted.stop_after is not None and run.steps >= wanted.stop_after
    late = wanted.stop_after_seconds is not None and run.meta.get("seconds", 0) > wanted.stop_after_seconds
    return enough or late


def _state(run: Run, status: Status, reason: str) -> Fields:
    ended, told = run.first(Ended), run.first(Intervention)
    if run.first(OutOfMemory) is not None:
        return {"steps": run.steps, "status": "out of memory"}
    if ended is not None:
        text = f"{ended.type} at {ended.line}: {ended.message}"
        return {"steps": run.steps, "status": "crashed", "reason": text[:200]}
    if told is not None and not told.applied:
        return {"steps": run.steps, "status": "not applied", "reason": told.reason}
    noted = dict(told.noted) if told is not None and told.noted else {}
    return {"steps": run.steps, "status": status, "reason": reason, "noted": noted}


def _curve(run: Run, experiment: Experiment, *, examined: bool) -> dict[str, object]:
    names = [name for name in run.series_names if name.startswith("loss:")]
    series = sorted((run.series(name) for name in names), key=len, reverse=True)
    if not series:
        return {}
    points = series[0]
    values = [value for _, value in points if math.isfinite(value)]
    found: dict[str, object] = {
        "values": tuple(values),
        "finite": len(values) == len(points),
        "losses": sum(len(other) > 0.3 * len(points) for other in series),
    }
    if len(values) < 3:
        return found
    if experiment.order.startswith("held_out=") and examined:
        begins = int(re.split("[:,]", experiment.order.partition("=")[2])[0])
        exam = [value for step, value in points if step >= begins + 3 and math.isfinite(value)]
        found["exam"] = mean(exam) if len(exam) >= 3 else None
        values = [value for step, value in points if step < begins and math.isfinite(value)] or values
    return found | _summary(values)


def _summary(values: list[float]) -> dict[str, object]:
    tail = values[-max(5, len(values) // 5) :]
    width = max(3, len(values) // 20)
    smooth = [median(values[i : i + width]) for i in range(len(values) - width + 1)]
    return {
        "first": median(values[:3]),
        "last": mean(tail),
        "noise": 1.5 * pstdev(tail) / math.sqrt(len(tail)),  # neighbouring steps are not independent
        "lowest": min(smooth),
    }
