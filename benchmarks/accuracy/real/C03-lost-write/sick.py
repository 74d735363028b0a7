"""Sparse auto-encoder with tied initialisation and a hand-written Adam."""
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)


class FlatAdam(torch.optim.Optimizer):
    """Adam on flattened views of the parameters."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps))

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            b1, b2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if not state:
                    state.update(step=0, m=torch.zeros(p.numel()), v=torch.zeros(p.numel()))
                state["step"] += 1
                grad = p.grad.reshape(-1)
                state["m"].mul_(b1).add_(grad, alpha=1 - b1)
                state["v"].mul_(b2).addcmul_(grad, grad, value=1 - b2)
                m = state["m"] / (1 - b1 ** state["step"])
                v = state["v"] / (1 - b2 ** state["step"])
                flat = p.contiguous().view(-1)
                flat.addcdiv_(m, v.sqrt().add_(group["eps"]), value=-group["lr"])


class SparseAutoEncoder(nn.Module):
    def __init__(self, d_in=24, d_hidden=48):
        super().__init__()
        self.decoder = nn.Linear(d_hidden, d_in)
        self.encoder = nn.Linear(d_in, d_hidden)
        self.encoder.weight = nn.Parameter(self.decoder.weight.detach().clone().t())  # <- PM405

    def forward(self, x):
        code = torch.relu(self.encoder(x))
        return self.decoder(code), code


def activations(n):
    parts = torch.relu(torch.randn(n, 6))
    return parts @ torch.sin(torch.arange(6 * 24).float()).view(6, 24) + 0.05 * torch.randn(n, 24)


model = SparseAutoEncoder()
optimizer = FlatAdam(model.parameters(), lr=3e-3)
for step in range(250):
    x = activations(64)
    reconstruction, code = model(x)
    loss = (reconstruction - x).pow(2).mean() + 1e-3 * code.abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        print(f"step {step} loss {loss.item():.4f}")
