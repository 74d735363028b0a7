"""torch.compile: the same numbers, and as many graphs and breaks as without anybody watching."""

import shutil

import torch
from fingerprint import bits, finish
from torch import nn
from torch._dynamo.utils import counters

torch.manual_seed(0)
backend = "inductor" if shutil.which("g++") else "aot_eager"
model = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Dropout(0.1), nn.Linear(16, 3))
compiled = torch.compile(model, backend=backend)


optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _step in range(25):
    x = torch.randn(16, 8)
    loss = nn.functional.cross_entropy(compiled(x), x[:, :3].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    bits(loss)
print("graphs", counters["stats"]["unique_graphs"], "breaks", sum(counters["graph_break"].values()))
print("recompiles", sum(counters["recompiles"].values()), sorted(counters["unimplemented"]))
finish(model)
