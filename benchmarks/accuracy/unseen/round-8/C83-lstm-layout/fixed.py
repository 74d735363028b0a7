import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


def simulate(n, steps=20):
    """Three channels; the target is a decayed sum of the first channel gated by the second."""
    x = torch.randn(n, steps, 3)
    decay = 0.9 ** torch.arange(steps - 1, -1, -1).float()
    gate = (x[..., 1] > 0).float()
    y = (x[..., 0] * gate * decay).sum(1, keepdim=True)
    return x, y


class Forecaster(nn.Module):
    def __init__(self, features: int, hidden: int):
        super().__init__()
        self.lstm = nn.LSTM(features, hidden, batch_first=True)
        self.norm = nn.LayerNorm(hidden)
        self.fc = nn.Linear(hidden, 1)

    def forward(self, x):
        out, _ = self.lstm(x)
        return self.fc(self.norm(out[:, -1]))


class Trainer:
    def __init__(self, model, train_loader, val_loader, lr=5e-3, epochs=14):
        self.model = model
        self.train_loader = train_loader
        self.val_loader = val_loader
        self.epochs = epochs
        self.criterion = nn.MSELoss()
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, epochs)

    def train_epoch(self):
        self.model.train()
        total, count = 0.0, 0
        for x, y in self.train_loader:
            self.optimizer.zero_grad()
            loss = self.criterion(self.model(x), y)
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            total += loss.item() * len(x)
            count += len(x)
        return total / count

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        preds, targets = [], []
        for x, y in self.val_loader:
            preds.append(self.model(x))
            targets.append(y)
        preds, targets = torch.cat(preds), torch.cat(targets)
        mse = self.criterion(preds, targets).item()
        return mse, 1 - mse / targets.var().item()

    def fit(self):
        for epoch in range(self.epochs):
            train_loss = self.train_epoch()
            self.scheduler.step()
            val_loss, r2 = self.validate()
            print(f"Epoch {epoch + 1:02d}/{self.epochs} train_loss={train_loss:.4f} val_loss={val_loss:.4f} R2={r2:.3f}")


if __name__ == "__main__":
    torch.manual_seed(21)
    x, y = simulate(3000)
    y = y / y[:2400].std()
    dataset = TensorDataset(x, y)
    train_set, val_set = random_split(dataset, [2400, 600])
    Trainer(
        Forecaster(3, 32),
        DataLoader(train_set, batch_size=40, shuffle=True),
        DataLoader(val_set, batch_size=200),
    ).fit()
