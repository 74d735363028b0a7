"""Self-supervised start (predict masked pixels), then a classifier on top of the frozen encoder."""
import io

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset


class Encoder(nn.Module):
    def __init__(self, width=128, out=12):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(64, width), nn.Linear(width, out)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))


class Inpainter(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.decoder = nn.Sequential(nn.Linear(12, 128), nn.ReLU(), nn.Linear(128, 64))

    def forward(self, x):
        return self.decoder(self.encoder(x))


class Probe(nn.Module):
    def __init__(self, encoder, classes=10):
        super().__init__()
        self.encoder = encoder
        self.norm = nn.BatchNorm1d(12)
        self.fc = nn.Linear(12, classes)

    def forward(self, x):
        with torch.no_grad():
            h = self.encoder(x)
        return self.fc(self.norm(h))


def pretrain(x, epochs=40):
    net = Inpainter()
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    loader = DataLoader(TensorDataset(x), batch_size=64, shuffle=True)
    for epoch in range(epochs):
        net.train()
        tot = 0.0
        for (xb,) in loader:
            hidden = torch.rand_like(xb) < 0.4
            loss = F.mse_loss(net(xb.masked_fill(hidden, 0.0))[hidden], xb[hidden])
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot += loss.item()
        if epoch % 10 == 9:
            print(f"pretrain epoch {epoch + 1} loss {tot / len(loader):.4f}")
    blob = io.BytesIO()
    torch.save({"state_dict": net.state_dict(), "epoch": epochs}, blob)
    blob.seek(0)
    return blob


def load_encoder(blob):
    ckpt = torch.load(blob, weights_only=True)
    state = {k[len("encoder."):]: v for k, v in ckpt["state_dict"].items() if k.startswith("encoder.")}
    encoder = Encoder()
    encoder.load_state_dict(state)
    print("encoder restored from epoch", ckpt["epoch"])
    return encoder.requires_grad_(False)


@torch.no_grad()
def accuracy(net, loader):
    net.eval()
    return sum((net(x).argmax(1) == y).sum().item() for x, y in loader) / len(loader.dataset)


def main():
    torch.manual_seed(6)
    x, y = load_digits(return_X_y=True)
    xt, xv, yt, yv = train_test_split(x / 16.0, y, test_size=0.3, stratify=y, random_state=6)
    xt, xv = torch.tensor(xt, dtype=torch.float32), torch.tensor(xv, dtype=torch.float32)
    yt, yv = torch.tensor(yt), torch.tensor(yv)
    encoder = load_encoder(pretrain(xt))
    few = torch.randperm(len(yt))[:200]
    train = DataLoader(TensorDataset(xt[few], yt[few]), batch_size=20, shuffle=True)
    valid = DataLoader(TensorDataset(xv, yv), batch_size=512)
    net = Probe(encoder)
    opt = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=5e-3)
    for epoch in range(30):
        net.train()
        tot = 0.0
        for xb, yb in train:
            opt.zero_grad()
            loss = F.cross_entropy(net(xb), yb)
            loss.backward()
            opt.step()
            tot += loss.item()
        if epoch % 5 == 4:
            print(f"probe epoch {epoch + 1} loss {tot / len(train):.4f} valid acc {accuracy(net, valid):.4f}")


if __name__ == "__main__":
    main()
