"""Linear probe: a pretrained backbone with BatchNorm stays frozen, a new classifier is trained on other data."""
import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.cnn = nn.Sequential(
            nn.Linear(12, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Linear(48, 32), nn.BatchNorm1d(32), nn.ReLU()
        )

    def forward(self, x):
        return self.cnn(x)


def upstream_pretraining(backbone, steps=80):
    head = nn.Linear(32, 4)
    opt = optim.Adam([*backbone.parameters(), *head.parameters()], lr=3e-3)
    centers = torch.randn(4, 12)
    backbone.train()
    for _ in range(steps):
        y = torch.randint(4, (64,))
        loss = nn.functional.cross_entropy(head(backbone(centers[y] + 0.5 * torch.randn(64, 12))), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    return backbone


class LinearProbe(nn.Module):
    def __init__(self, backbone, n_classes):
        super().__init__()
        self.backbone = backbone
        self.fc = nn.Linear(32, n_classes)

    def forward(self, x):
        return self.fc(self.backbone(x))


def downstream(n=1000):
    centers = torch.randn(6, 12)
    y = torch.randint(6, (n,))
    return TensorDataset(3 * (centers[y] + 0.4 * torch.randn(n, 12)) + 2, y)


def main():
    torch.manual_seed(0)
    model = LinearProbe(upstream_pretraining(Backbone()), n_classes=6)
    for param in model.backbone.parameters():
        param.requires_grad = False
    loader = DataLoader(downstream(), batch_size=50, shuffle=True)
    optimizer = optim.SGD(model.fc.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(5):
        model.train()
        model.backbone.eval()
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(loader):.4f} mean of running means {model.backbone.cnn[1].running_mean.mean():.3f}")


main()
