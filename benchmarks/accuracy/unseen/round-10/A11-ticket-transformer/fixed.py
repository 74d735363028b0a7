"""Support ticket routing with a small Transformer encoder and a [CLS] summary token."""
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

PAD, CLS, VOCAB, MAX_LEN, N_QUEUES = 0, 1, 200, 24, 4


class Tickets(Dataset):
    """Every queue prefers its own part of the vocabulary; most words are shared."""

    def __init__(self, n, seed):
        rng = random.Random(seed)
        self.rows = []
        for _ in range(n):
            queue = rng.randrange(N_QUEUES)
            length = rng.randint(6, 18)
            own = range(20 + 15 * queue, 35 + 15 * queue)
            words = [rng.choice(own) if rng.random() < 0.3 else rng.randrange(20, VOCAB) for _ in range(length)]
            self.rows.append((words, queue))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        words, queue = self.rows[i]
        ids = [CLS] + words
        ids = ids + [PAD] * (MAX_LEN - len(ids))
        attention_mask = [int(t != PAD) for t in ids]
        return torch.tensor(ids), torch.tensor(attention_mask), queue


class Router(nn.Module):
    def __init__(self, dim=32, heads=4, layers=2):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, dim, padding_idx=PAD)
        self.pos = nn.Parameter(torch.randn(1, MAX_LEN, dim) * 0.02)
        layer = nn.TransformerEncoderLayer(dim, heads, dim * 2, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(dim, N_QUEUES)

    def forward(self, ids, attention_mask):
        x = self.tok(ids) + self.pos
        x = self.encoder(x, src_key_padding_mask=attention_mask == 0)
        return self.head(x[:, 0])


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    hits = n = 0
    for ids, mask, queue in loader:
        hits += (model(ids, mask).argmax(1) == queue).sum().item()
        n += len(queue)
    return hits / n


def main():
    torch.manual_seed(13)
    train = DataLoader(Tickets(1280, 1), batch_size=32, shuffle=True)
    val = DataLoader(Tickets(300, 2), batch_size=100)
    model = Router()
    opt = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01)
    loss_fn = nn.CrossEntropyLoss()
    for epoch in range(8):
        model.train()
        total = n = 0
        for ids, mask, queue in train:
            opt.zero_grad()
            loss = loss_fn(model(ids, mask), queue)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            total += loss.item() * len(queue)
            n += len(queue)
        print(f"epoch {epoch}: loss {total / n:.4f}, val accuracy {accuracy(model, val):.3f}")


if __name__ == "__main__":
    main()
