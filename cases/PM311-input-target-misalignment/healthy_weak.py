"""Four classes of customers from twenty answers of a survey that say little about them: little can be learnt, rightly."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
latent = torch.randn(4000, 5)
answers = latent @ torch.randn(5, 20) + 0.5 * torch.randn(4000, 20)
scores = 0.35 * latent[:, :4] + torch.randn(4000, 4)
segment = scores.argmax(1)
train = DataLoader(TensorDataset(answers[:3000], segment[:3000]), batch_size=64, shuffle=True)
held_out = DataLoader(TensorDataset(answers[3000:], segment[3000:]), batch_size=250)
model = nn.Sequential(nn.Linear(20, 16), nn.ReLU(), nn.Linear(16, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()
for epoch in range(6):
    model.train()
    for x, y in train:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        right = sum((model(x).argmax(1) == y).sum().item() for x, y in held_out)
    print(f"epoch {epoch}: loss {loss.item():.3f}, accuracy {right / 1000:.3f}")
