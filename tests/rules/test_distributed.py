"""Rules on distributed training: variants of the cases, several to a process because each process imports torch."""

from __future__ import annotations

import json
import random
from pathlib import Path

from paramedic.record.reader import open_runs
from paramedic.record.thinning import MOST_KEPT, shared, thinned
from paramedic.record.writer import Writer
from workshop import Workshop

ORDERS = """
import json
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, DistributedSampler, Sampler, TensorDataset
import paramedic

torch.set_num_threads(1)
torch.manual_seed(0)
x = torch.randn(64, 4)
data = TensorDataset(x, x.sum(1, keepdim=True))

class OwnSampler(Sampler):
    def __init__(self, seed=0):
        self.seed, self.epoch = seed, 0
    def set_epoch(self, epoch):
        self.epoch = epoch
    def __len__(self):
        return 64
    def __iter__(self):
        return iter(torch.randperm(64, generator=torch.Generator().manual_seed(self.seed + self.epoch)).tolist())

def train(sampler, epochs=3, before=lambda sampler, epoch: None, batch=8, dry=0, repeat=1):
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    with paramedic.watch() as watch:
        loader = DataLoader(data, batch, sampler=sampler)
        for _ in range(dry):
            sum(y.sum() for _, y in loader)
        for epoch in range(epochs):
            before(sampler, epoch)
            for _ in range(repeat):
                for inputs, targets in loader:
                    loss = (model(inputs) - targets).square().mean()
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
    return [finding.code for finding in watch.stop(show=False).alarms]

def half(**options):
    return DistributedSampler(data, num_replicas=2, rank=0, **options)

def by_hand(sampler, epoch):
    sampler.epoch = epoch

def reseeded(sampler, epoch):
    sampler.seed = epoch

found = {
    "never told": train(half()),
    "told": train(half(), before=lambda sampler, epoch: sampler.set_epoch(epoch)),
    "always told the same": train(half(), before=lambda sampler, epoch: sampler.set_epoch(0)),
    "by hand": train(half(), before=by_hand),
    "another seed": train(half(), before=reseeded),
    "not shuffled": train(half(shuffle=False)),
    "one epoch": train(half(), epochs=1),
    "one epoch after a look at the data": train(half(), epochs=1, dry=1),
    "twice in each epoch": train(half(), epochs=1, repeat=2, before=lambda sampler, epoch: sampler.set_epoch(epoch)),
    "all samples in one batch": train(half(), batch=32),
    "own sampler, never told": train(OwnSampler()),
    "own sampler, told": train(OwnSampler(), before=lambda sampler, epoch: sampler.set_epoch(epoch)),
}
print(json.dumps(found))
"""


def test_only_a_training_in_the_same_order_is_reported(shop: Workshop) -> None:
    shop.write("orders.py", ORDERS)
    done = shop.python("orders.py")
    found = json.loads(done.stdout or "{}")
    assert found, done.stderr
    sick = {"never told", "always told the same", "own sampler, never told"}
    assert {name: codes for name, codes in found.items() if codes} == {name: ["PM803"] for name in sick}


REDUCTIONS = """
import json
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
import paramedic

torch.set_num_threads(1)
dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
x = torch.randn(16, 4)

class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.second = nn.Linear(4, 4)
    def forward(self, x, both=True):
        return self.first(x), self.second(x) if both else None

def train(freeze=False, frozen=False, both=lambda step: True, uses=lambda out: out[0] + out[1], **options):
    with paramedic.watch() as watch:
        model = Two()
        model.second.requires_grad_(not frozen)
        model = DistributedDataParallel(model, **options)
        if freeze:
            model.module.second.requires_grad_(False)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
        failed = False
        for step in range(8):
            try:
                loss = uses(model(x, both(step))).square().mean()
            except RuntimeError:
                failed = True
                break
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    found = watch.stop(show=False).findings
    return failed, [(f.code, f.what, f.why) for f in found if f.code == "PM804"]

only_first = lambda out: out[0]
print(json.dumps({
    "all used": train(),
    "not in the loss": train(uses=only_first),
    "not called": train(both=lambda step: False, uses=only_first),
    "left out once": train(both=lambda step: step < 5, uses=lambda out: out[0] if out[1] is None else sum(out)),
    "frozen late": train(freeze=True, uses=only_first),
    "frozen before": train(frozen=True, uses=only_first),
    "looked for": train(both=lambda step: False, uses=only_first, find_unused_parameters=True),
    "always the same": train(both=lambda step: False, uses=only_first, static_graph=True),
}))
"""


