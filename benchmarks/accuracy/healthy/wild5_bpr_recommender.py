"""Matrix factorisation with the pairwise ranking loss; each user's last item is held out and ranked."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(13)
torch.set_num_threads(1)
USERS, ITEMS, SEEN = 300, 200, 15
taste, kind = torch.randn(USERS, 5), torch.randn(ITEMS, 5)
score = taste @ kind.T + torch.distributions.Gumbel(0.0, 1.0).sample((USERS, ITEMS))
liked = score.topk(SEEN + 1, dim=1).indices
liked = liked.gather(1, torch.rand(USERS, SEEN + 1).argsort(1))
train, held = liked[:, :-1], liked[:, -1]
known = torch.zeros(USERS, ITEMS, dtype=torch.bool).scatter(1, train, True)


class Factors(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.user, self.item, self.bias = nn.Embedding(USERS, width), nn.Embedding(ITEMS, width), nn.Embedding(ITEMS, 1)
        for table in (self.user, self.item, self.bias):
            nn.init.normal_(table.weight, std=0.05)

    def forward(self, user, item):
        return (self.user(user) * self.item(item)).sum(-1) + self.bias(item).squeeze(-1)

    @torch.no_grad()
    def hit_rate(self, k=10):
        scores = self.user.weight @ self.item.weight.T + self.bias.weight.T
        best = scores.masked_fill(known, float("-inf")).topk(k, dim=1).indices
        return (best == held[:, None]).any(1).float().mean().item()


model = Factors()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
print(f"held-out item in the first ten before {model.hit_rate():.3f}")
for epoch in range(1, 25):
    for _ in range(12):
        user = torch.randint(0, USERS, (512,))
        good = train[user, torch.randint(0, SEEN, (512,))]
        other = torch.randint(0, ITEMS, (512,))
        fair = ~known[user, other]
        margin = model(user[fair], good[fair]) - model(user[fair], other[fair])
        size = sum(t(i[fair]).pow(2).sum(1).mean() for t, i in ((model.user, user), (model.item, good), (model.item, other)))
        loss = -F.logsigmoid(margin).mean() + 5e-3 * size
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 6 == 0:
        print(f"epoch {epoch} loss {loss.item():.3f} held-out item in the first ten {model.hit_rate():.3f}")
