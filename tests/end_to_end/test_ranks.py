"""Several ranks, one verdict: faults of one of them, waits, slow ones, sharded models, other machines."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from paramedic.diagnosis import diagnose
from paramedic.errors import ParamedicError
from paramedic.findings import Diagnosis
from paramedic.record.facts import (
    Collective,
    Ended,
    Exchange,
    Group,
    Loader,
    Optimizer,
    Sharding,
    Time,
    Waiting,
    Wrapper,
)
from paramedic.record.facts.fact import Fact
from paramedic.record.last_stacks import stood_file
from paramedic.record.merging import merge
from paramedic.record.reader import open_runs
from paramedic.record.samples import NewSample
from paramedic.record.summary import BINS, FIELDS
from paramedic.record.writer import Site, Writer
from paramedic.rules.catalogue import select
from paramedic.rules.ends import failure
from workshop import Workshop

RANKS = """
import os, signal, sys
from datetime import timedelta
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch.multiprocessing.spawn import start_processes
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(8, 32), nn.Linear(32, 3)
    def part(self, x):
        return self.down(F.relu(self.up(x)))
    def forward(self, x):
        return checkpoint(self.part, x, use_reentrant=False) if HOW == "checkpointed" else self.part(x)

def spread(net):
    if HOW == "tensor-parallel":
        plan = {"up": ColwiseParallel(), "down": RowwiseParallel()}
        return parallelize_module(net, init_device_mesh("cpu", (RANKS,)), plan)
    if HOW.startswith("fsdp2"):
        mesh = init_device_mesh("cpu", (RANKS,))
        for part in (net.up, net.down, net):
            fully_shard(part, mesh=mesh)
        return net
    if HOW == "fsdp1":
        return FullyShardedDataParallel(net, device_id=torch.device("cpu"))
    return DistributedDataParallel(net)

