"""A program that changes its folder, its mask, its limits and its environment."""

import os
import resource

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)

os.makedirs("inner/deeper", exist_ok=True)
os.umask(0o077)
os.chdir("inner")
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
os.environ.clear()
os.environ["HOME"] = "/nowhere"
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(30):
    x = torch.randn(16, 8)
    y = x[:, :3].argmax(1)
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
    if step == 10:
        os.chdir("deeper")
        with open("state.txt", "w") as file:
            file.write(str(loss.item()))
    if step == 20:
        os.chdir("..")
        os.rename("deeper", "renamed")
print(
    oct(os.stat("renamed/state.txt").st_mode),
    sorted(os.environ),
    sorted(os.listdir(".")),
    resource.getrlimit(resource.RLIMIT_NOFILE),
)
