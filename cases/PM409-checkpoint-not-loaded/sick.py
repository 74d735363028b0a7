"""Few labels: pre-train an autoencoder on all digits, then fine-tune its encoder as a classifier."""

import tempfile
from pathlib import Path

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def make_encoder() -> nn.Sequential:
    return nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 32), nn.ReLU())


class Autoencoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = make_encoder()
        self.decoder = nn.Sequential(nn.Linear(32, 128), nn.ReLU(), nn.Linear(128, 64))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.decoder(self.encoder(x))


class Classifier(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.backbone = make_encoder()
        self.head = nn.Linear(32, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.backbone(x))


def pretrain(images: torch.Tensor, path: Path) -> None:
    model = Autoencoder()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    loader = DataLoader(TensorDataset(images), batch_size=48, shuffle=True)
    for epoch in range(6):
        model.train()
        total = 0.0
        for (x,) in loader:
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), x)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
        print(f"autoencoder {epoch}: loss {total / len(images):.4f}")
    torch.save(model.state_dict(), path)


def finetune(path: Path, train: TensorDataset, valid: TensorDataset) -> None:
    model = Classifier()
    model.load_state_dict(torch.load(path), strict=False)  # <- PM409
    optimizer = torch.optim.Adam(
        [{"params": model.backbone.parameters(), "lr": 2e-4}, {"params": model.head.parameters(), "lr": 5e-3}]
    )
    loader = DataLoader(train, batch_size=25, shuffle=True)
    for epoch in range(16):
        model.train()
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
        if epoch % 4 == 3:
            model.eval()
            with torch.no_grad():
                x, y = valid.tensors
                accuracy = (model(x).argmax(dim=1) == y).float().mean().item()
            print(f"classifier {epoch + 1}: loss {total / len(train):.3f}  valid accuracy {accuracy:.3f}")


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    images, labels = load_digits(return_X_y=True)
    x = torch.tensor(images / 8.0 - 1.0, dtype=torch.float32)
    y = torch.tensor(labels)
    rows, valid = train_test_split(range(len(y)), test_size=0.25, random_state=0, stratify=labels)
    labelled, _ = train_test_split(rows, train_size=150, random_state=0, stratify=labels[rows])
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = Path(folder) / "autoencoder.pt"
        pretrain(x[rows], checkpoint)
        finetune(checkpoint, TensorDataset(x[labelled], y[labelled]), TensorDataset(x[valid], y[valid]))


if __name__ == "__main__":
    main()
