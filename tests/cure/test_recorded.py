"""A cure that begins with the findings of an earlier run: of this very program, or not at all."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from paramedic.cure.recorded import last_run_of, recorded
from paramedic.errors import ParamedicError
from paramedic.launch import Target
from paramedic.record.facts import Audited
from paramedic.record.writer import Writer
from workshop import TRAIN, Workshop

SICK = TRAIN + "\nprint('accuracy', 0.5, 'loss', train(40, softmax=True))\n"
TARGET = Target(name="train.py", args=("--lr", "1"))
GONE = 2**22 + 1  # no process has this number


def test_the_findings_of_a_run_are_cured_and_one_of_other_code_is_refused(warm_shop: Workshop) -> None:
    script = warm_shop.write("train.py", SICK)
    warm_shop.run("train.py")
    [record] = warm_shop.records()
    done = warm_shop.paramedic("cure", "--run", "last", "--json", "out.json", "--html", "out.html", "train.py")
    [edit] = done.found["edits"]
    assert done.code == 1 and edit["confirmed"] and edit["before"]["alarms"] == ["PM502"], done.stderr
    assert f"findings of run {record.parent.name}" in done.stderr and "1 edit confirmed" in done.stderr
    assert done.found["run"]["id"] == record.parent.name
    again = warm_shop.paramedic("cure", "--run", "last", "-q", "train.py")  # the runs that a cure makes are no runs
    assert again.code == 1 and "1 edit confirmed" in again.stderr
    script.write_text(SICK + "\n")
    changed = warm_shop.paramedic("cure", "--run", "last", "train.py")
    assert changed.code == 2 and "older than the last change of train.py" in changed.stderr


def test_a_healthy_run_needs_no_other(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", TRAIN + "\ntrain(30)\n")
    warm_shop.run("train.py")
    done = warm_shop.paramedic("cure", "--run", "last", "train.py")
    assert done.code == 0 and "nothing to cure. No alarm in 30 steps" in " ".join(done.stderr.split())
    assert len(warm_shop.records()) == 1


def test_a_killed_run_will_do_if_the_script_is_older(warm_shop: Workshop) -> None:
    script = warm_shop.write("train.py", SICK + f"import os\nos.kill(os.getpid(), {int(signal.SIGKILL)})\n")
    os.utime(script, (time.time() - 60,) * 2)
    warm_shop.run("train.py")
    done = warm_shop.paramedic("cure", "--run", "last", "train.py")
    assert done.code == 1 and "PM502" in done.stderr
    os.utime(script)
    done = warm_shop.paramedic("cure", "--run", "last", "train.py")
    assert done.code == 2 and "older than the last change of train.py" in done.stderr


@pytest.mark.parametrize(
    ("meta", "said"),
    [
        ([{"command": "python other.py"}], "is one of python other.py"),
        ([{"cwd": "/nowhere/else"}], "a folder of another machine"),
        ([{"cwd": "/"}], "was started in /"),
        ([{"pid": os.getpid()}], "still under way"),
        ([{"world_size": 2, "rank": rank} for rank in (0, 1)], "2 ranks, which a launcher had started"),
        ([{"code": {"train.py": "old"}}], "older than the last change of train.py"),
        ([{"code": {"deleted.py": ""}}], "older than the last change of deleted.py"),
    ],
)
def test_a_run_of_something_else_is_refused(tmp_path: Path, meta: Sequence[dict[str, Any]], said: str) -> None:
    folder = _run(tmp_path, meta)
    with pytest.raises(ParamedicError, match=said) as caught:
        recorded(folder, TARGET, tmp_path, (), {})
    assert "paramedic cure train.py --lr 1" in caught.value.fix


def test_the_record_of_an_audit_is_refused(tmp_path: Path) -> None:
    folder = _run(tmp_path, [{}], audited=True)
    with pytest.raises(ParamedicError, match="record of an audit"):
        recorded(folder, TARGET, tmp_path, (), {})


def test_the_last_run_is_that_of_the_same_command_in_this_folder(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    mine = _run(tmp_path, [{}], runs / "20260101-000000-000001")
    _run(tmp_path, [{"command": "python other.py"}], runs / "20260101-000000-000002")
    _run(tmp_path, [{"cwd": "/tmp/copy"}], runs / "20260101-000000-000003")
    (runs / "20260101-000000-000004").mkdir()
    (runs / "20260101-000000-000004" / "main.db").write_text("damaged")
    assert last_run_of(TARGET, runs, tmp_path) == mine
    with pytest.raises(ParamedicError, match=r"no run of python train\.py is recorded"):
        last_run_of(Target(name="train.py", args=()), runs, tmp_path)


def _run(here: Path, processes: Sequence[dict[str, Any]], folder: Path | None = None, audited: bool = False) -> Path:
    """A folder of records; what is not given is right."""
    folder = folder or here / "20260101-000000-000001"
    (here / "train.py").write_text("new")
    for number, meta in enumerate(processes):
        right: dict[str, Any] = {"command": TARGET.command, "cwd": str(here), "pid": GONE}
        writer = Writer(folder / f"rank{number}.db", meta=right | meta)
        if audited:
            writer.state(Audited(title="train.csv", samples=1, lines=[]), step=0, phase="setup")
        writer.start()
        writer.close()
    return folder
