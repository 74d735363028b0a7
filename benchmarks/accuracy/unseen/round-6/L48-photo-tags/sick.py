import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

N_TAGS = 8


def photos(n, seed):
    g = torch.Generator().manual_seed(seed)
    w = torch.randn(30, N_TAGS, generator=torch.Generator().manual_seed(0))
    x = torch.randn(n, 30, generator=g)
    tags = ((x @ w) / 30 ** 0.5 + 0.15 * torch.randn(n, N_TAGS, generator=g) > 0.1).float()
    return x, tags


class TagNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(30, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU())
        self.tags = nn.Linear(64, N_TAGS)

    def forward(self, x):
        return self.tags(self.backbone(x))


def micro_f1(model, loader):
    tp = fp = fn = 0
    model.eval()
    with torch.no_grad():
        for x, t in loader:
            p = (torch.sigmoid(model(x)) > 0.5).float()
            tp += (p * t).sum().item()
            fp += (p * (1 - t)).sum().item()
            fn += ((1 - p) * t).sum().item()
    return 2 * tp / (2 * tp + fp + fn)


def main():
    torch.manual_seed(11)
    torch.set_num_threads(1)
    train = DataLoader(TensorDataset(*photos(2500, 1)), batch_size=50, shuffle=True)
    val = DataLoader(TensorDataset(*photos(600, 2)), batch_size=200)
    model = TagNet()
    criterion = nn.CrossEntropyLoss()  # <- PM514
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(10):
        model.train()
        for x, t in train:
            loss = criterion(model(x), t)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(f"epoch {epoch + 1}: loss {loss.item():.3f}  micro F1 {micro_f1(model, val):.3f}")


main()
