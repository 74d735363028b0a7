"""Sentence classifier on nn.TransformerEncoder."""
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

torch.manual_seed(0)
V = 40
data = []
for _ in range(800):
    n = int(torch.randint(4, 16, (1,)))
    s = torch.randint(2, V, (n,))
    data.append((s, int((s < V // 2).sum() * 2 > n)))


def collate(items):
    xs, ys = zip(*items)
    return pad_sequence(xs, batch_first=True, padding_value=0), torch.tensor(ys)


class Clf(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.emb = nn.Embedding(V, d, padding_idx=0)
        layer = nn.TransformerEncoderLayer(d, 4, 64, dropout=0.1, batch_first=True)
        self.enc = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.fc = nn.Linear(d, 2)

    def forward(self, x):
        mask = x != 0
        h = self.enc(self.emb(x), src_key_padding_mask=~mask)
        m = mask[..., None].float()
        return self.fc((h * m).sum(1) / m.sum(1))


def collate_pad(items):
    x, y = collate(items)
    return torch.cat([x, torch.zeros(len(x), 1, dtype=torch.long)], 1), y


loader = DataLoader(data[:640], batch_size=32, shuffle=True, collate_fn=collate_pad)
valid = DataLoader(data[640:], batch_size=32, collate_fn=collate_pad)
model = Clf()
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
for epoch in range(4):
    model.train()
    for x, y in loader:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        right = sum((model(x).argmax(1) == y).sum().item() for x, y in valid)
    print(epoch, loss.item(), right / 160)
