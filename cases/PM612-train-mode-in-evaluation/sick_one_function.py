"""One function serves training and validation, and puts the model into train mode for both."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def make(count: int) -> TensorDataset:
    x = torch.randn(count, 12)
    return TensorDataset(x, (x[:, 0] * x[:, 1] > 0).long())


def run_epoch(model: nn.Module, loader: DataLoader, optimizer: torch.optim.Optimizer | None = None) -> float:
    model.train()  # <- PM612
    correct, count = 0, 0
    with torch.set_grad_enabled(optimizer is not None):
        for x, y in loader:
            logits = model(x)
            if optimizer is not None:
                loss = F.cross_entropy(logits, y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            correct += (logits.argmax(1) == y).sum().item()
            count += len(y)
    return correct / count


torch.set_num_threads(1)
torch.manual_seed(0)
train_loader = DataLoader(make(640), batch_size=32, shuffle=True)
val_loader = DataLoader(make(240), batch_size=48)
model = nn.Sequential(nn.Linear(12, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.3), nn.Linear(64, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(1, 6):
    accuracy = run_epoch(model, train_loader, optimizer)
    print(f"epoch {epoch}: train accuracy {accuracy:.3f}  val accuracy {run_epoch(model, val_loader):.3f}")
