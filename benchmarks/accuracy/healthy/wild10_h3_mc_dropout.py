"""Monte Carlo dropout: dropout layers stay active at prediction time on purpose to get an uncertainty estimate."""
import torch
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class DropoutNet(nn.Module):
    def __init__(self, n_in=10, width=64, p=0.1):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(n_in, width), nn.ReLU(), nn.Dropout(p),
            nn.Linear(width, width), nn.ReLU(), nn.Dropout(p),
            nn.Linear(width, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


def enable_mc_dropout(model):
    """Everything in eval mode except the dropout layers, which keep sampling."""
    model.eval()
    for m in model.modules():
        if isinstance(m, nn.Dropout):
            m.train()


@torch.no_grad()
def mc_predict(model, x, samples=30):
    enable_mc_dropout(model)
    draws = torch.stack([model(x) for _ in range(samples)])
    return draws.mean(0), draws.std(0)


@torch.no_grad()
def plain_r2(model, x, y):
    model.eval()
    return 1 - ((model(x) - y) ** 2).sum().item() / ((y - y.mean()) ** 2).sum().item()


def main():
    torch.manual_seed(2)
    x, y = load_diabetes(return_X_y=True)
    xt, xv, yt, yv = train_test_split(x, y, test_size=0.25, random_state=2)
    sx, sy = StandardScaler().fit(xt), StandardScaler().fit(yt[:, None])
    to = lambda a: torch.tensor(a, dtype=torch.float32)
    xt, xv = to(sx.transform(xt)), to(sx.transform(xv))
    yt, yv = to(sy.transform(yt[:, None])[:, 0]), to(sy.transform(yv[:, None])[:, 0])
    loader = DataLoader(TensorDataset(xt, yt), batch_size=32, shuffle=True)
    model = DropoutNet()
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-2)
    for epoch in range(25):
        model.train()
        total = n = 0
        for xb, yb in loader:
            loss = nn.functional.mse_loss(model(xb), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(yb)
            n += len(yb)
        if epoch % 5 == 4:
            print(f"epoch {epoch:2d} train mse {total / n:.4f} val R2 {plain_r2(model, xv, yv):.3f}")
    mean, std = mc_predict(model, xv)
    r2 = 1 - ((mean - yv) ** 2).sum().item() / ((yv - yv.mean()) ** 2).sum().item()
    far = mc_predict(model, xv * 4)[1].mean().item()
    print(f"MC dropout: R2 {r2:.3f}, mean spread {std.mean().item():.3f}, spread on far inputs {far:.3f}")


if __name__ == "__main__":
    main()
