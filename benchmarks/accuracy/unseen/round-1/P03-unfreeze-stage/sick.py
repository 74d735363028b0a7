import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
torch.set_num_threads(1)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 16), nn.ReLU())

    def forward(self, x):
        return self.net(x)


class TwoStage:
    def __init__(self):
        self.encoder = Encoder()
        self.head = nn.Linear(16, 2)
        for p in self.encoder.parameters():
            p.requires_grad = False
        params = list(self.encoder.parameters()) + list(self.head.parameters())
        self.optimizer = torch.optim.Adam(filter(lambda p: p.requires_grad, params), lr=4e-3)  # <- PM402

    def unfreeze(self):
        for p in self.encoder.parameters():
            p.requires_grad = True
        self.optimizer.param_groups[0]["lr"] = 2e-3

    def fit(self, loader, epochs, name):
        for e in range(epochs):
            for x, y in loader:
                loss = nn.functional.cross_entropy(self.head(self.encoder(x)), y)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
        print(name, "train loss", round(loss.item(), 4))

    @torch.no_grad()
    def accuracy(self, x, y):
        return (self.head(self.encoder(x)).argmax(1) == y).float().mean().item()


def parity(n):
    x = torch.randn(n, 16)
    return x, ((x[:, 0] * x[:, 1] > 0) ^ (x[:, 2] > 0.3)).long()


xt, yt = parity(2500)
xv, yv = parity(600)
loader = DataLoader(TensorDataset(xt, yt), batch_size=50, shuffle=True)
run = TwoStage()
run.fit(loader, 2, "stage 1")
print("val acc after stage 1: %.3f" % run.accuracy(xv, yv))
run.unfreeze()
run.fit(loader, 14, "stage 2")
print("val acc after stage 2: %.3f" % run.accuracy(xv, yv))
