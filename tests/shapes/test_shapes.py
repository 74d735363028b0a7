"""The table of shapes, comments in the source, and the command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import torch
from torch import nn

from paramedic.shapes.annotating import annotate
from paramedic.shapes.printing import render
from paramedic.shapes.table import measure
from workshop import Workshop

MODEL = '''
import torch
from torch import nn
import torch.nn.functional as F


class Net(nn.Module):
    """Formatting of all kinds."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 8)
        self.blocks = nn.ModuleList([nn.Linear(8, 8), nn.Linear(8, 16), nn.Linear(16,4)])

    def forward(self, ids):
        x = self.embed(ids)   # a look-up
        for block in self.blocks:
            x = block(x).relu()
        flat = x.reshape(-1,
                         4)
        pooled, most = x.mean(1), x.amax(1)  # (wrong, 99), (wrong, 99)
        count = ids.shape[1]
        return pooled + most + 0 * flat.sum() * count
'''
TRAIN = (
    MODEL
    + """

if __name__ == "__main__":
    torch.manual_seed(0)
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(3):
        ids = torch.randint(0, 20, (6, 5))
        out = net(ids)
        loss = F.cross_entropy(out, ids[:, 0] % 4)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("trained")
"""
)


def test_dimensions_get_names_by_being_varied() -> None:
    model = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.ReLU(), nn.Flatten(2))
    table = measure(model, ((torch.randn(2, 3, 16, 32),), {}))
    rows = {row.path: row for row in table.rows}
    assert rows["0"].inputs == "(batch, 3, height, width)"
    assert rows["0"].outputs == "(batch, 8, height/2, width/2)"
    assert rows["2"].outputs == "(batch, 8, height·width/4)"
    assert table.parameters == 8 * 3 * 9 + 8
    assert table.flops == 2 * 2 * 8 * 8 * 16 * 27, "two for each multiplication and its addition"
    assert "here: batch = 2, height = 16, width = 32" in render(table)


def test_the_table_fits_a_narrow_terminal() -> None:
    model = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.BatchNorm2d(8), nn.ReLU())
    table = measure(model, ((torch.randn(2, 3, 16, 32),), {}))
    narrow = render(table, 80)
    assert max(map(len, narrow.splitlines())) <= 80 < max(map(len, render(table).splitlines()))
    assert "(batch, 8, height/2, width/2)" in narrow and "not shown in this width: in, dtype" in narrow


def test_flops_of_recurrent_layers_and_calls() -> None:
    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.rnn, self.head, self.spare = nn.GRU(4, 6, batch_first=True), nn.Linear(6, 6), nn.Linear(6, 6)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.head(self.head(self.rnn(x)[0]))

    table = measure(Twice(), ((torch.randn(2, 5, 4),), {}))
    rows = {row.path: row for row in table.rows}
    assert rows["rnn"].flops == 2 * 10 * 3 * 6 * (4 + 6) and table.flops == rows["rnn"].flops + 2 * 2 * 10 * 36
    assert rows["head"].calls == 2 and rows["spare"].calls == 0 and "(not called)" in render(table)
    assert rows["rnn"].outputs.startswith("(batch, seq, 6)")


def test_annotating_changes_comments_only_and_only_once() -> None:
    source = "x = f(x)\ny = g( x )  # why\nz = 1 # (a, 2)\n"
    lines = {1: "# (batch, 3)", 2: "# (batch,)", 3: "# (batch, 4) or (batch, 5)"}
    once = annotate(source, lines)
    assert once == "x = f(x)  # (batch, 3)\ny = g( x )  # why  # (batch,)\nz = 1 # (batch, 4) or (batch, 5)\n"
    assert annotate(once, lines) == once


def test_the_command_on_a_script(warm_shop: Workshop) -> None:
    script = warm_shop.write("train.py", TRAIN)
    table = warm_shop.paramedic("shapes", "train.py")
    assert table.code == 0 and "(batch, seq, 8)" in table.stdout and "Embedding" in table.stdout, table.stderr
    assert "trained" not in table.stdout

    before = script.read_text()
    assert warm_shop.paramedic("shapes", "--check", "train.py").code == 1
    diff = warm_shop.paramedic("shapes", "--diff", "train.py").stdout
    assert "+        x = self.embed(ids)   # a look-up  # (batch, seq, 8)" in diff and script.read_text() == before

    assert warm_shop.paramedic("shapes", "--annotate", "train.py").code == 0
    after = script.read_text()
    assert "x = block(x).relu()  # (batch, seq, 8) or (batch, seq, 16) or (batch, seq, 4)" in after
    assert "                         4)  # (batch·seq, 4)" in after
    assert "pooled, most = x.mean(1), x.amax(1)  # (batch, 4), (batch, 4)" in after and "nn.Linear(16,4)" in after
    assert "out = net(ids)\n" in after, "the loop only on request"
    assert warm_shop.paramedic("shapes", "--check", "train.py").code == 0
    assert warm_shop.paramedic("shapes", "--annotate", "--loop", "train.py").code == 0
    assert "out = net(ids)  # (batch, 4)\n" in script.read_text()


def test_a_class_without_data_and_live(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", TRAIN)
    table = warm_shop.paramedic("shapes", "train.py:Net", "--input", "2,7:int")
    assert table.code == 0 and "(batch, seq, 8)" in table.stdout and "here: batch = 2, seq = 7" in table.stdout
    assert warm_shop.paramedic("shapes", "train.py:Net").code == 2
    live = warm_shop.paramedic("shapes", "--live", "blocks.1", "train.py")
    assert live.code == 0 and "trained" in live.stdout
    assert "step 2  blocks.1 Linear  (6, 5, 8) → (6, 5, 16)" in live.stderr and "blocks.0" not in live.stderr


def test_without_libcst_the_extra_is_named(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['libcst'] = None\n"
        "from paramedic.shapes.annotating import annotate\n"
        "from paramedic.errors import ParamedicError\n"
        "try: annotate('x = 1', {1: '# (2,)'})\n"
        "except ParamedicError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert "paramedic[shapes]" in done.stdout
