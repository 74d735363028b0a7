"""Recognise spoken vowels from recordings on a slow disk; two workers that stay alive read ahead."""

import time

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

FORMANTS = torch.tensor([[0.09, 0.15], [0.06, 0.24], [0.04, 0.28], [0.06, 0.11], [0.04, 0.08]])
SAMPLES = 128


class Recordings(Dataset):
    """Every item is read from disk (which takes a moment) and turned into a spectrum."""

    def __init__(self, size: int, seed: int):
        self.size, self.seed = size, seed
        self.vowels = torch.randint(len(FORMANTS), (size,), generator=torch.Generator().manual_seed(seed))

    def __len__(self) -> int:
        return self.size

    def read(self, index: int) -> Tensor:
        time.sleep(0.004)
        generator = torch.Generator().manual_seed(1000 * self.seed + index)
        voice = 1 + 0.08 * torch.randn(2, generator=generator)
        phase = 6.28 * torch.rand(2, 1, generator=generator)
        tones = torch.sin(6.28 * (FORMANTS[self.vowels[index]] * voice)[:, None] * torch.arange(SAMPLES) + phase)
        return tones.sum(dim=0) + torch.randn(SAMPLES, generator=generator)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        spectrum = torch.fft.rfft(self.read(index)).abs()
        return torch.log1p(spectrum) - 2.5, self.vowels[index]


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    train_set, val_set = Recordings(384, seed=1), Recordings(96, seed=2)
    workers = {"num_workers": 2, "persistent_workers": True, "prefetch_factor": 4}
    train_loader = DataLoader(train_set, batch_size=24, shuffle=True, **workers)
    val_loader = DataLoader(val_set, batch_size=48, **workers)
    model = nn.Sequential(nn.Linear(SAMPLES // 2 + 1, 32), nn.ReLU(), nn.Linear(32, len(FORMANTS)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.1)
    for epoch in range(1, 5):
        start = time.perf_counter()
        model.train()
        total = 0.0
        for spectra, vowels in train_loader:
            loss = F.cross_entropy(model(spectra), vowels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        seconds = time.perf_counter() - start
        model.eval()
        with torch.no_grad():
            hits = sum((model(spectra).argmax(dim=1) == vowels).sum().item() for spectra, vowels in val_loader)
        print(
            f"epoch {epoch}  train loss {total / len(train_loader):.3f}  val accuracy {hits / len(val_set):.3f}  "
            f"{seconds:.2f} s"
        )


if __name__ == "__main__":
    main()
