"""A run in the formats of experiment trackers, written to a local folder: W&B (offline), MLflow and trackio."""

from __future__ import annotations

import importlib.util
import math
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from paramedic.errors import ParamedicError
from paramedic.findings import Diagnosis
from paramedic.record.reader import Run, reading, trained
from paramedic.reports.tensorboard import SERIES

PROJECT = "paramedic"
MOST_AT_ONCE = 500  # metrics in one call of MLflow


class Point(NamedTuple):
    """One value of one curve."""

    step: int
    name: str
    value: float


def points(run: Run) -> Iterator[Point]:
    """Losses, learning rates, gradient norm, times and memory, named as in TensorBoard's event files."""
    for _, name, step, value in run.points_after(0):
        kind, _, label = name.partition(":")
        yield Point(step, "/".join(part for part in (SERIES.get(kind, kind), label) if part), value)


def export(record: Path, diagnosis: Diagnosis, to: str, folder: Path) -> None:
    """Write the first process of a run, and the verdict on all of them, into the folder."""
    check_installed(to)
    with reading(record) as runs:
        WRITERS[to](list(points(trained(runs)[0])), diagnosis, folder)


def check_installed(to: str) -> None:
    if importlib.util.find_spec(to) is None:
        raise ParamedicError(
            f"{to} is not installed",
            expected=f"the package {to}, for writing its files",
            fix=f"pip install 'paramedic[{to}]'",
        )


def _about(diagnosis: Diagnosis) -> dict[str, Any]:
    run = diagnosis.run
    codes = [finding.code for finding in diagnosis.alarms]
    return {"script": run.script, "command": run.command, "verdict": diagnosis.verdict, "findings": " ".join(codes)}


def _rows(found: list[Point]) -> list[tuple[int, dict[str, float]]]:
    """The values of each step together."""
    rows: dict[int, dict[str, float]] = {}
    for point in found:
        rows.setdefault(point.step, {})[point.name] = point.value
    return sorted(rows.items())


def _to_wandb(found: list[Point], diagnosis: Diagnosis, folder: Path) -> None:
    os.environ.setdefault("WANDB_ERROR_REPORTING", "false")  # nothing leaves this machine
    import wandb

    folder.mkdir(parents=True, exist_ok=True)
    settings = wandb.Settings(console="off", silent=True, x_disable_stats=True, x_disable_meta=True)
    run = wandb.init(
        mode="offline", dir=str(folder), project=PROJECT, name=diagnosis.run.id, config=_about(diagnosis),
        settings=settings, reinit="create_new",
    )  # fmt: skip
    for step, values in _rows(found):
        run.log(values, step=step)
    run.finish()
    wandb.teardown()  # the process that writes the file is waited for


def _to_mlflow(found: list[Point], diagnosis: Diagnosis, folder: Path) -> None:
    # The store that is one folder of text files; newer versions want to be told that it is meant.
    os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")
    from mlflow.entities import Metric, Param
    from mlflow.tracking import MlflowClient

    client = MlflowClient(tracking_uri=folder.absolute().as_uri())
    known = client.get_experiment_by_name(PROJECT)
    experiment = known.experiment_id if known is not None else client.create_experiment(PROJECT)
    run = client.create_run(experiment, run_name=diagnosis.run.id).info.run_id
    began = int(1000 * diagnosis.run.started)
    metrics = [Metric(point.name.replace(":", "."), point.value, began, point.step) for point in found]
    metrics = [metric for metric in metrics if math.isfinite(metric.value)]
    for first in range(0, len(metrics), MOST_AT_ONCE):
        client.log_batch(run, metrics=metrics[first : first + MOST_AT_ONCE])
    client.log_batch(run, params=[Param(name, str(value)[:500]) for name, value in _about(diagnosis).items()])
    client.set_terminated(run)


def _to_trackio(found: list[Point], diagnosis: Diagnosis, folder: Path) -> None:
    os.environ["TRACKIO_DIR"] = str(folder.absolute())  # read when trackio is imported
    from trackio.sqlite_storage import SQLiteStorage

    rows = _rows(found)
    # trackio.init() would start a server and a thread; this is what both write to in the end.
    SQLiteStorage.bulk_log(
        project=PROJECT, run=diagnosis.run.id, metrics_list=[values for _, values in rows],
        steps=[step for step, _ in rows], config=_about(diagnosis),
    )  # fmt: skip


WRITERS: dict[str, Callable[[list[Point], Diagnosis, Path], None]] = {
    "mlflow": _to_mlflow,
    "trackio": _to_trackio,
    "wandb": _to_wandb,
}
