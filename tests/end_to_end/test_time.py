"""Time, and what is written down as it passes: the log, the table in the report, the trace, TensorBoard's files."""

from __future__ import annotations

import gzip
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

from workshop import TRAIN, Workshop

# Batches of token ids that end in padding, an evaluation after each epoch, a rate that halves.
LOOP = """
import time
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(0)

class Slow(TensorDataset):
    pause = 0.0
    def __getitem__(self, index):
        time.sleep(self.pause)
        return super().__getitem__(index)

def main(epochs=3, pause=0.0):
    x = torch.randint(1, 20, (96, 10))
    x[:, 8:] = 0
    data = Slow(x, (x[:, 0] > 10).long())
    data.pause = pause
    loader, held_out = DataLoader(data, batch_size=16), DataLoader(data, batch_size=48)
    model = nn.Sequential(nn.Embedding(20, 8), nn.Flatten(), nn.Linear(80, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.4)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
    for epoch in range(epochs):
        for ids, labels in loader:
            loss = F.cross_entropy(model(ids), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        schedule.step()
        with torch.no_grad():
            total = sum(F.cross_entropy(model(ids), labels).item() for ids, labels in held_out)
        print("epoch", epoch)
"""
KEYS = [
    "time", "phase", "step", "steps", "loss", "learning_rate", "gradient_norm", "seconds_per_step",
    "samples_per_second", "batch", "padding", "memory", "logged",
]  # fmt: skip


