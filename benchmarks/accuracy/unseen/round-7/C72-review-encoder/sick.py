"""Transformer encoder classifying short token sequences (does a trigger pair occur in the review?)."""
import random

import torch
import torch.nn as nn

PAD = 0
VOCAB = 40
MAXLEN = 20


def make(n, seed):
    rng = random.Random(seed)
    rows, labels = [], []
    for _ in range(n):
        length = rng.randint(4, MAXLEN - 2)
        toks = [rng.randint(10, VOCAB - 1) for _ in range(length)]
        label = rng.randint(0, 1)
        a, b = rng.sample(range(length), 2)
        toks[a] = 5
        toks[b] = 6 if label else 7
        rows.append(toks + [PAD] * (MAXLEN - length))
        labels.append(label)
    return torch.tensor(rows), torch.tensor(labels)


class ReviewEncoder(nn.Module):
    def __init__(self, d=32, heads=4, layers=2):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, d, padding_idx=PAD)
        self.pos = nn.Parameter(torch.randn(MAXLEN, d) * 0.02)
        layer = nn.TransformerEncoderLayer(d, heads, 64, dropout=0.1, batch_first=True)
        self.enc = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.cls = nn.Linear(d, 2)

    def forward(self, ids):
        mask = ids != PAD
        h = self.enc(self.tok(ids) + self.pos, src_key_padding_mask=mask)
        return self.cls(h[:, 0])


def batches(x, y, size, gen):
    perm = torch.randperm(len(x), generator=gen)
    for i in range(0, len(x), size):
        j = perm[i:i + size]
        yield x[j], y[j]


def main():
    torch.manual_seed(1)
    gen = torch.Generator().manual_seed(1)
    xtr, ytr = make(1500, 0)
    xva, yva = make(400, 1)
    model = ReviewEncoder()
    opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
    lossf = nn.CrossEntropyLoss()
    for epoch in range(6):
        model.train()
        tot, k = 0.0, 0
        for x, y in batches(xtr, ytr, 50, gen):
            loss = lossf(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot += loss.item()
            k += 1
        model.eval()
        with torch.no_grad():
            acc = (model(xva).argmax(1) == yva).float().mean().item()
        print(f"epoch {epoch} train {tot / k:.3f} val_acc {acc:.3f}")


if __name__ == "__main__":
    main()
