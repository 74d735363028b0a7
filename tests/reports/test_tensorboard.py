"""TensorBoard's files keep up with a record that grows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from paramedic.record.facts import Step
from paramedic.record.writer import Writer
from paramedic.reports.tensorboard import Board, write

pytest.importorskip("tensorboard")
STEP = Step(optimizer=0, gradients="new", scaled=False, closure=False, first=False)


def values(folder: Path, tag: str) -> list[tuple[int, float]]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    read: Any = EventAccumulator(str(folder))
    read.Reload()
    return [(event.step, event.value) for event in read.Scalars(tag)]


def test_each_point_is_written_once_whoever_goes_on(tmp_path: Path) -> None:
    record, folder = tmp_path / "run", tmp_path / "board"
    writer = Writer(record / "main.db", meta={})

    def train(steps: range) -> None:
        for step in steps:
            writer.state(STEP, step=step, phase="train")
            writer.point("loss:train.py:3", step, 1.0 / (step + 1))
        writer.flush()

    beside = Board(record, folder)
    train(range(5))
    beside.more()
    assert [step for step, _ in values(folder, "loss/train/train.py:3")] == [0, 1, 2, 3, 4], "while it runs"
    train(range(5, 8))
    beside.more()
    train(range(8, 10))
    write(record, folder)
    found = values(folder, "loss/train/train.py:3")
    assert [step for step, _ in found] == list(range(10))
    assert [value for _, value in found] == pytest.approx([1.0 / (step + 1) for step in range(10)])
    write(record, tmp_path / "other")
    assert len(values(tmp_path / "other", "loss/train/train.py:3")) == 10
    for file in (tmp_path / "other").iterdir():
        file.unlink()
    write(record, tmp_path / "other")
    assert len(values(tmp_path / "other", "loss/train/train.py:3")) == 10, "files that were deleted are written anew"
    writer.close()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"folder": 3}'])
def test_a_note_of_the_position_that_somebody_has_spoilt_is_left_alone(tmp_path: Path, text: str) -> None:
    writer = Writer(tmp_path / "run" / "main.db", meta={})
    writer.point("log:mine", 1, 2.0)
    writer.start()
    writer.close()
    (tmp_path / "run" / "tensorboard.json").write_text(text)
    write(tmp_path / "run", tmp_path / "board")
    assert values(tmp_path / "board", "log/mine") == [(1, 2.0)]
