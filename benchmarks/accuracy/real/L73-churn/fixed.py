"""Customer churn, a small feed-forward net written as a trainer class."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, random_split


def block(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, n_out), nn.BatchNorm1d(n_out), nn.ReLU())


class ChurnNet(nn.Module):
    def __init__(self, sizes=(12, 64, 32)):
        super().__init__()
        self.blocks = nn.Sequential(*[block(a, b) for a, b in zip(sizes, sizes[1:])])
        self.out = nn.Linear(sizes[-1], 1)

    def forward(self, x):
        return self.out(self.blocks(x)).squeeze(1)


class Trainer:
    def __init__(self, model, lr=2e-3):
        self.model = model
        self.criterion = nn.BCEWithLogitsLoss()
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)

    def fit(self, train, valid, epochs):
        for epoch in range(epochs):
            self.model.train()
            running = 0.0
            for x, y in train:
                self.optimizer.zero_grad()
                loss = self.criterion(self.model(x), y)
                loss.backward()
                self.optimizer.step()
                running += loss.item()
            print(f"epoch {epoch} loss {running / len(train):.4f} accuracy {self.evaluate(valid):.3f}")

    @torch.no_grad()
    def evaluate(self, loader):
        self.model.eval()
        right = total = 0
        for x, y in loader:
            right += ((torch.sigmoid(self.model(x)) > 0.5).float() == y).sum().item()
            total += len(y)
        return right / total


if __name__ == "__main__":
    torch.manual_seed(8)
    x = torch.randn(2000, 12)
    score = x[:, 0] * 1.5 + x[:, 1] * x[:, 2] - x[:, 3] - 0.2
    y = (score + 0.4 * torch.randn(2000) > 0).float()
    train_set, valid_set = random_split(TensorDataset(x, y), [1600, 400])
    trainer = Trainer(ChurnNet())
    trainer.fit(DataLoader(train_set, 32, shuffle=True), DataLoader(valid_set, 100), epochs=8)
