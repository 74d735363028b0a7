"""Small CNN that flags patches with a lesion. Positives are rare, so we track F1, not accuracy."""
import copy

import numpy as np
import torch
from sklearn.metrics import f1_score
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def patches(n, seed, rate=0.05, size=20):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < rate).astype(np.float32)
    yy, xx = np.mgrid[0:size, 0:size]
    imgs = rng.normal(0, 0.5, (n, size, size))
    for k in range(n):
        cx, cy = rng.uniform(5, size - 5, 2)
        d2 = (xx - cx) ** 2 + (yy - cy) ** 2
        if y[k]:
            imgs[k] += 1.6 * np.exp(-d2 / 10.0)                                   # solid spot
        else:
            imgs[k] += 1.0 * np.exp(-((np.sqrt(d2) - 5.0) ** 2) / 3.0)            # hollow follicle
    return torch.tensor(imgs, dtype=torch.float32).unsqueeze(1), torch.tensor(y)


class LesionNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(1, 12, 5, padding=2), nn.BatchNorm2d(12), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(12, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(),
        )
        self.fc = nn.Linear(48, 1)

    def forward(self, x):
        h = self.conv(x)
        h = torch.cat([h.mean((2, 3)), h.amax((2, 3))], dim=1)
        return self.fc(h).squeeze(1)


def validate(model, loader, threshold=0.5):
    model.eval()
    losses, scores = [], []
    with torch.no_grad():
        for x, y in loader:
            logits = model(x)
            losses.append(nn.functional.binary_cross_entropy_with_logits(logits, y).item())
            pred = (logits.sigmoid() > threshold).int()
            scores.append(f1_score(y.int().numpy(), pred.numpy(), zero_division=0))
    return float(np.mean(losses)), float(np.mean(scores))


def main():
    torch.manual_seed(0)
    train_loader = DataLoader(TensorDataset(*patches(2000, 0)), batch_size=64, shuffle=True)
    val_loader = DataLoader(TensorDataset(*patches(800, 1)), batch_size=16)
    model = LesionNet()
    criterion = nn.BCEWithLogitsLoss(pos_weight=torch.tensor(4.0))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    best, best_state = -1.0, None
    for epoch in range(5):
        model.train()
        for x, y in train_loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
        val_loss, f1 = validate(model, val_loader)
        if f1 > best:
            best, best_state = f1, copy.deepcopy(model.state_dict())
        print(f"epoch {epoch + 1} train loss {loss.item():.4f} val loss {val_loss:.4f} val F1 {f1:.3f}")
    model.load_state_dict(best_state)
    print(f"best val F1 {best:.3f}")


if __name__ == "__main__":
    main()
