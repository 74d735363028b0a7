"""Self-supervised pretraining (denoising) on unlabelled signals, then a small classifier on top of the frozen encoder."""
import os
import tempfile

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

T, DIM = 64, 10


def signals(n, seed):
    """Bursts of a class frequency with random phase, amplitude and drift."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 5, n)
    t = np.arange(T) / T
    freq = (2 + 1.0 * y)[:, None] + rng.normal(0, 0.1, (n, 1))
    x = rng.uniform(0.8, 1.2, (n, 1)) * np.sin(2 * np.pi * (freq * t + rng.random((n, 1)) * 0.25))
    x += rng.normal(0, 0.3, (n, 1)) * t + rng.normal(0, 0.1, (n, T))
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y)


def make_encoder():
    return nn.Sequential(nn.Linear(T, 96), nn.ReLU(), nn.Linear(96, DIM))


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = make_encoder()
        self.decoder = nn.Sequential(nn.ReLU(), nn.Linear(DIM, 96), nn.ReLU(), nn.Linear(96, T))

    def forward(self, x):
        return self.decoder(self.encoder(x))


class Probe(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = make_encoder()
        self.classifier = nn.Sequential(nn.ReLU(), nn.Linear(DIM, 5))

    def load_pretrained(self, path):
        state = torch.load(path)["state_dict"]
        state = {k.removeprefix("model."): v for k, v in state.items()}
        self.load_state_dict(state, strict=False)
        for p in self.encoder.parameters():
            p.requires_grad = False

    def forward(self, x):
        return self.classifier(self.encoder(x))


def pretrain(path, x, epochs=12):
    model = Denoiser()
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    loader = DataLoader(TensorDataset(x), batch_size=64, shuffle=True)
    for epoch in range(epochs):
        model.train()
        total = n = 0
        for (clean,) in loader:
            noisy = clean + 0.3 * torch.randn_like(clean)
            loss = nn.functional.mse_loss(model(noisy), clean)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(clean)
            n += len(clean)
        print(f"pretrain {epoch:2d} mse {total / n:.4f}")
    torch.save({"epoch": epochs, "state_dict": {f"model.{k}": v for k, v in model.state_dict().items()}}, path)


def probe(path, train, val, epochs=20):
    model = Probe()
    model.load_pretrained(path)
    opt = torch.optim.Adam(model.classifier.parameters(), lr=1e-2)
    loader = DataLoader(TensorDataset(*train), batch_size=32, shuffle=True)
    for epoch in range(epochs):
        model.train()
        total = n = 0
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(y)
            n += len(y)
        model.eval()
        with torch.no_grad():
            acc = (model(val[0]).argmax(1) == val[1]).float().mean().item()
        print(f"probe {epoch:2d} loss {total / n:.4f} val acc {acc:.3f}")


def main():
    torch.manual_seed(6)
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, "denoiser.ckpt")
        pretrain(path, signals(3000, 1)[0])
        probe(path, signals(400, 2), signals(500, 3))


if __name__ == "__main__":
    main()
