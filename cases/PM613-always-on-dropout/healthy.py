"""A denoising autoencoder: functional dropout corrupts the training input, evaluation sees clean images."""

import copy

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from torch import nn
from torch.utils.data import DataLoader, random_split


class DenoisingAutoencoder(nn.Module):
    def __init__(self, code: int = 16) -> None:
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        self.code = nn.Linear(12 * 16, code)
        self.decoder = nn.Sequential(nn.Linear(code, 96), nn.ReLU(), nn.Linear(96, 64), nn.Sigmoid())

    def encode(self, image: torch.Tensor) -> torch.Tensor:
        features = F.dropout(self.conv(image).flatten(1), 0.1, self.training)
        return torch.tanh(self.code(features))

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return self.decoder(self.encode(image)).view_as(image)


def train_epoch(model: DenoisingAutoencoder, loader: DataLoader, optimizer: torch.optim.Optimizer) -> float:
    model.train()
    total = 0.0
    for image in loader:
        corrupted = F.dropout(image, 0.3)
        loss = F.mse_loss(model(corrupted), image)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(image)
    return total / len(loader.dataset)


@torch.no_grad()
def validate(model: DenoisingAutoencoder, images: torch.Tensor) -> float:
    model.eval()
    return F.mse_loss(model(images), images).item()


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    train_part, val_part = random_split(range(len(images)), [1400, 397])
    train_images, val_images = images[train_part.indices], images[val_part.indices]
    loader = DataLoader(train_images, batch_size=50, shuffle=True)

    model = DenoisingAutoencoder()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    best, best_state, patience = float("inf"), copy.deepcopy(model.state_dict()), 0
    for epoch in range(1, 13):
        loss = train_epoch(model, loader, optimizer)
        error = validate(model, val_images)
        print(f"epoch {epoch}: train mse {loss:.4f}  clean val mse {error:.4f}")
        patience = 0 if error < best else patience + 1
        if error < best:
            best, best_state = error, copy.deepcopy(model.state_dict())
        if patience == 3:
            break

    model.load_state_dict(best_state)
    model.eval()
    with torch.no_grad():
        train_codes, val_codes = (model.encode(part).numpy() for part in (train_images, val_images))
    probe = LogisticRegression(max_iter=500).fit(train_codes, digits.target[train_part.indices])
    accuracy = probe.score(val_codes, digits.target[val_part.indices])
    print(
        f"pixel variance {val_images.var():.4f}  best val mse {best:.4f}  digit accuracy from the code {accuracy:.3f}"
    )


if __name__ == "__main__":
    main()
