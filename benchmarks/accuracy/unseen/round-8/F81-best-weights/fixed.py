"""Small noisy tabular task; keep the best epoch by validation loss, then score the test set."""
import torch
import torch.nn.functional as F
from copy import deepcopy
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def sample(n, g, w):
    x = torch.randn(n, 30, generator=g)
    logits = 3.5 * (x @ w) + 0.8 * x[:, 0] * x[:, 1]
    y = (torch.rand(n, generator=g) < torch.sigmoid(logits)).float()
    return x, y


class Keeper:
    """Remembers the parameters of the best epoch."""

    def __init__(self):
        self.best = float("inf")
        self.epoch = -1
        self.state = None

    def update(self, value, epoch, model):
        if value < self.best:
            self.best, self.epoch = value, epoch
            self.state = deepcopy(model.state_dict())

    def restore(self, model):
        model.load_state_dict(self.state)


def evaluate(model, x, y):
    model.eval()
    with torch.no_grad():
        logits = model(x).squeeze(1)
        loss = F.binary_cross_entropy_with_logits(logits, y).item()
        acc = ((logits > 0).float() == y).float().mean().item()
    return loss, acc


def main():
    torch.manual_seed(0)
    g = torch.Generator().manual_seed(0)
    w = torch.randn(30, generator=g) / 30 ** 0.5
    x_tr, y_tr = sample(1000, g, w)
    x_va, y_va = sample(800, g, w)
    x_te, y_te = sample(3000, g, w)
    loader = DataLoader(TensorDataset(x_tr, y_tr), batch_size=50, shuffle=True)

    model = nn.Sequential(
        nn.Linear(30, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    keeper = Keeper()
    patience = 15
    for epoch in range(60):
        model.train()
        total = 0.0
        for x, y in loader:
            loss = F.binary_cross_entropy_with_logits(model(x).squeeze(1), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        val_loss, val_acc = evaluate(model, x_va, y_va)
        keeper.update(val_loss, epoch, model)
        if epoch % 4 == 0:
            print(f"epoch {epoch:2d} train {total / len(loader):.4f} val {val_loss:.4f} acc {val_acc:.3f}")
        if epoch - keeper.epoch >= patience:
            print(f"no improvement for {patience} epochs, stopping")
            break

    keeper.restore(model)
    test_loss, test_acc = evaluate(model, x_te, y_te)
    print(f"best epoch {keeper.epoch} (val loss {keeper.best:.4f})")
    print(f"test loss {test_loss:.4f}  test acc {test_acc:.3f}")


if __name__ == "__main__":
    main()
