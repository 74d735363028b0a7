import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits


def mixup(x, y, alpha=1.0):
    lam = float(np.random.beta(alpha, alpha))
    x = lam * x + (1 - lam) * x[torch.randperm(len(x))]  # <- PM311
    y = lam * y + (1 - lam) * y[torch.randperm(len(y))]
    return x, y


class TileNet(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.conv1 = nn.Conv2d(1, width, 3, padding=1)
        self.conv2 = nn.Conv2d(width, width * 2, 3, padding=1)
        self.fc = nn.Linear(width * 2 * 4, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc(x.flatten(1))


def soft_cross_entropy(logits, target):
    return -(target * F.log_softmax(logits, dim=1)).sum(1).mean()


if __name__ == "__main__":
    torch.manual_seed(3)
    np.random.seed(3)
    torch.set_num_threads(1)
    digits = load_digits()
    X = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    X = X + 0.25 * torch.randn_like(X)
    Y = torch.tensor(digits.target)
    order = torch.randperm(len(Y))
    tr, va = order[:500], order[500:]
    onehot = F.one_hot(Y, 10).float()
    net = TileNet()
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    for epoch in range(1, 41):
        net.train()
        losses = []
        for idx in tr[torch.randperm(len(tr))].split(50):
            xb, yb = mixup(X[idx], onehot[idx])
            loss = soft_cross_entropy(net(xb), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
        if epoch % 8 == 0:
            net.eval()
            with torch.no_grad():
                out = net(X[va])
                acc = (out.argmax(1) == Y[va]).float().mean().item()
                nll = F.cross_entropy(out, Y[va]).item()
            print(f"epoch {epoch:02d} | mixed loss {np.mean(losses):.3f} | val nll {nll:.3f} | val acc {acc:.3f}")
