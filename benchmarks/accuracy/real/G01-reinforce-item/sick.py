"""REINFORCE on a bandit-like string generator: reward for picking the right action for a state."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(0)
np.random.seed(0)


class PolicyNet(nn.Module):
    def __init__(self, n_states=4, hidden=32, n_actions=3):
        super().__init__()
        self.encoder = nn.Linear(n_states, hidden)
        self.decoder = nn.Linear(hidden, n_actions)

    def forward(self, state):
        return F.log_softmax(self.decoder(torch.relu(self.encoder(state))), dim=-1)


class Reinforcement:
    def __init__(self, generator, get_reward, lr=1e-2):
        self.generator = generator
        self.get_reward = get_reward
        self.optimizer = torch.optim.Adam(generator.parameters(), lr=lr)

    def policy_gradient(self, n_batch=16):
        rl_loss = 0
        total_reward = 0
        for _ in range(n_batch):
            state = np.random.randint(4)
            log_probs = self.generator(F.one_hot(torch.tensor(state), 4).float())
            action = torch.multinomial(log_probs.exp(), 1).item()
            reward = self.get_reward(state, action)
            total_reward += reward
            rl_loss -= log_probs[action].item() * reward  # <- PM506
        rl_loss = torch.tensor(rl_loss / n_batch, requires_grad=True)
        self.optimizer.zero_grad()
        rl_loss.backward()
        self.optimizer.step()
        return total_reward / n_batch, rl_loss.item()


def reward(state, action):
    return 1.0 if action == state % 3 else -0.2


agent = Reinforcement(PolicyNet(), reward)
rewards = []
for iteration in range(120):
    mean_reward, loss = agent.policy_gradient()
    rewards.append(mean_reward)
    if iteration % 20 == 0:
        print(f"iteration {iteration}: mean reward {np.mean(rewards[-20:]):.3f} loss {loss:.4f}")
