"""Predict the next values of coupled sine waves with an LSTM."""

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(0)


def make_series(n: int, length: int = 30) -> TensorDataset:
    frequency = torch.empty(n, 2, 1).uniform_(0.2, 0.6)
    phase = 6.28 * torch.rand(n, 2, 1)
    waves = torch.sin(frequency * torch.arange(length + 1) + phase)
    coupled = torch.stack([waves[:, 0] + 0.5 * waves[:, 1], waves[:, 1] - 0.5 * waves[:, 0]], dim=-1)
    coupled = coupled + 0.05 * torch.randn_like(coupled)
    return TensorDataset(coupled[:, :-1], coupled[:, 1:])


class Forecaster(nn.Module):
    def __init__(self, hidden: int = 32):
        super().__init__()
        self.lstm = nn.LSTM(2, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 2)

    def forward(self, series: Tensor) -> Tensor:
        features, _ = self.lstm(series)
        return self.out(features)


train_loader = DataLoader(make_series(800), batch_size=20, shuffle=True)
val_loader = DataLoader(make_series(100), batch_size=100)
model = Forecaster()
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

losses = []
for epoch in range(1, 6):
    model.train()
    for series, target in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(series), target)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss)  # <- PM703

    model.eval()
    with torch.no_grad():
        val_loss = sum(criterion(model(series), target).item() for series, target in val_loader) / len(val_loader)
    recent = losses[-len(train_loader) :]
    print(f"epoch {epoch}  train mse {sum(recent) / len(recent):.4f}  val mse {val_loss:.4f}")
