"""Land-cover segmentation: pixel accuracy on the validation set."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
C, S = 6, 12
y = torch.randint(0, C, (360, S // 4, S // 4)).repeat_interleave(4, 1).repeat_interleave(4, 2)
palette = torch.randn(C, 3)
x = palette[y].permute(0, 3, 1, 2) + 0.4 * torch.randn(360, 3, S, S)
train = DataLoader(TensorDataset(x[:300], y[:300]), batch_size=20, shuffle=True)
val = DataLoader(TensorDataset(x[300:], y[300:]), batch_size=6)
net = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, C, 1))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
ce = nn.CrossEntropyLoss()
for epoch in range(5):
    net.train()
    for a, b in train:
        opt.zero_grad()
        loss = ce(net(a), b)
        loss.backward()
        opt.step()
    net.eval()
    right = total = 0
    with torch.no_grad():
        for a, b in val:
            pred = torch.argmax(net(a), dim=0)  # <- PM616
            right += (pred == b).sum().item()
            total += b.numel()
    print(f"epoch {epoch} loss {loss.item():.3f} pixel accuracy {right / total:.3f}")
