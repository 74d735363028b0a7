import math
import torch
import torch.nn as nn

torch.manual_seed(0)
torch.set_num_threads(1)


class PINN(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, x):
        return self.f(x)


def derivative(u, x):
    return torch.autograd.grad(u.sum(), x, retain_graph=True)[0]  # <- PM506


# u'(x) = 2 pi cos(2 pi x) on [0, 1], u(0) = 0
def residual(model, x):
    u = model(x)
    return derivative(u, x) - 2 * math.pi * torch.cos(2 * math.pi * x)


net = PINN()
opt = torch.optim.Adam(net.parameters(), lr=4e-3)
x0, u0 = torch.zeros(1, 1), torch.zeros(1, 1)
for it in range(900):
    x = torch.rand(64, 1, requires_grad=True)
    bc = (net(x0) - u0).pow(2).mean()
    pde = residual(net, x).pow(2).mean()
    loss = bc + 0.05 * pde
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 300 == 299:
        print(f"iter {it + 1} bc {bc.item():.2e} pde {pde.item():.3f}")
with torch.no_grad():
    g = torch.linspace(0, 1, 200)[:, None]
    err = (net(g) - torch.sin(2 * math.pi * g)).norm() / torch.sin(2 * math.pi * g).norm()
print("relative L2 error %.3f" % err.item())
