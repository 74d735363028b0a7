import torch
import torch.nn as nn

torch.manual_seed(0)
torch.set_num_threads(1)
ENT, REL = 80, 4
secret_e, secret_r = torch.randn(ENT, 3), torch.randn(REL, 3) * 0.7


def facts():
    out = []
    for r in range(REL):
        d = torch.cdist(secret_e + secret_r[r], secret_e)
        near = d.topk(3, largest=False).indices
        out += [(h, r, t) for h in range(ENT) for t in near[h].tolist()]
    return torch.tensor(out)


class TransE(nn.Module):
    def __init__(self, d=16):
        super().__init__()
        self.e, self.r = nn.Embedding(ENT, d), nn.Embedding(REL, d)

    def distance(self, h, r, t):
        return (self.e(h) + self.r(r) - self.e(t)).norm(dim=1)


kg = facts()
kg = kg[torch.randperm(len(kg))]
train, test = kg[:860], kg[860:]
model = TransE()
opt = torch.optim.Adam(model.parameters(), lr=1e-2, weight_decay=1e-5)
for epoch in range(60):
    for b in torch.randperm(len(train)).split(86):
        h, r, t = train[b].T
        wrong = torch.randint(0, ENT, t.shape)
        pos, neg = model.distance(h, r, t), model.distance(h, r, wrong)
        loss = torch.relu(1.0 + pos - neg).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
with torch.no_grad():
    h, r, t = test.T
    every = torch.cdist(model.e(h) + model.r(r), model.e.weight)
    rank = (every < every.gather(1, t[:, None])).sum(1) + 1
print(f"loss {loss.item():.3f}")
print(f"hits@10 {(rank <= 10).float().mean().item():.3f}  mean rank {rank.float().mean().item():.1f} of {ENT}")
