"""A critic and a writer on a ring of points, from one forward pass: both losses go back before either optimizer steps."""

import torch
from torch import nn


def main() -> None:
    torch.manual_seed(0)
    writer = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
    critic = nn.Sequential(nn.Linear(2, 48), nn.LeakyReLU(0.2), nn.Linear(48, 1))
    writer_optimizer = torch.optim.Adam(writer.parameters(), lr=2e-3)
    critic_optimizer = torch.optim.Adam(critic.parameters(), lr=2e-3)
    for step in range(60):
        angle = 6.2832 * torch.rand(64)
        real = torch.stack([angle.cos(), angle.sin()], 1)
        fake = writer(torch.randn(64, 4))
        on_real, on_fake = critic(real), critic(fake)
        critic_loss = (1 - on_real).square().mean() + (1 + on_fake).square().mean()
        writer_loss = on_fake.square().mean()

        writer_optimizer.zero_grad()
        writer_loss.backward(retain_graph=True)
        critic_optimizer.zero_grad()  # what the writer's loss left in the critic
        critic_loss.backward(inputs=list(critic.parameters()))
        critic_optimizer.step()
        writer_optimizer.step()
        if step % 20 == 0:
            print(f"step {step} critic {critic_loss.item():.3f} writer {writer_loss.item():.3f}")


if __name__ == "__main__":
    main()
