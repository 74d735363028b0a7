"""Runs exported to experiment trackers, read back with the trackers' own code."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path

import pytest

from paramedic.diagnosis import diagnose
from paramedic.errors import ParamedicError
from paramedic.record.facts import Step
from paramedic.record.writer import Writer
from paramedic.reports.trackers import WRITERS, export

LOSS = [1.0, 0.5, float("nan")]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    writer = Writer(tmp_path / "run" / "main.db", meta={"script": "train.py", "steps": 3, "seconds": 1.0})
    for step, loss in enumerate(LOSS):
        taken = Step(optimizer=0, gradients="new", scaled=False, closure=False, first=False)
        writer.state(taken, step=step, phase="train")
        writer.point("loss:train.py:3", step, loss)
    writer.start()
    writer.close()
    return tmp_path / "run"


@pytest.mark.parametrize("tracker", sorted(WRITERS))
def test_a_missing_package_is_named(run: Path, tmp_path: Path, tracker: str) -> None:
    if importlib.util.find_spec(tracker) is not None:
        pytest.skip("it is installed")
    with pytest.raises(ParamedicError, match=f"{tracker} is not installed"):
        export(run, diagnose(run, ()), tracker, tmp_path / "out")


def test_mlflow_reads_the_curve(run: Path, tmp_path: Path) -> None:
    pytest.importorskip("mlflow")
    from mlflow.tracking import MlflowClient

    export(run, diagnose(run, ()), "mlflow", tmp_path / "mlruns")
    client = MlflowClient(tracking_uri=(tmp_path / "mlruns").as_uri())
    (written,) = client.search_runs([client.get_experiment_by_name("paramedic").experiment_id])
    assert written.data.params["verdict"] == "inconclusive" and written.data.params["script"] == "train.py"
    history = client.get_metric_history(written.info.run_id, "loss/train/train.py.3")
    assert [(metric.step, metric.value) for metric in history] == [(0, 1.0), (1, 0.5)]  # it takes no NaN


def test_wandb_has_an_offline_run(run: Path, tmp_path: Path) -> None:
    pytest.importorskip("wandb")
    export(run, diagnose(run, ()), "wandb", tmp_path / "out")
    (file,) = (tmp_path / "out").glob("wandb/offline-run-*/*.wandb")
    written = file.read_bytes()  # its records are not compressed
    assert written.count(b"loss/train/train.py:3") >= len(LOSS) and b"inconclusive" in written


def test_trackio_reads_the_curve(run: Path, tmp_path: Path) -> None:
    pytest.importorskip("trackio")
    export(run, diagnose(run, ()), "trackio", tmp_path / "out")
    from trackio.sqlite_storage import SQLiteStorage

    name = run.name
    assert SQLiteStorage.get_run_config("paramedic", name)["verdict"] == "inconclusive"
    rows = SQLiteStorage.get_logs("paramedic", name)
    assert [(row["step"], row["loss/train/train.py:3"]) for row in rows][:2] == [(0, 1.0), (1, 0.5)]
    assert math.isnan(float(rows[2]["loss/train/train.py:3"]))
