"""A row in a database for every call."""

import sqlite3

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)

database = sqlite3.connect("calls.db", isolation_level=None)
database.execute("PRAGMA journal_mode=DELETE")
database.execute("CREATE TABLE calls (number INTEGER PRIMARY KEY, mean REAL)")


def prepare(x):
    database.execute("INSERT INTO calls (mean) VALUES (?)", (round(x.mean().item(), 5),))
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
print(database.execute("SELECT COUNT(*), SUM(mean) FROM calls").fetchone())
database.close()
