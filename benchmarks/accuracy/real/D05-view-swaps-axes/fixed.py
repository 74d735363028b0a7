"""Audio-visual style separation front-end: convolutions over a spectrogram, then an LSTM over time."""
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
TIME, FREQ, CHANNELS = 20, 12, 4


class SpectrogramTagger(nn.Module):
    """Which frame carries the click?"""

    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(1, CHANNELS, 3, padding=1), nn.ReLU())
        self.lstm = nn.LSTM(CHANNELS * FREQ, 32, batch_first=True, bidirectional=True)
        self.frame = nn.Linear(64, 1)

    def forward(self, spec):
        x = self.conv(spec)
        x = x.permute(0, 2, 1, 3).reshape(x.size(0), TIME, -1)
        x, _ = self.lstm(x)
        return self.frame(x).squeeze(-1)


def spectrograms(n):
    where = torch.randint(TIME, (n,))
    spec = torch.randn(n, 1, TIME, FREQ)
    spec[torch.arange(n), 0, where] += 1.0
    return spec, where


model = SpectrogramTagger()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
criterion = nn.CrossEntropyLoss()
for step in range(150):
    spec, where = spectrograms(32)
    loss = criterion(model(spec), where)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 25 == 0:
        print(f"step {step} loss {loss.item():.3f}")

model.eval()
with torch.no_grad():
    spec, where = spectrograms(256)
    print("accuracy", (model(spec).argmax(1) == where).float().mean().item())
