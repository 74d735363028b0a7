import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(10)
torch.set_num_threads(1)
N_ADS, DIM = 6, 10
taste = torch.randn(DIM, N_ADS)


def visitors(n):
    return torch.randn(n, DIM)


def clicks(ctx, ad):
    best = (ctx @ taste).argmax(1)
    p = torch.where(ad == best, 0.9, 0.1)
    return torch.bernoulli(p)


class AdPolicy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(DIM, 64), nn.ReLU(), nn.Linear(64, N_ADS))

    def forward(self, ctx):
        return Categorical(logits=self.net(ctx))

    def choose(self, ctx):
        return self(ctx).sample()


policy = AdPolicy()
opt = torch.optim.Adam(policy.parameters(), lr=5e-3)
baseline = 0.0
history = []
for step in range(600):
    ctx = visitors(128)
    ad = policy.choose(ctx)
    reward = clicks(ctx, ad)
    dist = policy(ctx)
    logp = dist.log_prob(ad)
    loss = -(logp * (reward - baseline)).mean() - 0.003 * dist.entropy().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    baseline = 0.95 * baseline + 0.05 * reward.mean().item()
    history.append(reward.mean().item())
    if step % 100 == 99:
        print(f"step {step + 1}: click rate {sum(history[-100:]) / 100:.3f}")
