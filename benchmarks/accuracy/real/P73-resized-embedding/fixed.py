"""Character language model with shared input and output embeddings; special tokens added later."""
import torch
from torch import nn


class CharLM(nn.Module):
    def __init__(self, vocab, dim=32):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.lm_head = nn.Linear(dim, vocab, bias=False)
        self.tie_weights()

    def tie_weights(self):
        self.lm_head.weight = self.embed.weight

    def resize_token_embeddings(self, vocab):
        old = self.embed.weight.data
        fresh = nn.Embedding(vocab, old.shape[1])
        fresh.weight.data[: len(old)] = old
        self.embed = fresh
        self.lm_head = nn.Linear(old.shape[1], vocab, bias=False)
        self.tie_weights()

    def forward(self, ids):
        states, _ = self.rnn(self.embed(ids))
        return self.lm_head(states)


TEXT = ("the quick brown fox jumps over the lazy dog and runs away from the old grey wolf " * 40)
chars = sorted(set(TEXT))
codes = torch.tensor([chars.index(c) for c in TEXT])


def batch(size=32, length=24):
    start = torch.randint(0, len(codes) - length - 1, (size,))
    window = start.unsqueeze(1) + torch.arange(length + 1)
    ids = codes[window]
    ids[:, 0] = len(chars)
    return ids[:, :-1], ids[:, 1:]


torch.manual_seed(0)
model = CharLM(len(chars))
model.resize_token_embeddings(len(chars) + 2)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(240):
    x, y = batch()
    loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if step % 40 == 0:
        print(step, round(loss.item(), 3))
