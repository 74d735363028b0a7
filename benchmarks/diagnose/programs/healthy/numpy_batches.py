"""Logistic regression on arrays, batches drawn with numpy, the loss written by hand."""

import numpy as np
import torch

np.random.seed(0)
torch.manual_seed(0)
x = np.random.randn(2000, 5).astype(np.float32)
y = (x @ np.array([1.0, -2, 0.5, 0, 1]) + 0.5 * np.random.randn(2000) > 0).astype(np.float32)
layer = torch.nn.Linear(5, 1)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.5)
for step in range(400):
    chosen = np.random.choice(len(x), 50)
    p = torch.sigmoid(layer(torch.from_numpy(x[chosen])).squeeze(1)).clamp(1e-6, 1 - 1e-6)
    target = torch.from_numpy(y[chosen])
    loss = -(target * p.log() + (1 - target) * (1 - p).log()).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 100 == 0:
        print(step, loss.item())
