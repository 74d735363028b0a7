import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def courts(n, seed):
    rng = np.random.default_rng(seed)
    corner = rng.uniform(3, 17, (n, 2))
    yy, xx = np.mgrid[0:20, 0:20]
    spot = np.exp(-((yy[None] - corner[:, :1, None]) ** 2 + (xx[None] - corner[:, 1:, None]) ** 2) / 3.0)
    image = spot + rng.normal(0, 0.25, spot.shape)
    return torch.tensor(image[:, None], dtype=torch.float32), torch.tensor(corner / 10 - 1, dtype=torch.float32)


class KeypointNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, 8, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ReLU(),
            nn.Flatten(), nn.Linear(16 * 25, 48), nn.ReLU(), nn.Linear(48, 2),
        )

    def forward(self, x):
        return self.net(x)


class BaseTrainer:
    def __init__(self, model, optimizer, criterion, epochs):
        self.model, self.optimizer, self.criterion, self.epochs = model, optimizer, criterion, epochs

    def train(self, train_loader, val_loader):
        for epoch in range(self.epochs):
            train_loss = self.train_epoch(train_loader)
            val_error = self.validate(val_loader)
            print(f"epoch {epoch + 1}/{self.epochs} train loss {train_loss:.4f} val error {val_error:.2f} px")

    def train_epoch(self, loader):
        self.model.train()
        losses = []
        for image, target in loader:
            out = self.model(image)
            loss = self.criterion(out, target)
            loss.backward()  # <- PM601
            self.optimizer.step()
            losses.append(loss.item())
        return float(np.mean(losses))

    def validate(self, loader):
        self.model.eval()
        with torch.no_grad():
            errors = [(self.model(i) - t).norm(dim=1) * 10 for i, t in loader]
        return torch.cat(errors).mean().item()


def main():
    torch.manual_seed(40)
    torch.set_num_threads(1)
    train_loader = DataLoader(TensorDataset(*courts(1500, 40)), batch_size=32, shuffle=True)
    val_loader = DataLoader(TensorDataset(*courts(300, 41)), batch_size=100)
    model = KeypointNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    BaseTrainer(model, optimizer, nn.MSELoss(), epochs=10).train(train_loader, val_loader)


main()
