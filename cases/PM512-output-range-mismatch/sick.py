"""Compress the wine measurements to three numbers with an autoencoder."""

import torch
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset


class Autoencoder(nn.Module):
    def __init__(self, n_features: int, latent: int = 3, hidden: int = 32):
        super().__init__()
        self.enc1 = nn.Linear(n_features, hidden)
        self.enc2 = nn.Linear(hidden, latent)
        self.dec1 = nn.Linear(latent, hidden)
        self.dec2 = nn.Linear(hidden, n_features)

    def encode(self, x: Tensor) -> Tensor:
        return torch.tanh(self.enc2(torch.relu(self.enc1(x))))

    def decode(self, z: Tensor) -> Tensor:
        h = torch.relu(self.dec1(z))
        return torch.sigmoid(self.dec2(h))  # <- PM512

    def forward(self, x: Tensor) -> Tensor:
        return self.decode(self.encode(x))


def load_splits() -> tuple[Tensor, Tensor]:
    train, val = train_test_split(load_wine().data, test_size=0.25, random_state=0)
    mean, std = train.mean(axis=0), train.std(axis=0)
    return tuple(torch.tensor((part - mean) / std, dtype=torch.float32) for part in (train, val))


def train(model: nn.Module, loader: DataLoader, val: Tensor, epochs: int) -> None:
    criterion = nn.MSELoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(1, epochs + 1):
        model.train()
        total = 0.0
        for (x,) in loader:
            optimizer.zero_grad()
            loss = criterion(model(x), x)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
        if epoch % 5 == 0:
            model.eval()
            with torch.no_grad():
                val_loss = criterion(model(val), val).item()
            print(f"epoch {epoch:2d}  train mse {total / len(loader.dataset):.4f}  val mse {val_loss:.4f}")


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    x_train, x_val = load_splits()
    loader = DataLoader(TensorDataset(x_train), batch_size=19, shuffle=True)
    train(Autoencoder(x_train.shape[1]), loader, x_val, epochs=50)
