"""Policy gradient with a baseline on a contextual bandit with many arms."""
import argparse

import torch
import torch.nn as nn
from torch.distributions import Categorical


class ActorCritic(nn.Module):
    def __init__(self, obs, actions, hidden=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs, hidden), nn.Tanh())
        self.pi = nn.Linear(hidden, actions)
        self.v = nn.Linear(hidden, 1)

    def forward(self, x):
        h = self.body(x)
        return Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


class Bandit:
    def __init__(self, obs=8, actions=10, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.w = torch.randn(obs, actions, generator=g)
        self.obs = obs

    def contexts(self, n):
        return torch.randn(n, self.obs)

    def pull(self, ctx, a):
        scores = ctx @ self.w
        best = scores.argmax(1)
        return (a == best).float() + 0.2 * torch.randn(len(a)), best


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=600)
    ap.add_argument("--batch", type=int, default=128)
    ap.add_argument("--ent-coef", type=float, default=0.2)
    ap.add_argument("--vf-coef", type=float, default=0.5)
    args = ap.parse_args()
    torch.manual_seed(0)
    env = Bandit()
    model = ActorCritic(env.obs, 10)
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    avg = 0.0
    for step in range(1, args.steps + 1):
        ctx = env.contexts(args.batch)
        dist, value = model(ctx)
        action = dist.sample()
        reward, _ = env.pull(ctx, action)
        adv = reward - value.detach()
        pg_loss = -(dist.log_prob(action) * adv).mean()
        v_loss = (value - reward).pow(2).mean()
        entropy = dist.entropy().mean()
        loss = pg_loss + args.vf_coef * v_loss + args.ent_coef * entropy
        opt.zero_grad()
        loss.backward()
        opt.step()
        avg = 0.95 * avg + 0.05 * reward.mean().item()
        if step % 100 == 0:
            print(f"step {step} reward {avg:.3f} entropy {entropy.item():.3f} v_loss {v_loss.item():.3f}")
    with torch.no_grad():
        ctx = env.contexts(2000)
        a = model(ctx)[0].probs.argmax(1)
        _, best = env.pull(ctx, a)
    print(f"greedy picks the best arm: {(a == best).float().mean().item():.3f}")


if __name__ == "__main__":
    main()
