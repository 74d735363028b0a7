import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset


class MLP(nn.Module):
    def __init__(self, n_in, n_out, hidden=48, p=0.5):
        super().__init__()
        self.p = p
        self.l1 = nn.Linear(n_in, hidden)
        self.l2 = nn.Linear(hidden, hidden)
        self.l3 = nn.Linear(hidden, n_out)

    def forward(self, x):
        x = F.dropout(F.relu(self.l1(x)), self.p, training=self.training)
        x = F.dropout(F.relu(self.l2(x)), self.p, training=self.training)
        return self.l3(x)


def loaders(load, seed=0):
    x, y = load(return_X_y=True)
    x_tr, x_va, y_tr, y_va = train_test_split(x, y, test_size=0.25, stratify=y, random_state=seed)
    mean, std = x_tr.mean(0), x_tr.std(0) + 1e-6
    x_tr, x_va = (x_tr - mean) / std, (x_va - mean) / std
    t = lambda a, b: TensorDataset(torch.tensor(a, dtype=torch.float32), torch.tensor(b))
    return DataLoader(t(x_tr, y_tr), 32, shuffle=True), DataLoader(t(x_va, y_va), 128)


@torch.no_grad()
def predict(model, loader):
    model.eval()
    out = [(model(x).argmax(1), y) for x, y in loader]
    return torch.cat([o[0] for o in out]), torch.cat([o[1] for o in out])


def experiment(name, load, n_in, n_out, epochs):
    torch.manual_seed(0)
    train_loader, val_loader = loaders(load)
    model = MLP(n_in, n_out)
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(1, epochs + 1):
        model.train()
        total = 0.0
        for x, y in train_loader:
            opt.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            opt.step()
            total += loss.item()
        if epoch % 5 == 0:
            pred, true = predict(model, val_loader)
            print(f"{name} epoch {epoch} train loss {total / len(train_loader):.4f} "
                  f"val acc {(pred == true).float().mean().item():.4f}")
    first, _ = predict(model, val_loader)
    second, true = predict(model, val_loader)
    print(f"{name} final val acc {(second == true).float().mean().item():.4f} "
          f"agreement of two passes {(first == second).float().mean().item():.4f}")


if __name__ == "__main__":
    experiment("cancer", load_breast_cancer, 30, 2, epochs=10)
    experiment("digits", load_digits, 64, 10, epochs=20)
