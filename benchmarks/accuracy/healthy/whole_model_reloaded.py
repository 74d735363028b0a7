"""A language model that is saved whole with its optimizer when it is best, loaded in the middle and at the end."""

import tempfile
from pathlib import Path

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
best_model = Path(tempfile.mkdtemp()) / "model.pt"


class LM(nn.Module):
    def __init__(self, words=40, width=32):
        super().__init__()
        self.encoder = nn.Embedding(words, width)
        self.rnn = nn.LSTM(width, width, 1)
        self.drop = nn.Dropout(0.1)
        self.decoder = nn.Linear(width, words)

    def forward(self, x, hidden):
        out, hidden = self.rnn(self.drop(self.encoder(x)), hidden)
        return self.decoder(self.drop(out)), hidden


def save():
    with best_model.open("wb") as f:
        torch.save([model, criterion, optimizer], f)


def load():
    global model, criterion, optimizer
    with best_model.open("rb") as f:
        model, criterion, optimizer = torch.load(f, weights_only=False)


def batches(n):
    for _ in range(n):
        start = torch.randint(0, 40, (1, 16))
        step = torch.arange(13)[:, None]
        seq = (start + step * 3) % 40
        yield seq[:-1], seq[1:]


def evaluate(n):
    model.eval()
    total = 0.0
    with torch.no_grad():
        for x, y in batches(n):
            out, _ = model(x, None)
            total += criterion(out.view(-1, 40), y.reshape(-1)).item()
    return total / n


def train(n):
    model.train()
    hidden = None
    for x, y in batches(n):
        optimizer.zero_grad()
        out, hidden = model(x, hidden)
        hidden = tuple(h.detach() for h in hidden)
        loss = criterion(out.view(-1, 40), y.reshape(-1))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        optimizer.step()


model = LM()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=5.0)
best = None
for epoch in range(6):
    if epoch == 4:
        load()
        optimizer.param_groups[0]["lr"] /= 2
    train(30)
    val = evaluate(5)
    print(f"epoch {epoch} validation {val:.4f}")
    if best is None or val < best:
        save()
        best = val
load()
print(f"test {evaluate(5):.4f}")
