"""The record: what is written comes back, bounded, readable at any time, and never at the training's expense."""

from __future__ import annotations

import json
import math
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from paramedic.errors import ParamedicError
from paramedic.record.facts import Asked, Backward, Cut, Epoch, ModuleCall, Pushed, Step, Tensor
from paramedic.record.facts.storing import restored
from paramedic.record.reader import Run, open_runs
from paramedic.record.schema import SCHEMA_VERSION
from paramedic.record.writer import MOST_BREAKS, MOST_EVENTS_PER_KIND, POINTS_PER_OCTAVE, Site, Writer
from workshop import Workshop, wait_for_line, wait_until

STEP = Step(optimizer=0, gradients="new", scaled=False, closure=False, first=False)
CUT = Cut(op=".item()", parameters=["net.weight"])
SECONDS: dict[str, Any] = dict.fromkeys(("began", "seconds", "start", "first", "wait", "fetching"), 0.5)
SECONDS |= dict.fromkeys(("loader", "workers", "batches", "fetched"), 1)


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Writer]:
    writer = Writer(tmp_path / "run" / "main.db", meta={"script": "train.py"})
    writer.start()
    yield writer
    writer.close()


def read(writer: Writer) -> Run:
    writer.flush()
    return open_runs(writer.path.parent)[0]


def test_a_fact_comes_back_as_it_was(writer: Writer) -> None:
    site = Site("train.py", 41, "fit")
    tensor = Tensor(shape=[2, 3], dtype="float32", device="cpu", requires_grad=True)
    stated = ModuleCall(
        class_="Überlayer ✗", order=1, training=True, grad=False, trainable=2, inputs=[tensor], outputs=[], cut=site
    )
    new = writer.state(stated, step=4, phase="train", site=site, module="net.0")
    (call,) = read(writer).facts(ModuleCall)
    assert new and (call.class_, call.training, call.grad, call.trainable) == ("Überlayer ✗", True, False, 2)
    assert (call.inputs[0].shape, call.inputs[0].dtype, call.outputs) == ([2, 3], "float32", [])
    assert call.cut == site and call.p is None
    assert (call.step, call.last_step, call.count, call.phase) == (4, 4, 1, "train")
    where = call.where
    assert (where.file, where.line, where.function, where.module) == ("train.py", 41, "fit", "net.0")


def test_fields_of_other_versions_are_ignored_or_take_their_defaults() -> None:
    old = restored(Backward, {"scalar": True, "leaf": False, "of_tomorrow": 3})
    assert old.scalar and old.function is None and not old.direct


def test_nan_infinity_and_null_are_three_things(writer: Writer) -> None:
    writer.state(Pushed(function="mse_loss", slope=math.nan, value=-math.inf), step=0, phase="train")
    writer.state(Epoch(**SECONDS | {"wait": math.inf}), step=0, phase="train")
    writer.state(Asked(present=None, future=0.0), step=0, phase="train")
    for step, value in enumerate([math.nan, math.inf, -math.inf, 0.0]):
        writer.point("loss:x", step, value)
    run = read(writer)
    pushed, epoch, asked = run.facts(Pushed)[0], run.facts(Epoch)[0], run.facts(Asked)[0]
    assert math.isnan(pushed.slope) and (epoch.wait, pushed.value) == (math.inf, -math.inf)
    assert asked.present is None and asked.future == 0.0
    points = run.series("loss:x")
    assert math.isnan(points[0][1]) and points[1:] == [(1, math.inf), (2, -math.inf), (3, 0.0)]


def test_repeated_facts_are_counted_not_stored(writer: Writer) -> None:
    for step in range(100):
        stated = replace(STEP, optimizer=step)
        assert writer.state(stated, step=step, phase="train", key="adam") == (step == 0)
        if step == 50:
            writer.flush()
    writer.state(STEP, step=7, phase="train", key="sgd")
    # The same key of another kind is another fact.
    writer.state(Backward(scalar=True, leaf=False), step=8, phase="train", key="adam")
    run = read(writer)
    adam, sgd = run.facts(Step)
    assert (adam.count, adam.step, adam.last_step, adam.optimizer) == (100, 0, 99, 0)
    assert (sgd.count, sgd.step) == (1, 7)
    assert run.facts(Backward)[0].count == 1
    assert run.steps == 100


def test_facts_without_a_key_are_bounded(writer: Writer) -> None:
    for number in range(MOST_EVENTS_PER_KIND + 5):
        writer.state(CUT, step=number, phase="train")
    writer.state(STEP, step=1, phase="train")
    run = read(writer)
    assert len(run.facts(Cut)) == MOST_EVENTS_PER_KIND and len(run.facts(Step)) == 1
    assert writer.dropped == 5


