"""PPO on a two-step corridor with sparse reward."""
import torch
from torch import nn
from torch.distributions import Categorical

torch.set_num_threads(1)
CLIP, EPOCHS = 0.2, 8


class ActorCritic(nn.Module):
    def __init__(self, n_obs=4, n_actions=4):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_obs, 32), nn.Tanh())
        self.pi = nn.Linear(32, n_actions)
        self.v = nn.Linear(32, 1)

    def forward(self, obs):
        h = self.body(obs)
        return Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


def rollout(agent, n=256):
    """One-step episodes: the right action is the index of the largest observation."""
    obs = torch.randn(n, 4)
    with torch.no_grad():
        dist, value = agent(obs)
        action = dist.sample()
        logp = dist.log_prob(action)
    reward = (action == obs.argmax(1)).float() + 0.3 * torch.randn(n)
    return obs, action, logp, reward, value


def ppo_loss(agent, obs, action, old_logp, advantage, returns):
    dist, value = agent(obs)
    ratio = torch.exp(dist.log_prob(action) - old_logp)
    clipped = torch.clamp(ratio, 1 - CLIP, 1 + CLIP)
    policy_loss = torch.min(-ratio * advantage, -clipped * advantage).mean()  # <- PM516
    value_loss = nn.functional.mse_loss(value, returns)
    return policy_loss + 0.5 * value_loss - 0.01 * dist.entropy().mean(), ratio


def train(updates=25):
    agent = ActorCritic()
    optimizer = torch.optim.Adam(agent.parameters(), lr=5e-3)
    for update in range(updates):
        obs, action, logp, reward, value = rollout(agent)
        advantage = reward - value
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        for _ in range(EPOCHS):
            loss, ratio = ppo_loss(agent, obs, action, logp, advantage, reward)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()
        if update % 5 == 0:
            print(f"update {update} reward {reward.mean().item():.3f} largest ratio {ratio.max().item():.2f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    train()
