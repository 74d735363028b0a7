import math
import torch
import torch.nn as nn

torch.manual_seed(0)
torch.set_num_threads(1)


def ring(n):
    a = torch.rand(n) * 2 * math.pi
    r = 1 + 0.05 * torch.randn(n)
    return torch.stack([r * torch.cos(a), r * torch.sin(a)], 1)


G = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
D = nn.Sequential(nn.Linear(2, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))
opt_g = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.99))
opt_d = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.5, 0.99))
bce = nn.BCEWithLogitsLoss()
BS = 64
one, zero = torch.ones(BS, 1), torch.zeros(BS, 1)

for step in range(900):
    real = ring(BS)
    fake = G(torch.randn(BS, 4))
    d_loss = bce(D(real), one) + bce(D(fake.detach()), zero)
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()

    g_loss = bce(D(fake), one)
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
    if step % 300 == 299:
        with torch.no_grad():
            s = G(torch.randn(1000, 4))
        ang = torch.atan2(s[:, 1], s[:, 0])
        cover = torch.histc(ang, 12, -math.pi, math.pi).gt(15).float().mean().item()
        off = (s.norm(dim=1) - 1).abs().mean().item()
        print(f"step {step + 1} D {d_loss.item():.3f} G {g_loss.item():.3f} radius error {off:.3f} sectors {cover:.2f}")
