"""Classes of readings, with a second loader of unlabelled ones whose loss counts only from the third epoch on."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(0)
mix = torch.randn(10, 4)


def readings(count: int) -> TensorDataset:
    x = torch.randn(count, 10)
    return TensorDataset(x, (x @ mix + 0.5 * torch.randn(count, 4)).argmax(1))


train_loader = DataLoader(readings(640), batch_size=32, shuffle=True)
unlabelled_loader = DataLoader(readings(320), batch_size=32)
model = nn.Sequential(nn.Linear(10, 64, bias=False), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.3), nn.Linear(64, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(6):
    for (x, y), (u, _) in zip(train_loader, unlabelled_loader):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        surprise = torch.distributions.Categorical(logits=model(u)).entropy().mean()  # watched from the start
        sure = (model(u).argmax(1) == model(u).argmax(1)).float().mean()
        (loss + (0.1 * surprise if epoch >= 2 else 0.0)).backward()
        optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.3f}  entropy {surprise.item():.3f}  agreement {sure.item():.3f}")
