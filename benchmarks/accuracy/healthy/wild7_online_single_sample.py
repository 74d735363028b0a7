"""Strictly online learning: one sample per step in time order, no shuffling, prequential evaluation."""
import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(0)
rng = np.random.default_rng(0)
T = 3000
w = rng.normal(0, 1, (4, 3))
x = np.zeros((T, 4), np.float32)
for t in range(1, T):
    x[t] = 0.9 * x[t - 1] + 0.4 * rng.normal(0, 1, 4)
y = (x @ w + 0.3 * np.tanh(x @ w[:, ::-1])).argmax(1)

model = nn.Sequential(nn.Linear(4, 32), nn.GroupNorm(4, 32), nn.SiLU(), nn.Linear(32, 3))
opt = torch.optim.SGD(model.parameters(), lr=0.02)
loss_fn = nn.CrossEntropyLoss()
X, Y = torch.from_numpy(x), torch.from_numpy(y)

window = []
for t in range(T):
    logits = model(X[t:t + 1])
    window.append(int(logits.argmax(1).item() == Y[t].item()))
    loss = loss_fn(logits, Y[t:t + 1])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if (t + 1) % 500 == 0:
        print(f"t {t + 1} loss {loss.item():.4f} accuracy over the last 500 {np.mean(window[-500:]):.3f}")
