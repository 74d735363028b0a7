"""A neural cellular automaton grows a picture from one cell; a pool of earlier states is trained on again."""
import torch
import torch.nn as nn
import torch.nn.functional as F

SIZE, CHANNELS = 14, 8


class Automaton(nn.Module):
    def __init__(self):
        super().__init__()
        identity = torch.tensor([[0, 0, 0], [0, 1, 0], [0, 0, 0.0]])
        dx = torch.tensor([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1.0]]) / 8
        self.register_buffer("sense", torch.stack([identity, dx, dx.T]).repeat(CHANNELS, 1, 1)[:, None])
        self.rule = nn.Sequential(nn.Conv2d(3 * CHANNELS, 48, 1), nn.ReLU(), nn.Conv2d(48, CHANNELS, 1, bias=False))
        nn.init.zeros_(self.rule[2].weight)

    def forward(self, state, steps):
        for _ in range(steps):
            change = self.rule(F.conv2d(state, self.sense, padding=1, groups=CHANNELS))
            awake = (torch.rand(len(state), 1, SIZE, SIZE) < 0.5).float()
            state = (state + change * awake).clamp(-3, 3)
        return state


def seed(n):
    state = torch.zeros(n, CHANNELS, SIZE, SIZE)
    state[:, :, SIZE // 2, SIZE // 2] = 1.0
    return state


torch.manual_seed(9)
torch.set_num_threads(1)
yy, xx = torch.meshgrid(torch.arange(SIZE), torch.arange(SIZE), indexing="ij")
ring = ((yy - 6.5) ** 2 + (xx - 6.5) ** 2).sqrt()
target = ((ring > 3) & (ring < 5.5)).float()
model = Automaton()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
pool = seed(32)
for step in range(1, 171):
    pick = torch.randperm(len(pool))[:6]
    state = pool[pick]
    state[:1] = seed(1)
    state = model(state, int(torch.randint(14, 20, (1,))))
    loss = (state[:, 0] - target).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    for p in model.parameters():
        p.grad /= p.grad.norm() + 1e-8
    optimizer.step()
    pool[pick] = state.detach()
    if step % 34 == 0:
        print(f"step {step} loss {loss.item():.4f} (a blank picture: {target.pow(2).mean():.4f})")
with torch.no_grad():
    grown = model(seed(8), 24)[:, 0]
print(f"grown from one cell, error {(grown - target).pow(2).mean():.4f}")
