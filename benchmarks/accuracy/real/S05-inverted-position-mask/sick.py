"""Streaming-style encoder with relative timing: positions are only added where there is signal."""
import math

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset


def sinusoids(length, dim):
    position = torch.arange(length).unsqueeze(1)
    rate = torch.exp(torch.arange(0, dim, 2) * (-math.log(100.0) / dim))
    table = torch.zeros(length, dim)
    table[:, 0::2], table[:, 1::2] = torch.sin(position * rate), torch.cos(position * rate)
    return table


class OrderedTokens(Dataset):
    """Does token A come before token B?"""

    def __init__(self, n):
        g = torch.Generator().manual_seed(n)
        self.items = []
        for _ in range(n):
            length = int(torch.randint(6, 13, (1,), generator=g))
            tokens = torch.randint(3, 12, (length,), generator=g)
            a, b = torch.randperm(length, generator=g)[:2].tolist()
            tokens[a], tokens[b] = 1, 2
            self.items.append((tokens, int(a < b)))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(batch):
    return pad_sequence([t for t, _ in batch], batch_first=True), torch.tensor([y for _, y in batch])


class TransformerASR(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.src_embed = nn.Embedding(12, dim, padding_idx=0)
        self.register_buffer("pe", sinusoids(32, dim))
        layer = nn.TransformerEncoderLayer(dim, 4, 64, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(dim, 2)

    def forward(self, tokens):
        src_key_padding_mask = tokens == 0
        pos = self.pe[: tokens.shape[1]] * src_key_padding_mask.unsqueeze(-1)  # <- PM415
        x = self.encoder(self.src_embed(tokens) + pos, src_key_padding_mask=src_key_padding_mask)
        x = x.masked_fill(src_key_padding_mask.unsqueeze(-1), 0.0)
        return self.out(x.sum(1) / (~src_key_padding_mask).sum(1, keepdim=True))


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    loader = DataLoader(OrderedTokens(1280), batch_size=64, shuffle=True, collate_fn=collate)
    model = TransformerASR()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(6):
        total = 0.0
        for tokens, label in loader:
            loss = nn.functional.cross_entropy(model(tokens), label)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(loader):.4f}")
