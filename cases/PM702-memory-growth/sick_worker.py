"""Learn the pitch of short sounds that are synthesised on the fly by two workers."""

# needs: a quiet machine

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

NOTES, SAMPLES = 12, 4000


class Sounds(Dataset[tuple[Tensor, int]]):
    def __init__(self, n: int):
        self.n = n
        self.played: list[Tensor] = []

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        note = index % NOTES
        time = torch.arange(SAMPLES * 8) / (SAMPLES * 8)
        wave = torch.sin(6.28 * 200 * 2 ** (note / NOTES) * time + 6.28 * torch.rand(()))
        self.played.append(wave)  # <- PM702
        return wave[::8] + 0.3 * torch.randn(SAMPLES), note


class Ear(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(256, NOTES)

    def forward(self, sound: Tensor) -> Tensor:
        return self.head(torch.fft.rfft(sound).abs()[:, :256].log1p())


torch.set_num_threads(1)
torch.manual_seed(0)
loader = DataLoader(Sounds(720), batch_size=12, shuffle=True, num_workers=2, persistent_workers=True)
model = Ear()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(1, 11):
    total, right = 0.0, 0
    for sounds, notes in loader:
        logits = model(sounds)
        loss = F.cross_entropy(logits, notes)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
        right += (logits.argmax(dim=1) == notes).sum().item()
    print(f"epoch {epoch}  loss {total / len(loader):.3f}  accuracy {right / 720:.3f}")