def work(rank, meeting):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=meeting, rank=rank, world_size=RANKS, timeout=timedelta(seconds=60))
    torch.manual_seed(0)
    x = torch.randn(256, 8)
    data = TensorDataset(x, x[:, :3].argmax(1))
    sampler = None if HOW in ("tensor-parallel", "fsdp2-same-data") else DistributedSampler(data)
    loader = DataLoader(data, 16, sampler=sampler)
    model = spread(Net())
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    losses = []
    for epoch in range(3 * RANKS // 2):  # 24 steps
        if sampler is not None:
            sampler.set_epoch(epoch)
        for inputs, targets in loader:
            if rank == 1 and len(losses) == 12:
                if HOW == "killed":
                    os.kill(os.getpid(), signal.SIGKILL)
                if HOW == "raised":
                    raise ValueError("a bad shard")
                if HOW == "nan":
                    inputs = inputs * float("nan")
            loss = F.cross_entropy(model(inputs), targets)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            losses.append(loss.item().hex())
    collectives = dist.group.WORLD._get_sequence_number_for_group()
    sys.stdout.write(f"{rank} {collectives} {losses}\\n")
    dist.destroy_process_group()

if __name__ == "__main__":
    HOW, RANKS = sys.argv[2], int(sys.argv[3]) if sys.argv[3:] else 2
    start_processes(work, args=(sys.argv[1],), nprocs=RANKS, start_method="fork")
"""


@pytest.mark.parametrize(
    ("how", "ranks"),
    [("replicated", 2), ("checkpointed", 2), ("fsdp2", 2), ("fsdp1", 2), ("tensor-parallel", 2), ("replicated", 4)],
)
def test_nothing_is_sent_and_no_loss_changes(warm_shop: Workshop, how: str, ranks: int) -> None:
    script = warm_shop.write("ranks.py", RANKS)
    alone = warm_shop.python(script, (warm_shop.folder / "alone").as_uri(), how, ranks)
    watched = warm_shop.run(script, (warm_shop.folder / "watched").as_uri(), how, ranks)
    assert len(alone.stdout.splitlines()) == ranks, alone.stderr
    assert sorted(watched.stdout.splitlines()) == sorted(alone.stdout.splitlines())
    assert watched.alarms == [] and watched.found["verdict"] == "healthy", watched.alarms
    assert watched.found["run"]["notices"] == []


@pytest.mark.parametrize(
    ("how", "ranks", "reason"),
    [
        ("killed", 4, "rank 1 was killed by SIGKILL"),
        ("raised", 2, "rank 1 ended with ValueError at ranks.py:"),
    ],
)
def test_the_rank_that_failed_is_named(warm_shop: Workshop, how: str, ranks: int, reason: str) -> None:
    script = warm_shop.write("ranks.py", RANKS)
    done = warm_shop.run(script.name, (warm_shop.folder / "meeting").as_uri(), how, ranks)
    assert done.code == 1
    assert done.found["verdict"] == "inconclusive" and done.alarms == []
    assert reason in done.found["reason"], done.found["reason"]


def test_nan_in_one_shard_is_told_of_its_rank(warm_shop: Workshop) -> None:
    script = warm_shop.write("ranks.py", RANKS)
    done = warm_shop.run(script, (warm_shop.folder / "meeting").as_uri(), "nan")
    first = done.found["findings"][0]
    assert (first["code"], first["where"]["rank"], first["where"]["step"]) == ("PM105", 1, 12)
    assert "PM103" not in done.codes  # the other rank's gradient is bad because of it


ONE_ROW = """
import sys
import torch
import torch.distributed as dist
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
dist.init_process_group("gloo", init_method=sys.argv[1], rank=0, world_size=1)
x = torch.randn(2000, 6)
model = nn.parallel.DistributedDataParallel(nn.Linear(6, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(100):
    inputs = x[16 * step : 16 * step + 16].clone()
    if step == 90:
        inputs[3] = float("nan")
    guess = model(inputs)
    loss = (guess - inputs.sum(1, keepdim=True)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_a_bad_row_is_named_where_no_step_can_be_run_again(warm_shop: Workshop) -> None:
    script = warm_shop.write("ranks.py", ONE_ROW)
    done = warm_shop.run(script, (warm_shop.folder / "meeting").as_uri())
    first = done.found["findings"][0]
    assert first["code"] == "PM105" and "'inputs' contains 6 NaN values" in first["what"], done.stderr


def test_the_same_data_for_all_parts_of_a_sharded_model(warm_shop: Workshop) -> None:
    script = warm_shop.write("ranks.py", RANKS)
    done = warm_shop.run(script, (warm_shop.folder / "meeting").as_uri(), "fsdp2-same-data")
    assert done.codes[:1] == ["PM802"], done.alarms
    line = next(n for n, text in enumerate(script.read_text().splitlines(), 1) if "loader = DataLoader(" in text)
    assert done.found["findings"][0]["where"]["line"] == line


def test_under_torchrun_there_is_one_run_and_one_verdict(shop: Workshop) -> None:
    shop.write("train.py", HOSTS)
    torchrun = ("-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-port", "29517")
    done = shop.python(*torchrun, "-m", "paramedic", "run", "--json", "out.json", "train.py")
    assert done.codes == ["PM802"], done.stderr
    assert done.stderr.count("Verdict:") == 1
    assert [record.stem for record in shop.records()] == ["main", "rank1"]


# Records written by hand ----------------------------------------------------------------------------------------------


def record(folder: Path, rank: int, facts: Sequence[tuple[Fact, int, int]], *, steps: int = 12, **meta: object) -> None:
    """One rank's record: facts with their lines and steps. Without `seconds` among the meta it was killed."""
    common = {"rank": rank, "world_size": 2, "meeting": "here", "joined": 10.0 + rank, "steps": steps}
    writer = Writer(folder / f"rank{rank}.db", meta=common | meta)
    for fact, line, step in facts:
        writer.state(fact, step=step, phase="train", site=Site("train.py", line, "train"))
    writer.start()
    writer.close()


def launcher(folder: Path, exit_codes: Mapping[str, int]) -> None:
    writer = Writer(folder / "main.db", meta={"exit_code": 1, "seconds": 20.0})
    writer.state(Ended(type="ChildFailedError", message="", exit_codes=exit_codes), step=0, phase="setup")
    writer.start()
    writer.close()


def found(folder: Path, code: str) -> Diagnosis:
    return diagnose(folder, select(chosen=(code,), ignored=()))


def waiting(op: str, line: int, **more: object) -> tuple[Fact, int, int]:
    return Waiting(over=False, op=op, number=1, seconds=5.0, **more), line, 12  # type: ignore[arg-type]


LOST = Ended(type="RuntimeError", message="Timed out waiting 60000ms for recv operation to complete"), 40, 12


def test_ranks_in_different_calls_are_told_with_their_lines(tmp_path: Path) -> None:
    record(tmp_path, 0, [(Collective(op="barrier"), 52, 12), waiting("barrier", 52), LOST], seconds=80.0)
    record(tmp_path, 1, [waiting("backward", 40, stack=["train.py:40 in train: loss.backward()"]), LOST], seconds=80.0)
    launcher(tmp_path, {"0": 1, "1": 1})
    (finding,) = found(tmp_path, "PM807").findings
    assert "rank 0 waits in barrier at train.py:52" in finding.what
    assert "rank 1 waits in backward() at train.py:40" in finding.what
    assert finding.where.line == 52 and "train.py:40 in train" in str(finding.evidence[1].value)


def test_a_rank_that_is_held_up_elsewhere_is_the_place(tmp_path: Path) -> None:
    record(tmp_path, 0, [waiting("backward", 40), LOST], seconds=80.0)
    record(tmp_path, 1, [waiting("", 33)])
    launcher(tmp_path, {"0": 1, "1": -15})
    (finding,) = found(tmp_path, "PM807").findings
    assert (finding.where.line, finding.where.rank) == (33, 1)
    assert "rank 1 is blocked outside" in finding.why


def test_a_rank_that_hangs_until_its_launcher_kills_it_is_not_called_killed(tmp_path: Path) -> None:
    """mp.spawn tells the exit code of the rank that failed first; the others are ended without a word."""
    record(tmp_path, 0, [waiting("backward", 40), LOST], seconds=80.0)
    record(tmp_path, 1, [waiting("", 33)])
    launcher(tmp_path, {})
    diagnosis = found(tmp_path, "PM807")
    (finding,) = diagnosis.findings
    assert (finding.where.line, finding.where.rank) == (33, 1)
    assert "rank 1 hung at train.py:33 until it was killed" in (failure(open_runs(tmp_path)) or "")


STACKS = """Thread 0x00007f16 (most recent call first):
  File "/usr/lib/python3.11/threading.py", line 331 in wait

Current thread 0x00007f17 (most recent call first):
  File "/usr/lib/python3.11/re/__init__.py", line 166 in match
  File "/home/me/read.py", line 33 in parse
  File "/home/me/train.py", line 60 in <module>
"""


@pytest.mark.parametrize(("waited", "codes"), [(40.0, ["PM807"]), (8.0, [])])
def test_a_rank_held_up_in_native_code_is_told_by_the_stack_it_left(
    tmp_path: Path, waited: float, codes: list[str]
) -> None:
    """It can note nothing itself. Where the others have not waited for long, it may just have been at work."""
    record(tmp_path, 0, [waiting("backward", 40)])
    record(tmp_path, 1, [], pid=77)
    left = stood_file(tmp_path, 77)
    left.write_text(STACKS)
    os.utime(left, (time.time() + waited - 5, time.time() + waited - 5))
    launcher(tmp_path, {})
    diagnosis = found(tmp_path, "PM807")
    assert [finding.code for finding in diagnosis.findings] == codes
    if codes:
        assert (diagnosis.findings[0].where.file, diagnosis.findings[0].where.rank) == ("/home/me/read.py", 1)
    assert "rank 1 was ended by SIGTERM at /home/me/read.py:33" in (failure(open_runs(tmp_path)) or "")


def test_tensors_of_different_shapes_in_one_call(tmp_path: Path) -> None:
    error = Ended(type="RuntimeError", message="invalid tensor size"), 52, 12
    for rank, shape in enumerate([(8, 2), (5, 2)]):
        record(tmp_path, rank, [waiting("all_gather", 52, shape=shape), error], seconds=80.0)
    (finding,) = found(tmp_path, "PM807").findings
    assert "(8, 2) on rank 0 and (5, 2) on rank 1" in finding.what


ABORTED = {"0": -6, "1": -15}  # as torchrun tells: gloo aborted rank 0, and rank 1 was ended because of it


def test_an_abort_over_tensors_of_different_shapes(tmp_path: Path) -> None:
    """Gloo ends a process that gets more than it expects; there is no exception that could be read."""
    record(tmp_path, 0, [(Collective(op="all_gather", shape=(4,)), 52, 12)])
    other = (Collective(op="all_gather", shape=(4,)), 52, 6), (Collective(op="all_gather", shape=(5,)), 52, 12)
    record(tmp_path, 1, [*other, waiting("all_gather", 52, shape=(5,))], seconds=80.0)
    launcher(tmp_path, ABORTED)
    (finding,) = found(tmp_path, "PM807").findings
    assert (
        finding.what == "all_gather at train.py:52 got tensors of different shapes: (4,) on rank 0 and (5,) on rank 1"
    )


def batches(count: int) -> tuple[Fact, int, int]:
    known = {"dataset": "Own", "sampler": "RandomSampler", "own_batch_sampler": False, "drop_last": False, "workers": 0}
    return Loader(number=0, iterable=False, size=99, batch_size=8, batches=count, variable="loader", **known), 20, 0  # type: ignore[arg-type]


@pytest.mark.parametrize("count", [18, 12])
def test_an_abort_of_the_rank_whose_data_ended_first(tmp_path: Path, count: int) -> None:
    record(tmp_path, 0, [batches(12), (Collective(op="all_reduce", shape=(2,)), 60, 12)])
    record(tmp_path, 1, [batches(count), waiting("backward", 40)], seconds=80.0)
    launcher(tmp_path, ABORTED)
    (finding,) = found(tmp_path, "PM807").findings
    assert "rank 0 was aborted in all_reduce at train.py:60" in finding.what
    if count == 12:
        assert finding.where.line == 60 and "a condition around train.py:60" in finding.remedy
    else:
        assert finding.where.line == 20 and "12 on rank 0 and 18 on rank 1" in finding.why


COPIES = Wrapper(class_="DistributedDataParallel", find_unused=False, static=False, members=[0, 1])


def copies(folder: Path, rank: int, *, norm: float, mark: float, lr: float = 0.1) -> None:
    """A rank's record of a wrapped model: the norm and the fingerprint of its one weight at two steps."""
    group = Group(
        weight_decay=0.0, momentum=0.0, parameters=["net.w"], types=["float32"], strangers=[], frozen=0, lr=lr
    )
    built = Optimizer(number=0, class_="SGD", torchs_own=True, groups=[group], fresh=True, held=1, in_models=1)
    exchange = Exchange(entered=True, apart=False, ignored=[], name="net")
    writer = Writer(
        folder / f"rank{rank}.db",
        meta={"rank": rank, "world_size": 2, "meeting": "here", "joined": 10.0, "steps": 12, "seconds": 2.0},
    )
    for fact, line in ((COPIES, 30), (exchange, 30), (built, 31)):
        writer.state(fact, step=0, phase="train", site=Site("train.py", line, "train"))
    for step in range(2):
        for role, field, value in (
            ("weight", "norm", norm if step else 1.0),
            ("fingerprint", "mean", mark if step else 0.2),
        ):
            rows = np.zeros((1, len(FIELDS) + BINS))
            rows[0, FIELDS.index("count")] = 1
            rows[0, FIELDS.index(field)] = value
            writer.sample([NewSample(step, role, ("net.w",), rows)], remarkable=False)
    writer.start()
    writer.close()


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"norm": 1.0, "mark": 0.2}, ""),
        ({"norm": 1.0, "mark": -0.2}, "its norm is 1 on both, but the values are others, or in another order"),
        ({"norm": 1.1, "mark": 0.3}, "its norm is 1 and 1.1"),
    ],
)
def test_copies_are_compared_by_what_stands_where(tmp_path: Path, other: dict[str, float], said: str) -> None:
    copies(tmp_path, 0, norm=1.0, mark=0.2)
    copies(tmp_path, 1, **other)
    assert [finding.what.partition(": ")[2] for finding in found(tmp_path, "PM801").findings] == (
        [said] if said else []
    )


