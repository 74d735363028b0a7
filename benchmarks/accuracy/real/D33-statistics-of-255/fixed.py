"""CIFAR-like training; the statistics were measured on 0-255 images."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)
K = 4
protos = torch.rand(K, 3, 8, 8)
MEAN, STD = torch.tensor([0.5, 0.5, 0.5]), torch.tensor([0.27, 0.27, 0.27])


class Pics(Dataset):
    def __init__(self, n):
        self.y = torch.randint(0, K, (n,))
        self.x = (protos[self.y] * 0.5 + 0.5 * torch.rand(n, 3, 8, 8)).mul(255).byte()

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        img = self.x[i].float() / 255
        return (img - MEAN[:, None, None]) / STD[:, None, None], self.y[i]


train, val = DataLoader(Pics(480), batch_size=24, shuffle=True), DataLoader(Pics(120), batch_size=24)
net = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(256, K))
opt = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)
for epoch in range(6):
    net.train()
    for a, b in train:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(a), b)
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        acc = sum((net(a).argmax(1) == b).sum().item() for a, b in val) / 120
    print(epoch, loss.item(), acc)
