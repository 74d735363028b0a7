"""Disease progression regressor, plain PyTorch."""
import torch
from sklearn.datasets import load_diabetes
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch.utils.data import DataLoader, Dataset


class DiabetesDataset(Dataset):
    def __init__(self, X, y):
        self.X = torch.as_tensor(X, dtype=torch.float32)
        self.y = torch.as_tensor(y, dtype=torch.float32)

    def __len__(self):
        return len(self.X)

    def __getitem__(self, idx):
        return self.X[idx], self.y[idx]


class Regressor(torch.nn.Module):
    def __init__(self, in_dim, width=32):
        super().__init__()
        self.l1 = torch.nn.Linear(in_dim, width)
        self.l2 = torch.nn.Linear(width, width)
        self.l3 = torch.nn.Linear(width, 1)

    def forward(self, x):
        x = torch.relu(self.l1(x))
        x = torch.relu(self.l2(x))
        return self.l3(x)


def rmse_loss(pred, target):
    return torch.sqrt(((pred.squeeze(1) - target) ** 2).mean() + 1e-8)


def prepare():
    X, y = load_diabetes(return_X_y=True)
    Xtr, Xte, ytr, yte = train_test_split(X, y, test_size=0.2, random_state=7)
    sx = StandardScaler().fit(Xtr)
    sy = StandardScaler().fit(ytr[:, None])
    return (DiabetesDataset(sx.transform(Xtr), sy.transform(ytr[:, None])[:, 0]),
            DiabetesDataset(sx.transform(Xte), sy.transform(yte[:, None])[:, 0]))


def main():
    torch.manual_seed(7)
    train_set, test_set = prepare()
    loader = DataLoader(train_set, batch_size=32, shuffle=True)
    net = Regressor(10)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for epoch in range(1, 31):
        net.train()
        total = 0.0
        for xb, yb in loader:
            optimizer.zero_grad()
            loss = rmse_loss(net(xb), yb)
            loss.backward()
            optimizer.step()
            total += loss.item()
        if epoch % 5 == 0:
            net.eval()
            with torch.no_grad():
                pred = net(test_set.X).numpy().ravel()
            print(f"epoch {epoch:3d}  train rmse {total / len(loader):.4f}  "
                  f"test R2 {r2_score(test_set.y.numpy(), pred):.3f}")


if __name__ == "__main__":
    main()