def test_a_learning_rate_that_differs_is_named(tmp_path: Path) -> None:
    copies(tmp_path, 0, norm=1.0, mark=0.2)
    copies(tmp_path, 1, norm=1.1, mark=0.3, lr=0.2)
    (finding,) = found(tmp_path, "PM801").findings
    assert finding.where.line == 31 and "learning rate is 0.1 on rank 0 and 0.2 on rank 1" in finding.why


@pytest.mark.parametrize("why", ["it went on", "the other was killed", "the other failed by itself"])
def test_no_mismatch_where_there_is_none(tmp_path: Path, why: str) -> None:
    stuck = [waiting("backward", 40), LOST]
    if why == "it went on":
        record(tmp_path, 0, [waiting("backward", 40), (Waiting(over=True), 40, 13)], seconds=80.0)
        record(tmp_path, 1, [waiting("", 33), (Waiting(over=True), 33, 13)], seconds=80.0)
    elif why == "the other was killed":
        record(tmp_path, 0, stuck, seconds=80.0)
        record(tmp_path, 1, [])
        launcher(tmp_path, {"0": 1, "1": -9})
    else:
        record(tmp_path, 0, stuck, seconds=80.0)
        record(tmp_path, 1, [(Ended(type="ValueError", message="bad"), 33, 12)], seconds=80.0)
        launcher(tmp_path, {"0": 1, "1": 1})
    diagnosis = found(tmp_path, "PM807")
    assert diagnosis.findings == ()
    expected = {"it went on": None, "the other was killed": "rank 1 was killed by SIGKILL"}
    assert expected.get(why, "rank 1 ended with ValueError at train.py:33") in (
        None,
        diagnosis.reason.split(", after")[0],
    )


