"""Next-item model over a catalogue; the item table is used at both ends."""
import torch
import torch.nn as nn
import torch.nn.functional as F

ITEMS, DIM = 400, 16


class NextItem(nn.Module):
    def __init__(self, start_vectors):
        super().__init__()
        self.table = nn.Embedding(ITEMS, DIM)
        self.mix = nn.GRU(DIM, DIM, batch_first=True)
        self.out = nn.Linear(DIM, ITEMS, bias=False)
        self.out.weight = self.table.weight
        self.init_weights(start_vectors)

    def init_weights(self, start_vectors):
        self.table.weight = nn.Parameter(start_vectors.clone())  # <- PM411

    def forward(self, ids):
        h, _ = self.mix(self.table(ids))
        return self.out(h[:, -1] + self.table(ids[:, -1]))


def sessions(n, seed, groups):
    g = torch.Generator().manual_seed(seed)
    k = torch.randint(0, groups, (n,), generator=g)
    size = ITEMS // groups
    return k[:, None] * size + torch.randint(0, size, (n, 5), generator=g)


def catalogue_vectors(groups):
    g = torch.Generator().manual_seed(0)
    centre = torch.randn(groups, DIM, generator=g)
    return centre.repeat_interleave(ITEMS // groups, 0) + 0.5 * torch.randn(ITEMS, DIM, generator=g)


torch.manual_seed(0)
torch.set_num_threads(1)
groups = 20
train, test = sessions(300, 1, groups), sessions(500, 2, groups)
model = NextItem(catalogue_vectors(groups))
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(10):
    model.train()
    total = 0.0
    for b in torch.randperm(len(train)).split(20):
        loss = F.cross_entropy(model(train[b, :-1]), train[b, -1])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        scores = model(test[:, :-1])
        hit = (scores.topk(20).indices == test[:, -1:]).any(1).float().mean()
    if epoch % 2:
        print(f"epoch {epoch + 1}: loss {total / 15:.3f}  hit rate at 20 {hit:.3f}")
