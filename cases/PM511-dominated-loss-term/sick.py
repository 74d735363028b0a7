"""Read digits and rebuild them from one small code: two heads, two losses, one encoder."""

import argparse

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import Tensor, nn


class TwoHeads(nn.Module):
    def __init__(self, code: int = 6, width: int = 64):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, width), nn.GELU(), nn.Linear(width, code))
        self.decoder = nn.Sequential(nn.Linear(code, width), nn.GELU(), nn.Linear(width, 64))
        self.classifier = nn.Linear(code, 10)

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor]:
        code = self.encoder(images)
        return self.classifier(code), self.decoder(code)


def losses(model: nn.Module, images: Tensor, labels: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    logits, rebuilt = model(images)
    return F.cross_entropy(logits, labels), (rebuilt - images).square().sum(dim=1).mean(), logits


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--batch-size", type=int, default=50)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--recon-weight", type=float, default=100.0)
    args = parser.parse_args()

    torch.set_num_threads(1)
    torch.manual_seed(0)
    digits = load_digits()
    images = torch.tensor(digits.data, dtype=torch.float32) / 8 - 1
    labels = torch.tensor(digits.target)
    train, val = torch.randperm(len(images)).split([1500, 297])

    model = TwoHeads()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(1, args.epochs + 1):
        model.train()
        for rows in train[torch.randperm(len(train))].split(args.batch_size):
            class_loss, recon_loss, _ = losses(model, images[rows], labels[rows])
            loss = class_loss + args.recon_weight * recon_loss  # <- PM511
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            class_loss, recon_loss, logits = losses(model, images[val], labels[val])
        accuracy = (logits.argmax(dim=1) == labels[val]).float().mean().item()
        print(f"epoch {epoch}  val class {class_loss:.3f}  val recon {recon_loss:.2f}  val accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
