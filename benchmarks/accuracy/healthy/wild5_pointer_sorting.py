"""A pointer network sorts numbers: attention over the inputs is the answer; chosen inputs are masked."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Pointer(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.lift = nn.Linear(1, width)
        self.encoder = nn.LSTM(width, width, batch_first=True, bidirectional=True)
        self.decoder = nn.LSTMCell(width, 2 * width)
        self.start = nn.Parameter(torch.zeros(width))
        self.key, self.query, self.score = nn.Linear(2 * width, width), nn.Linear(2 * width, width), nn.Linear(width, 1)

    def forward(self, numbers, order=None):
        x = self.lift(numbers[..., None])
        memory, (h, c) = self.encoder(x)
        h, c = h.transpose(0, 1).flatten(1), c.transpose(0, 1).flatten(1)
        used = torch.zeros_like(numbers, dtype=torch.bool)
        token, logits = self.start.expand(len(x), -1), []
        for t in range(numbers.shape[1]):
            h, c = self.decoder(token, (h, c))
            score = self.score(torch.tanh(self.key(memory) + self.query(h)[:, None])).squeeze(2)
            score = score.masked_fill(used, -1e9)
            logits.append(score)
            choice = score.argmax(1) if order is None else order[:, t]
            used = used.scatter(1, choice[:, None], True)
            token = x[torch.arange(len(x)), choice]
        return torch.stack(logits, 1)


torch.manual_seed(17)
torch.set_num_threads(1)
model = Pointer()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
for step in range(1, 201):
    numbers = torch.rand(96, 6)
    order = numbers.argsort(1)
    loss = F.cross_entropy(model(numbers, order).flatten(0, 1), order.flatten())
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 2.0)
    optimizer.step()
    if step % 50 == 0:
        with torch.no_grad():
            numbers = torch.rand(500, 6)
            right = (model(numbers).argmax(-1) == numbers.argsort(1)).float()
        print(f"step {step} loss {loss.item():.3f} places right {right.mean():.3f} whole lists {right.all(1).float().mean():.3f}")
