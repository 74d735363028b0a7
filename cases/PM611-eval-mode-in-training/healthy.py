"""An autoencoder with a perceptual loss: gradients flow through a pretrained critic that stays in eval mode."""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


class Critic(nn.Module):
    """A digit classifier whose features say whether two images look alike."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 12, 3, padding=1, bias=False),
            nn.BatchNorm2d(12),
            nn.ReLU(),
            nn.Conv2d(12, 16, 3, stride=2, padding=1, bias=False),
            nn.BatchNorm2d(16),
            nn.ReLU(),
        )
        self.classify = nn.Sequential(nn.Flatten(), nn.Dropout(0.3), nn.Linear(256, 10))

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return self.classify(self.features(image))


class Autoencoder(nn.Module):
    def __init__(self, code: int = 10) -> None:
        super().__init__()
        self.encode = nn.Sequential(
            nn.Flatten(), nn.Linear(64, 64, bias=False), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, code)
        )
        self.decode = nn.Sequential(nn.Linear(code, 64), nn.ReLU(), nn.Linear(64, 64), nn.Sigmoid())

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return self.decode(self.encode(image)).view_as(image)


def pretrain(critic: Critic, loader: DataLoader, epochs: int) -> None:
    optimizer = torch.optim.Adam(critic.parameters(), lr=3e-3)
    critic.train()
    for epoch in range(epochs):
        for image, digit in loader:
            loss = F.cross_entropy(critic(image), digit)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"critic epoch {epoch + 1}: loss {loss.item():.3f}")


def train(model: Autoencoder, critic: Critic, loader: DataLoader, val: list[torch.Tensor], epochs: int) -> None:
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(1, epochs + 1):
        model.train()
        total = 0.0
        for image, _ in loader:
            output = model(image)
            perceptual = F.mse_loss(critic.features(output), critic.features(image))
            loss = perceptual + 5 * F.mse_loss(output, image)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        model.eval()
        image, digit = val
        with torch.no_grad():
            output = model(image)
            recognised = (critic(output).argmax(1) == digit).float().mean()
            error = F.mse_loss(output, image)
        print(f"epoch {epoch}: loss {total / len(loader):.3f}  val pixel mse {error:.4f}  recognised {recognised:.3f}")


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    train_set, val_set = random_split(TensorDataset(images, torch.tensor(digits.target)), [1400, 397])
    loader = DataLoader(train_set, batch_size=50, shuffle=True)
    validation = next(iter(DataLoader(val_set, batch_size=397)))

    critic = Critic()
    pretrain(critic, loader, epochs=3)
    critic.requires_grad_(False).eval()
    train(Autoencoder(), critic, loader, validation, epochs=7)


if __name__ == "__main__":
    main()
