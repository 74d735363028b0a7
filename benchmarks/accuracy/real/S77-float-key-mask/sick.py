"""Event sequences of patients (padded) -> readmission; nn.MultiheadAttention blocks."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

EVENTS, LONGEST = 40, 32


def patients(n, seed):
    g = torch.Generator().manual_seed(seed)
    lengths = torch.randint(3, LONGEST, (n,), generator=g)
    events = torch.randint(1, EVENTS, (n, LONGEST), generator=g)
    mask = (torch.arange(LONGEST) >= lengths[:, None]).float()
    events[mask.bool()] = 0
    danger = torch.randn(EVENTS, generator=torch.Generator().manual_seed(5))
    risk = (danger[events] * (1 - mask)).sum(1) / lengths
    return TensorDataset(events, mask, (risk > 0).float())


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.attention = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.ff = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x, mask):
        h = self.norm1(x)
        h, _ = self.attention(h, h, h, key_padding_mask=mask, need_weights=False)  # <- PM415
        x = x + h
        return x + self.ff(self.norm2(x))


class Readmission(nn.Module):
    def __init__(self, dim=32, heads=4, depth=2):
        super().__init__()
        self.embed = nn.Embedding(EVENTS, dim)
        self.summary = nn.Parameter(torch.zeros(1, 1, dim))
        self.blocks = nn.ModuleList(Block(dim, heads) for _ in range(depth))
        self.out = nn.Linear(dim, 1)

    def forward(self, events, mask):
        x = torch.cat([self.summary.expand(len(events), -1, -1), self.embed(events)], 1)
        mask = torch.cat([mask.new_zeros(len(mask), 1), mask], 1)
        for block in self.blocks:
            x = block(x, mask)
        return self.out(x[:, 0]).squeeze(-1)


def main():
    torch.manual_seed(0)
    train = DataLoader(patients(800, 0), batch_size=32, shuffle=True)
    valid = DataLoader(patients(200, 1), batch_size=50)
    model = Readmission()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    loss_fn = nn.BCEWithLogitsLoss()
    for epoch in range(6):
        model.train()
        for events, mask, label in train:
            loss = loss_fn(model(events, mask), label)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            right = sum(((model(e, m) > 0) == y.bool()).sum().item() for e, m, y in valid)
        print(f"epoch {epoch} loss {loss.item():.3f} validation accuracy {right / 200:.3f}")


if __name__ == "__main__":
    main()
