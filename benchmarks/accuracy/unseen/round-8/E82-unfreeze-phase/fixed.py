"""Two-phase transfer: linear probe first, then the whole network."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def make_task(n, seed, angle):
    """Points on four noisy spirals, lifted to 20 dimensions; `angle` twists the task."""
    g = torch.Generator().manual_seed(seed)
    label = torch.randint(4, (n,), generator=g)
    r = 0.3 + 2.2 * torch.rand(n, generator=g)
    theta = label * 1.5708 + r * angle + 0.10 * torch.randn(n, generator=g)
    plane = torch.stack([r * theta.cos(), r * theta.sin()], dim=1)
    lift = torch.randn(2, 20, generator=torch.Generator().manual_seed(99))
    x = plane @ lift
    return TensorDataset(x / 1.4, label)


class Backbone(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(20, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(),
            nn.Linear(width, 16), nn.ReLU())

    def forward(self, x):
        return self.layers(x)


class Transfer:
    def __init__(self, backbone, classes=4):
        self.backbone = backbone
        self.head = nn.Linear(16, classes)
        self.model = nn.Sequential(self.backbone, self.head)
        self.optimizer = None

    def freeze(self, flag):
        for p in self.backbone.parameters():
            p.requires_grad = not flag

    def build_optimizer(self, lr):
        params = [p for p in self.model.parameters() if p.requires_grad]
        self.optimizer = torch.optim.Adam(params, lr=lr)

    def epoch(self, loader):
        self.model.train()
        total = 0.0
        for x, y in loader:
            loss = F.cross_entropy(self.model(x), y)
            self.model.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        return total / len(loader)

    def score(self, loader):
        self.model.eval()
        with torch.no_grad():
            hits = sum((self.model(x).argmax(1) == y).sum().item() for x, y in loader)
        return hits / len(loader.dataset)


def main():
    torch.manual_seed(6)
    source = DataLoader(make_task(2000, 1, angle=0.6), batch_size=64, shuffle=True)
    target = DataLoader(make_task(1600, 2, angle=2.2), batch_size=64, shuffle=True)
    val = DataLoader(make_task(600, 3, angle=2.2), batch_size=200)

    backbone = Backbone()
    pre = Transfer(backbone)
    pre.build_optimizer(2e-3)
    for _ in range(8):
        loss = pre.epoch(source)
    print(f"pretraining loss {loss:.4f}")

    job = Transfer(backbone)
    job.freeze(True)
    job.build_optimizer(3e-3)
    for epoch in range(8):
        loss = job.epoch(target)
        print(f"probe    {epoch:2d} loss {loss:.4f} val acc {job.score(val):.3f}")

    job.freeze(False)
    job.build_optimizer(2e-3)
    for epoch in range(25):
        loss = job.epoch(target)
        if epoch % 4 == 0:
            print(f"finetune {epoch:2d} loss {loss:.4f} val acc {job.score(val):.3f}")


if __name__ == "__main__":
    main()
