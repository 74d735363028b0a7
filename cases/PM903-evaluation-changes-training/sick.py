"""A denoising autoencoder whose evaluation draws its noise from the global stream."""

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
train, held_out = DataLoader(TensorDataset(x[:1400]), batch_size=64, shuffle=True), x[1400:]
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
        error = F.mse_loss(model(held_out), held_out)  # <- PM903
    print(f"epoch {epoch}: train {loss.item():.4f}, held out {error.item():.4f}")
