import torch, torch.nn as nn, torch.nn.functional as F

g = torch.Generator().manual_seed(8)
torch.manual_seed(8)
IDS, PER, DIM = 60, 24, 40
# descriptor = identity part hidden in a few directions + strong pose / lighting nuisance
ident = torch.randn(IDS, 6, generator=g)
mix_i = torch.randn(6, DIM, generator=g) / 6 ** .5
mix_n = torch.randn(8, DIM, generator=g) / 8 ** .5
who = torch.arange(IDS).repeat_interleave(PER)
feats = ident[who] @ mix_i + 3.0 * torch.randn(len(who), 8, generator=g) @ mix_n + .15 * torch.randn(len(who), DIM, generator=g)
feats = feats / feats.std()
train_ids, test_ids = torch.arange(40), torch.arange(40, IDS)


class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(DIM, 128), nn.ReLU(), nn.Linear(128, 32))

    def forward(self, x):
        return F.normalize(self.f(x), dim=1)


def batch_hard(z, y, margin):
    dist = torch.cdist(z, z)
    same = y[:, None] == y[None]
    hardest_neg = dist.masked_fill(same, float("inf")).amin(1)
    hardest_pos = dist.masked_fill(~same, float("inf")).amin(1)
    return F.relu(hardest_pos - hardest_neg + margin).mean()


def pk_batch(p=16, k=4):
    ids = train_ids[torch.randperm(len(train_ids))[:p]]
    rows = torch.cat([torch.randperm(PER)[:k] + i * PER for i in ids.tolist()])
    return feats[rows], who[rows]


@torch.no_grad()
def recall_at_1(net):
    m = torch.isin(who, test_ids)
    z, y = net(feats[m]), who[m]
    d = torch.cdist(z, z).fill_diagonal_(9)
    return (y[d.argmin(1)] == y).float().mean().item()


net = Embedder()
opt = torch.optim.Adam(net.parameters(), 1e-3)
print("untrained val recall@1 %.3f" % recall_at_1(net))
avg = None
for it in range(1, 601):
    x, y = pk_batch()
    loss = batch_hard(net(x), y, .3)
    opt.zero_grad()
    loss.backward()
    opt.step()
    avg = loss.item() if avg is None else .95 * avg + .05 * loss.item()
    if it % 100 == 0:
        print("it %d loss %.4f val recall@1 %.3f" % (it, avg, recall_at_1(net)))
