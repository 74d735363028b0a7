"""Head first, then the whole net with a smaller rate."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(800, 16)
y = (x[:, :4].sum(1) + x[:, 4] * x[:, 5] > 0).long()
body = nn.Sequential(nn.Linear(16, 48), nn.ReLU())
head = nn.Linear(48, 2)
train = DataLoader(TensorDataset(x[:640], y[:640]), batch_size=32, shuffle=True)
val = DataLoader(TensorDataset(x[640:], y[640:]), batch_size=40)
for p in body.parameters():
    p.requires_grad = False
optimizer = torch.optim.SGD(head.parameters(), lr=0.1, momentum=0.9)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
for epoch in range(10):
    if epoch == 2:
        for p in body.parameters():
            p.requires_grad = True
        optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.05, momentum=0.9)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
    body.train()
    for a, b in train:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(head(body(a)), b)
        loss.backward()
        optimizer.step()
    scheduler.step()
    body.eval()
    with torch.no_grad():
        acc = sum((head(body(a)).argmax(1) == b).sum().item() for a, b in val) / 160
    print(epoch, loss.item(), acc, optimizer.param_groups[0]["lr"])
