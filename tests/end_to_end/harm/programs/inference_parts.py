"""Evaluation in inference_mode, a teacher without gradients, vmap and grad of torch.func."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call, grad, vmap

torch.manual_seed(0)
torch.set_num_threads(1)


model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
teacher = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3)).requires_grad_(False).eval()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def loss_of(parameters, x, y):
    return F.cross_entropy(functional_call(model, parameters, (x[None],)), y[None])


for step in range(30):
    x = torch.randn(16, 8)
    y = x[:, :3].argmax(1)
    with torch.no_grad():
        soft = teacher(x).softmax(1)
    loss = F.cross_entropy(model(x), y) + 0.01 * F.kl_div(F.log_softmax(model(x), 1), soft, reduction="batchmean")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    each = vmap(grad(loss_of), in_dims=(None, 0, 0))({n: p.detach() for n, p in model.named_parameters()}, x, y)
    norms = sum(g.flatten(1).square().sum(1) for g in each.values()).sqrt()
    torch.set_grad_enabled(False)
    held = model(torch.ones(2, 8)).sum().item()
    torch.set_grad_enabled(True)
    with torch.inference_mode():
        frozen = model(x)
    print(step, loss.item(), norms.sum().item(), held, frozen.is_inference(), torch.is_grad_enabled())
