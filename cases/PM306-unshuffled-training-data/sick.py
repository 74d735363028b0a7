"""Speaker identification from short feature tracks; the recordings are listed speaker by speaker."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

N_SPEAKERS, COEFFICIENTS, FRAMES = 24, 12, 20


class Recordings(Dataset):
    def __init__(self, voices: Tensor, clips_per_speaker: int):
        self.items: list[tuple[Tensor, int]] = []
        for speaker, voice in enumerate(voices):
            for _ in range(clips_per_speaker):
                mood = 0.6 * torch.randn(COEFFICIENTS, 1)
                clip = voice[:, None] + mood + 0.7 * torch.randn(COEFFICIENTS, FRAMES)
                self.items.append((clip, speaker))

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, i: int) -> tuple[Tensor, int]:
        return self.items[i]


class SpeakerNet(nn.Module):
    def __init__(self, width: int = 32):
        super().__init__()
        self.conv1 = nn.Conv1d(COEFFICIENTS, width, 3, padding=1)
        self.conv2 = nn.Conv1d(width, 2 * width, 3, padding=1)
        self.head = nn.Linear(2 * width, N_SPEAKERS)

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.conv2(F.relu(self.conv1(x))))
        return self.head(x.mean(dim=2))


def train_epoch(model: nn.Module, loader: DataLoader, optimizer: torch.optim.Optimizer) -> float:
    model.train()
    total = 0.0
    for clips, speakers in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(clips), speakers)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(speakers)
    return total / len(loader.dataset)


@torch.no_grad()
def evaluate(model: nn.Module, loader: DataLoader) -> tuple[float, int]:
    model.eval()
    predicted = torch.cat([model(clips).argmax(dim=1) for clips, _ in loader])
    speakers = torch.cat([speakers for _, speakers in loader])
    return (predicted == speakers).float().mean().item(), len(predicted.unique())


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    voices = torch.randn(N_SPEAKERS, COEFFICIENTS)
    train_set, val_set = Recordings(voices, 50), Recordings(voices, 12)
    train_loader = DataLoader(train_set, batch_size=60, shuffle=False)  # <- PM306
    val_loader = DataLoader(val_set, batch_size=144)

    model = SpeakerNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=1.5e-2)
    for epoch in range(8):
        loss = train_epoch(model, train_loader, optimizer)
        accuracy, heard = evaluate(model, val_loader)
        print(f"epoch {epoch:2d}  train loss {loss:.4f}  val acc {accuracy:.3f}  speakers predicted {heard}")


if __name__ == "__main__":
    main()
