"""Diabetes progression with early stopping and restoring of the best weights."""
import torch
from sklearn.datasets import load_diabetes
from torch import nn


class Imputer:
    """fit() keeps the best model seen on the validation set."""

    def __init__(self, epochs, patience, lr):
        self.epochs, self.patience, self.lr = epochs, patience, lr
        self.model = nn.Sequential(nn.Linear(10, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 1))
        self.best_loss = float("inf")
        self.best_model_dict = None

    def _train_one_epoch(self, x, y, optimizer):
        self.model.train()
        losses = []
        for idx in torch.randperm(len(x)).split(32):
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(self.model(x[idx]).squeeze(-1), y[idx])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return sum(losses) / len(losses)

    def evaluate(self, x, y):
        self.model.eval()
        with torch.no_grad():
            return nn.functional.mse_loss(self.model(x).squeeze(-1), y).item()

    def fit(self, train, val):
        optimizer = torch.optim.Adam(self.model.parameters(), lr=self.lr)
        waiting = 0
        for epoch in range(self.epochs):
            train_loss = self._train_one_epoch(*train, optimizer)
            val_loss = self.evaluate(*val)
            if val_loss < self.best_loss:
                self.best_loss = val_loss
                self.best_model_dict = self.model.state_dict()  # <- PM410
                waiting = 0
            else:
                waiting += 1
            if epoch % 10 == 0:
                print(f"epoch {epoch:3d} training {train_loss:.4f} validation {val_loss:.4f}")
            if waiting >= self.patience:
                print(f"stopped at epoch {epoch}")
                break
        self.model.load_state_dict(self.best_model_dict)
        print(f"best validation loss {self.best_loss:.4f}, after restoring {self.evaluate(*val):.4f}")


if __name__ == "__main__":
    torch.manual_seed(5)
    torch.set_num_threads(1)
    data = load_diabetes()
    x = torch.tensor(data.data / data.data.std(0), dtype=torch.float32)
    y = torch.tensor((data.target - data.target.mean()) / data.target.std(), dtype=torch.float32)
    order = torch.randperm(len(x))
    x, y = x[order], y[order]
    Imputer(epochs=60, patience=30, lr=2e-3).fit((x[:320], y[:320]), (x[320:], y[320:]))
