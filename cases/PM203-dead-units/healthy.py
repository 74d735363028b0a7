"""Sparse dictionary of digit patches: an overcomplete ReLU autoencoder with an L1 price on activity."""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import Tensor, nn


class SparseAutoEncoder(nn.Module):
    def __init__(self, inputs: int, atoms: int):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(inputs, atoms), nn.ReLU())
        self.decode = nn.Linear(atoms, inputs)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        code = self.encode(x)
        return self.decode(code), code


class Trainer:
    def __init__(self, model: SparseAutoEncoder, lr: float, sparsity: float):
        self.model, self.sparsity = model, sparsity
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)

    def train_epoch(self, images: Tensor, batch_size: int = 50) -> float:
        self.model.train()
        total = 0.0
        for rows in torch.randperm(len(images)).split(batch_size):
            output, code = self.model(images[rows])
            loss = F.mse_loss(output, images[rows]) + self.sparsity * code.abs().mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item() * len(rows)
        return total / len(images)

    @torch.no_grad()
    def validate(self, images: Tensor) -> tuple[float, float, float]:
        self.model.eval()
        output, code = self.model(images)
        explained = 1 - F.mse_loss(output, images) / images.var(dim=0).mean()
        active = code > 0
        return explained.item(), active.float().mean().item(), (~active.any(dim=0)).float().mean().item()


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    images = torch.tensor(load_digits().data, dtype=torch.float32) / 16
    images = images[torch.randperm(len(images))]
    train, val = images[:1500], images[1500:]
    trainer = Trainer(SparseAutoEncoder(64, 256), lr=3e-3, sparsity=0.2)
    for epoch in range(1, 16):
        loss = trainer.train_epoch(train)
        if epoch % 3 == 0:
            explained, active, silent = trainer.validate(val)
            print(
                f"epoch {epoch:2d}: train loss {loss:.4f}  variance explained {explained:.3f}  "
                f"active {active:.1%}  silent atoms {silent:.1%}"
            )


if __name__ == "__main__":
    main()
