"""A curriculum from short to long, buckets shuffled inside; features with NaN as the marker of a missing value."""

import random

import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)
torch.manual_seed(0)
random.seed(0)


# --- curriculum: fewer, as many, or more ones than zeros, length grows with the stage --------------------------------------------------------
class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.out = nn.GRU(1, 32, batch_first=True), nn.Linear(32, 3)

    def forward(self, bits):
        _, h = self.rnn(bits.float().unsqueeze(2))
        return self.out(h[-1])


model = Counter()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for stage, length in enumerate((2, 4, 6, 8)):
    pool = torch.randint(2, (640, length))
    target = (2 * pool.sum(1) - length).sign() + 1
    buckets = list(torch.arange(640).split(32))
    for epoch in range(2):
        random.shuffle(buckets)
        for rows in buckets:
            rows = rows[torch.randperm(len(rows))]
            loss = F.cross_entropy(model(pool[rows]), target[rows])
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_value_(model.parameters(), 0.5)
            optimizer.step()
    with torch.no_grad():
        accuracy = (model(pool).argmax(1) == target).float().mean().item()
    print(f"stage {stage} length {length} loss {loss.item()!r} accuracy {accuracy:.4f}")
assert accuracy > 0.6


# --- missing values ----------------------------------------------------------------------------------------------------------
class Imputer(nn.Module):
    """Learns a stand-in for each missing feature, and tells the net what was missing."""

    def __init__(self, features):
        super().__init__()
        self.standin = nn.Parameter(torch.zeros(features))
        self.net = nn.Sequential(nn.Linear(2 * features, 48), nn.ReLU(), nn.Linear(48, 2))

    def forward(self, x):
        missing = torch.isnan(x)
        x = torch.where(missing, self.standin, torch.nan_to_num(x))
        return self.net(torch.cat([x, missing.float()], dim=1))


def table(n):
    x = torch.randn(n, 6)
    y = torch.stack([x[:, 0] + x[:, 1], x[:, 2] - x[:, 3]], 1)
    x[torch.rand(n, 6) < 0.15] = float("nan")
    y[torch.rand(n, 2) < 0.2] = float("nan")
    return x, y


model = Imputer(6)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(200):
    x, y = table(64)
    prediction = model(x)
    known = ~torch.isnan(y)
    loss = F.mse_loss(prediction[known], y[known])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        print("imputer", step, loss.item())
assert loss < 1.3
