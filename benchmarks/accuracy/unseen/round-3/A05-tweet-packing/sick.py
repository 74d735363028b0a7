import random

import torch
from torch import nn, optim
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence

PAD = 0
VOCAB = 300
POSITIVE = list(range(10, 30))
NEGATIVE = list(range(30, 50))
NEGATORS = [50, 51, 52]


def make_tweet(rng):
    """Token ids; sentiment words count, and a negator flips the word right after it."""
    length = rng.randint(5, 24)
    toks = [rng.randint(60, VOCAB - 1) for _ in range(length)]
    score = 0
    for _ in range(rng.choice([1, 3])):
        good = rng.random() < 0.5
        pos = rng.randrange(1, length)
        toks[pos] = rng.choice(POSITIVE if good else NEGATIVE)
        if rng.random() < 0.25:
            toks[pos - 1] = rng.choice(NEGATORS)
    for i, tok in enumerate(toks):
        sign = 1 if tok in POSITIVE else -1 if tok in NEGATIVE else 0
        if sign and i and toks[i - 1] in NEGATORS:
            sign = -sign
        score += sign
    return toks, int(score > 0)


def collate(samples):
    seqs = [torch.tensor(t) for t, _ in samples]
    lengths = torch.tensor([len(s) for s in seqs])
    return pad_sequence(seqs, batch_first=True, padding_value=PAD), lengths, torch.tensor([y for _, y in samples])


class TweetLSTM(nn.Module):
    def __init__(self, dim=32, hidden=48):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, dim, padding_idx=PAD)
        self.lstm = nn.LSTM(dim, hidden, batch_first=True, bidirectional=True)
        self.out = nn.Sequential(nn.Linear(2 * hidden, 32), nn.ReLU(), nn.Linear(32, 2))

    def forward(self, tokens, lengths):
        lengths, order = lengths.sort(descending=True)
        packed = pack_padded_sequence(self.emb(tokens[order]), lengths, batch_first=True)
        _, (h, _) = self.lstm(packed)
        h = torch.cat([h[-2], h[-1]], dim=-1)
        return self.out(h)


def batches(data, size, rng=None):
    idx = list(range(len(data)))
    if rng is not None:
        rng.shuffle(idx)
    for i in range(0, len(idx), size):
        yield collate([data[j] for j in idx[i:i + size]])


def test(model, data):
    model.eval()
    right = 0
    with torch.no_grad():
        for tokens, lengths, y in batches(data, 100):
            right += (model(tokens, lengths).argmax(-1) == y).sum().item()
    return right / len(data)


rng = random.Random(42)
torch.manual_seed(42)
corpus = [make_tweet(rng) for _ in range(3400)]
train, held_out = corpus[:3000], corpus[3000:]
model = TweetLSTM()
optimizer = optim.Adam(model.parameters(), lr=3e-3)
loss_fn = nn.CrossEntropyLoss()

for epoch in range(6):
    model.train()
    total, steps = 0.0, 0
    for tokens, lengths, y in batches(train, 50, rng):
        optimizer.zero_grad()
        loss = loss_fn(model(tokens, lengths), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
        steps += 1
    print(f"epoch {epoch + 1}: loss {total / steps:.4f}, held-out accuracy {test(model, held_out):.4f}")
