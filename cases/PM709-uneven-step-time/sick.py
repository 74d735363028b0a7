"""Compress sensor frames with a wide autoencoder, and log how the weights evolve."""

# needs: a quiet machine

import time

import torch
import torch.nn.functional as F
from torch import Tensor, nn

SENSORS, SOURCES, LOG_EVERY = 256, 12, 20


def record(n: int, mixing: Tensor) -> Tensor:
    """Frames of many sensors that see a few hidden sources."""
    return torch.tanh(torch.randn(n, SOURCES) @ mixing) + 0.1 * torch.randn(n, SENSORS)


class AutoEncoder(nn.Module):
    def __init__(self, width: int = 512, code: int = 16):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(SENSORS, width), nn.ReLU(), nn.Linear(width, code))
        self.decoder = nn.Sequential(nn.Linear(code, width), nn.ReLU(), nn.Linear(width, SENSORS))

    def forward(self, frames: Tensor) -> Tensor:
        return self.decoder(self.encoder(frames))


class Trainer:
    def __init__(self, model: nn.Module, lr: float):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.spectra: list[dict[str, Tensor]] = []
        self.steps = 0

    def step(self, frames: Tensor) -> float:
        self.model.train()
        loss = F.mse_loss(self.model(frames), frames)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.steps += 1
        if self.steps % LOG_EVERY == 0:
            self.log_spectra()
        return loss.item()

    @torch.no_grad()
    def log_spectra(self) -> None:
        weights = {name: p for name, p in self.model.named_parameters() if p.ndim == 2}
        self.spectra.append({name: torch.linalg.svd(p).S for name, p in weights.items()})  # <- PM709

    @torch.no_grad()
    def validate(self, frames: Tensor) -> float:
        self.model.eval()
        return 1 - (F.mse_loss(self.model(frames), frames) / frames.var()).item()


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    mixing = torch.randn(SOURCES, SENSORS) / SOURCES**0.5
    train, val = record(3200, mixing), record(300, mixing)
    trainer = Trainer(AutoEncoder(), lr=1e-3)
    for epoch in range(1, 5):
        start = time.perf_counter()
        losses = [trainer.step(train[rows]) for rows in torch.randperm(len(train)).split(64)]
        print(
            f"epoch {epoch}  train mse {sum(losses) / len(losses):.4f}  explained {trainer.validate(val):.3f}  "
            f"{time.perf_counter() - start:.2f} s"
        )
    first, last = trainer.spectra[0], trainer.spectra[-1]
    for name in first:
        print(f"largest singular value of {name}: {first[name][0]:.2f} -> {last[name][0]:.2f}")


if __name__ == "__main__":
    main()
