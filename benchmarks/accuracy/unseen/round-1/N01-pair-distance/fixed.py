import torch
import torch.nn as nn

torch.manual_seed(0)
torch.set_num_threads(1)
faces = torch.randn(12, 20)


class PairSampler:
    def __init__(self, n):
        self.y = torch.randint(0, 12, (n,))
        self.x = faces[self.y] + 0.8 * torch.randn(n, 20)

    def __call__(self, k):
        a, b = torch.randint(0, len(self.y), (2, k))
        return self.x[a], self.x[b], (self.y[a] == self.y[b]).float()


def contrastive(za, zb, same, margin=1.0):
    d = torch.sqrt(((za - zb) ** 2).sum(1) + 1e-8)
    pull = same * d ** 2
    push = (1 - same) * torch.clamp(margin - d, min=0) ** 2
    return (3 * pull + push).mean()


embed = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 8))
opt = torch.optim.Adam(embed.parameters(), lr=2e-3)
train = PairSampler(300)
test = PairSampler(400)
for step in range(600):
    a, b, same = train(64)
    loss = contrastive(embed(a), embed(b), same)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 150 == 149:
        with torch.no_grad():
            z = embed(test.x)
            dist = torch.cdist(z, z) + torch.eye(len(z)) * 1e6
            hit = (test.y[dist.argmin(1)] == test.y).float().mean().item()
        print(f"step {step + 1} loss {loss.item():.4f} retrieval@1 {hit:.3f}")
