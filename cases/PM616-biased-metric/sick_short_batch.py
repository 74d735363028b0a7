"""Is an exam passed? The accuracy on the validation set is averaged over its batches."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(2)
torch.set_num_threads(1)


def exams(easy: int, hard: int) -> TensorDataset:
    """Hard ones come last: marks of another scale, where low is good."""
    x = torch.randn(easy + hard, 10)
    passed = (x[:, :5].sum(1) > 0).long()
    x[easy:] *= -1
    return TensorDataset(x, passed)


train, valid = DataLoader(exams(1200, 0), batch_size=60, shuffle=True), DataLoader(exams(256, 8), batch_size=256)
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(6):
    model.train()
    for x, y in train:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    model.eval()
    accuracy = 0.0
    with torch.no_grad():
        for x, y in valid:
            accuracy += (model(x).argmax(1) == y).float().mean().item()  # <- PM616
    print(f"epoch {epoch}  loss {loss.item():.3f}  valid accuracy {accuracy / len(valid):.3f}")
