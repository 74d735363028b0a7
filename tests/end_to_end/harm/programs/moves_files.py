"""Folders and files that the model makes, renames and removes."""

import os
import tempfile

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


def prepare(x):
    number = len(os.listdir("kept")) if os.path.isdir("kept") else 0
    os.makedirs("kept", exist_ok=True)
    with open("new.tmp", "w") as file:
        file.write(str(number))
    os.replace("new.tmp", f"kept/{number:03d}")
    torch.save(x.detach(), "last.pt")
    with tempfile.NamedTemporaryFile(dir=".") as file:
        file.write(b"gone")
    return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(8, 16), nn.Linear(16, 3)

    def forward(self, x):
        return self.last(F.relu(self.first(prepare(x))))


model = Net()

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(30):
    x = torch.randn(16, 8)
    y = x[:, :3].argmax(1)
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
print(len(os.listdir("kept")))
os.remove("last.pt")
