import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Normal

torch.set_num_threads(1)


class VecPointMass:
    """N independent carts on a line; push the cart to the goal position and keep it there."""

    def __init__(self, n, horizon=32, seed=0):
        self.n, self.horizon = n, horizon
        self.gen = torch.Generator().manual_seed(seed)

    def reset(self):
        self.x = torch.rand(self.n, generator=self.gen) * 2 - 1
        self.v = torch.zeros(self.n)
        self.goal = torch.rand(self.n, generator=self.gen) * 2 - 1
        return self.obs()

    def obs(self):
        return torch.stack([self.x, self.v, self.goal, self.goal - self.x], 1)

    def step(self, a):
        self.v = 0.7 * self.v + 0.15 * a.clamp(-1.5, 1.5)
        self.x = self.x + self.v
        return self.obs(), -(self.x - self.goal).abs() - 0.02 * a.pow(2)


class ActorCritic(nn.Module):
    def __init__(self, obs_dim, act_dim):
        super().__init__()
        self.mu = nn.Sequential(nn.Linear(obs_dim, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, act_dim))
        self.log_std = nn.Parameter(torch.full((act_dim,), -0.5))
        self.v = nn.Sequential(nn.Linear(obs_dim, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, 1))

    def dist(self, obs):
        return Normal(self.mu(obs), self.log_std.exp())

    def value(self, obs):
        return self.v(obs).squeeze(-1)


class PPO:
    def __init__(self, n_envs=24, gamma=0.95, lam=0.9, clip=0.2, epochs=6, minibatches=4, lr=2e-3):
        self.env = VecPointMass(n_envs)
        self.ac = ActorCritic(4, 1)
        self.opt = torch.optim.Adam(self.ac.parameters(), lr=lr)
        self.gamma, self.lam, self.clip, self.epochs, self.mb = gamma, lam, clip, epochs, minibatches

    @torch.no_grad()
    def collect(self):
        obs, O, A, LP, R, V = self.env.reset(), [], [], [], [], []
        for _ in range(self.env.horizon):
            d = self.ac.dist(obs)
            a = d.sample()
            O.append(obs); A.append(a); LP.append(d.log_prob(a)); V.append(self.ac.value(obs))
            obs, r = self.env.step(a.squeeze(-1))
            R.append(r)
        V.append(self.ac.value(obs))
        adv, last = [], torch.zeros(self.env.n)
        for t in reversed(range(self.env.horizon)):
            delta = R[t] + self.gamma * V[t + 1] - V[t]
            last = delta + self.gamma * self.lam * last
            adv.insert(0, last)
        adv = torch.stack(adv)
        ret = adv + torch.stack(V[:-1])
        return torch.cat(O), torch.cat(A), torch.cat(LP), adv.flatten(), ret.flatten(), torch.stack(R).sum(0).mean().item()

    def update(self):
        O, A, LP, adv, ret, score = self.collect()
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
        pl = vl = 0.0
        for _ in range(self.epochs):
            for idx in torch.randperm(len(O)).chunk(self.mb):
                d = self.ac.dist(O[idx])
                ratio = (d.log_prob(A[idx]) - LP[idx]).exp()
                s1 = ratio * adv[idx]
                s2 = ratio.clamp(1 - self.clip, 1 + self.clip) * adv[idx]
                policy_loss = -torch.min(s1, s2).mean()
                value_loss = (self.ac.value(O[idx]) - ret[idx]).pow(2).mean()
                loss = policy_loss + 0.5 * value_loss - 0.001 * d.entropy().mean()
                self.opt.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.ac.parameters(), 1.0)
                self.opt.step()
                pl += policy_loss.item(); vl += value_loss.item()
        k = self.epochs * self.mb
        return pl / k, vl / k, score


if __name__ == "__main__":
    torch.manual_seed(1)
    np.random.seed(1)
    agent, scores = PPO(), []
    for it in range(1, 51):
        pl, vl, score = agent.update()
        scores.append(score)
        if it % 10 == 0:
            print(f"update {it:3d}  policy loss {pl:+.4f}  value loss {vl:.4f}  mean episode return {np.mean(scores[-5:]):.3f}")
