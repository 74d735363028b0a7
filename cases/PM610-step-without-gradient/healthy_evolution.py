"""Evolution strategies: steer a cart to the origin. No backward pass; the estimated gradient is written into .grad."""

import torch
from torch import nn

POPULATION, SIGMA, GENERATIONS, HORIZON = 16, 0.1, 50, 20


def make_policy() -> nn.Module:
    return nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1), nn.Tanh())


@torch.no_grad()
def cost(policy: nn.Module, state: torch.Tensor) -> float:
    """Mean squared distance and speed of a batch of carts over one episode."""
    position, velocity = state.unbind(1)
    total = 0.0
    for _ in range(HORIZON):
        push = policy(torch.stack([position, velocity], dim=1)).squeeze(1)
        velocity = 0.95 * velocity + 0.3 * push
        position = position + 0.3 * velocity
        total += (position.square() + 0.1 * velocity.square()).mean().item()
    return total / HORIZON


@torch.no_grad()
def shift(params: list[nn.Parameter], noise: list[torch.Tensor], amount: float) -> None:
    for p, n in zip(params, noise):
        p.add_(n, alpha=amount)


def estimate_gradient(policy: nn.Module, state: torch.Tensor) -> None:
    """Antithetic differences along random directions."""
    params = list(policy.parameters())
    gradient = [torch.zeros_like(p) for p in params]
    for _ in range(POPULATION):
        noise = [torch.randn_like(p) for p in params]
        shift(params, noise, SIGMA)
        above = cost(policy, state)
        shift(params, noise, -2 * SIGMA)
        below = cost(policy, state)
        shift(params, noise, SIGMA)
        for g, n in zip(gradient, noise):
            g.add_(n, alpha=(above - below) / (2 * SIGMA * POPULATION))
    for p, g in zip(params, gradient):
        p.grad = g


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    policy = make_policy()
    optimizer = torch.optim.Adam(policy.parameters(), lr=0.05)
    held_out = 2 * torch.rand(200, 2) - 1
    print(f"generation 0: held-out cost {cost(policy, held_out):.3f}")
    for generation in range(1, GENERATIONS + 1):
        estimate_gradient(policy, 2 * torch.rand(32, 2) - 1)
        optimizer.step()
        if generation % 10 == 0:
            print(f"generation {generation}: held-out cost {cost(policy, held_out):.3f}")


if __name__ == "__main__":
    main()
