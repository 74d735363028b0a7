"""Actor-critic with generalised advantages on a corridor."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

N, HORIZON = 7, 20


class ActorCritic(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(N, hidden), nn.Tanh())
        self.policy = nn.Linear(hidden, 2)
        self.value = nn.Linear(hidden, 1)

    def forward(self, state):
        h = self.body(state)
        return self.policy(h), self.value(h).squeeze(-1)


def one_hot(position):
    return F.one_hot(torch.tensor(position), N).float()


def rollout(net):
    position, log_probs, values, rewards, entropies = 3, [], [], [], []
    for _ in range(HORIZON):
        logits, value = net(one_hot(position))
        dist = Categorical(logits=logits)
        action = dist.sample()
        position = max(0, min(N - 1, position + (1 if action.item() == 1 else -1)))
        log_probs.append(dist.log_prob(action))
        entropies.append(dist.entropy())
        values.append(value.item())  # <- PM506
        rewards.append(1.0 if position == N - 1 else -0.02)
        if position == N - 1:
            break
    return torch.stack(log_probs), values, rewards, torch.stack(entropies)


def gae(rewards, values, gamma=0.97, lam=0.9):
    advantages, running = [], 0.0
    following = values[1:] + [0.0]
    for r, v, n in reversed(list(zip(rewards, values, following))):
        running = r + gamma * n - v + gamma * lam * running
        advantages.insert(0, running)
    return torch.tensor(advantages)


def main():
    torch.manual_seed(0)
    net = ActorCritic()
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    for episode in range(250):
        log_probs, values, rewards, entropies = rollout(net)
        values_t = torch.tensor(values)
        advantages = gae(rewards, values_t.tolist())
        returns = advantages + values_t.detach()
        p_loss = -(log_probs * advantages).mean()
        v_loss = F.mse_loss(values_t, returns)
        loss = p_loss + 0.5 * v_loss - 0.01 * entropies.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if episode % 50 == 0:
            print(episode, f"return {sum(rewards):.2f} value loss {v_loss.item():.3f}")


main()
