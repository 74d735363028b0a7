"""Count-based sentence classification with a small transformer encoder."""
import math
import random

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

PAD, VOCAB, MAXLEN = 0, 40, 30


def make_sentence():
    """Label: which of three marker groups occurs most often."""
    label = random.randrange(3)
    length = random.randint(8, MAXLEN)
    words = [random.randint(10, VOCAB - 1) for _ in range(length)]
    counts = [1, 1, 1]
    counts[label] = 3
    slots = random.sample(range(length), sum(counts))
    for group, count in enumerate(counts):
        for _ in range(count):
            words[slots.pop()] = 1 + 3 * group + random.randrange(3)
    return torch.tensor(words), label


def collate(batch):
    ids = pad_sequence([b[0] for b in batch], batch_first=True, padding_value=PAD)
    return ids, torch.tensor([b[1] for b in batch])


class Encoder(nn.Module):
    def __init__(self, dim=32, heads=4, layers=1):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim, padding_idx=PAD)
        position = torch.arange(MAXLEN).unsqueeze(1)
        div = torch.exp(torch.arange(0, dim, 2) * (-math.log(10000.0) / dim))
        table = torch.zeros(MAXLEN, dim)
        table[:, 0::2] = torch.sin(position * div)
        table[:, 1::2] = torch.cos(position * div)
        self.register_buffer("positions", table)
        layer = nn.TransformerEncoderLayer(dim, heads, 64, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.cls = nn.Parameter(torch.randn(1, 1, dim) * 0.02)
        self.out = nn.Linear(dim, 3)

    def forward(self, ids):
        x = self.embed(ids) * 4 + self.positions[: ids.size(1)]
        x = torch.cat([self.cls.expand(len(ids), -1, -1), x], dim=1)
        mask = ids != PAD
        mask = torch.cat([torch.zeros(len(ids), 1, dtype=torch.bool), mask], dim=1)
        x = self.encoder(x, src_key_padding_mask=mask)
        return self.out(x[:, 0])


random.seed(1)
torch.manual_seed(1)
train_set = [make_sentence() for _ in range(2400)]
val_set = [make_sentence() for _ in range(400)]
train_loader = DataLoader(train_set, batch_size=48, shuffle=True, collate_fn=collate)
val_loader = DataLoader(val_set, batch_size=200, collate_fn=collate)

model = Encoder()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01)
loss_fn = nn.CrossEntropyLoss()

for epoch in range(8):
    model.train()
    total = 0.0
    for ids, labels in train_loader:
        loss = loss_fn(model(ids), labels)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        total += loss.item()
    model.eval()
    good = 0
    with torch.no_grad():
        for ids, labels in val_loader:
            good += (model(ids).argmax(-1) == labels).sum().item()
    print(f"epoch {epoch + 1}: train loss {total / len(train_loader):.4f}, val acc {good / len(val_set):.3f}")
