"""Half-precision GRU on noisy waveforms: the loss scale starts too high on purpose and finds its level by itself."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

CLASSES = ("sine", "square", "saw", "pulse")


def make_waves(n: int, length: int = 40) -> TensorDataset:
    kind = torch.randint(len(CLASSES), (n,))
    period = torch.empty(n, 1).uniform_(8, 16)
    phase = (torch.arange(length) / period + torch.rand(n, 1)) % 1
    shapes = torch.stack(
        [
            torch.sin(2 * math.pi * phase),
            torch.where(phase < 0.5, 1.0, -1.0),
            2 * phase - 1,
            torch.where(phase < 0.15, 1.0, -0.2),
        ]
    )
    waves = shapes[kind, torch.arange(n)] + 0.25 * torch.randn(n, length)
    return TensorDataset(waves.unsqueeze(-1), kind)


class WaveNet(nn.Module):
    def __init__(self, hidden: int = 32):
        super().__init__()
        self.front = nn.Conv1d(1, 16, 5, stride=2, padding=2)
        self.gru = nn.GRU(16, hidden, batch_first=True)
        self.head = nn.Linear(hidden, len(CLASSES))

    def forward(self, x: Tensor) -> Tensor:
        with torch.autocast("cpu", dtype=torch.float16):
            features = F.relu(self.front(x.transpose(1, 2))).transpose(1, 2)
        states, _ = self.gru(features.float())
        with torch.autocast("cpu", dtype=torch.float16):
            return self.head(states.mean(dim=1)).float()


torch.set_num_threads(1)
torch.manual_seed(0)
train_loader = DataLoader(make_waves(1600), batch_size=32, shuffle=True)
val_waves, val_kinds = make_waves(400).tensors

model = WaveNet()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**24, growth_interval=100)

for epoch in range(5):
    model.train()
    total = 0.0
    for waves, kinds in train_loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(waves), kinds)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        accuracy = (model(val_waves).argmax(1) == val_kinds).float().mean().item()
    print(
        f"epoch {epoch + 1}: train loss {total / len(train_loader):.3f}  val accuracy {accuracy:.3f}  "
        f"loss scale 2^{math.log2(scaler.get_scale()):.0f}"
    )
