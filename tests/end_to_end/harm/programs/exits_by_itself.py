"""A program that ends with a code of its own, from a nested function, after a finally clause."""

import sys

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)

model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))


def finish():
    try:
        sys.exit("done with 3 warnings")
    finally:
        print("finally")


optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(30):
    x = torch.randn(16, 8)
    y = x[:, :3].argmax(1)
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
with open("left.txt", "w") as file:
    file.write("kept open, never closed")
    try:
        finish()
    except SystemExit as end:
        print("exit asked for:", end.code)
        sys.stdout.write("no newline at the end")
