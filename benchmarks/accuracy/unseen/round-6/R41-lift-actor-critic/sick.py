import torch
import torch.nn as nn
import torch.nn.functional as F


class LiftEnv:
    """Parallel lifts on a line; the fewer steps from floor to goal the better."""

    def __init__(self, n=12, floors=9):
        self.n, self.floors = n, floors

    def reset(self):
        self.pos = torch.randint(0, self.floors, (self.n,))
        self.goal = torch.randint(0, self.floors, (self.n,))
        return self.obs()

    def obs(self):
        return torch.stack([self.pos, self.goal], 1).float() / self.floors

    def step(self, action):
        self.pos = (self.pos + action - 1).clamp(0, self.floors - 1)
        reward = 1.0 - (self.pos - self.goal).abs().float() / self.floors
        return self.obs(), reward


actor = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 3))
critic = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 1))


def rollout(env, horizon, gamma):
    obs, logps, values, rewards, ents = env.reset(), [], [], [], []
    for _ in range(horizon):
        dist = torch.distributions.Categorical(logits=actor(obs))
        a = dist.sample()
        logps.append(dist.log_prob(a))
        ents.append(dist.entropy())
        values.append(critic(obs).squeeze(-1))
        obs, r = env.step(a)
        rewards.append(r)
    ret, returns = torch.zeros(env.n), []
    for r in reversed(rewards):
        ret = r + gamma * ret
        returns.insert(0, ret)
    return torch.stack(logps), torch.stack(values), torch.stack(returns), torch.stack(rewards), torch.stack(ents)


def main():
    torch.manual_seed(3)
    torch.set_num_threads(1)
    for m in (actor, critic):
        for layer in m:
            if isinstance(layer, nn.Linear):
                nn.init.orthogonal_(layer.weight)
    env = LiftEnv()
    optimizer = torch.optim.Adam(actor.parameters(), lr=3e-3)  # <- PM402
    for update in range(300):
        logp, value, returns, rewards, ent = rollout(env, horizon=10, gamma=0.8)
        advantage = returns - value.detach()
        policy_loss = -(logp * advantage).mean()
        value_loss = F.mse_loss(value, returns)
        loss = policy_loss + 0.5 * value_loss - 0.01 * ent.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if update % 50 == 49:
            print(f"update {update + 1}: reward {rewards.mean():.3f}, value loss {value_loss:.3f}")


main()