def test_a_long_series_is_bounded_and_keeps_its_spikes(writer: Writer) -> None:
    spikes = {31_337: 1000.0, 77_777: -500.0, 99_990: math.nan}
    for step in range(100_000):
        writer.point("loss:x", step, spikes.get(step, 1.0 + step % 7 / 100))
    points = read(writer).series("loss:x")
    assert len(points) < 8 * POINTS_PER_OCTAVE
    kept = dict(points)
    assert kept[31_337] == 1000.0 and kept[77_777] == -500.0 and math.isnan(kept[99_990])
    assert [step for step, _ in points] == sorted(kept), "in order, every step once"
    assert all(later - earlier < 200 for earlier, later in zip(sorted(kept), sorted(kept)[1:], strict=False))


def test_a_loss_that_stays_nan_is_bounded_too(writer: Writer) -> None:
    single = 20_001
    for step in range(200_000):
        writer.point("loss:x", step, math.nan if step == single or step >= 60_000 else 1.0)
    points = read(writer).series("loss:x")
    assert len(points) < 8 * POINTS_PER_OCTAVE
    bad = [step for step, value in points if math.isnan(value)]
    assert bad[:2] == [single, 60_000] and bad[-1] == 199_999
    assert all(later - earlier < 200 for earlier, later in pairwise(bad[1:]))


def test_a_loss_that_is_nan_every_other_step_is_bounded_too(writer: Writer) -> None:
    for step in range(200_000):
        writer.point("loss:x", step, math.nan if step % 2 else 1.0)
    assert len(read(writer).series("loss:x")) < 3 * MOST_BREAKS


def test_the_last_value_is_the_last_value(writer: Writer) -> None:
    for step in range(50_001):
        writer.point("loss:x", step, 1e6 if step == 49_999 else float(step % 2))
        writer.point("loss:y", step, math.nan if step == 49_999 else 0.5)
    writer.close()
    run = open_runs(writer.path.parent)[0]
    assert run.series("loss:x")[-2:] == [(49_999, 1e6), (50_000, 0.0)]
    assert run.series("loss:y")[-1] == (50_000, 0.5)


def test_the_end_of_a_long_series_is_kept(writer: Writer) -> None:
    for step in range(50_001):
        writer.point("loss:x", step, 1e6 if step == 50_000 else 1.0)
    writer.close()
    assert open_runs(writer.path.parent)[0].series("loss:x")[-1] == (50_000, 1e6)


def test_a_short_series_is_kept_whole(writer: Writer) -> None:
    values = [(step, math.sin(step)) for step in range(1000)]
    for step, value in values:
        writer.point("loss:x", step, value)
    assert read(writer).series("loss:x") == values


