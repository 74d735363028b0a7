"""Weekly asset returns from lagged signals, scored by R2 and information coefficient out of sample."""
import numpy as np
import torch
from torch import nn


def simulate_market(assets=60, weeks=320, signals=10, seed=11):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(weeks, assets, signals)).astype(np.float32)
    edge = 0.10 * x[..., 0] + 0.10 * x[..., 1] - 0.08 * x[..., 2] + 0.10 * np.tanh(x[..., 3] * x[..., 4])
    y = edge + rng.standard_t(6, size=edge.shape) * np.sqrt(4 / 6)
    return x, y.astype(np.float32)[..., None], edge


class Model(nn.Module):
    def __init__(self, signals):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(signals, 16), nn.Tanh(), nn.Linear(16, 1))

    def forward(self, x):
        return self.net(x)


def batches(x, y, size, rng):
    order = rng.permutation(len(x))
    for start in range(0, len(order) - size + 1, size):
        pick = order[start:start + size]
        yield torch.from_numpy(x[pick]), torch.from_numpy(y[pick])


@torch.no_grad()
def out_of_sample(model, x, y):
    model.eval()
    p = model(torch.from_numpy(x)).numpy()
    r2 = 1 - ((y - p) ** 2).sum() / (y ** 2).sum()
    return r2, float(np.corrcoef(p[:, 0], y[:, 0])[0, 1])


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    x, y, edge = simulate_market()
    cut = 240
    flat = lambda a: a.reshape(-1, a.shape[-1])
    xtr, ytr, xte, yte = flat(x[:cut]), flat(y[:cut]), flat(x[cut:]), flat(y[cut:])
    ceiling = np.corrcoef(edge[cut:].ravel(), yte[:, 0])[0, 1]
    model = Model(x.shape[-1])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=10)
    loss_fn = nn.MSELoss()
    for epoch in range(10):
        model.train()
        losses = []
        for xb, yb in batches(xtr, ytr, 128, rng):
            optimizer.zero_grad()
            loss = loss_fn(model(xb), yb)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        schedule.step()
        r2, ic = out_of_sample(model, xte, yte)
        print(f"epoch {epoch + 1:2d}  train mse {np.mean(losses):.4f}  R2 {r2:+.4f}  information coefficient {ic:.3f}")
    print(f"information coefficient of the true signal {ceiling:.3f}")


if __name__ == "__main__":
    main()
