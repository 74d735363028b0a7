"""Evolution strategies: a policy improved by antithetic perturbations and an optimizer fed with hand-made gradients."""
import torch
import torch.nn as nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters


def pole(policies, steps=120):
    """A cart with a pole, simulated for a whole population at once."""
    count = policies.shape[0]
    w1, b1 = policies[:, :32].view(count, 4, 8), policies[:, 32:40]
    w2, b2 = policies[:, 40:48].view(count, 8, 1), policies[:, 48:49]
    state = torch.zeros(count, 4)
    state[:, 2] = 0.05 * torch.randn(count)
    alive, total = torch.ones(count), torch.zeros(count)
    for _ in range(steps):
        hidden = torch.tanh(torch.einsum("ci,cij->cj", state, w1) + b1)
        force = 10 * torch.tanh(torch.einsum("cj,cjk->ck", hidden, w2) + b2).squeeze(1)
        x, v, a, w = state.unbind(1)
        temp = (force + 0.05 * w**2 * a.sin()) / 1.1
        aa = (9.8 * a.sin() - a.cos() * temp) / (0.5 * (4 / 3 - 0.1 * a.cos() ** 2 / 1.1))
        xa = temp - 0.05 * aa * a.cos() / 1.1
        state = torch.stack([x + 0.02 * v, v + 0.02 * xa, a + 0.02 * w, w + 0.02 * aa], 1)
        alive = alive * (state[:, 2].abs() < 0.21) * (state[:, 0].abs() < 2.4)
        total += alive
    return total


@torch.no_grad()
def main():
    torch.manual_seed(4)
    torch.set_num_threads(1)
    net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
    optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
    for generation in range(60):
        centre = parameters_to_vector(net.parameters())
        noise = torch.randn(40, len(centre))
        noise = torch.cat([noise, -noise])
        reward = pole(centre + 0.2 * noise)
        rank = reward.argsort().argsort().float() / (len(reward) - 1) - 0.5
        gradient = -(rank[:, None] * noise).mean(0) / 0.2
        place = 0
        for p in net.parameters():
            p.grad = gradient[place : place + p.numel()].view_as(p).clone()
            place += p.numel()
        optimizer.step()
        if generation % 12 == 0 or generation == 59:
            score = pole(parameters_to_vector(net.parameters()).repeat(50, 1)).mean()
            print(f"generation {generation} balanced for {score:.1f} of 120 steps")
    vector_to_parameters(parameters_to_vector(net.parameters()), net.parameters())


main()
