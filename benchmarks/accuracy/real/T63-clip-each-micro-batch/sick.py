"""Sentence classifier with gradient accumulation: a GRU over token ids."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(3)
VOCAB, CLASSES, LENGTH = 60, 4, 12
ACCUMULATE, MAX_NORM = 8, 0.25


def make_split(n):
    topic = torch.randint(0, CLASSES, (n,))
    words = torch.randint(0, VOCAB, (n, LENGTH))
    hint = torch.rand(n, LENGTH) < 0.35
    words[hint] = (topic.unsqueeze(1) * 5 + torch.randint(0, 5, (n, LENGTH)))[hint]
    return words, topic


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, 24)
        self.gru = nn.GRU(24, 32, batch_first=True)
        self.out = nn.Linear(32, CLASSES)

    def forward(self, ids):
        states, _ = self.gru(self.embed(ids))
        return self.out(states.mean(1))


def evaluate(model, data):
    model.eval()
    with torch.no_grad():
        accuracy = (model(data[0]).argmax(1) == data[1]).float().mean().item()
    model.train()
    return accuracy


train_ids, train_y = make_split(1536)
valid = make_split(400)
model = Reader()
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
optimizer.zero_grad()
micro = 0
for epoch in range(5):
    order = torch.randperm(len(train_ids))
    for rows in order.split(16):
        loss = F.cross_entropy(model(train_ids[rows]), train_y[rows])
        (loss / ACCUMULATE).backward()
        nn.utils.clip_grad_norm_(model.parameters(), MAX_NORM)  # <- PM604
        micro += 1
        if micro % ACCUMULATE == 0:
            optimizer.step()
            optimizer.zero_grad()
    print(f"epoch {epoch}  loss {loss.item():.3f}  valid accuracy {evaluate(model, valid):.3f}")
