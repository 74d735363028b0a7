"""Memory: what is polled, what is kept from step to step, and what a failed allocation is told to have met."""

from __future__ import annotations

import json
import sqlite3
import textwrap
from collections.abc import Iterable
from pathlib import Path

import pytest

from workshop import Workshop

SETUP = """
import copy, torch
from collections import deque
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(0)
truth = torch.randn(8, 3)

def batch(n=32):
    x = torch.randn(n, 8)
    return x, (x @ truth).argmax(1)

def net():
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))

def update(model, optimizer):
    x, y = batch()
    out = model(x)
    loss = F.cross_entropy(out, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return out, loss

model = net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
"""

KEEPING = {
    "a total that begins anew each epoch": """
        def epoch():
            total = 0
            for _ in range(14):
                _, loss = update(model, optimizer)
                total += loss  # <-
            return total / 14
        for _ in range(3):
            print(epoch().item())
        """,
    "a meter": """
        class Meter:
            def __init__(self):
                self.sum, self.count = 0.0, 0
            def update(self, value, n):
                self.sum += value * n  # <-
                self.count += n
                self.average = self.sum / self.count
        meter = Meter()
        for _ in range(30):
            meter.update(update(model, optimizer)[1], 32)
        """,
    "a list of a class": """
        class Trainer:
            history = []
            def step(self):
                out, loss = update(model, optimizer)
                self.history.append({"loss": loss, "size": len(out)})  # <-
        trainer = Trainer()
        for _ in range(30):
            trainer.step()
        """,
    "a moving average": """
        average = 0.0
        for _ in range(30):
            out, loss = update(model, optimizer)
            average = 0.9 * average + 0.1 * loss  # <-
        """,
    "a hook": """
        def watch(module):
            seen = []
            def hook(module, inputs, output):
                seen.append(output)  # <-
            module.register_forward_hook(hook)
        watch(model[0])
        for _ in range(30):
            update(model, optimizer)
        """,
    "a validation with gradients": """
        scores = {"val": []}
        for step in range(50):
            update(model, optimizer)
            if step % 2:
                x, y = batch()
                scores["val"].append(F.cross_entropy(model(x), y))  # <-
        """,
}

LETTING_GO = {
    "micro-batches summed for one backward pass": """
        for _ in range(30):
            losses, total = [], 0
            for _ in range(5):
                x, y = batch()
                losses.append(F.cross_entropy(model(x), y))
                total = total + losses[-1]
            optimizer.zero_grad()
            (total / 5).backward()
            optimizer.step()
        """,
    "episodes that get longer": """
        log_probs, rewards = [], []
        for episode in range(30):
            for _ in range(4 + episode):
                choice = torch.distributions.Categorical(logits=model(torch.randn(8)))
                action = choice.sample()
                log_probs.append(choice.log_prob(action))
                rewards.append(float(action == 1))
            loss = -(torch.stack(log_probs) * torch.tensor(rewards)).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            del log_probs[:], rewards[:]
        """,
    "tasks of a meta-learner, with inner steps": """
        for _ in range(5):
            losses, learners = [], []
            for _ in range(8):
                learner = copy.deepcopy(model)
                inner = torch.optim.SGD(learner.parameters(), lr=0.1)
                update(learner, inner)
                x, y = batch()
                losses.append(F.cross_entropy(learner(x), y))
                learners.append(learner)
            torch.stack(losses).mean().backward()
            optimizer.zero_grad()
            for learner in learners:
                for p, q in zip(model.parameters(), learner.parameters()):
                    p.grad = q.grad.clone() if p.grad is None else p.grad + q.grad
            optimizer.step()
        """,
    "the last ones and detached ones": """
        recent, window, history, best = deque(maxlen=10), [], [], None
        for _ in range(40):
            out, loss = update(model, optimizer)
            recent.append(loss)
            window.append(loss)
            if len(window) > 12:
                window.pop(0)
            history.append(out.detach())
            best = loss if best is None or loss < best else best
        """,
}


def script(shop: Workshop, body: str) -> Path:
    return shop.write("train.py", SETUP.lstrip("\n") + textwrap.dedent(body))


@pytest.mark.parametrize("body", KEEPING.values(), ids=KEEPING)
def test_a_kept_graph_is_found_at_the_line_that_stores_it(warm_shop: Workshop, body: str) -> None:
    path = script(warm_shop, body)
    first = warm_shop.run(path).found["findings"][0]
    stored = [n for n, line in enumerate(path.read_text().splitlines(), 1) if "# <-" in line]
    assert (first["code"], first["where"]["line"]) == ("PM703", stored[0])


@pytest.mark.parametrize("body", LETTING_GO.values(), ids=LETTING_GO)
def test_graphs_that_are_still_needed_or_let_go_are_no_alarm(warm_shop: Workshop, body: str) -> None:
    done = warm_shop.run(script(warm_shop, body))
    assert not [alarm for alarm in done.alarms if alarm.startswith("PM7")]
    assert "PM703" in done.found["rules"]["clear"]


