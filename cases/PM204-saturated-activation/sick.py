"""Compress digits with a dense autoencoder."""

import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn


class AutoEncoder(nn.Module):
    def __init__(self, pixels: int = 64, width: int = 128, code: int = 24):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(pixels, width), nn.Tanh(), nn.Linear(width, code), nn.Tanh())
        self.decoder = nn.Sequential(nn.Linear(code, width), nn.Tanh())
        self.to_pixels = nn.Linear(width, pixels)
        for layer in [*self.encoder, *self.decoder]:
            if isinstance(layer, nn.Linear):
                nn.init.uniform_(layer.weight)
                nn.init.zeros_(layer.bias)

    def forward(self, images: Tensor) -> Tensor:
        return self.to_pixels(self.decoder(self.encoder(images)))


class Trainer:
    def __init__(self, model: nn.Module, lr: float):
        self.model = model
        self.criterion = nn.MSELoss()
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)

    def fit_epoch(self, images: Tensor, batch_size: int = 50) -> float:
        self.model.train()
        total = 0.0
        for rows in torch.randperm(len(images)).split(batch_size):
            loss = self.criterion(self.model(images[rows]), images[rows])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item() * len(rows)
        return total / len(images)

    @torch.no_grad()
    def evaluate(self, images: Tensor) -> float:
        self.model.eval()
        return self.criterion(self.model(images), images).item()


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    images = torch.tensor(load_digits().data, dtype=torch.float32) / 16
    images = images[torch.randperm(len(images))]
    train, val = images[:1500], images[1500:]
    trainer = Trainer(AutoEncoder(), lr=2e-3)
    print(f"pixel variance {train.var(dim=0).mean():.4f}")
    for epoch in range(1, 9):
        print(f"epoch {epoch}: train mse {trainer.fit_epoch(train):.4f}  val mse {trainer.evaluate(val):.4f}")


if __name__ == "__main__":
    main()