PARTS = Sharding(name="model", by="tensor", members=[0, 1])


def windows(*slow: float, part: str = "forward", model: Fact = COPIES) -> list[tuple[Fact, int, int]]:
    """Half a second each, of 20 steps that take 25 ms; the others wait in backward."""
    parts = [{part: 20 * each, "backward": 20 * (0.025 - each)} for each in slow]
    times = [(Time(steps=20, seconds=0.5, parts=part, examined=False), 40, 20 * n) for n, part in enumerate(parts)]
    return [(model, 30, 0), *times]


@pytest.mark.parametrize(
    ("slow", "severity"),
    [((0.02, 0.02, 0.02, 0.02), "warning"), ((0.011, 0.01, 0.01, 0.011), "note"), ((0.02, 0.001, 0.02, 0.001), None)],
)
def test_only_a_rank_that_is_always_slower_is_a_straggler(
    tmp_path: Path, slow: tuple[float, ...], severity: str | None
) -> None:
    record(tmp_path, 0, windows(*[0.005] * 4), steps=80, seconds=2.0)
    record(tmp_path, 1, windows(*slow), steps=80, seconds=2.0)
    found_here = found(tmp_path, "PM806").findings
    assert [finding.severity for finding in found_here] == ([severity] if severity else [])
    if severity:
        assert found_here[0].where.rank == 1 and "in the forward pass" in found_here[0].what


