"""Learned hash codes: encoder -> binary code -> classifier."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
centres = torch.randn(8, 30)
y = torch.randint(0, 8, (800,))
x = centres[y] + torch.randn(800, 30)


class Hash(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(30, 48), nn.ReLU(), nn.Linear(48, 16))
        self.classifier = nn.Linear(16, 8)

    def forward(self, inp):
        h = torch.tanh(self.encoder(inp))
        code = h + (torch.sign(h) - h).detach()
        return self.classifier(code)


net = Hash()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
train = DataLoader(TensorDataset(x[:640], y[:640]), batch_size=32, shuffle=True)
val = DataLoader(TensorDataset(x[640:], y[640:]), batch_size=40)
for epoch in range(8):
    net.train()
    for a, b in train:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(a), b)
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        acc = sum((net(a).argmax(1) == b).sum().item() for a, b in val) / 160
    print(epoch, loss.item(), acc)