def test_many_threads_may_write(writer: Writer) -> None:
    def work(name: str) -> None:
        for step in range(200):
            writer.state(STEP, step=step, phase="train", key=name)
            writer.state(CUT, step=step, phase="train")

    threads = [threading.Thread(target=work, args=(str(n),)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    run = read(writer)
    assert [step.count for step in run.facts(Step)] == [200] * 8
    assert len(run.facts(Cut)) == 1600


def test_a_reader_looks_on_while_the_run_writes(writer: Writer) -> None:
    seen = []
    for round in range(5):
        for step in range(20):
            writer.state(STEP, step=round * 20 + step, phase="train", key="adam")
        seen.append(read(writer).steps)
    assert seen == [20, 40, 60, 80, 100]


WRITING = """
import sys, time
from pathlib import Path
from paramedic.record.facts import Step
from paramedic.record.writer import Writer
STEP = Step(optimizer=0, gradients="new", scaled=False, closure=False, first=False)
writer = Writer(Path(sys.argv[1]), meta={})
writer.start()
for step in range(10**9):
    writer.state(STEP, step=step, phase="train", key="adam")
    writer.point("loss:x", step, 1.0)
    if step == 1000:
        writer.flush()
        print("ready", flush=True)
    time.sleep(0.0001)
"""


def test_what_was_flushed_survives_sigkill(shop: Workshop) -> None:
    shop.write("writing.py", WRITING)
    path = shop.folder / "run" / "main.db"
    command = [sys.executable, "writing.py", str(path)]
    process = subprocess.Popen(command, cwd=shop.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for_line(process, "ready")
    wait_until(lambda: open_runs(path.parent)[0].steps > 1500)  # the thread writes by itself
    process.send_signal(signal.SIGKILL)
    process.wait()
    run = open_runs(path.parent)[0]
    assert run.steps > 1500 and len(run.series("loss:x")) > 1000
    assert run.series("loss:x")[:2] == [(0, 1.0), (1, 1.0)]


def test_nothing_recorded_means_no_file(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "run" / "main.db", meta={})
    writer.state(CUT, step=0, phase="train")
    writer.close()
    assert not (tmp_path / "run").exists()


def test_a_place_that_cannot_be_written_costs_one_line(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("a file where the folder should be")
    said: list[str] = []
    writer = Writer(tmp_path / "run" / "main.db", meta={}, say=said.append)
    writer.start()
    for step in range(10):
        writer.state(CUT, step=step, phase="train")
        writer.flush()
    writer.close()
    assert len(said) == 1 and "--runs" in said[0] and str(tmp_path) in said[0]


def test_another_schema_version_is_a_message(writer: Writer) -> None:
    writer.set_meta(schema_version=SCHEMA_VERSION + 1)
    with pytest.raises(ParamedicError, match=f"record format {SCHEMA_VERSION + 1}") as caught:
        read(writer)
    assert f"format {SCHEMA_VERSION}" in caught.value.expected and caught.value.fix


def test_a_damaged_record_is_a_message(warm_shop: Workshop) -> None:
    folder = warm_shop.folder / "broken"
    folder.mkdir()
    (folder / "main.db").write_bytes(b"SQLite format 3\0" + b"\xff" * 4096)
    done = warm_shop.paramedic("report", folder)
    assert done.code == 2 and "not a readable record" in done.stderr and "Traceback" not in done.stderr


def test_a_record_cut_short_is_a_message(warm_shop: Workshop, writer: Writer) -> None:
    for step in range(3000):
        writer.state(Cut(op="x" * 50, parameters=[]), step=step, phase="train")
    writer.close()
    with sqlite3.connect(writer.path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = writer.path.read_bytes()
    writer.path.write_bytes(data[: len(data) // 2])
    for side in ("-wal", "-shm"):
        Path(f"{writer.path}{side}").unlink(missing_ok=True)
    done = warm_shop.paramedic("report", writer.path.parent)
    assert "Traceback" not in done.stderr
    assert done.code == 2 or "Verdict:" in done.stdout


def test_an_empty_folder_is_a_message(warm_shop: Workshop) -> None:
    (warm_shop.folder / "empty").mkdir()
    done = warm_shop.paramedic("report", "empty")
    assert done.code == 2 and "no record" in done.stderr and "Traceback" not in done.stderr


def test_the_main_process_comes_first(tmp_path: Path) -> None:
    for name, rank in (("rank1", 1), ("main", 0), ("p77", 0)):
        writer = Writer(tmp_path / f"{name}.db", meta={"rank": rank})
        writer.start()
        writer.state(STEP, step=0, phase="train")
        writer.close()
    assert [run.path.stem for run in open_runs(tmp_path)] == ["main", "p77", "rank1"]


def test_the_record_is_plain_sqlite_with_json(writer: Writer) -> None:
    writer.state(CUT, step=0, phase="train")
    writer.flush()
    with sqlite3.connect(f"file:{writer.path}?mode=ro", uri=True) as connection:
        (data,) = connection.execute("SELECT data FROM events").fetchone()
        meta = dict(connection.execute("SELECT name, value FROM meta"))
    assert (
        json.loads(data) == {"op": ".item()", "parameters": ["net.weight"]} and json.loads(meta["script"]) == "train.py"
    )


FORKING = """
import gc, os, threading, time
from pathlib import Path
from paramedic.record.facts import Cut
from paramedic.record.writer import Writer

for trial in range(12):
    writer = Writer(Path(f"{trial}.db"), meta={})
    for step in range(500):
        writer.state(Cut(op="x" * 300, parameters=[]), step=step, phase="train")
    writing = threading.Thread(target=writer.flush)
    writing.start()
    time.sleep(0.0005 * trial)
    lock = writer.hold()
    child = os.fork()
    if child == 0:
        writer.abandon()
        del writer
        gc.collect()
        os._exit(0)
    lock.release()
    deadline = time.monotonic() + 30
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() > deadline:
            os.kill(child, 9)
            print("a child hangs", flush=True)
            os._exit(1)
        time.sleep(0.001)
    writing.join()
print("all have ended")
"""


def test_a_process_that_is_forked_while_the_record_is_written_does_not_hang(shop: Workshop) -> None:
    shop.write("fork.py", FORKING)
    done = shop.python("fork.py")
    assert done.stdout == "all have ended\n", done.stderr
