"""Statistics of a run: the numbers are those of the script's own tensors, whatever the loop looks like."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from paramedic.record.reader import Run
from paramedic.record.samples import FIRST_STEPS, MOST_STEPS, Keep
from paramedic.record.writer import Writer
from workshop import Workshop

HEAD = """
import json, torch
from torch import nn
import torch.nn.functional as F
torch.set_num_threads(1); torch.manual_seed(0)
told = []
def norms(parameters):
    return {name: p.double().norm().item() for name, p in parameters}
"""


def watched(shop: Workshop, script: str, *options: object) -> tuple[Run, list[dict[str, float]]]:
    shop.write("train.py", HEAD + script + '\njson.dump(told, open("told.json", "w"))\n')
    done = shop.run("train.py", options=options)
    assert done.code == 0 and "detached" not in done.stderr, done.stderr
    (record,) = shop.records()
    return Run(record), json.loads((shop.folder / "told.json").read_text())


def norms(run: Run, role: str) -> list[dict[str, float]]:
    """Per sampled step; samples of several optimizers at one step are one."""
    found: dict[int, dict[str, float]] = {}
    for sample in run.samples(role):
        found.setdefault(sample.step, {}).update({name: s.norm for name, s in sample.summaries.items()})
    return [found[step] for step in sorted(found)]


def assert_same(found: list[dict[str, float]], told: list[dict[str, float]], tolerance: float = 1e-5) -> None:
    assert len(found) == len(told)
    for one, other in zip(found, told, strict=True):
        assert one.keys() == other.keys()
        assert all(math.isclose(one[name], other[name], rel_tol=tolerance) for name in one)


def test_gradients_weights_and_updates_are_those_of_the_script(warm_shop: Workshop) -> None:
    run, told = watched(
        warm_shop,
        """
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(30):
    x = torch.randn(32, 8)
    opt.zero_grad(); F.mse_loss(net(x), x[:, :1]).backward()
    told.append(norms((f"net.{n}", p.grad) for n, p in net.named_parameters()))
    opt.step()
""",
        "--every",
        1,
    )
    assert_same(norms(run, "gradient"), told)
    moves = [{name: 0.05 * norm for name, norm in step.items()} for step in told]
    assert_same(norms(run, "update"), moves, tolerance=1e-3)  # what really changed: rounded to the weights' digits
    assert {"net.0", "net.1", "net.2"} <= set(run.samples("output")[-1].summaries)
    total = [math.sqrt(sum(norm**2 for norm in step.values())) for step in told]
    series = [value for _, value in run.series("gradient_norm")]
    assert all(math.isclose(a, b, rel_tol=1e-5) for a, b in zip(series, total, strict=True))


def test_accumulation_two_optimizers_sparse_gradients_and_a_loss_scale(warm_shop: Workshop) -> None:
    run, told = watched(
        warm_shop,
        """
words, head = nn.Embedding(50, 8, sparse=True), nn.Linear(8, 3)
opts = [torch.optim.SparseAdam(words.parameters(), lr=0.01), torch.optim.SGD(head.parameters(), lr=0.1)]
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
for step in range(12):
    for micro in range(3):
        ids = torch.randint(0, 50, (16, 4))
        loss = F.cross_entropy(head(words(ids).mean(1)), ids[:, 0] % 3)
        (scaler.scale(loss) / 3).backward()
    scaler.unscale_(opts[1])
    told.append(norms((f"head.{n}", p.grad) for n, p in head.named_parameters()))
    opts[0].step()  # gradients of SparseAdam are not unscaled here: it does not mind
    scaler.step(opts[1]); scaler.update()
    for opt in opts: opt.zero_grad()
""",
        "--every",
        1,
    )
    found = norms(run, "gradient")
    assert_same([{n: v for n, v in step.items() if n.startswith("head")} for step in found], told)
    assert all("words.weight" in step for step in found)


def test_compiled_models_are_watched_by_gradients_weights_and_updates(shop: Workshop) -> None:
    script = """
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
fast = torch.compile(net, backend="aot_eager")
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(20):
    x = torch.randn(32, 8)
    opt.zero_grad(); loss = F.mse_loss(fast(x), x[:, :1]); loss.backward(); opt.step()
    told.append(loss.item())
assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1
assert not torch._dynamo.utils.counters["graph_break"]
"""
    run, told = watched(shop, script, "--every", 2)
    assert len(run.samples("gradient")) == len(run.samples("update")) >= 9 and run.samples("output") == []
    shop.write("alone.py", HEAD + script + "\nprint(told == json.load(open('told.json')))\n")
    assert shop.python("alone.py").stdout.strip() == "True"
    assert len(told) == 20


def test_outputs_inside_compiled_graphs_on_request(shop: Workshop) -> None:
    """They are those of the uncompiled model, the graph does not break, and the losses stay as they are."""
    script = """
net = nn.Sequential(nn.Linear(8, 16), nn.Sequential(nn.Linear(16, 4), nn.Tanh()), nn.Linear(4, 1))
fast = torch.compile(net, backend="aot_eager", fullgraph=True)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(12):
    x = torch.randn(32, 8)
    with torch.no_grad():
        h = F.linear(x, net[0].weight, net[0].bias); c = torch.tanh(F.linear(h, net[1][0].weight, net[1][0].bias))
    told.append({"fast.0": h.double().norm().item(), "fast.1.1": c.double().norm().item()})
    opt.zero_grad(); loss = F.mse_loss(fast(x), x[:, :1]); loss.backward(); opt.step()
    net.eval(); fast(x + 100); net.train()
assert not torch._dynamo.utils.counters["graph_break"]
print(loss.item())
"""
    run, told = watched(shop, script, "--every", 1, "--compiled-outputs")
    found = norms(run, "output")
    assert {"fast.0", "fast.1.0", "fast.1.1", "fast.2"} <= found[0].keys()
    assert_same([{name: step[name] for name in told[0]} for step in found], told)
    shop.write("alone.py", HEAD + script)
    assert shop.python("alone.py").stdout == shop.run("train.py", options=("-q", "--compiled-outputs")).stdout


def test_budget_zero_means_no_statistics_and_the_report_says_what_was_looked_at(warm_shop: Workshop) -> None:
    script = """
net = nn.Linear(4, 1); opt = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(400):
    x = torch.randn(8, 4); opt.zero_grad(); F.mse_loss(net(x), x[:, :1]).backward(); opt.step()
"""
    run, _ = watched(warm_shop, script, "--budget", "0")
    assert not any(run.samples(role) for role in ("gradient", "weight", "update", "output"))
    done = warm_shop.run("train.py", options=("-v",))
    coverage = done.found["run"]["coverage"]
    assert 0 < coverage["sampled"] < 400 and coverage["examined"] < coverage["watched"] < 400
    assert f"Looked at {coverage['watched']:,} of 400 steps" in done.stderr


@pytest.mark.parametrize("budget", ["150%", "-1", "much"])
def test_a_budget_that_makes_no_sense_is_explained(warm_shop: Workshop, budget: str) -> None:
    warm_shop.write("train.py", "import torch")
    done = warm_shop.paramedic("run", f"--budget={budget}", "train.py")
    assert done.code == 2 and "--budget 2%" in done.stderr


def test_a_spike_is_kept_when_a_long_run_is_thinned() -> None:
    keep, kept = Keep(), set()
    for step in range(100_000):
        kept.add(step)
        kept -= set(keep.add(step, remarkable=step == 4321))
    assert len(kept) <= MOST_STEPS + 1 and {4321, 99_999, *range(FIRST_STEPS)} <= kept


def test_a_million_steps_make_a_small_record(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "run" / "main.db", meta={})
    writer.start()
    for step in range(1_000_000):
        writer.point("loss:train.py:1", step, 1 / (step + 1))
    writer.close()
    points = Run(writer.path).series("loss:train.py:1")
    assert points[0] == (0, 1.0) and points[-1][0] >= 990_000 and len(points) < 50_000
    assert sum(file.stat().st_size for file in (tmp_path / "run").iterdir()) < 5_000_000
