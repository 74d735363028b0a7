"""The same denoiser; its evaluation has random numbers of its own, and validation batches come from a loader."""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Denoiser(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 64), nn.Sigmoid())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.net(x + 0.3 * torch.randn_like(x))


torch.manual_seed(0)
x = torch.tensor(load_digits().data, dtype=torch.float32) / 16
train = DataLoader(TensorDataset(x[:1400]), batch_size=64, shuffle=True)
held_out = DataLoader(TensorDataset(x[1400:]), batch_size=200)
model = Denoiser()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(5):
    model.train()
    for (batch,) in train:
        loss = F.mse_loss(model(batch), batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        with torch.random.fork_rng():
            torch.manual_seed(1)
            errors = [F.mse_loss(model(batch), batch) for (batch,) in held_out]
    print(f"epoch {epoch}: train {loss.item():.4f}, held out {torch.stack(errors).mean():.4f}")
