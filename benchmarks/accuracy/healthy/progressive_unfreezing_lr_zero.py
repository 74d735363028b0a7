"""Discriminative fine-tuning as in ULMFiT: three groups, the lower ones wait with a learning rate of zero."""

import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv1d(1, 8, 5, padding=2), nn.ReLU())
        self.block = nn.Sequential(nn.Conv1d(8, 16, 5, padding=2, stride=2), nn.ReLU())
        self.head = nn.Linear(16, 3)

    def forward(self, x):
        return self.head(self.block(self.stem(x)).amax(-1))


def waves(n):
    kind = torch.randint(3, (n,))
    t = torch.linspace(0, 1, 40)
    frequency = torch.tensor([3.0, 6.0, 9.0])[kind]
    x = torch.sin(2 * torch.pi * (frequency[:, None] * t + torch.rand(n, 1))) + 0.3 * torch.randn(n, 40)
    return x.unsqueeze(1), kind


net = Net()
# the "pretrained" part: tell noise from waves
pre = optim.Adam(net.parameters(), lr=3e-3)
for _ in range(60):
    x, _ = waves(32)
    noisy = torch.cat([x, torch.randn(32, 1, 40)])
    target = torch.cat([torch.zeros(32), torch.ones(32)]).long()
    loss = nn.functional.cross_entropy(net(noisy)[:, :2], target)
    pre.zero_grad()
    loss.backward()
    pre.step()
print("pretraining", loss.item())

net.head = nn.Linear(16, 3)
loader = DataLoader(TensorDataset(*waves(960)), batch_size=32, shuffle=True)
optimizer = optim.Adam(
    [
        {"params": net.stem.parameters(), "lr": 0.0},
        {"params": net.block.parameters(), "lr": 0.0},
        {"params": net.head.parameters(), "lr": 5e-3},
    ]
)
unfreeze = {2: (1, 3e-3), 4: (0, 1e-3)}
for epoch in range(6):
    if epoch in unfreeze:
        group, lr = unfreeze[epoch]
        optimizer.param_groups[group]["lr"] = lr
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        x, y = waves(300)
        accuracy = (net(x).argmax(1) == y).float().mean().item()
    print(epoch, [g["lr"] for g in optimizer.param_groups], loss.item(), accuracy)
assert accuracy > 0.8
