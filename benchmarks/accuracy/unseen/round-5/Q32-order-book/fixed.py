"""Which of two events came last? Sequences of unequal length, padded at the end."""
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

PAD, A, B, NOISE = 0, 1, 2, 12


class Orders(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.rows = []
        for _ in range(n):
            length = int(torch.randint(6, 22, (1,), generator=g))
            row = torch.randint(3, NOISE, (length,), generator=g)
            spots = torch.randperm(length, generator=g)[:2]
            row[spots[0]], row[spots[1]] = A, B
            self.rows.append((row, int(spots[0] > spots[1])))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def collate(rows):
    tokens = pad_sequence([r for r, _ in rows], batch_first=True, padding_value=PAD)
    tokens = nn.functional.pad(tokens, (0, 1), value=PAD)
    return tokens, torch.tensor([label for _, label in rows])


class Encoder(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.token = nn.Embedding(NOISE, width, padding_idx=PAD)
        self.place = nn.Embedding(24, width)
        block = nn.TransformerEncoderLayer(width, 4, 64, dropout=0.0, batch_first=True)
        self.blocks = nn.TransformerEncoder(block, 2, enable_nested_tensor=False)
        self.out = nn.Linear(width, 2)

    def forward(self, tokens):
        h = self.token(tokens) + self.place.weight[: tokens.shape[1]]
        mask = tokens != PAD
        h = self.blocks(h, src_key_padding_mask=~mask)
        return self.out(h[:, 0])


torch.manual_seed(14)
torch.set_num_threads(1)
train = DataLoader(Orders(3000, 14), batch_size=64, shuffle=True, collate_fn=collate)
val = DataLoader(Orders(600, 15), batch_size=200, collate_fn=collate)
model = Encoder()
opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
for epoch in range(7):
    model.train()
    total = 0.0
    for tokens, label in train:
        loss = nn.functional.cross_entropy(model(tokens), label)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() / len(train)
    model.eval()
    with torch.no_grad():
        hits = torch.cat([(model(t).argmax(1) == y).float() for t, y in val])
    print(f"epoch {epoch} train loss {total:.3f} val accuracy {hits.mean():.3f}")
