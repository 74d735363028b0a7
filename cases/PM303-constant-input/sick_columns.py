"""Loan applications: the words in the file carry blanks, so comparisons with them are never true."""

import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(0)
torch.manual_seed(0)
torch.set_num_threads(1)
count = 900
income = rng.normal(3.0, 1.0, count)
home = np.where(rng.random(count) < 0.5, " own", " rent")
job = np.where(rng.random(count) < 0.6, " fixed", " none")
past = np.where(rng.random(count) < 0.3, " late", " good")
granted = income + 2 * (home == " own") + 2 * (job == " fixed") - 3 * (past == " late") + rng.normal(0, 0.5, count) > 4

features = np.stack([income - 3.0, home == "own", job == "fixed", past == "late"], axis=1)  # <- PM303
x, y = torch.tensor(features, dtype=torch.float32), torch.tensor(granted.astype(np.float32))
model = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(8):
    for rows in torch.randperm(700).split(25):
        loss = nn.functional.binary_cross_entropy_with_logits(model(x[rows]).squeeze(1), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        right = ((model(x[700:]).squeeze(1) > 0) == (y[700:] > 0.5)).float().mean()
    print(f"epoch {epoch}: loss {loss.item():.3f}  accuracy {right:.3f}")