def test_what_a_reduction_waits_for_is_named(warm_shop: Workshop) -> None:
    warm_shop.write("reductions.py", REDUCTIONS)
    done = warm_shop.python("reductions.py")
    found = json.loads(done.stdout or "{}")
    assert found, done.stderr
    reasons = {
        "not in the loss": "no path leads",
        "not called": "model.second (Linear) is never called",
        "left out once": "used in earlier steps",
        "frozen late": "turned off after the model was wrapped",
    }
    for name, (failed, findings) in found.items():
        assert failed == bool(findings) == (name in reasons), name
        for _, what, why in findings:
            assert "model.second.weight and model.second.bias" in what and reasons[name] in why, (name, what, why)


def test_a_part_of_a_large_set_tells_what_is_shared() -> None:
    draw = random.Random(0)
    numbers = draw.sample(range(10**9), 60_000)
    some, others = thinned(numbers[:40_000]), thinned(numbers[30_000:])
    count, of = shared(some, others)
    assert len(some.kept) == MOST_KEPT and of > 1000
    assert abs(count / of - 0.25) < 0.05
    assert shared(thinned(range(10)), thinned(range(5, 1000))) == (5, 10)


def test_process_groups_of_one_run_are_told_apart(tmp_path: Path) -> None:
    jobs = [("a0", 0, 10.0), ("a1", 1, 10.1), ("b1", 1, 20.0), ("b0", 0, 20.1)]
    for name, rank, joined in jobs:
        meta = {"rank": rank, "world_size": 2, "meeting": "127.0.0.1:29500", "joined": joined}
        writer = Writer(tmp_path / f"{name}.db", meta=meta)
        writer.start()
        writer.close()
    alone = Writer(tmp_path / "main.db", meta={"rank": 0, "world_size": 1})
    alone.start()
    alone.close()
    teams = {run.path.stem: [member.path.stem for member in run.ranks] for run in open_runs(tmp_path)}
    assert teams == {
        "main": ["main"], "a0": ["a0", "a1"], "a1": ["a0", "a1"], "b0": ["b0", "b1"], "b1": ["b0", "b1"]
    }  # fmt: skip


RANKS = """
import sys
from datetime import timedelta
import torch
import torch.distributed as dist
from torch import nn
from torch.multiprocessing.spawn import start_processes
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset

def work(rank, meeting, shared_model):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=meeting, rank=rank, world_size=2, timeout=timedelta(seconds=60))
    x = torch.randn(120, 5, generator=torch.Generator().manual_seed(0))
    order = torch.randperm(120, generator=torch.Generator().manual_seed(rank))
    train, held_out = x[order[:90]], x[order[90:]]
    model = nn.Linear(5, 1)
    if shared_model:
        model = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(TensorDataset(train, train.sum(1, keepdim=True)), 30, shuffle=True)
    val_loader = DataLoader(TensorDataset(held_out, held_out.sum(1, keepdim=True)), 30)
    for epoch in range(4):
        for inputs, targets in loader:
            loss = (model(inputs) - targets).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            [(model(inputs) - targets).square().mean() for inputs, targets in val_loader]
    dist.destroy_process_group()

if __name__ == "__main__":
    start_processes(work, args=(sys.argv[1], sys.argv[2] == "shared"), nprocs=2, start_method="fork")
"""


def test_arrays_split_by_hand_are_compared_by_content(warm_shop: Workshop) -> None:
    script = warm_shop.write("ranks.py", RANKS)
    meeting = (warm_shop.folder / "meeting").as_uri()
    done = warm_shop.run(script, meeting, "shared")
    (finding,) = [finding for finding in done.found["findings"] if finding["severity"] != "note"]
    assert finding["code"] == "PM808" and "(by content)" in finding["what"]
    assert "val_loader = " in script.read_text().splitlines()[finding["where"]["line"] - 1]


def test_ranks_with_models_of_their_own_may_split_as_they_like(warm_shop: Workshop) -> None:
    script = warm_shop.write("ranks.py", RANKS)
    done = warm_shop.run(script, (warm_shop.folder / "meeting").as_uri(), "own")
    assert done.alarms == [] and done.found["verdict"] == "healthy"
