"""float64 by default, LBFGS with closures, then gradients written by hand: Gauss-Newton on the same problem."""

import warnings

import torch

warnings.simplefilter("error")
torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)
torch.use_deterministic_algorithms(True)
torch.manual_seed(0)

t = torch.linspace(0, 3, 80)
data = 2.5 * torch.exp(-1.3 * t) + 0.7 * torch.sin(2.1 * t) + 0.02 * torch.randn(80)


class Decay(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.amplitude = torch.nn.Parameter(torch.tensor([1.0, 1.0]))
        self.rate = torch.nn.Parameter(torch.tensor(1.0))
        self.frequency = torch.nn.Parameter(torch.tensor(2.0))

    def forward(self, t):
        return self.amplitude[0] * torch.exp(-self.rate * t) + self.amplitude[1] * torch.sin(self.frequency * t)


model = Decay()
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=5, history_size=6, line_search_fn="strong_wolfe")


def closure():
    optimizer.zero_grad()
    loss = ((model(t) - data) ** 2).mean()
    loss.backward()
    return loss


for step in range(12):
    loss = optimizer.step(closure)
    print(step, loss.item())
print({name: p.tolist() for name, p in model.named_parameters()})
assert loss < 1e-3

# the same with Adam as a driver for hand-made Gauss-Newton directions
model = Decay()
driver = torch.optim.SGD(model.parameters(), lr=1.0)
for step in range(15):
    parameters = list(model.parameters())
    residual = model(t) - data
    rows = [torch.autograd.grad(r, parameters, retain_graph=True) for r in residual]
    jacobian = torch.stack([torch.cat([g.reshape(-1) for g in row]) for row in rows])
    direction = torch.linalg.lstsq(jacobian.T @ jacobian + 1e-3 * torch.eye(4), jacobian.T @ residual.detach()).solution
    start = 0
    for p in parameters:
        p.grad = direction[start : start + p.numel()].view_as(p).clone()
        start += p.numel()
    driver.step()
    driver.zero_grad()
    if step % 3 == 0:
        print(step, residual.pow(2).mean().item())
assert residual.pow(2).mean() < 1e-3
