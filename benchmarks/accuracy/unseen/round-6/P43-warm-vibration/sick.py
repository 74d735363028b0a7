import os
import tempfile

import torch
import torch.nn as nn
import torch.nn.functional as F


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv1d(1, 16, 9, stride=2)
        self.conv2 = nn.Conv1d(16, 32, 7, stride=2)
        self.conv3 = nn.Conv1d(32, 32, 5, stride=2)

    def forward(self, x):
        for c in (self.conv1, self.conv2, self.conv3):
            x = F.relu(c(x))
        return x.mean(-1)


class MachineNet(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.backbone = Backbone()
        self.fc = nn.Linear(32, n_classes)

    def forward(self, x):
        return self.fc(self.backbone(x))


def signals(n, classes, seed, noise=1.3):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, classes, (n,), generator=g)
    t = torch.linspace(0, 1, 96)
    freq = 4 + 3 * y.float()
    phase = 6.28 * torch.rand(n, 1, generator=g)
    x = torch.sin(6.28 * freq[:, None] * t + phase) + noise * torch.randn(n, 96, generator=g)
    return x.unsqueeze(1), y


def fit(model, x, y, epochs, lr):
    opt = torch.optim.Adam(model.parameters(), lr=lr)
    for _ in range(epochs):
        model.train()
        for b in torch.randperm(len(y)).split(32):
            loss = F.cross_entropy(model(x[b]), y[b])
            opt.zero_grad()
            loss.backward()
            opt.step()
    return loss.item()


def load_pretrained(model, path):
    saved = torch.load(path)
    own = model.state_dict()
    usable = {k: v for k, v in saved.items() if k in own and v.shape == own[k].shape}  # <- PM409
    own.update(usable)
    model.load_state_dict(own)
    return model


if __name__ == "__main__":
    torch.manual_seed(2)
    torch.set_num_threads(1)
    path = os.path.join(tempfile.mkdtemp(), "machines.pt")
    source = nn.DataParallel(MachineNet(8))
    print(f"source task loss {fit(source, *signals(2400, 8, 1), epochs=12, lr=2e-3):.3f}")
    torch.save(source.state_dict(), path)

    model = load_pretrained(MachineNet(5), path)
    x, y = signals(60, 5, 3)
    xt, yt = signals(600, 5, 4)
    for stage in range(4):
        loss = fit(model, x, y, epochs=4, lr=1e-3)
        model.eval()
        with torch.no_grad():
            acc = (model(xt).argmax(1) == yt).float().mean()
        print(f"stage {stage + 1}: loss {loss:.3f}, test accuracy {acc:.3f}")
