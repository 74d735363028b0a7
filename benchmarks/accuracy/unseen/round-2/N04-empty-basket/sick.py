import torch
import torch.nn as nn

torch.manual_seed(0)
torch.set_num_threads(1)
ITEMS, SLOTS = 40, 6
worth = torch.randn(ITEMS)


def baskets(n, lo):
    items = torch.randint(0, ITEMS, (n, SLOTS))
    size = torch.randint(lo, SLOTS + 1, (n,))
    mask = torch.arange(SLOTS)[None] < size[:, None]
    total = (worth[items] * mask).sum(1) / size.clamp(min=1)
    return items, mask, total


class SetAttention(nn.Module):
    def __init__(self, d=16):
        super().__init__()
        self.emb = nn.Embedding(ITEMS, d)
        self.key = nn.Linear(d, d)
        self.query = nn.Parameter(torch.randn(d) * 0.2)
        self.out = nn.Linear(d, 1)

    def forward(self, items, mask):
        e = self.emb(items)
        score = self.key(e) @ self.query
        score = score.masked_fill(~mask, float("-inf"))  # <- PM108
        w = torch.softmax(score, dim=1)
        pooled = (w.unsqueeze(-1) * e).sum(1)
        return self.out(pooled).squeeze(1)


items, mask, total = baskets(2400, 0)
vi, vm, vt = baskets(400, 1)
model = SetAttention()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(8):
    for b in torch.randperm(2400).split(60):
        loss = nn.functional.mse_loss(model(items[b], mask[b]), total[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        v = nn.functional.mse_loss(model(vi, vm), vt).item()
    print(f"epoch {epoch} loss {loss.item():.4f} val {v:.4f}")
