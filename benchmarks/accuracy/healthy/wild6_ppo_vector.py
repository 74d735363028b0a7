"""PPO with GAE on a vectorised point-mass; separate actor and critic networks in one module."""
import torch
import torch.nn as nn
from torch.distributions import Normal


class PointMass:
    def __init__(self, n):
        self.n = n

    def reset(self):
        self.p = torch.rand(self.n, 2) * 2 - 1
        self.v = torch.zeros(self.n, 2)
        return self.obs()

    def obs(self):
        return torch.cat([self.p, self.v], 1)

    def step(self, a):
        self.v = 0.8 * self.v + 0.2 * a.clamp(-1, 1)
        self.p = self.p + 0.3 * self.v
        return self.obs(), -0.1 * self.p.norm(dim=1)


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.mu = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 2))
        self.value = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
        self.log_std = nn.Parameter(torch.full((2,), -0.5))
        nn.init.orthogonal_(self.mu[-1].weight, 0.01)

    def forward(self, obs):
        return Normal(self.mu(obs), self.log_std.exp()), self.value(obs).squeeze(-1)


torch.manual_seed(1)
torch.set_num_threads(1)
env, agent = PointMass(32), Agent()
opt = torch.optim.Adam(agent.parameters(), lr=3e-3, eps=1e-5)
GAMMA, LAM, H = 0.95, 0.9, 30
for it in range(50):
    obs, O, A, LP, V, R = env.reset(), [], [], [], [], []
    with torch.no_grad():
        for _ in range(H):
            dist, v = agent(obs)
            a = dist.sample()
            O.append(obs), A.append(a), LP.append(dist.log_prob(a).sum(-1)), V.append(v)
            obs, r = env.step(a)
            R.append(r)
        last = agent(obs)[1]
        adv, gae = [None] * H, torch.zeros(32)
        for t in reversed(range(H)):
            nxt = last if t == H - 1 else V[t + 1]
            delta = R[t] + GAMMA * nxt - V[t]
            gae = delta + GAMMA * LAM * gae
            adv[t] = gae
    O, A, LP, V, adv = (torch.cat(z) for z in (O, A, LP, V, adv))
    returns = adv + V
    adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    for _ in range(4):
        for mb in torch.randperm(len(O)).split(240):
            dist, v = agent(O[mb])
            ratio = (dist.log_prob(A[mb]).sum(-1) - LP[mb]).exp()
            policy = -torch.min(ratio * adv[mb], ratio.clamp(0.8, 1.2) * adv[mb]).mean()
            loss = policy + 0.5 * (v - returns[mb]).pow(2).mean() - 0.0002 * dist.entropy().sum(-1).mean()
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            opt.step()
    if it % 10 == 9:
        print(f"iteration {it + 1}: mean reward {torch.stack(R).mean():.3f}, last-step distance {-10 * R[-1].mean():.3f}")