def log_of(shop: Workshop, name: str = "log.jsonl") -> list[dict[str, Any]]:
    (path,) = shop.folder.glob(f".paramedic/runs/*/{name}")
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_log_tells_training_and_evaluation_with_the_same_keys(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", LOOP + "main(epochs=3, pause=0.002)")
    done = warm_shop.run("train.py", options=("--log",))
    assert done.stdout.splitlines() == ["epoch 0", "epoch 1", "epoch 2"]
    lines = log_of(warm_shop)
    assert all(list(line) == KEYS for line in lines)
    train, evaluation = ([line for line in lines if line["phase"] == phase] for phase in ("train", "eval"))
    assert sum(line["steps"] for line in train) == 18 and train[-1]["step"] == 18
    assert sum(line["steps"] for line in evaluation) == 6
    assert train[-1]["batch"][0] == [16, 10] and evaluation[-1]["batch"][0] == [48, 10]
    assert train[0]["padding"] == 0.2
    assert train[0]["learning_rate"] == [0.4] and train[-1]["learning_rate"] == [0.1]
    assert len(train[-1]["loss"]) == len(evaluation[-1]["loss"]) == 1
    assert train[-1]["gradient_norm"] > 0 and train[-1]["samples_per_second"] > 0 and train[-1]["memory"]
    assert "train step 18  loss " in done.stderr and "lr 0.1" in done.stderr


def test_a_fast_loop_is_logged_a_few_times_per_second(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", TRAIN + "train(1000)")
    assert warm_shop.run("train.py").code == 0
    lines = log_of(warm_shop)
    assert sum(line["steps"] for line in lines) == 1000
    assert all(after["time"] - before["time"] > 0.09 for before, after in pairwise(lines[:-1]))


def test_every_step_is_logged_on_request(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", TRAIN + "train(100)")
    assert warm_shop.run("train.py", options=("--log-every", "1")).code == 0
    lines = log_of(warm_shop)
    assert [line["step"] for line in lines] == list(range(1, 101))
    assert all(line["loss"] and line["gradient_norm"] is not None for line in lines)


def test_each_child_that_trains_has_a_log_of_its_own(warm_shop: Workshop) -> None:
    body = """
        import multiprocessing
        {train}
        if __name__ == "__main__":
            train(20)
            child = multiprocessing.get_context("fork").Process(target=train, args=(12,))
            child.start()
            child.join()
        """
    warm_shop.write("train.py", body.replace("{train}", TRAIN.replace("\n", "\n        ")))
    assert warm_shop.run("train.py", options=("--log",)).code == 0
    assert sum(line["steps"] for line in log_of(warm_shop)) == 20
    assert sum(line["steps"] for line in log_of(warm_shop, "log-p*.jsonl")) == 12


def test_the_report_says_where_the_time_went(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", LOOP + "main(epochs=4, pause=0.002)")
    done = warm_shop.run("train.py", options=("-v", "--html", "report.html"))
    shares = {part: time["share"] for part, time in done.found["run"]["times"].items()}
    assert max(shares, key=lambda part: shares[part]) == "data"
    assert 0.98 < sum(shares.values()) < 1.02
    assert "Time of a step" in done.stderr and "waiting for data" in done.stderr
    assert "Where the time goes" in (warm_shop.folder / "report.html").read_text()


def test_nothing_is_left_running_after_a_watch(warm_shop: Workshop) -> None:
    body = """
        import signal, threading
        import paramedic
        with paramedic.watch():
            train(30)
        print([t.name for t in threading.enumerate() if t.name.startswith("paramedic")])
        """
    warm_shop.write("train.py", TRAIN + body.replace("\n        ", "\n"))
    done = warm_shop.python("train.py")
    assert done.stdout.splitlines() == ["[]"], done.stderr


# Traces -----------------------------------------------------------------------------------------------------------


def test_a_trace_holds_the_ops_of_the_wanted_steps_and_training_goes_on(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", TRAIN + "print(train(40))")
    plain = warm_shop.python("train.py").stdout
    done = warm_shop.run("train.py", options=("--trace", 3))
    assert done.stdout == plain and done.found["run"]["steps"] == 40
    (path,) = warm_shop.folder.glob(".paramedic/runs/*/trace.json.gz")
    assert f"wrote a trace of steps 12 to 14: {path.relative_to(warm_shop.folder)} " in done.stderr
    events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    names = [event["name"] for event in events]
    assert names.count("aten::cross_entropy_loss") == 3
    assert "aten::linear" in names and "AddmmBackward0" in names


def test_the_scripts_own_profiler_has_precedence(warm_shop: Workshop) -> None:
    body = """
        from torch.profiler import profile, schedule
        with profile(schedule=schedule(wait=14, warmup=1, active=2)) as own:
            model = nn.Linear(4, 3)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for step in range(20):
                loss = model(torch.ones(2, 4)).sum()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                own.step()
        print("aten::linear" in [event.key for event in own.key_averages()])
        """
    warm_shop.write("train.py", TRAIN + body.replace("\n        ", "\n"))
    done = warm_shop.run("train.py", options=("--trace", 3))
    assert done.stdout.splitlines() == ["True"]
    assert "profiler of its own, so there is no trace" in done.stderr
    assert not list(warm_shop.folder.glob(".paramedic/runs/*/trace*"))


def test_a_script_that_ends_early_leaves_no_profiler_on(warm_shop: Workshop) -> None:
    body = """
        import atexit
        atexit.register(lambda: print(torch.autograd._profiler_enabled()))
        train(14)
        raise SystemExit(3)
        """
    warm_shop.write("train.py", TRAIN + body.replace("\n        ", "\n"))
    done = warm_shop.run("train.py", options=("--trace", 50))
    assert done.code == 3 and done.stdout.splitlines() == ["False"]
    assert "wrote a trace" in done.stderr


# TensorBoard ------------------------------------------------------------------------------------------------------


def read_events(folder: Path) -> Any:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder), size_guidance={"scalars": 0, "histograms": 0})
    return events.Reload()


def one_tag(events: Any, start: str) -> str:
    (tag,) = [tag for tag in events.Tags()["scalars"] if tag.startswith(start)]
    return str(tag)


def test_tensorboard_reads_losses_rates_and_statistics(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", LOOP + "main(epochs=3)")
    assert warm_shop.run("train.py", options=("--tensorboard", "board", "--every", 1)).code == 0
    events = read_events(warm_shop.folder / "board")
    losses = events.Scalars(one_tag(events, "loss/train/train.py"))
    assert [point.step for point in losses] == list(range(18)) and losses[-1].value < losses[0].value
    assert [round(point.value, 6) for point in events.Scalars("learning_rate/0")] == [0.4, 0.2, 0.1]
    assert len(events.Scalars(one_tag(events, "loss/eval/train.py"))) == 6
    for role in ("gradient", "weight", "update"):
        assert events.Scalars(f"{role}_norm/model.2.weight")[-1].value > 0
        histogram = events.Histograms(f"{role}_log2/model.2.weight")[-1].histogram_value
        assert sum(histogram.bucket) == histogram.num > 0
        assert histogram.bucket_limit == sorted(histogram.bucket_limit)


def test_event_files_of_a_finished_run(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", TRAIN + "train(12)")
    warm_shop.run("train.py")
    done = warm_shop.paramedic("report", "--tensorboard", "board")
    assert done.code == 0, done.stderr
    events = read_events(warm_shop.folder / "board")
    assert len(events.Scalars(one_tag(events, "loss/train/train.py"))) == 12


def test_without_tensorboard_the_script_is_not_even_started(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", "print('started')")
    program = """
import sys
sys.modules["tensorboard"] = None  # as if it were not installed
sys.argv = ["paramedic", "run", "--tensorboard", "board", "train.py"]
from paramedic.__main__ import main
main()
"""
    done = warm_shop.python("-c", program)
    assert done.code == 2 and "started" not in done.stdout
    assert "pip install 'paramedic[tensorboard]'" in done.stderr