@pytest.mark.parametrize(
    ("part", "calls", "codes"),
    [("other", [], ["PM806"]), ("forward", [], []), ("other", [(Collective(op="all_reduce"), 41, 1)], [])],
)
def test_where_the_ranks_of_a_sharded_model_may_wait_nobody_is_blamed(
    tmp_path: Path, part: str, calls: list[tuple[Fact, int, int]], codes: list[str]
) -> None:
    record(tmp_path, 0, [*calls, *windows(*[0.005] * 4, part=part, model=PARTS)], steps=80, seconds=2.0)
    record(tmp_path, 1, windows(*[0.02] * 4, part=part, model=PARTS), steps=80, seconds=2.0)
    assert [finding.code for finding in found(tmp_path, "PM806").findings] == codes


# Other machines -------------------------------------------------------------------------------------------------------


def test_records_of_two_machines_become_one_run(tmp_path: Path) -> None:
    for rank in range(2):
        record(tmp_path / f"host{rank}", rank, [], seconds=2.0)
        launcher(tmp_path / f"host{rank}", {})
    alone = found(tmp_path / "host0", "PM807").run.notices
    assert any("rank 1 of 2 left no record here" in notice for notice in alone)
    assert merge([tmp_path / "host0", tmp_path / "host1"], tmp_path / "both") == [0, 1]
    runs = open_runs(tmp_path / "both")
    assert [run.path.stem for run in runs] == ["main", "main-2", "rank0", "rank1"]
    assert [member.rank for member in runs[-1].ranks] == [0, 1]
    assert sorted(path.name for path in (tmp_path / "host1").glob("*.db")) == ["main.db", "rank1.db"]


