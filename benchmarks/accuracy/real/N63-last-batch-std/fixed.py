"""Speaker embeddings with batch-standardised features; the data set has 1201 clips."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(13)


class BatchStandardise(nn.Module):
    """Zero mean and unit deviation over the batch, with a learned scale."""

    def __init__(self, dim):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        centred = x - x.mean(dim=0)
        return self.scale * centred / (x.std(dim=0, unbiased=False) + 1e-5)


class SpeakerNet(nn.Module):
    def __init__(self, speakers):
        super().__init__()
        self.frames = nn.Sequential(nn.Conv1d(8, 24, 3), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten())
        self.norm = BatchStandardise(24)
        self.classify = nn.Linear(24, speakers)

    def forward(self, x):
        return self.classify(self.norm(self.frames(x)))


speaker = torch.randint(6, (1201,))
timbre = torch.randn(6, 8, 1)
clips = timbre[speaker] + torch.randn(1201, 8, 20)
loader = DataLoader(TensorDataset(clips, speaker), batch_size=24, shuffle=True)
net = SpeakerNet(6)
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
criterion = nn.CrossEntropyLoss()
for epoch in range(5):
    right, total = 0, 0.0
    for clip, who in loader:
        optimizer.zero_grad()
        logits = net(clip)
        loss = criterion(logits, who)
        loss.backward()
        optimizer.step()
        total += loss.item()
        right += (logits.argmax(1) == who).sum().item()
    print(f"epoch {epoch} loss {total / len(loader):.4f} accuracy {right / len(clips):.3f}")
