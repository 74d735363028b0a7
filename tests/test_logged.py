"""`paramedic.log` and the startup function."""

from __future__ import annotations

import json

import pytest

from paramedic.record.reader import open_runs
from workshop import Workshop

SCRIPT = """
import torch
from torch import nn
import paramedic

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(4, 8), nn.Linear(8, 1)
    def forward(self, x):
        h = self.first(x).relu()
        paramedic.log("hidden", h)
        return self.last(h)

torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(12):
    x = torch.randn(16, 4)
    loss = (net(x).squeeze(1) - x[:, 0]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    paramedic.log("loss twice", 2 * loss)
    paramedic.log("step", step)
    for bad in ("words", torch.empty(0), None):
        paramedic.log("bad", bad)
compiled = torch.compile(net, backend="eager", fullgraph=True)  # a break in the graph would raise
compiled(torch.ones(2, 4))
print(loss.item())
"""


def test_values_are_recorded_and_training_is_the_same(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", SCRIPT)
    watched, plain = warm_shop.run("train.py", options=("--tensorboard", "board")), warm_shop.python("train.py")
    assert watched.code == plain.code == 0, watched.stderr + plain.stderr
    assert watched.stdout == plain.stdout, "and where nothing watches it does nothing"
    (run,) = open_runs(warm_shop.records()[0].parent)
    losses = run.series(next(name for name in run.series_names if name.startswith("loss:")))
    assert [2 * value for _, value in losses] == pytest.approx([value for _, value in run.series("log:loss twice")])
    assert [value for _, value in run.series("log:step")] == list(range(12))
    low, high = (dict(run.series(f"log:hidden/{which}")) for which in ("min", "max"))
    assert set(low.values()) == {0.0} and min(high.values()) > 0
    assert watched.stderr.count("log('bad')") == 1 and "expected a number or a tensor" in watched.stderr
    lines = [json.loads(line) for line in (run.path.parent / "log.jsonl").read_text().splitlines()]
    assert lines[-1]["logged"]["step"] == 11.0
    assert list((warm_shop.folder / "board").iterdir())


HOOK = """
def begin(run):
    import paramedic
    print(run.script, run.folder.parent.name)
    paramedic.log("before", 1)

def fails(run):
    raise KeyError("key")
"""


def test_the_startup_function_is_called_before_the_script(warm_shop: Workshop) -> None:
    warm_shop.write("hooks.py", HOOK)
    warm_shop.write("paramedic.toml", 'startup = "hooks:begin"\n')
    warm_shop.write("train.py", "print('script')\n")
    assert warm_shop.paramedic("run", "train.py").stdout.splitlines() == ["train.py runs", "script"]


@pytest.mark.parametrize("hook", ["nowhere:begin", "hooks:nothing", "hooks:fails", "hooks", ":x"])
def test_a_startup_function_that_cannot_be_called_stops_the_run_before_it_begins(
    warm_shop: Workshop, hook: str
) -> None:
    warm_shop.write("hooks.py", HOOK)
    warm_shop.write("paramedic.toml", f'startup = "{hook}"\n')
    warm_shop.write("train.py", "print('script')\n")
    done = warm_shop.paramedic("run", "train.py")
    assert done.code == 2 and done.stdout == "" and "try " in done.stderr, done.stderr
    assert warm_shop.records() == []
