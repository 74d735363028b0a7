"""`paramedic runs`: what was recorded, how it ended, and what may go."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from inside import call
from paramedic.findings import Diagnosis, RunFacts
from paramedic.past_runs import VERDICT_FILE, keep_verdict
from paramedic.record.facts import Step
from paramedic.record.writer import Writer
from workshop import TRAIN, Workshop

STEP = Step(optimizer=0, gradients="new", scaled=False, closure=False, first=False)


def recorded(folder: Path, name: str, *, alive: bool = False) -> Path:
    """A run's folder as a process leaves it that was killed; or that still writes to it."""
    run = folder / ".paramedic" / "runs" / name
    meta = {"script": "train.py", "pid": os.getpid() if alive else 2**22 + 1}
    writer = Writer(run / "main.db", meta=meta)
    for step in range(7):
        writer.state(STEP, step=step, phase="train")
        writer.point("loss:train.py:3", step, 1.0 / (step + 1))
    writer.start()
    writer.close()
    return run


def ids(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / ".paramedic" / "runs").iterdir())


def test_a_list_says_verdict_steps_loss_age_and_script(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", TRAIN + "train(12, softmax=True)\n")
    assert warm_shop.run("train.py").codes == ["PM502"]
    done = call(warm_shop.folder, "runs")
    heading, line = done.stdout.splitlines()
    assert heading.split() == ["run", "age", "verdict", "steps", "loss", "script"]
    assert line.split()[0] == ids(warm_shop.folder)[0] and "sick PM502" in line and line.split()[-1] == "train.py"
    assert line.split()[-3] == "12" and 0 < float(line.split()[-2]) < 2
    assert len(line) <= 80
    assert (warm_shop.folder / ".paramedic" / ".gitignore").read_text() == "*\n"


def test_killed_and_running_ones_are_told_apart(tmp_path: Path) -> None:
    killed = recorded(tmp_path, "20260101-000000-000000")
    recorded(tmp_path, "20260102-000000-000000", alive=True)
    lines = call(tmp_path, "runs").stdout.splitlines()
    assert "20260102-000000-000000" in lines[1] and "running" in lines[1] and " 7 " in lines[1]
    assert "inconclusive" in lines[2] and "0.1429" in lines[2]
    assert json.loads((killed / VERDICT_FILE).read_text())["state"] == "inconclusive", "worked out once"


def test_a_damaged_record_does_not_cost_the_list(tmp_path: Path) -> None:
    recorded(tmp_path, "20260101-000000-000000")
    broken = recorded(tmp_path, "20260102-000000-000000")
    (broken / "main.db").write_bytes(b"nonsense" * 200)
    lines = call(tmp_path, "runs").stdout.splitlines()
    assert len(lines) == 3 and "not readable" in lines[1]


def test_no_runs(tmp_path: Path) -> None:
    done = call(tmp_path, "runs")
    assert done.code == 0 and "paramedic run train.py" in done.stdout


def test_pruning_keeps_the_newest_the_running_and_what_is_no_run(tmp_path: Path) -> None:
    for day in range(1, 6):
        recorded(tmp_path, f"2026010{day}-000000-000000", alive=day == 1)
    (tmp_path / ".paramedic" / "runs" / "mine").mkdir()
    done = call(tmp_path, "runs", "--prune", "--keep", "2")
    assert "deleted 2 runs" in done.stdout
    assert ids(tmp_path) == ["20260101-000000-000000", "20260104-000000-000000", "20260105-000000-000000", "mine"]


def test_a_link_among_the_runs_is_neither_followed_nor_deleted(tmp_path: Path) -> None:
    elsewhere = shutil.move(recorded(tmp_path, "20260101-000000-000000"), tmp_path / "elsewhere")
    (tmp_path / ".paramedic" / "runs" / "20260101-000000-000000").symlink_to(elsewhere)
    assert "deleted 0 runs" in call(tmp_path, "runs", "--prune", "--keep", "0").stdout
    assert (Path(elsewhere) / "main.db").exists()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"state": 3}', '{"loss": "x"}'])
def test_a_verdict_that_somebody_has_spoilt_is_worked_out_again(tmp_path: Path, text: str) -> None:
    run = recorded(tmp_path, "20260101-000000-000000")
    (run / VERDICT_FILE).write_text(text)
    assert "inconclusive" in call(tmp_path, "runs").stdout


def test_a_folder_of_the_users_gets_no_gitignore(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "records" / "one" / "main.db", meta={})
    writer.start()
    writer.close()
    assert list(tmp_path.rglob(".gitignore")) == []


def test_a_loss_that_ends_as_nan_stays_one(tmp_path: Path) -> None:
    from paramedic.findings import LossCurve

    run = recorded(tmp_path, "20260101-000000-000000")
    curve = LossCurve(label="train.py:3", steps=(0, 1), values=(1.0, float("nan")))
    facts = RunFacts(id=run.name, record=str(run), losses=(curve,))
    keep_verdict(run, Diagnosis(verdict="sick", findings=(), clear=(), abstained=(), crashed=(), run=facts))
    assert "NaN" in call(tmp_path, "runs").stdout
