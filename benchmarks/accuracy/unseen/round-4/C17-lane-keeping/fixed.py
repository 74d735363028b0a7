from dataclasses import dataclass

import torch
import torch.nn as nn


@dataclass(frozen=True)
class PPOConfig:
    iterations: int = 35
    envs: int = 64
    horizon: int = 12
    epochs: int = 4
    clip: float = 0.2
    gamma: float = 0.9
    lr: float = 4e-3


def drive(offset, action):
    """A car drifts to the right; steering left, straight or right moves it within the lane."""
    offset = offset + 0.15 + 0.3 * (action.float() - 1) + 0.05 * torch.randn_like(offset)
    return offset.clamp(-2, 2), -offset.abs()


def mlp(out):
    return nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, out))


def log_prob(policy, obs, act):
    return policy(obs).log_softmax(-1).gather(1, act[:, None]).squeeze(1)


def collect(cfg, policy):
    offset = torch.rand(cfg.envs) * 2 - 1
    obs, acts, rews = [], [], []
    with torch.no_grad():
        for _ in range(cfg.horizon):
            o = offset[:, None]
            a = torch.multinomial(policy(o).softmax(-1), 1).squeeze(1)
            offset, r = drive(offset, a)
            obs.append(o)
            acts.append(a)
            rews.append(r)
    returns, ret = [], torch.zeros(cfg.envs)
    for r in reversed(rews):
        ret = r + cfg.gamma * ret
        returns.insert(0, ret)
    return torch.cat(obs), torch.cat(acts), torch.cat(returns), torch.stack(rews).mean().item()


def train(cfg):
    policy, value = mlp(3), mlp(1)
    pi_opt = torch.optim.Adam(policy.parameters(), lr=cfg.lr)
    v_opt = torch.optim.Adam(value.parameters(), lr=cfg.lr)
    history = []
    for it in range(cfg.iterations):
        obs, acts, returns, mean_reward = collect(cfg, policy)
        history.append(mean_reward)
        adv = returns - value(obs).squeeze(1).detach()
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
        with torch.no_grad():
            old = log_prob(policy, obs, acts)
        for _ in range(cfg.epochs):
            ratio = torch.exp(log_prob(policy, obs, acts) - old)
            clipped = ratio.clamp(1 - cfg.clip, 1 + cfg.clip)
            pi_loss = -torch.min(ratio * adv, clipped * adv).mean()
            pi_opt.zero_grad()
            pi_loss.backward()
            pi_opt.step()
            v_loss = (value(obs).squeeze(1) - returns).pow(2).mean()
            v_opt.zero_grad()
            v_loss.backward()
            v_opt.step()
        if it % 7 == 6:
            print(f"iteration {it + 1} reward {mean_reward:.3f} value loss {v_loss.item():.3f}")
    return history


if __name__ == "__main__":
    torch.manual_seed(21)
    torch.set_num_threads(1)
    rewards = train(PPOConfig())
    print(f"mean reward first five {sum(rewards[:5]) / 5:.3f} last five {sum(rewards[-5:]) / 5:.3f}")
