"""Transfer learning: frozen convolutional backbone whose BatchNorm stays in eval mode, new head, partial state dict."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.conv2, self.bn2 = nn.Conv2d(8, 16, 3, padding=1, stride=2), nn.BatchNorm2d(16)

    def forward(self, x):
        x = torch.relu(self.bn1(self.conv1(x)))
        return torch.relu(self.bn2(self.conv2(x))).mean((2, 3))


class Net(nn.Module):
    def __init__(self, classes, frozen=False):
        super().__init__()
        self.backbone = Backbone()
        self.fc = nn.Linear(16, classes)
        self.frozen = frozen
        if frozen:
            for parameter in self.backbone.parameters():
                parameter.requires_grad = False

    def train(self, mode=True):
        super().train(mode)
        if self.frozen:
            self.backbone.eval()
        return self

    def forward(self, x):
        return self.fc(self.backbone(x))


def stripes(n, classes, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(classes, (n,), generator=g)
    grid = torch.arange(10.0)
    angle = y.float() * torch.pi / classes
    phase = (grid[None, :, None] * angle.cos()[:, None, None] + grid[None, None, :] * angle.sin()[:, None, None]) * 1.6
    return TensorDataset((phase.sin() + 0.3 * torch.randn(n, 10, 10, generator=g)).unsqueeze(1), y)


def fit(model, data, epochs, lr):
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=lr, momentum=0.9)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        model.train()
        for x, y in DataLoader(data, batch_size=48, shuffle=True):
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
        print(f"  epoch {epoch} loss {loss.item()!r}")


@torch.inference_mode()
def accuracy(model, data):
    model.eval()
    return sum((model(x).argmax(1) == y).sum().item() for x, y in DataLoader(data, 200)) / len(data)


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    source = Net(6)
    print("source task")
    fit(source, stripes(960, 6, 0), epochs=3, lr=0.1)
    torch.save(source.state_dict(), "source.pt")

    model = Net(4, frozen=True)
    state = torch.load("source.pt", weights_only=True)
    state = {k: v for k, v in state.items() if not k.startswith("fc.")}
    print(model.load_state_dict(state, strict=False))
    before = {k: v.clone() for k, v in model.backbone.state_dict().items()}
    print("target task")
    fit(model, stripes(400, 4, 1), epochs=6, lr=0.2)
    assert all(torch.equal(before[k], v) for k, v in model.backbone.state_dict().items())
    print("accuracy", accuracy(model, stripes(400, 4, 2)))
    assert accuracy(model, stripes(400, 4, 2)) > 0.85
