"""torch.compile (aot_eager), a scripted module, an ensemble with vmap, and per-sample gradients with torch.func."""

import torch
from torch import nn
from torch.func import functional_call, grad, stack_module_state, vmap
from torch.nn import functional as F

torch.set_num_threads(1)
torch.manual_seed(0)
x = torch.randn(512, 8)
y = (x[:, 0] * x[:, 1] > 0).long()


def net():
    return nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 2))


# an ensemble of five, trained at once
models = [net() for _ in range(5)]
params, buffers = stack_module_state(models)
base = net().to("meta")


def one(p, b, inputs):
    return functional_call(base, (p, b), (inputs,))


params = {k: v.detach().requires_grad_() for k, v in params.items()}
optimizer = torch.optim.Adam(params.values(), lr=1e-2)
for step in range(80):
    rows = torch.randint(512, (64,))
    logits = vmap(one, in_dims=(0, 0, None))(params, buffers, x[rows])  # (5, 64, 2)
    loss = F.cross_entropy(logits.flatten(0, 1), y[rows].repeat(5))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("ensemble", loss.item())

# per-sample gradients
model = net()


def sample_loss(p, xi, yi):
    return F.cross_entropy(functional_call(model, p, (xi.unsqueeze(0),)), yi.unsqueeze(0))


plain = {k: v.detach() for k, v in model.named_parameters()}
per_sample = vmap(grad(sample_loss), in_dims=(None, 0, 0))(plain, x[:16], y[:16])
print("per-sample gradient norms", per_sample["0.weight"].flatten(1).norm(dim=1).sum().item())


# a scripted block inside of an ordinary model
class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(8, 64), nn.Linear(8, 64)

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        if z.dim() == 1:
            z = z.unsqueeze(0)
        return torch.tanh(self.a(z)) * torch.sigmoid(self.b(z))


scripted = nn.Sequential(torch.jit.script(Gate()), nn.Linear(64, 2))
optimizer = torch.optim.Adam(scripted.parameters(), lr=1e-2)
for step in range(60):
    rows = torch.randint(512, (64,))
    loss = F.cross_entropy(scripted(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("scripted", loss.item())

# compiled
compiled = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for step in range(80):
    rows = torch.randint(512, (64,))
    loss = F.cross_entropy(compiled(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
accuracy = (compiled(x).argmax(1) == y).float().mean().item()
print("compiled", loss.item(), accuracy)
assert accuracy > 0.85
