import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
torch.set_num_threads(1)
kernels = torch.randn(4, 3, 8, 8)


def pictures(per_class):
    y = torch.arange(4).repeat_interleave(per_class)
    return TensorDataset(kernels[y] + 1.2 * torch.randn(len(y), 3, 8, 8), y)


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 16, 3)
        self.bn = nn.BatchNorm2d(16)
        self.drop = nn.Dropout(0.5)
        self.fc1 = nn.Linear(16 * 9, 64)
        self.bn1 = nn.BatchNorm1d(64)
        self.fc2 = nn.Linear(64, 4)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn(self.conv(x))), 2).flatten(1)
        return self.fc2(self.drop(F.relu(self.bn1(self.fc1(x)))))


def run(model, loader, opt=None):
    model.train(opt is not None)
    total, correct = 0.0, 0
    with torch.set_grad_enabled(opt is not None):
        for x, y in loader:
            out = model(x)
            loss = F.cross_entropy(out, y)
            if opt is not None:
                opt.zero_grad()
                loss.backward()
                opt.step()
            total += loss.item() * len(y)
            correct += (out.argmax(1) == y).sum().item()
    return total / len(loader.dataset), correct / len(loader.dataset)


train_loader = DataLoader(pictures(250), 40, shuffle=True)
val_loader = DataLoader(pictures(60), 4)
model = ConvNet()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(6):
    loss, acc = run(model, train_loader, opt)
    vloss, vacc = run(model, val_loader)
    print(f"epoch {epoch} train {loss:.3f} {acc:.3f} val {vloss:.3f} {vacc:.3f}")
