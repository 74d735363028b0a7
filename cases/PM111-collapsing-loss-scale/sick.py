"""Mixed-precision convolutional autoencoder for digits; the code is judged by a nearest-centroid classifier."""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import Tensor, nn
from torch.amp import GradScaler, autocast


class AutoEncoder(nn.Module):
    def __init__(self, code: int = 16):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, 16, 3, stride=2, padding=1),
            nn.GELU(),
            nn.Conv2d(16, 32, 3, stride=2, padding=1),
            nn.GELU(),
            nn.Flatten(),
            nn.Linear(128, code),
        )
        self.decoder = nn.Sequential(nn.Linear(code, 128), nn.GELU(), nn.Linear(128, 64))

    def forward(self, x: Tensor) -> Tensor:
        return self.decoder(self.encoder(x))


class Trainer:
    def __init__(self, model: nn.Module, lr: float = 2e-3, clip: float = 1.0):
        self.model, self.clip = model, clip
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.scaler = GradScaler("cpu", growth_interval=1)  # <- PM111

    def step(self, images: Tensor) -> float:
        self.model.train()
        self.optimizer.zero_grad()
        with autocast("cpu", dtype=torch.float16):
            output = self.model(images)
        loss = F.mse_loss(output.float(), images.flatten(1))
        self.scaler.scale(loss).backward()
        self.scaler.unscale_(self.optimizer)
        nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return loss.item()

    @torch.no_grad()
    def validate(self, images: Tensor) -> float:
        self.model.eval()
        return F.mse_loss(self.model(images), images.flatten(1)).item()


def centroid_accuracy(codes: Tensor, labels: Tensor, val_codes: Tensor, val_labels: Tensor) -> float:
    centroids = torch.stack([codes[labels == digit].mean(0) for digit in range(10)])
    return (torch.cdist(val_codes, centroids).argmin(1) == val_labels).float().mean().item()


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    labels = torch.tensor(digits.target)
    order = torch.randperm(len(images))
    train, val = order[:1500], order[1500:]

    trainer = Trainer(AutoEncoder())
    for epoch in range(1, 6):
        batches = train[torch.randperm(len(train))].split(50)
        loss = sum(trainer.step(images[batch]) for batch in batches) / len(batches)
        print(f"epoch {epoch}: train mse {loss:.4f}  val mse {trainer.validate(images[val]):.4f}")
    with torch.no_grad():
        codes = trainer.model.encoder(images)
    print(f"accuracy of the centroids {centroid_accuracy(codes[train], labels[train], codes[val], labels[val]):.3f}")


if __name__ == "__main__":
    main()