@pytest.mark.parametrize(
    ("rank", "meta", "said"),
    [
        (0, {}, "rank 0 is in"),
        (1, {"meeting": "there"}, "are not of one process group"),
        (1, {"world_size": 1}, "joined a process group"),
    ],
)
def test_what_does_not_belong_together_is_not_merged(
    tmp_path: Path, rank: int, meta: dict[str, object], said: str
) -> None:
    record(tmp_path / "a", 0, [])
    record(tmp_path / "b", rank, [], **meta)
    with pytest.raises(ParamedicError, match=said):
        merge([tmp_path / "a", tmp_path / "b"], tmp_path / "both")
    assert not (tmp_path / "both").exists()


HOSTS = """
from datetime import timedelta
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(0)
dist.init_process_group("gloo", timeout=timedelta(seconds=60))
x = torch.randn(256, 6)
loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), 16, shuffle=True)
model = DistributedDataParallel(nn.Linear(6, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(2):
    for inputs, targets in loader:
        loss = (model(inputs) - targets).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
dist.destroy_process_group()
"""


@pytest.fixture
def hosts() -> Iterator[list[tuple[str, str]]]:
    """Two network namespaces with a cable between them, as namespaces and interfaces."""
    if shutil.which("ip") is None or os.geteuid() != 0:
        pytest.skip("needs root and iproute2")
    names = [(f"pm{os.getpid()}{end}", f"v{os.getpid()}{end}") for end in "ab"]
    (one, cable), (other, end) = names
    commands = [
        f"netns add {one}",
        f"netns add {other}",
        f"link add {cable} netns {one} type veth peer {end} netns {other}",
    ]
    for number, (space, device) in enumerate(names, 1):
        commands += [f"-n {space} addr add 10.77.0.{number}/24 dev {device}"]
        commands += [f"-n {space} link set {device} up", f"-n {space} link set lo up"]
    try:
        for command in commands:
            if subprocess.run(["ip", *command.split()], capture_output=True, check=False).returncode:
                pytest.skip(f"this machine does not allow: ip {command}")
        yield names
    finally:
        for space, _ in names:
            subprocess.run(["ip", "netns", "del", space], capture_output=True, check=False)


def test_two_hosts_are_judged_together(shop: Workshop, hosts: list[tuple[str, str]]) -> None:
    shop.write("train.py", HOSTS)
    started = []
    for rank, (space, device) in enumerate(hosts):
        meeting = {"RANK": str(rank), "WORLD_SIZE": "2", "MASTER_ADDR": "10.77.0.1", "MASTER_PORT": "29511"}
        command = ["ip", "netns", "exec", space, sys.executable, "-m", "paramedic", "run", "--runs", f"host{rank}"]
        environment = shop.env | meeting | {"GLOO_SOCKET_IFNAME": device}
        started.append(
            subprocess.Popen([*command, "train.py"], cwd=shop.folder, env=environment, stderr=subprocess.PIPE)
        )
    said = [process.communicate(timeout=120)[1].decode() for process in started]
    assert [process.returncode for process in started] == [0, 0], said
    assert all("left no record here" in text for text in said)
    folders = [next((shop.folder / f"host{rank}").glob("2*")) for rank in range(2)]
    done = shop.paramedic("merge", "--json", "out.json", *folders)
    assert done.code == 1 and done.codes == ["PM802"], done.stderr
