"""Speech-like frames read in consecutive chunks by an LSTM; one update per pass over the recording."""
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(1)

FRAMES, CHUNK, SPEAKERS = 300, 5, 6
time = torch.arange(FRAMES, dtype=torch.float32)
pitch = torch.linspace(0.1, 0.4, SPEAKERS)
signal = torch.sin(pitch[:, None] * time) + 0.1 * torch.randn(SPEAKERS, FRAMES)


class FramePredictor(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.lstm = nn.LSTM(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, frames, state=None):
        features, state = self.lstm(frames.unsqueeze(-1), state)
        return self.out(features).squeeze(-1), state


model = FramePredictor()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-2)
chunks = [(signal[:, i:i + CHUNK], signal[:, i + 1:i + CHUNK + 1]) for i in range(0, FRAMES - CHUNK - 1, CHUNK)]

for epoch in range(7):
    state = None
    epoch_loss = 0.0
    optimizer.zero_grad()
    for frames, following in chunks:
        predicted, state = model(frames, state)
        state = tuple(s.detach() for s in state)
        loss = nn.functional.mse_loss(predicted, following) / len(chunks)
        loss.backward()
        epoch_loss += loss.item()
    optimizer.step()
    print(f"epoch {epoch} loss {epoch_loss:.4f}")
