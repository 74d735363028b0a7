"""Neural ODE with a fixed-step Runge-Kutta solver, fitted to pieces of a spiral."""
import torch
import torch.nn as nn

torch.manual_seed(0)
torch.set_num_threads(1)
A = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]])
DT = 0.05


def rk4(f, x, steps, dt=DT):
    path = [x]
    for _ in range(steps):
        k1 = f(x)
        k2 = f(x + dt / 2 * k1)
        k3 = f(x + dt / 2 * k2)
        k4 = f(x + dt * k3)
        x = x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        path.append(x)
    return torch.stack(path)


with torch.no_grad():
    truth = rk4(lambda x: (x ** 3) @ A.t(), torch.tensor([[2.0, 0.0]]), 200).squeeze(1)


class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 50), nn.Tanh(), nn.Linear(50, 2))

    def forward(self, x):
        return self.net(x ** 3)


field = Field()
opt = torch.optim.Adam(field.parameters(), lr=1e-2)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=500)
for it in range(500):
    start = torch.randint(0, 190, (32,))
    target = torch.stack([truth[start + k] for k in range(11)])
    loss = (rk4(field, target[0], 10) - target).abs().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    if it % 100 == 99:
        with torch.no_grad():
            far = (rk4(field, truth[:1], 40).squeeze(1) - truth[:41]).abs().mean()
        print(f"iteration {it + 1}: piece error {loss.item():.4f}, error over 40 steps {far:.3f}")