def test_looking_keeps_nothing_alive(warm_shop: Workshop) -> None:
    """Python objects die when they would have died without us, looked at or not."""
    path = script(
        warm_shop,
        """
        import weakref
        kept, counts = [], []
        for _ in range(20):
            out, loss = update(model, optimizer)
            kept.append(weakref.ref(out))
            del out, loss
            counts.append(sum(reference() is not None for reference in kept))
        print(counts)
        """,
    )
    assert warm_shop.run(path).stdout == f"{[0] * 20}\n"


def test_workers_and_children_have_a_series_each(warm_shop: Workshop) -> None:
    path = script(
        warm_shop,
        """
        import subprocess, sys, time
        from torch.utils.data import DataLoader, Dataset
        class Waves(Dataset):
            def __len__(self):
                return 256
            def __getitem__(self, index):
                time.sleep(0.02)
                return batch(1)[0][0], index % 3
        child = subprocess.Popen([sys.executable, "-c", "x = b'x' * 80_000_000; import time; time.sleep(8)"])
        for x, y in DataLoader(Waves(), batch_size=8, num_workers=2):
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        child.kill()
        """,
    )
    done = warm_shop.run(path)
    assert done.code == 0
    found = series(warm_shop)
    assert {"memory:rss:main", "memory:private:main", "memory:rss:worker 0", "memory:rss:worker 1"} <= set(found)
    assert all(10_000_000 < value < 10_000_000_000 for value in found["memory:rss:worker 1"])
    assert max(max(values) for name, values in found.items() if ":rss:child" in name) > 80_000_000
    assert any(line.startswith("worker 0: at most") for line in done.found["run"]["memory"])
    assert done.found["run"]["memory"][0].startswith("main process: at most")


def test_a_forked_child_that_trains_is_polled_itself(warm_shop: Workshop) -> None:
    path = script(
        warm_shop,
        """
        import multiprocessing, time
        def train():
            for _ in range(10):
                update(model, optimizer)
                time.sleep(0.05)
        if __name__ == "__main__":
            train()
            child = multiprocessing.get_context("fork").Process(target=train)
            child.start()
            child.join()
        """,
    )
    assert warm_shop.run(path).code == 0
    assert len(warm_shop.records()) == 2
    for record in warm_shop.records():
        assert "memory:rss:main" in series(warm_shop, record)


@pytest.mark.parametrize(
    "line", ["torch.zeros(10**15)", "__import__('numpy').zeros((10**8, 10**6))", "bytearray(10**17)"]
)
def test_an_absurd_allocation_is_explained(warm_shop: Workshop, line: str) -> None:
    path = script(warm_shop, f"for _ in range(3):\n    update(model, optimizer)\nhuge = {line}  # <-\n")
    done = warm_shop.run(path)
    first = done.found["findings"][0]
    assert done.code == 1
    assert (first["code"], first["where"]["line"]) == ("PM704", len(path.read_text().splitlines()))
    assert "optimizer state" in first["why"]


def test_out_of_memory_names_a_batch_that_fits(shop: Workshop) -> None:
    """The advice is followed: the suggested batch size runs where the given one failed."""
    text = """
        import resource, sys
        size = int(sys.argv[1])
        wide = nn.Sequential(nn.Linear(8, 20_000), nn.Tanh(), nn.Linear(20_000, 3))
        optimizer = torch.optim.SGD(wide.parameters(), lr=0.1)
        pages = int(open("/proc/self/statm").read().split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + 300_000_000,) * 2)
        for _ in range(3):
            x, y = batch(size)
            loss = F.cross_entropy(wide(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        """
    path = script(shop, text)
    shop.env["MALLOC_ARENA_MAX"] = "1"  # the limit is on addresses, of which every thread reserves a lot
    failed = shop.run(path, 4000)
    assert failed.code == 1
    advice = failed.found["findings"][0]["try"]
    fitting = int(advice.split("a batch of ")[1].split()[0])
    assert 1 <= fitting < 4000
    assert shop.run(path, fitting).code == 0


def test_a_worker_killed_by_the_kernel_is_explained(warm_shop: Workshop) -> None:
    path = script(
        warm_shop,
        """
        import os, signal, time
        from torch.utils.data import DataLoader, Dataset
        class Waves(Dataset):
            def __len__(self):
                return 640
            def __getitem__(self, index):
                if index == 400:
                    time.sleep(2)  # until everything before has been fetched
                    os.kill(os.getpid(), signal.SIGKILL)
                return batch(1)[0][0], index % 3
        for x, y in DataLoader(Waves(), batch_size=8, num_workers=1):
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        """,
    )
    done = warm_shop.run(path)
    assert done.code == 1
    assert done.codes[0] == "PM704"
    assert "a DataLoader worker was killed" in done.found["findings"][0]["what"]


def series(shop: Workshop, record: Path | None = None) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    rows: Iterable[tuple[str, str]] = sqlite3.connect(record or shop.records()[0]).execute(
        "SELECT series, value FROM points"
    )
    for name, value in rows:
        found.setdefault(name, []).append(float(json.loads(value)))
    return found
